// Protects what the tables write: it is frozen, byte by byte, since nodes of different versions share the
// state. A row and its index entries are written, moved and erased together, and a row under another's key is
// not accepted.
#include <gmock/gmock.h>

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/feature_flags.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::test {
namespace {

namespace tables = storage::registry::tables;
using storage::registry::state::make_memory_state;
using storage::registry::state::row_changes;
using storage::registry::state::state_changes;
using storage::registry::state::state_corrupt;
using testing::ElementsAre;

/// Letters, digits and a few signs unchanged, 8 bytes of a small number as "#7", other bytes as two
/// hexadecimal digits after a '~'.
std::string shown(std::string_view bytes) {
    std::string text;
    while (!bytes.empty()) {
        if (bytes.size() >= 8 && bytes.substr(0, 7) == std::string_view("\0\0\0\0\0\0\0", 7)) {
            text += '#' + std::to_string(static_cast<unsigned char>(bytes[7]));
            bytes.remove_prefix(8);
            continue;
        }
        const char first = bytes.front();
        const bool is_plain = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                              (first >= '0' && first <= '9') || first == '@' || first == '.' || first == '-';
        text += is_plain ? std::string(1, first) : '~' + runtime::to_hex(bytes.substr(0, 1));
        bytes.remove_prefix(1);
    }
    return text;
}

std::vector<std::string> shown(const row_changes& changes) {
    std::vector<std::string> lines;
    for (const auto& [key, value] : changes)
        lines.push_back(shown(key) + (value ? " = " + shown(*value) : " erased"));
    return lines;
}

class tables_test : public testing::Test {
  protected:
    /// The rows that were changed since the last call, without those of lists, which have tests of their own.
    std::vector<std::string> written() {
        row_changes changes = state.take();
        EXPECT_TRUE(store->write(changes));
        now = store->view();
        state.rebase(now.get());
        std::erase_if(changes, [](const auto& row) {
            using enum tables::table;
            const auto table = static_cast<tables::table>(row.first.front());
            return table == list_count || table == list_of_models || table == list_of_versions ||
                   table == list_of_builds;
        });
        return shown(changes);
    }

    std::unique_ptr<storage::registry::state::state_store> store = make_memory_state();
    std::shared_ptr<const storage::registry::state::state_view> now = store->view();
    state_changes state{now.get()};
};

schemas::model_version version_named(const std::string& name) {
    schemas::model_version version;
    version.id = schemas::version_id{5};
    version.registered_model_id = schemas::model_id{3};
    version.workspace_id = schemas::workspace_id{2};
    version.version = name;
    return version;
}

TEST_F(tables_test, rows_of_people_have_their_frozen_bytes) {
    schemas::organization org;
    org.id = schemas::organization_id{1};
    org.name = "acme";
    tables::organizations::put(state, org);
    EXPECT_THAT(written(), ElementsAre("D#1 = ~04~01~0a~04acme"));

    schemas::user user;
    user.id = schemas::user_id{7};
    user.email = "Ada@example.org";
    tables::users::put(state, user);
    EXPECT_THAT(written(),
                ElementsAre("E#7 = ~04~07~0a~0fAda@example.org", "Fada@example.org = ~07", "u = ~07"));

    schemas::group group;
    group.id = schemas::group_id{4};
    group.org_id = org.id;
    group.name = "Admins";
    tables::groups::put(state, group);
    EXPECT_THAT(written(), ElementsAre("G#4 = ~04~04~08~01~0e~06Admins"));

    tables::members::put(state, group.id, user.id);
    EXPECT_THAT(written(), ElementsAre("H#4#7 = ", "I#7#4 = "));

    schemas::role role;
    role.id = schemas::role_id{9};
    role.org_id = org.id;
    role.name = "Read Only";
    tables::roles::put(state, role);
    EXPECT_THAT(written(), ElementsAre("J#9 = ~04~09~08~01~0e~09Read~20Only"));

    schemas::workspace workspace;
    workspace.id = schemas::workspace_id{2};
    workspace.name = "default";
    tables::workspaces::put(state, workspace);
    EXPECT_THAT(written(), ElementsAre("K#2 = ~04~02~0a~07default.~02~08~01", "Ldefault = ~02"));
}

TEST_F(tables_test, rows_of_models_have_their_frozen_bytes) {
    schemas::registered_model model;
    model.id = schemas::model_id{3};
    model.workspace_id = schemas::workspace_id{2};
    model.name = "m";
    tables::models::put(state, model);
    EXPECT_THAT(written(), ElementsAre("M#3 = ~04~03~0c~02z~01m", "N#2m = ~03", "o#2#3 = "));

    tables::versions::put(state, version_named("v1"));
    EXPECT_THAT(written(),
                ElementsAre("O#5 = ~04~05~08~03~1c~05~20~01z~02v1~c0~02~02", "P#3v1 = ~05", "Q#3#5 = "));

    schemas::activity entry;
    entry.id = schemas::activity_id{6};
    entry.model_version_id = schemas::version_id{5};
    entry.comment = "please";
    tables::activities::put(state, entry);
    EXPECT_THAT(written(), ElementsAre("R#6 = ~04~06~08~05~16~06please", "S#5#6 = "));

    tables::transition_row transition;
    transition.transition.id = entry.id;
    transition.model_version_id = schemas::version_id{5};
    transition.reviews = {{schemas::user_id{7}, true}};
    tables::transitions::put(state, transition);
    EXPECT_THAT(written(), ElementsAre("T#6 = ~06~02~04~06~08~05~16~04~04~07~08~01", "r#5#0 = ~06"));

    schemas::promotion promotion;
    promotion.model_version_id = schemas::version_id{5};
    promotion.reason = "late";
    tables::promotions::put(state, promotion);
    EXPECT_THAT(written(), ElementsAre("V#5 = ~04~05.~04late"));
}

TEST_F(tables_test, rows_of_builds_and_scans_have_their_frozen_bytes) {
    schemas::build build;
    build.id = schemas::build_id{8};
    build.model_version_id = schemas::version_id{5};
    build.workspace_id = schemas::workspace_id{2};
    tables::builds::put(state, build);
    EXPECT_THAT(written(), ElementsAre("-#8 = ", "W#8 = ~04~08~08~02~0c~05", "X#5#2#8 = "));

    schemas::scan scan;
    scan.id = schemas::scan_id{11};
    scan.build_id = build.id;
    tables::scans::put(state, scan);
    EXPECT_THAT(written(), ElementsAre("Y#11 = ~04~0b~08~08", "Z#8#11 = "));
}

TEST_F(tables_test, rows_of_an_installation_have_their_frozen_bytes) {
    schemas::commands::genesis genesis;
    genesis.generation = 1;
    EXPECT_FALSE(tables::installation::has(state));
    tables::installation::put(state, genesis);
    EXPECT_TRUE(tables::installation::has(state));
    EXPECT_THAT(written(), ElementsAre("A = ~08~01"));

    tables::put_level(state, 3);
    EXPECT_TRUE(tables::is_level_changed(state.changes()));
    EXPECT_THAT(written(), ElementsAre("q = ~03"));
    EXPECT_EQ(tables::level_in_force(state), 3u);

    tables::feature_flags::put(state, {"promote_events", false, "why"});
    EXPECT_THAT(written(), ElementsAre("epromote~5fevents = ~06~0epromote~5fevents~0e~03why"));

    schemas::node_row node;
    node.node = "n1";
    node.level = 1;
    tables::nodes::put(state, node);
    EXPECT_THAT(written(), ElementsAre("mn1 = ~06~02n1~14~01"));

    schemas::claim_row claim;
    claim.job = "publisher";
    claim.node = "n1";
    claim.token = 17;
    tables::claims::put(state, claim);
    EXPECT_THAT(written(), ElementsAre("npublisher = ~06~09publisher~0a~02n1~10~11"));
}

TEST_F(tables_test, a_webhooks_change_moves_to_each_new_revision_and_outlives_it_as_an_erasure) {
    schemas::webhook hook;
    hook.id = schemas::webhook_id{13};
    hook.workspace_id = schemas::workspace_id{2};
    hook.settings.name = "w";
    hook.revision = 40;
    tables::webhooks::put(state, hook);
    EXPECT_THAT(written(), ElementsAre("a#13 = ~04~0d~08~02~0e~03~06~01w~28~28", "b#2w = ~0d",
                                       "c#2#13 = ", "d#40#13 = "));

    schemas::webhook later = hook;
    later.revision = 41;
    tables::webhooks::update(state, hook, later);
    EXPECT_THAT(written(),
                ElementsAre("a#13 = ~04~0d~08~02~0e~03~06~01w~28~29", "d#40#13 erased", "d#41#13 = "));

    const std::string erasure = tables::webhooks::erase_at(state, later, 42);
    EXPECT_THAT(written(),
                ElementsAre("a#13 erased", "b#2w erased", "c#2#13 erased", "d#41#13 erased", "d#42#13 = -"));

    tables::webhooks::forget_erasure(state, erasure);
    EXPECT_THAT(written(), ElementsAre("d#42#13 erased"));
}

TEST_F(tables_test, an_update_that_changes_a_name_moves_the_index) {
    const auto before = version_named("v1");
    tables::versions::put(state, before);
    auto after = before;
    after.version = "v2";
    tables::versions::update(state, before, after);
    EXPECT_EQ(tables::versions::named(state, before.registered_model_id, "v1"), std::nullopt);
    EXPECT_EQ(tables::versions::named(state, before.registered_model_id, "v2"), before.id);
    EXPECT_EQ(tables::versions::find(state, before.id)->version, "v2");
}

TEST_F(tables_test, a_transition_is_found_by_its_stage_while_it_is_open) {
    tables::transition_row before;
    before.transition = {schemas::activity_id{6}, schemas::stage::unassigned, schemas::stage::staging,
                         schemas::transition_state::pending};
    before.model_version_id = schemas::version_id{5};
    tables::transitions::put(state, before);
    const auto open = [&](std::uint64_t version, schemas::stage desired) {
        return tables::transitions::open_to(state, schemas::version_id{version}, desired);
    };
    for (const auto next : {schemas::transition_state::approved, schemas::transition_state::rejected,
                            schemas::transition_state::committed}) {
        EXPECT_EQ(open(5, schemas::stage::staging), schemas::activity_id{6}) << name_of(next);
        tables::transition_row after = before;
        after.transition.state = next;
        tables::transitions::update(state, before, after);
        before = after;
    }
    EXPECT_EQ(open(5, schemas::stage::staging), std::nullopt);
    before.transition.state = schemas::transition_state::closed;
    tables::transitions::put(state, before);
    EXPECT_EQ(open(5, schemas::stage::staging), std::nullopt);
}

TEST_F(tables_test, a_version_moves_in_the_lists_it_stays_in_and_those_it_leaves_count_one_less) {
    using namespace tables;
    auto before = version_named("v1");
    before.labels = {"a", "b"};
    before.owner = schemas::user_id{7};
    before.time_updated = 1;
    versions::put(state, before);
    auto after = before;
    after.labels = {"b", "c"};
    after.stage = schemas::stage::staging;
    after.time_updated = 2;
    versions::update(state, before, after);
    const schemas::workspace_id workspace{2};
    const auto in = [&](const row_list& list) {
        std::vector<std::int64_t> times;
        lists::each(state, list, list_order::newest_first, {}, [&](const listed& entry) {
            EXPECT_EQ(entry.id, 5u);
            EXPECT_EQ(entry.model, 3u);
            times.push_back(entry.time_updated);
            return true;
        });
        EXPECT_EQ(lists::count(state, list), times.size());
        return times;
    };
    for (const row_list& list :
         {row_list::versions_of(workspace), row_list::versions_of(schemas::model_id{3}),
          row_list::versions_labelled(workspace, "b"), row_list::versions_labelled(workspace, "c"),
          row_list::versions_in(workspace, schemas::stage::staging),
          row_list::versions_owned_by(workspace, schemas::user_id{7})})
        EXPECT_THAT(in(list), ElementsAre(2)) << shown(list.key());
    for (const row_list& list :
         {row_list::versions_labelled(workspace, "a"), row_list::versions_labelled(workspace, ""),
          row_list::versions_in(workspace, schemas::stage::unassigned),
          row_list::versions_of_run(workspace, "")})
        EXPECT_THAT(in(list), ElementsAre()) << shown(list.key());
    versions::erase(state, after);
    EXPECT_THAT(in(row_list::versions_of(workspace)), ElementsAre());
    written();
    std::vector<std::string> left;
    now->scan("", "", [&](std::string_view key, std::string_view) {
        left.push_back(shown(key));
        return true;
    });
    EXPECT_THAT(left, ElementsAre());
}

TEST_F(tables_test, a_list_is_walked_in_both_directions_from_any_place) {
    using namespace tables;
    schemas::registered_model model;
    model.workspace_id = schemas::workspace_id{2};
    for (const auto& [id, time] : {std::pair(1, 10), std::pair(2, 30), std::pair(3, 20), std::pair(4, 20)}) {
        model.id.value = static_cast<std::uint64_t>(id);
        model.name = "m" + std::to_string(id);
        model.time_updated = time;
        models::put(state, model);
    }
    const auto ids = [&](list_order order, const std::optional<listed>& after) {
        std::vector<std::uint64_t> found;
        lists::each(state, row_list::models_of(model.workspace_id), order, after, [&](const listed& entry) {
            found.push_back(entry.id);
            return true;
        });
        return found;
    };
    EXPECT_THAT(ids(list_order::newest_first, {}), ElementsAre(2, 4, 3, 1));
    EXPECT_THAT(ids(list_order::oldest_first, {}), ElementsAre(1, 3, 4, 2));
    EXPECT_THAT(ids(list_order::newest_first, listed{20, 4, 0}), ElementsAre(3, 1));
    EXPECT_THAT(ids(list_order::oldest_first, listed{20, 3, 0}), ElementsAre(4, 2));
    written();  // the same of a store
    EXPECT_THAT(ids(list_order::oldest_first, {}), ElementsAre(1, 3, 4, 2));
    EXPECT_THAT(ids(list_order::oldest_first, listed{20, 3, 0}), ElementsAre(4, 2));
}

TEST_F(tables_test, builds_of_a_workspace_are_listed_from_the_newest_on) {
    using namespace tables;
    schemas::build build;
    build.model_version_id.value = 1;
    for (const std::uint64_t id : {2u, 3u, 5u}) {
        build.id.value = id;
        build.workspace_id.value = id == 3 ? 8 : 7;
        builds::put(state, build);
    }
    constexpr schemas::workspace_id seven{7};
    EXPECT_EQ(builds::newest_of(state, seven, {}), schemas::build_id{5});
    EXPECT_EQ(builds::newest_of(state, seven, schemas::build_id{5}), schemas::build_id{2});
    EXPECT_EQ(builds::newest_of(state, seven, schemas::build_id{2}), std::nullopt);
    auto later = build;
    later.time_updated = 9;
    builds::update(state, build, later);
    EXPECT_EQ(lists::count(state, row_list::builds_of(seven)), 2u);
    builds::erase(state, later);
    EXPECT_EQ(builds::newest_of(state, seven, {}), schemas::build_id{2});
}

TEST_F(tables_test, a_resource_that_is_gone_leaves_no_number_of_its_events) {
    using namespace tables;
    const auto numbers = [&] {
        std::size_t rows = 0;
        state.scan(std::string(key_of(tables::table::resource_sequence)), {},
                   [&](std::string_view, std::string_view) {
                       ++rows;
                       return true;
                   });
        return rows;
    };
    schemas::event event;
    event.resource_type = schemas::resource_type::build;
    for (const std::string id : {"7", "71"})
        for (const schemas::event_kind& kind : schemas::event_kinds) {
            event.type = kind.type;
            event.resource_id = id;
            outbox::add(state, {"t", 0}, event);
            outbox::add(state, {"t", 0}, event);
            EXPECT_EQ(event.resource_sequence, 2u);
        }
    outbox::forget(state, schemas::resource_type::endpoint, "7");
    EXPECT_EQ(numbers(), 2 * schemas::event_kinds.size());
    outbox::forget(state, schemas::resource_type::build, "7");
    EXPECT_EQ(numbers(), schemas::event_kinds.size());
}

TEST_F(tables_test, an_update_writes_no_index_entry_that_stays) {
    const auto before = version_named("v1");
    tables::versions::put(state, before);
    written();
    auto after = before;
    after.description = "d";
    tables::versions::update(state, before, after);
    EXPECT_EQ(written().size(), 1u);
}

TEST_F(tables_test, erasing_a_row_leaves_nothing_of_it) {
    const auto version = version_named("v1");
    tables::versions::put(state, version);
    written();
    tables::versions::erase(state, version);
    written();
    std::size_t rows = 0;
    now->scan("", "", [&](std::string_view, std::string_view) { return ++rows != 0; });
    EXPECT_EQ(rows, 0u);
}

TEST_F(tables_test, a_range_begins_where_it_is_told_and_ends_when_the_visitor_has_enough) {
    for (std::uint64_t id = 1; id <= 5; ++id) {
        auto version = version_named("v" + std::to_string(id));
        version.id = schemas::version_id{id};
        tables::versions::put(state, version);
    }
    auto of_another = version_named("v1");
    of_another.id = schemas::version_id{6};
    of_another.registered_model_id = schemas::model_id{4};
    tables::versions::put(state, of_another);
    const auto page = [&](std::uint64_t from, std::size_t most) {
        std::vector<std::uint64_t> ids;
        tables::versions::each_of(state, schemas::model_id{3}, schemas::version_id{from},
                                  [&](schemas::version_id id) {
                                      ids.push_back(id.value);
                                      return ids.size() < most;
                                  });
        return ids;
    };
    EXPECT_THAT(page(0, 2), ElementsAre(1, 2));
    EXPECT_THAT(page(3, 2), ElementsAre(3, 4));
    EXPECT_THAT(page(5, 2), ElementsAre(5));
}

TEST_F(tables_test, a_row_under_the_key_of_another_is_not_believed) {
    tables::versions::put(state, version_named("v1"));
    row_changes moved = state.take();
    const auto row = *moved.lower_bound(std::string(1, static_cast<char>(tables::table::version)));
    moved.clear();
    std::string key = row.first;
    ASSERT_EQ(key.front(), 'O');
    key.back() = '\x09';
    moved[key] = row.second;
    state.absorb(moved);
    EXPECT_THROW(tables::versions::find(state, schemas::version_id{9}), state_corrupt);
}

TEST_F(tables_test, a_row_with_a_number_that_its_enumeration_does_not_have_is_not_believed) {
    tables::versions::put(state, version_named("v1"));
    row_changes stored = state.take();
    auto version = version_named("v1");
    version.stage = static_cast<schemas::stage>(77);
    stored.lower_bound(std::string(1, static_cast<char>(tables::table::version)))->second =
        schemas::encode(version);
    state.absorb(stored);
    EXPECT_THROW(tables::versions::find(state, version.id), state_corrupt);
}

using tables_death_test = tables_test;

TEST_F(tables_death_test, a_number_that_its_enumeration_does_not_have_is_never_written) {
    auto version = version_named("v1");
    version.stage = static_cast<schemas::stage>(77);
    EXPECT_DEATH(tables::versions::put(state, version), "broken invariant");
}

TEST_F(tables_death_test, a_row_without_an_id_is_never_written) {
    auto version = version_named("v1");
    version.id = {};
    EXPECT_DEATH(tables::versions::put(state, version), "broken invariant");
}

}  // namespace
}  // namespace herald::test
