// Protects updates of stages: the new build serves only once every node that serves predictions has loaded
// it, and whatever goes wrong, the old one serves on (design.md §4).
#include <gmock/gmock.h>

#include <algorithm>

#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/rules/limits.hpp"
#include "tests/unit/storage/registry/deployed.hpp"

namespace herald::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class updates_of_stages : public deployed {};

TEST_F(updates_of_stages, swap_at_the_offset_at_which_the_last_node_is_ready) {
    const auto first = made(), second = made();
    beat("b");
    auto before = begun(update_to(first.id));
    EXPECT_EQ(before.status, stage_status::creating);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "creating")) << "visible at once";
    ready(before.update_id, "a");
    EXPECT_EQ(stage_now().status, stage_status::creating) << "b is waited for";
    ready(before.update_id, "b");
    EXPECT_EQ(stage_now().status, stage_status::active);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active"));
    EXPECT_EQ(newest_of_log(), "build " + std::to_string(first.id.value) + " serves");

    before = begun(update_to(second.id));
    EXPECT_EQ(before.status, stage_status::updating);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active") + ", " + text(second.id, 0, "creating"));
    ready(before.update_id, "b");
    ready(before.update_id, "a");
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"));
    EXPECT_FALSE(running());
}

TEST_F(updates_of_stages, wait_for_no_node_that_serves_no_predictions_has_left_or_is_silent) {
    const auto build = made();
    beat("b", 1, false);
    beat("c");
    beat("d");
    const auto update = begun(update_to(build.id)).update_id;
    ready(update, "a");
    beat("c", 1, true, true);  // leaves
    EXPECT_EQ(stage_now().status, stage_status::creating) << "d is waited for";
    pass(9, {"a", "d"});
    EXPECT_EQ(stage_now().status, stage_status::creating);
    pass(16, {"a"});  // d is silent
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(updates_of_stages, wait_after_a_gap_in_the_log_until_every_node_can_have_been_heard_again) {
    const auto first = made(), second = made();
    serve(first.id);
    beat("b");
    const auto update = begun(update_to(second.id)).update_id;
    ready(update, "a");
    registry.now_ms += 12'000;
    beat("a");  // the update's timer fires before it
    EXPECT_EQ(stage_now().status, stage_status::updating) << "b is loading, as before the gap";
    pass(3, {"a"});
    ready(update, "a");
    EXPECT_EQ(stage_now().status, stage_status::updating) << "b may be heard yet";
    beat("b");
    pass(12, {"a", "b"});
    EXPECT_EQ(stage_now().status, stage_status::updating);
    ready(update, "b");
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"));
}

TEST_F(updates_of_stages, pass_over_a_node_that_is_not_heard_after_a_gap_in_the_log) {
    const auto build = made();
    beat("b");
    const auto update = begun(update_to(build.id)).update_id;
    ready(update, "a");
    registry.now_ms += 60'000;
    pass(9, {"a"});
    EXPECT_EQ(stage_now().status, stage_status::creating);
    pass(6, {"a"});
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(updates_of_stages, take_no_word_of_a_process_that_was_replaced) {
    const auto build = made();
    const auto update = begun(update_to(build.id)).update_id;
    beat("a", 2);
    schemas::commands::component_ready late;
    late.update_id = update;
    late.node = "a";
    late.boot[0] = 1;
    EXPECT_EQ(registry.run(late).message, "another process runs as node \"a\"");
    ready(update, "a", {}, 2);
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(updates_of_stages, that_a_node_had_loaded_before_it_restarted_wait_for_it_again) {
    const auto build = made();
    beat("b");
    const auto update = begun(update_to(build.id)).update_id;
    ready(update, "a");
    beat("a", 2);
    ready(update, "b");
    EXPECT_EQ(stage_now().status, stage_status::creating) << "a has not loaded it";
    ready(update, "a", {}, 2);
    EXPECT_EQ(stage_now().status, stage_status::active);
}

TEST_F(updates_of_stages, are_rolled_back_by_an_error_of_one_node) {
    const auto first = made(), second = made();
    serve(first.id);
    const auto update = begun(update_to(second.id)).update_id;
    ready(update, "a", "the model needs more memory than there is");
    EXPECT_EQ(stage_now().status, stage_status::error);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active") + ", " + text(second.id, 0, "error"));
    EXPECT_EQ(stage_now().components[1].message, "node a: the model needs more memory than there is");
    ready(update, "a");
    EXPECT_EQ(stage_now().status, stage_status::error) << "the update has ended";
    serve(second.id);
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"))
        << "the next update goes on from the old one";
}

TEST_F(updates_of_stages, keep_of_a_long_error_its_beginning_in_whole_characters) {
    std::string error;
    while (error.size() + 3 <= limits::stage_log_message_bytes_max) error += "\xE2\x82\xAC";
    const auto build = made();
    ready(begun(update_to(build.id)).update_id, "a", error);
    const std::string message = stage_now().components.back().message;
    EXPECT_TRUE(message.starts_with("node a: \xE2\x82\xAC")) << message.substr(0, 40);
    EXPECT_GT(message.size(), limits::stage_log_message_bytes_max - 3);
    EXPECT_LE(message.size(), limits::stage_log_message_bytes_max);
    EXPECT_TRUE(runtime::is_valid_utf8(message));
    EXPECT_TRUE(runtime::is_valid_utf8(newest_of_log()));
}

TEST_F(updates_of_stages, take_no_error_that_is_no_text) {
    const auto build = made();
    const auto update = begun(update_to(build.id)).update_id;
    for (const std::string& error : {std::string("\xff"), std::string(1, '\0'),
                                     std::string(limits::stage_log_message_bytes_max + 1, 'a')}) {
        schemas::commands::component_ready wrong;
        wrong.update_id = update;
        wrong.node = "a";
        wrong.boot[0] = 1;
        wrong.error = error;
        EXPECT_EQ(registry.run(wrong).code, static_cast<std::uint32_t>(error_code::invalid_argument));
    }
    EXPECT_EQ(stage_now().status, stage_status::creating);
}

TEST_F(updates_of_stages, are_rolled_back_after_ten_minutes) {
    const auto build = made();
    beat("b");
    const auto update = begun(update_to(build.id)).update_id;
    ready(update, "a");
    pass(599, {"a", "b"});
    EXPECT_EQ(stage_now().status, stage_status::creating);
    pass(4, {"a", "b"});
    EXPECT_EQ(stage_now().status, stage_status::error);
    EXPECT_THAT(stage_now().components.at(0).message, HasSubstr("within 10 min"));
}

TEST_F(updates_of_stages, without_a_node_that_serves_end_after_ten_minutes) {
    const auto build = made();
    beat("a", 1, false);
    begun(update_to(build.id));
    pass(604);
    EXPECT_THAT(stage_now().components.at(0).message, HasSubstr("no node that serves predictions"));
}

TEST_F(updates_of_stages, to_a_build_that_can_never_serve_end_at_once) {
    const auto good = made();
    serve(good.id);
    auto elsewhere = asked_build(version.id);
    elsewhere.external_location = "registry.example.org/m:1";
    const auto without = registry.must<schemas::build>(elsewhere);
    const auto unsafe = made();
    ASSERT_EQ(report(unsafe.id, schemas::safety_status::unsafe).code, 0u);
    const auto failed = asked(version.id);
    auto why = finished(failed.id, claim_builder("a"));
    why.error = "no model";
    run(why);
    const std::vector<std::pair<schemas::build_id, std::string>> never{
        {without.id, "no runtime"}, {unsafe.id, "unsafe"}, {failed.id, "no model"}};
    for (const auto& [id, reason] : never) {
        const auto after = begun(update_to(id));
        EXPECT_EQ(after.status, stage_status::error);
        EXPECT_EQ(components(), text(good.id, 1'000'000, "active") + ", " + text(id, 0, "error"));
        EXPECT_THAT(after.components[1].message, HasSubstr(reason));
        EXPECT_FALSE(running());
    }
}

TEST_F(updates_of_stages, to_a_build_that_is_being_made_wait_for_it) {
    beat("a");
    const auto build = asked(version.id), other = asked(version.id);
    begun(update_to(build.id));
    EXPECT_EQ(running()->phase, schemas::update_phase::waiting_for_build);
    run(finished(build.id, claim_builder("a")));
    EXPECT_EQ(running()->phase, schemas::update_phase::loading);
    ready(running()->id, "a");
    EXPECT_EQ(stage_now().status, stage_status::active);
    begun(update_to(other.id));
    auto failed = finished(other.id, claim_builder("a"));
    failed.error = "it holds no model";
    run(failed);
    EXPECT_EQ(components(), text(build.id, 1'000'000, "active") + ", " + text(other.id, 0, "error"));
    EXPECT_THAT(stage_now().components[1].message, HasSubstr("it holds no model"));
}

TEST_F(updates_of_stages, replace_the_one_that_runs) {
    const auto first = made(), second = made(), third = made();
    serve(first.id);
    const auto dropped = begun(update_to(second.id)).update_id;
    const auto update = begun(update_to(third.id)).update_id;
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active") + ", " + text(third.id, 0, "creating"));
    ready(dropped, "a", "of the update that was dropped");
    EXPECT_EQ(stage_now().status, stage_status::updating);
    ready(update, "a");
    EXPECT_EQ(components(), text(third.id, 1'000'000, "active"));
}

TEST_F(updates_of_stages, may_bring_the_same_build_with_other_settings) {
    const auto build = made();
    serve(build.id);
    auto command = update_to(build.id);
    command.limits.in_flight_max = 3;
    ready(begun(command).update_id, "a");
    EXPECT_EQ(components(), text(build.id, 1'000'000, "active"));
    EXPECT_EQ(stage_now().components[0].limits.in_flight_max, 3u);
    schemas::commands::delete_version gone;
    gone.id = version.id;
    EXPECT_THAT(registry.run(gone).message, HasSubstr("/churn")) << "it is held as before";
}

TEST_F(updates_of_stages, tell_whoever_listens_to_the_endpoint) {
    const auto build = made();
    registry.webhook_for({schemas::event_type::update});
    const std::size_t before = registry.outbox().size();
    ready(begun(update_to(build.id)).update_id, "a");
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), before + 2);
    EXPECT_EQ(events.back().resource_type, schemas::resource_type::endpoint);
}

// ---- what is unsafe

TEST_F(updates_of_stages, to_a_build_that_is_reported_unsafe_are_rolled_back_at_once) {
    const auto first = made(), second = made();
    serve(first.id);
    begun(update_to(second.id));
    ASSERT_EQ(report(second.id, schemas::safety_status::unsafe).code, 0u);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "active") + ", " + text(second.id, 0, "error"));
    EXPECT_THAT(stage_now().components[1].message, HasSubstr("unsafe"));
}

