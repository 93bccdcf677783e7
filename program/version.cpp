// herald version: prints it.
#include <iostream>

#include "program/process_end.hpp"
#include "program/settings.hpp"

namespace herald::program {

process_end run_version(const settings&) {
    std::cout << "herald " HERALD_VERSION "\n";
    return process_end::done;
}

}  // namespace herald::program
