// Protects deletion: a deleted model and its versions are absent at once for everybody, whatever is still to
// be erased, a step is bounded, and in the end no row is left (design.md §1).
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "schemas/find.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/registry.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using namespace storage::registry::tables;
using schemas::lock_level;
using schemas::stage;
using testing::HasSubstr;

class removal : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = registry.model_named("m");

    schemas::commands::outcome remove(schemas::model_id id) {
        return registry.run(schemas::commands::delete_model{id, "", ""});
    }
    schemas::commands::outcome remove(schemas::version_id id) {
        schemas::commands::delete_version command;
        command.id = id;
        return registry.run(command);
    }
    schemas::build build_of(schemas::version_id version) {
        schemas::commands::create_build command;
        command.workspace_name = "default";
        command.model_version_id = version;
        command.external_location = "registry.example.org/m:1";
        command.creator_request = {"{}"};
        return registry.must<schemas::build>(command);
    }
    schemas::scan scan_of(schemas::build_id build) {
        schemas::commands::request_scan command;
        command.workspace_name = "default";
        command.build_id = build;
        command.creator_request = {"{}"};
        return registry.must<schemas::scan>(command);
    }
    schemas::activity_id transition_of(schemas::version_id version, stage desired) {
        schemas::commands::create_transition command;
        command.model_version_id = version;
        command.desired_stage = desired;
        return registry.must<schemas::activity>(command).id;
    }
    void promote(schemas::version_id version) {
        const auto asked = transition_of(version, stage::production);
        EXPECT_EQ(registry.run_as(other, schemas::commands::review_transition{asked, true, ""}).code, 0u);
        EXPECT_EQ(registry.run(schemas::commands::commit_transition{asked, ""}).code, 0u);
    }
    /// Rows of these tables.
    std::size_t rows_of(std::initializer_list<table> tables) {
        std::size_t rows = 0;
        for (const table one : tables)
            registry.view()->scan(std::string(key_of(one)), {}, [&](std::string_view, std::string_view) {
                ++rows;
                return true;
            });
        return rows;
    }
    std::size_t rows_of_versions() {
        return rows_of({table::version, table::version_by_name, table::version_of_model, table::activity,
                        table::activity_of_version, table::transition, table::open_transition,
                        table::promotion, table::build, table::build_of_version, table::scan,
                        table::scan_of_build, table::deleted_model, table::deleted_version});
    }
    void pass() { EXPECT_EQ(registry.run(schemas::commands::no_operation{}).code, 0u); }
    std::size_t found_versions() {
        return whole(find::search_versions(*registry.view(), registry.admin, {}))->total_records;
    }

    schemas::user_id other = registry.second_admin();
};

TEST_F(removal, a_deleted_model_is_absent_at_once_and_its_name_is_free) {
    const auto version = registry.version_named("v", model.id);
    const auto build = build_of(version.id);
    const auto asked = transition_of(version.id, stage::staging);
    ASSERT_EQ(remove(model.id).code, 0u);
    const auto view = registry.view();
    EXPECT_TRUE(find_row<schemas::model_version>(*view, key_of(table::version).number(version.id)))
        << "the test would show nothing";
    EXPECT_FALSE(access::readable_model(*view, registry.admin, model.id));
    EXPECT_FALSE(access::readable_version(*view, registry.admin, version.id));
    EXPECT_FALSE(access::readable_version(*view, registry.admin, model.id, version.id));
    EXPECT_FALSE(access::readable_build(*view, registry.admin, build.id));
    EXPECT_EQ(found_versions(), 0u);
    EXPECT_EQ(whole(find::search_models(*view, registry.admin, {}))->total_records, 0u);
    EXPECT_EQ(code_of(remove(model.id)), error_code::not_found);
    EXPECT_EQ(code_of(remove(version.id)), error_code::not_found);
    EXPECT_EQ(code_of(registry.run(schemas::commands::commit_transition{asked, ""})), error_code::not_found);
    EXPECT_EQ(registry.version_named("v", registry.model_named("m").id).version_number, 1u);
}

TEST_F(removal, of_a_model_leaves_no_row_of_its_versions_locked_ones_included) {
    const std::size_t before = rows_of_versions();
    const auto version = registry.version_named("v", model.id);
    scan_of(build_of(version.id).id);
    scan_of(build_of(version.id).id);
    transition_of(version.id, stage::staging);
    promote(version.id);
    schemas::commands::create_version closed;
    closed.registered_model_id = model.id;
    closed.version.version = "closed";
    closed.lock_level = lock_level::closed;
    registry.must<schemas::model_version>(closed);
    EXPECT_GT(rows_of_versions(), before + 15);
    ASSERT_EQ(remove(model.id).code, 0u);
    pass();
    EXPECT_EQ(rows_of_versions(), before);
    registry.now_ms += 48ll * 3'600'000;  // the scans' deadlines find nothing
    pass();
    EXPECT_EQ(rows_of_versions(), before);
}

