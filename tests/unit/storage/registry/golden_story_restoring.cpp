// The golden log continues no other: what a restore sends is refused in it.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {

void tell_of_restoring(golden_writer& log) {
    using namespace schemas::commands;
    log.refused(restore_rows{0, {{"Mx", "y"}}}, "in a log without a parent");
    log.refused(end_restore{1, false}, "in a log without a parent");
    log.done(resume_deliveries{}, "where nothing is paused");
}

}  // namespace herald::test
