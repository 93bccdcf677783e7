// Protects the bytes of every row, index entry and timer: they are frozen, since nodes of different versions
// share the state. A table, a kind of timer or a member of a row without frozen bytes fails.
#include <gtest/gtest.h>

#include <set>

#include "runtime/crypto.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/counters.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/outcomes.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/registry/tables/replays.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/sessions.hpp"
#include "storage/registry/tables/stage_log.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/support/filled.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/named_values.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;
using storage::registry::state::make_memory_state;
using storage::registry::state::row_changes;
using storage::registry::state::state_changes;

/// Rows that are kept although what they are about is gone have no index entries.
template <class Row>
Row indexed(Row row) {
    if constexpr (requires { row.removed; }) row.removed = false;
    return row;
}

template <class... Tables>
void put_filled(state_changes& state) {
    (Tables::put(state, indexed(filled<typename Tables::row_type>())), ...);
}

row_changes rows_of_all_tables() {
    const auto store = make_memory_state();
    const auto view = store->view();
    state_changes state(view.get());
    put_filled<organizations, users, sessions, groups, roles, workspaces, models, versions, activities,
               transitions, promotions, builds, scans, webhooks, feature_flags, nodes, claims,
               replaced_processes, blobs, bytes_of_artifacts, unfinished_uploads, endpoints, endpoint_stages,
               access_tokens, endpoint_updates, replays>(state);
    auto running = filled<schemas::replay>();
    running.id.value = 299;
    running.state = schemas::replay_state::running;
    replays::put(state, running);
    auto unfinished = filled<schemas::build>();
    unfinished.id.value = 299;
    unfinished.status = schemas::build_status::building;
    builds::put(state, unfinished);
    deployed_builds::put(state, unfinished, schemas::model_id{300}, schemas::endpoint_stage_id{301});
    stage_log::add(state, schemas::endpoint_stage_id{300}, 301, "message", schemas::user_id{302});
    doomed_objects::put(state, "object");
    members::put(state, schemas::group_id{4}, schemas::user_id{7});
    deleted_models::put(state, schemas::model_id{7}, schemas::version_id{9});
    deleted_versions::put(state, schemas::version_id{7}, filled<removal_place>());
    installation::put(state, filled<schemas::commands::genesis>());
    restoring::put(state, filled<schemas::restoring_row>());
    installation_settings::put(state, filled<schemas::installation_settings>());
    put_level(state, 3);
    positions::put(state, filled<engine_position>());
    counters::put(state, "model", 300);
    kept_outcomes::put(state, filled<schemas::commands::request_identity>(), 300,
                       filled<schemas::commands::outcome>());
    for (const auto& kind : named_values<timer_kind>()) timers::set(state, {300, kind.value, "key"});
    auto event = filled<schemas::event>();
    outbox::add(state, {"events.promote", 3}, event);
    audit_rows::put(state, filled<schemas::audit_row>());
    audit_rows::put_head(state, filled<schemas::audit_head>());
    external_events::put(state, filled<schemas::external_event>());
    outbox::put_published(state, {"events.promote", 3}, 300);
    return state.take();
}

TEST(rows, of_every_table_keep_their_bytes) {
    std::vector<std::string> lines;
    std::set<char> letters;
    for (const auto& [key, value] : rows_of_all_tables()) {
        lines.push_back(frozen_line(runtime::to_hex(key), value.value()));
        letters.insert(key.front());
    }
    expect_frozen(lines, HERALD_FROZEN_BYTES);
    for (const auto& one : named_values<table>())
        EXPECT_TRUE(letters.contains(static_cast<char>(one.value)))
            << "table " << one.name << " has no frozen bytes";
}

TEST(rows, are_walked_by_the_names_of_tables_and_timers) {
    EXPECT_GT(named_values<table>().size(), 40u);
    EXPECT_EQ(named_values<timer_kind>().size(), 25u);
}

}  // namespace
}  // namespace herald::test