TEST_F(updates_of_stages, of_an_unsafe_build_to_a_safe_one_go_on) {
    const auto first = made(), second = made();
    serve(first.id);
    const auto update = begun(update_to(second.id)).update_id;
    ASSERT_EQ(report(first.id, schemas::safety_status::unsafe).code, 0u);
    EXPECT_EQ(components(), text(first.id, 1'000'000, "error") + ", " + text(second.id, 0, "creating"));
    EXPECT_EQ(stage_now().status, stage_status::updating);
    ready(update, "a");
    EXPECT_EQ(components(), text(second.id, 1'000'000, "active"));
}

TEST_F(updates_of_stages, a_serving_build_that_is_reported_unsafe_says_so) {
    const auto build = made();
    serve(build.id);
    ASSERT_EQ(report(build.id, schemas::safety_status::unsafe).code, 0u);
    EXPECT_EQ(stage_now().status, stage_status::error);
    EXPECT_EQ(components(), text(build.id, 1'000'000, "error"));
    EXPECT_THAT(stage_now().components[0].message, HasSubstr("unsafe"));
    const auto logged = newest_of_log();
    ASSERT_EQ(report(build.id, schemas::safety_status::unsafe).code, 0u);
    EXPECT_EQ(newest_of_log(), logged) << "the same report again changes nothing";
}

