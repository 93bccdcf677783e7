// herald version: prints it.
#include <iostream>

#include "program/options/settings.hpp"
#include "program/parts/process_end.hpp"

namespace herald::program {

process_end run_version(const settings&) {
    std::cout << "herald " HERALD_VERSION "\n";
    return process_end::done;
}

}  // namespace herald::program
