// Of the golden log: how the models and versions of an older log come into the lists that finds walk.
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {

using namespace schemas::commands;
using namespace storage::registry::tables;

void tell_of_lists(golden_writer& log) {
    log.done(no_operation{}, "which begins the level");
    log.done(no_operation{}, "when models are listed");
    log.done(no_operation{}, "when versions are listed");
    // No command leaves a version without its model to the timer: it is put there.
    schemas::model_version orphan;
    orphan.id.value = 1'000'000;
    orphan.registered_model_id.value = 1'000'000;
    orphan.workspace_id.value = 1;
    orphan.version = "orphan";
    log.put_before_next(key_of(table::version).number(orphan.id), schemas::encode(orphan));
    const lists::progress left{orphan.id.value - 1, orphan.id.value};
    log.put_before_next(
        key_of(table::list_progress).text(std::string(1, static_cast<char>(listed_rows::versions))),
        schemas::encode(left));
    log.done(no_operation{}, "when a version is listed whose model is gone");
    log.done(no_operation{}, "when all are");
}

}  // namespace herald::test