TEST_F(removal, of_a_version_takes_along_what_hangs_on_it_in_the_same_command) {
    const std::size_t before = rows_of_versions();
    const auto version = registry.version_named("v", model.id);
    scan_of(build_of(version.id).id);
    promote(version.id);
    ASSERT_EQ(remove(version.id).code, 0u);
    EXPECT_EQ(rows_of_versions(), before);
    EXPECT_EQ(registry.version_named("v", model.id).version_number, 2u) << "a number is never reused";
}

TEST_F(removal, of_a_version_with_much_behind_it_is_done_at_once_and_swept_later) {
    const auto version = registry.version_named("v", model.id);
    for (int i = 0; i < 400; ++i) transition_of(version.id, stage::unassigned);
    ASSERT_EQ(remove(version.id).code, 0u);
    EXPECT_FALSE(access::readable_version(*registry.view(), registry.admin, version.id));
    const std::size_t first = rows_of({table::activity});
    EXPECT_GT(first, 0u);
    EXPECT_GE(first, 400 - limits::removal_changes_per_command_max);
    pass();
    EXPECT_GE(rows_of({table::activity}) + limits::removed_rows_max, first);
    for (int i = 0; i < 5; ++i) pass();
    EXPECT_EQ(rows_of_versions(), 0u);
}

TEST_F(removal, of_many_models_is_swept_in_bounded_steps_one_after_the_other) {
    std::size_t versions = 0;
    std::vector<schemas::model_id> models;
    for (int i = 0; i < 3; ++i) {
        models.push_back(registry.model_named("model " + std::to_string(i)).id);
        for (int j = 0; j < 400; ++j, ++versions)
            registry.version_named("v" + std::to_string(j), models.back());
    }
    for (const auto id : models) ASSERT_EQ(remove(id).code, 0u);
    EXPECT_EQ(found_versions(), 0u);
    std::size_t left = rows_of({table::version});
    EXPECT_GT(left, limits::removed_rows_max) << "the test would show nothing";
    for (int steps = 0; left > 0; ++steps) {
        ASSERT_LT(steps, 10);
        pass();
        const std::size_t now = rows_of({table::version});
        EXPECT_LE(left - now, limits::removed_rows_max);
        left = now;
    }
    pass();
    EXPECT_EQ(rows_of_versions(), 0u);
    EXPECT_FALSE(timers::first_due_ms(*registry.view()) == registry.now_ms) << "the sweep goes on for ever";
}

TEST_F(removal, is_told_with_what_was_there_for_models_versions_and_builds) {
    registry.webhook_for({schemas::event_type::delete_});
    const auto version = registry.version_named("v", model.id);
    const auto build = build_of(version.id);
    ASSERT_EQ(remove(model.id).code, 0u);
    ASSERT_EQ(registry.outbox().size(), 1u);
    EXPECT_THAT(registry.outbox()[0].body,
                testing::AllOf(HasSubstr(R"("event_type":"DELETE","resource_type":"REGISTERED_MODEL")"),
                               HasSubstr(R"("original":{"id":"1",)"), HasSubstr(R"("name":"m")"),
                               Not(HasSubstr("\"updated\":{"))));
    pass();
    std::vector<schemas::resource_type> told;
    for (const auto& event : registry.outbox()) told.push_back(event.resource_type);
    EXPECT_THAT(told, testing::UnorderedElementsAre(schemas::resource_type::registered_model,
                                                    schemas::resource_type::registered_model_version,
                                                    schemas::resource_type::build));
}

TEST_F(removal, has_events_with_ids_of_their_own_whoever_else_tells_of_something_at_the_same_record) {
    registry.webhook_for({schemas::event_type::delete_});
    const auto second = registry.model_named("n");
    for (int i = 0; i < 3; ++i) registry.version_named("v" + std::to_string(i), model.id);
    ASSERT_EQ(remove(model.id).code, 0u);
    ASSERT_EQ(remove(second.id).code, 0u);  // the versions of the first go at this record
    std::set<schemas::event_id> ids;
    std::set<std::uint64_t> offsets;
    for (const auto& event : registry.outbox()) {
        EXPECT_TRUE(ids.insert(event.id).second) << event.id << " is told twice";
        offsets.insert(event.offset);
    }
    EXPECT_EQ(ids.size(), 5u);
    EXPECT_EQ(offsets.size(), 2u) << "the test would show nothing";
}

