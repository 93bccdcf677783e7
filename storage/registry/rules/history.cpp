#include "storage/registry/rules/history.hpp"

namespace herald::storage::registry::rules {

schemas::activity new_activity(context::rule_context& context, schemas::version_id version,
                               schemas::user_id author, const std::string& comment) {
    schemas::activity entry;
    entry.id = context.next_id<schemas::activity_id>("activity");
    entry.model_version_id = version;
    entry.author_id = author;
    entry.time_created = context.stamp_ms();
    entry.comment = comment;
    return entry;
}

}  // namespace herald::storage::registry::rules