class builds_on_many_stages : public deployed {
  protected:
    static constexpr std::size_t many = 420;
    std::vector<schemas::endpoint_stage_id> stages;

    /// The build is asked for on stages of as many endpoints as it takes.
    void deploy_on_many(schemas::build_id build) {
        schemas::endpoint at;
        while (stages.size() < many) {
            if (stages.size() % limits::endpoint_stages_max == 0)
                at = endpoint_at("/e" + std::to_string(stages.size()));
            stages.push_back(stage_of(at, "s" + std::to_string(stages.size())).id);
            auto command = update_to(build);
            command.endpoint_id = at.id;
            command.stage_id = stages.back();
            begun(command);
        }
    }
    std::size_t in_status(stage_status wanted) {
        return static_cast<std::size_t>(std::ranges::count_if(stages, [&](schemas::endpoint_stage_id id) {
            return storage::registry::tables::endpoint_stages::find(*registry.view(), id)->status == wanted;
        }));
    }
    std::size_t in_phase(schemas::update_phase wanted) {
        return static_cast<std::size_t>(std::ranges::count_if(stages, [&](schemas::endpoint_stage_id id) {
            namespace tables = storage::registry::tables;
            const auto stage = tables::endpoint_stages::find(*registry.view(), id);
            const auto update = tables::endpoint_updates::find(*registry.view(), stage->update_id);
            return update && update->phase == wanted;
        }));
    }
    void sweep() {
        for (std::size_t i = 0; i < many / limits::stages_followed_at_once_max + 1; ++i)
            run(schemas::commands::no_operation{});
    }
};

