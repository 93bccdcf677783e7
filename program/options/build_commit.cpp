#include "program/options/build_commit.hpp"

#include "runtime/metrics.hpp"
#include "runtime/version.hpp"

namespace herald::program {

std::string_view build_commit() { return HERALD_COMMIT; }

std::string version_text() {
    return "herald " + std::string(runtime::version()) + " (" + std::string(build_commit()) + ")";
}

void show_build_info() {
    runtime::metric_gauge(runtime::metrics::build_info,
                          {{"version", runtime::version()}, {"commit", build_commit()}})
        .set(1);
}

}  // namespace herald::program
