// How a level begins: the rows that it brings to a log, made once, before the first record that is applied at
// it. RAISE_LEVEL itself makes none: an older version applies it too. What is too much for one record is done
// by a timer.
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/counters.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using context::rule_context;
using context::timer_kind;
using tables::listed_rows;
namespace lists = tables::lists;

/// The lists of models, versions and builds (storage/registry/tables/lists.hpp): from here on they are kept;
/// the rows that are there already, up to the newest id, are listed by the timer.
void begin_lists(rule_context& context) {
    bool are_complete = true;
    for (const auto& [rows, counter] :
         {std::pair(listed_rows::models, "model"), std::pair(listed_rows::versions, "version"),
          std::pair(listed_rows::builds, "build")}) {
        const lists::progress begun{0, tables::counters::value(context.state, counter)};
        lists::put_progress(context.state, rows, begun);
        are_complete = are_complete && begun.is_complete();
    }
    if (!are_complete) context.set_timer(context.time_ms(), timer_kind::list_sweep, "");
}

std::size_t list(rule_context& context, const schemas::registered_model& row) {
    tables::models::begin_lists(context.state, row);
    return row.labels.size();
}

std::size_t list(rule_context& context, const schemas::model_version& row) {
    tables::versions::begin_lists(context.state, row);
    return row.labels.size();
}

std::size_t list(rule_context& context, const schemas::build& row) {
    tables::builds::begin_lists(context.state, row);
    return 0;
}

/// Goes on where it stopped. Ids are given without gaps, so it asks for each.
template <class Table, class Id>
bool sweep(rule_context& context, listed_rows rows) {
    auto now = lists::progress_of(context.state, rows).value_or(lists::progress{});
    if (now.is_complete()) return true;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < limits::listed_per_firing_max && !now.is_complete(); ++i) {
        if (entries >= limits::list_entries_per_firing_max) break;
        ++now.swept;
        if (const auto row = Table::find(context.state, Id{now.swept}))
            entries += 2 * list(context, *row) + 8;
    }
    lists::put_progress(context.state, rows, now);
    return false;
}

}  // namespace

void begin_level(rule_context& context) {
    const std::uint32_t before = tables::begun_level(context.state);
    tables::put_begun_level(context.state, context.level());
    const bool begins_registry = before < schemas::commands::registry_level && is_of_registry_level(context);
    if (!begins_registry) return;
    if (!lists::progress_of(context.state, listed_rows::models)) begin_lists(context);
    begin_level_of_users(context);
}

void fire_list_sweep(rule_context& context) {
    if (sweep<tables::models, schemas::model_id>(context, listed_rows::models) &&
        sweep<tables::versions, schemas::version_id>(context, listed_rows::versions) &&
        sweep<tables::builds, schemas::build_id>(context, listed_rows::builds))
        return;
    context.set_timer(context.time_ms(), timer_kind::list_sweep, "");
}

}  // namespace herald::storage::registry::rules