TEST_F(builds_on_many_stages, that_are_reported_unsafe_end_every_update_to_them) {
    beat("a");
    const auto build = upstream();
    deploy_on_many(build.id);
    ASSERT_EQ(in_status(stage_status::creating), many);
    ASSERT_EQ(report(build.id, schemas::safety_status::unsafe).code, 0u);
    EXPECT_EQ(in_status(stage_status::error), limits::stages_followed_at_once_max) << "the others follow";
    sweep();
    EXPECT_EQ(in_status(stage_status::error), many);
}

TEST_F(builds_on_many_stages, that_have_been_made_are_loaded_on_all_of_them) {
    beat("a");
    const auto build = asked(version.id);
    deploy_on_many(build.id);
    ASSERT_EQ(in_phase(schemas::update_phase::waiting_for_build), many);
    run(finished(build.id, claim_builder("a")));
    sweep();
    EXPECT_EQ(in_phase(schemas::update_phase::waiting_for_build), 0u);
    EXPECT_EQ(in_phase(schemas::update_phase::loading), many);
}

TEST_F(builds_on_many_stages, that_could_not_be_made_end_the_updates_on_all_of_them) {
    beat("a");
    const auto build = asked(version.id);
    deploy_on_many(build.id);
    auto ended = finished(build.id, claim_builder("a"));
    ended.error = "it is a pickle";
    run(ended);
    sweep();
    EXPECT_EQ(in_status(stage_status::error), many);
}

// ---- what may be asked for, and what is held