TEST_F(removal, goes_on_behind_what_is_erased) {
    for (int i = 0; i < 400; ++i) registry.version_named("v" + std::to_string(i), model.id);
    ASSERT_EQ(remove(model.id).code, 0u);
    EXPECT_EQ(deleted_models::next_version(*registry.view(), model.id).value, 0u);
    pass();
    ASSERT_GT(rows_of({table::version}), 0u) << "the test would show nothing";
    const auto next = deleted_models::next_version(*registry.view(), model.id);
    EXPECT_EQ(versions::first_from(*registry.view(), {1})->id, next);
    pass();
    EXPECT_EQ(rows_of_versions(), 0u);
}

TEST_F(removal, of_a_version_is_told_once) {
    registry.webhook_for({schemas::event_type::delete_});
    const auto version = registry.version_named("v", model.id);
    ASSERT_EQ(remove(version.id).code, 0u);
    for (int i = 0; i < 3; ++i) pass();
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_THAT(events[0].body,
                testing::AllOf(HasSubstr(R"("original":{"id":"1","registered_model_id":"1",)"),
                               HasSubstr(R"("version":"v")")));
}

TEST_F(removal, of_a_version_with_as_many_labels_as_may_be_and_much_behind_it_fits_into_a_command) {
    schemas::commands::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "v";
    for (int i = 0; i < 256; ++i) command.version.labels.push_back(std::to_string(i));
    const auto version = registry.must<schemas::model_version>(command);
    for (int i = 0; i < 200; ++i) build_of(version.id);
    registry.webhook_for({schemas::event_type::delete_});
    EXPECT_EQ(remove(version.id).code, 0u);
    for (int i = 0; i < 5; ++i) pass();
    EXPECT_EQ(rows_of_versions(), 0u);
    EXPECT_EQ(registry.outbox().size(), 201u);
}

TEST_F(removal, goes_on_behind_what_it_erased_of_a_version) {
    const auto version = registry.version_named("v", model.id);
    const auto build = build_of(version.id);
    std::vector<schemas::activity_id> asked;
    for (int i = 0; i < 700; ++i) asked.push_back(transition_of(version.id, stage::unassigned));
    ASSERT_EQ(remove(version.id).code, 0u);
    const auto place = [&] { return deleted_versions::place_of(*registry.view(), version.id); };
    for (int i = 0; i < 2; ++i) {
        const auto left = activities::first_from(*registry.view(), asked.front());
        ASSERT_TRUE(left) << "the test would show nothing";
        EXPECT_EQ(place().activity, left->id);
        EXPECT_GT(place().workspace, build.workspace_id) << "its builds are not looked for again";
        pass();
    }
    for (int i = 0; i < 3; ++i) pass();
    EXPECT_EQ(rows_of_versions(), 0u);
}

TEST_F(removal, goes_on_in_the_middle_of_the_scans_of_a_build) {
    const auto version = registry.version_named("v", model.id);
    const auto build = build_of(version.id);
    for (int i = 0; i < 400; ++i) {
        scan_of(build.id);
        EXPECT_EQ(registry
                      .run(schemas::commands::report_scan{"default", build.id, schemas::scan_status::error,
                                                          schemas::safety_status::unknown, ""})
                      .code,
                  0u);
    }
    ASSERT_EQ(remove(version.id).code, 0u);
    const auto place = deleted_versions::place_of(*registry.view(), version.id);
    EXPECT_EQ(place.build, build.id);
    EXPECT_GT(place.scan, schemas::scan_id{100});
    EXPECT_EQ(scans::first_from(*registry.view(), {1})->id, place.scan);
    for (int i = 0; i < 4; ++i) pass();
    EXPECT_EQ(rows_of_versions(), 0u);
}

TEST_F(removal, leaves_no_timer_and_no_number_of_events) {
    using schemas::event_type;
    registry.webhook_for({event_type::create, event_type::update, event_type::delete_, event_type::promote,
                          event_type::request_scan});
    schemas::workspace_policies policies;
    policies.promotion_deadline_seconds = 3'600;
    EXPECT_EQ(registry.run(schemas::commands::set_policies{"default", policies, false}).code, 0u);
    const auto timers_left = [&] {
        std::size_t count = 0;
        timers::each(*registry.view(), [&](const timer& each) {
            count += each.kind == timer_kind::scan_deadline || each.kind == timer_kind::promotion_deadline;
            return true;
        });
        return count;
    };
    const auto version = registry.version_named("v", model.id);
    scan_of(build_of(version.id).id);
    promote(version.id);
    EXPECT_EQ(timers_left(), 2u);
    EXPECT_GT(rows_of({table::resource_sequence}), 5u);
    ASSERT_EQ(remove(version.id).code, 0u);
    EXPECT_EQ(timers_left(), 0u);
    ASSERT_EQ(remove(model.id).code, 0u);
    pass();
    EXPECT_EQ(rows_of({table::resource_sequence}), 0u);
    EXPECT_EQ(registry.outbox().back().resource_sequence, 1u) << "the last event has its number";
}

}  // namespace
}  // namespace herald::test
