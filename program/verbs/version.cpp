// herald version: prints it.
#include <iostream>

#include "program/options/build_commit.hpp"
#include "program/options/settings.hpp"
#include "program/parts/process_end.hpp"

namespace herald::program {

process_end run_version(const settings&) {
    std::cout << version_text() << "\n";
    return process_end::done;
}

}  // namespace herald::program