TEST_F(updates_of_stages, are_refused_where_they_say_what_cannot_be) {
    const auto build = made();
    const auto refused = [&](auto change, const std::string& why) {
        auto command = canary_to(build.id);
        change(command);
        const auto outcome = registry.run(command);
        EXPECT_NE(outcome.code, 0u) << why;
        EXPECT_THAT(outcome.message, HasSubstr(why));
    };
    refused([](auto& c) { c.build_id.value = 99; }, "build 99");
    refused([](auto& c) { c.stage_id.value = 99; }, "99");
    refused([](auto& c) { c.progress_interval_seconds = 0; }, "progress_interval_seconds");
    refused([](auto& c) { c.progress_step = "1.1"; }, "progress_step");
    refused([](auto& c) { c.progress_step = "0"; }, "progress_step");
    refused([](auto& c) { c.progress_step = "-1"; }, "progress_step");
    refused([](auto& c) { c.rules.clear(); }, "rules");
    refused(
        [](auto& c) {
            c.rules.insert(c.rules.end(), {{1007, "0.1"}, {1007, "0.2"}});
        },
        "rule 1007 twice");
    refused([](auto& c) { c.rules[0].rule_id = 1004; }, "1004");
    refused([](auto& c) { c.rules[0].threshold = "much"; }, "threshold");
    refused([](auto& c) { c.rules[0].threshold = "1.5"; }, "from 0 to 1");
    refused([](auto& c) { c.limits.deadline_ms = -1; }, "deadline_ms");
    refused([](auto& c) { c.limits.body_bytes_max = 1ull << 40; }, "body_bytes_max");
    refused([](auto& c) { c.limits.in_flight_max = 1'000'000; }, "in_flight_max");
    refused([](auto& c) { c.batching.size_max = 1'000'000; }, "size_max");
    refused([](auto& c) { c.batching.delay_ms_max = 1'000'000; }, "delay_ms_max");
    const auto late = [](auto& c) {
        c.limits.deadline_ms = 100;
        c.batching.size_max = 2;
        c.batching.delay_ms_max = 50;
    };
    refused(late, "below half of limits.deadline_ms");
    EXPECT_THAT(stage_now().components, IsEmpty());
    permit({schemas::action::read});
    const auto ann = registry.user_named("ann@example.org").id;
    EXPECT_EQ(registry.run_as(ann, canary_to(build.id)).code,
              static_cast<std::uint32_t>(error_code::permission_denied));
}

TEST_F(updates_of_stages, hold_version_model_and_workspace_until_the_endpoint_is_gone) {
    const auto build = made();
    serve(build.id);
    schemas::commands::delete_version version_gone;
    version_gone.id = version.id;
    schemas::commands::delete_model model_gone;
    model_gone.id = model.id;
    EXPECT_THAT(registry.run(version_gone).message, HasSubstr("/churn"));
    EXPECT_THAT(registry.run(model_gone).message, HasSubstr("/churn"));
    const auto later = made();
    begun(update_to(later.id));
    run(remove(endpoint));
    EXPECT_FALSE(storage::registry::tables::endpoint_updates::find(*registry.view(), schemas::update_id{2}));
    run(version_gone);
    run(model_gone);
    using storage::registry::tables::table;
    for (const table each : {table::deployed_build, table::endpoint_update, table::unfinished_build})
        registry.view()->scan(std::string(1, static_cast<char>(each)), {},
                              [](std::string_view key, std::string_view) {
                                  ADD_FAILURE() << "a row is left: " << key;
                                  return true;
                              });
}

TEST_F(updates_of_stages, that_failed_hold_no_version_and_what_serves_does) {
    const auto serving = made();
    serve(serving.id);
    auto asked_for = asked_build(registry.version_named("failing", version.registered_model_id).id);
    asked_for.external_location = "registry.example.org/m:2";
    asked_for.upstream_url = "http://127.0.0.1:9/";
    const auto failing = registry.must<schemas::build>(asked_for);
    const auto update = begun(update_to(failing.id)).update_id;
    const auto erase = [&](const schemas::build& of) {
        schemas::commands::delete_version command;
        command.id = of.model_version_id;
        return registry.run(command);
    };
    EXPECT_EQ(code_of(erase(failing)), error_code::failed_precondition) << "it may serve yet";
    ready(update, "a", "does not load");
    EXPECT_EQ(components(), text(serving.id, 1'000'000, "active") + ", " + text(failing.id, 0, "error"));
    EXPECT_EQ(code_of(erase(serving)), error_code::failed_precondition);
    EXPECT_EQ(erase(failing).code, 0u);
    EXPECT_EQ(components(), text(serving.id, 1'000'000, "active") + ", " + text(failing.id, 0, "error"))
        << "what became of the update stays to be seen";
    const auto next = made();
    serve(next.id);
    EXPECT_EQ(components(), text(next.id, 1'000'000, "active"));
}

}  // namespace
}  // namespace herald::test
