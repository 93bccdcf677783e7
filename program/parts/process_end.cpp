#include "program/parts/process_end.hpp"

#include <iostream>

namespace herald::program {

process_end failed(const error& why) {
    std::cerr << "herald: " << why.message << "\n";
    return why.code == error_code::failed_precondition ? process_end::mismatch : process_end::failure;
}

}  // namespace herald::program
