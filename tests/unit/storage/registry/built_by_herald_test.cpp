// Protects builds that Herald makes of a version's model: they end, once, by their maker's word or their
// deadline; their bytes stay while they need them; and what waits for them is told (P2, wire.md §4).
#include <gmock/gmock.h>

#include "runtime/text.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/builds.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/stages.hpp"
#include "tests/unit/storage/registry/deployed.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using testing::HasSubstr;

class built_by_herald : public deployed {
  protected:
    std::uint64_t references(const std::string& bytes) {
        const auto found = tables::blobs::find(*registry.view(), digest_of(bytes));
        return found ? found->references : 999;
    }
    std::size_t unfinished() {
        std::size_t count = 0;
        tables::builds::each_unfinished(*registry.view(), [&](schemas::build_id) { return ++count > 0; });
        return count;
    }
    schemas::commands::outcome request(schemas::build_id id) {
        return registry.run(schemas::commands::request_scan{"default", id, {"{}"}});
    }
    schemas::scan scan_of(schemas::build_id id) {
        const auto view = registry.view();
        return find::scan_to_show(*view, *tables::builds::find(*view, id));
    }
};

TEST_F(built_by_herald, is_building_until_its_maker_has_finished_it) {
    beat("a");
    schemas::build build = asked(version.id);
    EXPECT_EQ(build.status, build_status::building);
    EXPECT_EQ(unfinished(), 1u);
    const auto token = claim_builder("a");
    run(finished(build.id, token));
    build = build_now(build.id);
    EXPECT_EQ(build.status, build_status::finished);
    EXPECT_EQ(build.location, "https://herald.example.org/api/v1/deployment/workspace/default/builds/" +
                                  std::to_string(build.id.value) +
                                  "/image?digest=sha256:" + runtime::to_hex(digest_of("image")));
    EXPECT_EQ(build.signature.inputs.at(0).name, "x");
    EXPECT_EQ(unfinished(), 0u);
    auto again = finished(build.id, token);
    again.error = "too late";
    run(again);
    EXPECT_EQ(build_now(build.id).status, build_status::finished) << "it ends once";
}

TEST_F(built_by_herald, is_in_error_at_once_where_nobody_can_make_it) {
    EXPECT_THAT(asked(version.id).message, HasSubstr("no node")) << "that has the runtime";
    beat("a");
    EXPECT_THAT(asked(registry.version_named("without", model.id).id).message, HasSubstr("no model"));
    beat("a", 1, true, true);
    EXPECT_THAT(asked(version.id).message, HasSubstr("no node")) << "for it has left";
    auto contradiction = asked_build(version.id);
    contradiction.upstream_url = "http://127.0.0.1:9/";
    EXPECT_THAT(registry.run(contradiction).message, HasSubstr("external_location"));
}

TEST_F(built_by_herald, keeps_of_a_long_error_its_beginning_in_whole_characters) {
    beat("a");
    const auto build = asked(version.id);
    auto failed = finished(build.id, claim_builder("a"));
    failed.error = "a";
    while (failed.error.size() <= limits::comment_bytes_max) failed.error += "\xE2\x82\xAC";
    run(failed);
    const std::string message = build_now(build.id).message;
    EXPECT_GT(message.size(), limits::comment_bytes_max - 3);
    EXPECT_LE(message.size(), limits::comment_bytes_max);
    EXPECT_TRUE(runtime::is_valid_utf8(message));
}

TEST_F(built_by_herald, ends_in_error_after_ten_minutes) {
    beat("a");
    const auto build = asked(version.id);
    registry.now_ms += limits::build_ms_max - 1'000;
    run(schemas::commands::no_operation{});
    EXPECT_EQ(build_now(build.id).status, build_status::building);
    registry.now_ms += 2'000;
    run(schemas::commands::no_operation{});
    EXPECT_THAT(build_now(build.id).message, HasSubstr("10 min"));
    EXPECT_EQ(unfinished(), 0u);
}

TEST_F(built_by_herald, takes_no_word_from_who_no_longer_holds_the_job) {
    beat("a");
    const auto build = asked(version.id);
    const auto old = claim_builder("a");
    beat("a", 2);
    const auto token = claim_builder("a", 2);
    EXPECT_EQ(registry.run(finished(build.id, old)).message, "the job builder has another holder");
    run(finished(build.id, token));
}

TEST_F(built_by_herald, keeps_its_bytes_when_the_version_has_others) {
    const auto build = made();
    EXPECT_EQ(references("the model's bytes"), 2u);
    run(schemas::commands::store_blob{digest_of("new"), 3, "object of new"});
    run(schemas::commands::set_artifact_bytes{version.id, "model", digest_of("p").substr(0, 16),
                                              digest_of("new")});
    EXPECT_EQ(references("the model's bytes"), 1u);
    EXPECT_EQ(build_now(build.id).model_parts.at(0).digest, digest_of("the model's bytes"));
    schemas::commands::delete_version gone;
    gone.id = version.id;
    run(gone);
    EXPECT_EQ(references("the model's bytes"), 0u) << "the build has gone with the version";
}

TEST_F(built_by_herald, lets_its_bytes_go_when_it_cannot_be_made) {
    beat("a");
    const auto build = asked(version.id);
    EXPECT_EQ(references("the model's bytes"), 2u);
    auto failed = finished(build.id, claim_builder("a"));
    failed.error = "input x has a type that is not served";
    run(failed);
    EXPECT_EQ(references("the model's bytes"), 1u);
    EXPECT_EQ(build_now(build.id).message, "input x has a type that is not served");
}

// ---- scans that wait (P2)

TEST_F(built_by_herald, is_requested_to_be_scanned_exactly_once_when_it_is_finished) {
    registry.webhook_for({schemas::event_type::request_scan});
    beat("a");
    const auto build = asked(version.id);
    ASSERT_EQ(request(build.id).code, 0u);
    EXPECT_EQ(registry.outbox().size(), 0u) << "there is no image yet";
    EXPECT_EQ(scan_of(build.id).scan_status, schemas::scan_status::scanning);
    EXPECT_NE(request(build.id).code, 0u) << "it is asked for already";
    EXPECT_THAT(report(build.id, schemas::safety_status::safe).message, HasSubstr("being made"));
    run(finished(build.id, claim_builder("a")));
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    const auto body = schemas::parse_json(events[0].body);
    EXPECT_EQ(*body->find("updated")->find("imageurl"), schemas::json_value(build_now(build.id).location));
    EXPECT_EQ(scan_of(build.id).event_id, events[0].id);
    ASSERT_EQ(report(build.id, schemas::safety_status::safe).code, 0u);
    EXPECT_EQ(registry.outbox().size(), 1u);
}

TEST_F(built_by_herald, that_fails_requests_no_scan_and_the_requester_sees_why) {
    registry.webhook_for({schemas::event_type::request_scan});
    beat("a");
    const auto build = asked(version.id);
    ASSERT_EQ(request(build.id).code, 0u);
    auto failed = finished(build.id, claim_builder("a"));
    failed.error = "it is a pickle";
    run(failed);
    EXPECT_EQ(registry.outbox().size(), 0u);
    EXPECT_EQ(scan_of(build.id).scan_status, schemas::scan_status::error);
    EXPECT_THAT(scan_of(build.id).message, HasSubstr("it is a pickle"));
    std::string told;
    const auto view = registry.view();
    tables::activities::each_of(*view, version.id, {}, [&](schemas::activity_id id) {
        told = tables::activities::find(*view, id)->message;
        return true;
    });
    EXPECT_THAT(told, HasSubstr("it is a pickle"));
}

TEST_F(built_by_herald, may_be_reported_unsafe_before_it_is_finished_and_is_requested_nevertheless) {
    registry.webhook_for({schemas::event_type::request_scan});
    beat("a");
    const auto build = asked(version.id);
    ASSERT_EQ(request(build.id).code, 0u);
    ASSERT_EQ(report(build.id, schemas::safety_status::unsafe).code, 0u);
    run(finished(build.id, claim_builder("a")));
    EXPECT_EQ(registry.outbox().size(), 1u) << "an accepted request has its event";
    EXPECT_EQ(scan_of(build.id).safety_status, schemas::safety_status::unsafe);
}

TEST_F(built_by_herald, is_made_for_a_version_whose_scan_is_requested) {
    registry.webhook_for({schemas::event_type::request_scan});
    beat("a");
    const schemas::commands::request_version_scan command{version.id, {"{}"}};
    ASSERT_EQ(registry.run(command).code, 0u);
    EXPECT_EQ(unfinished(), 1u);
    EXPECT_NE(registry.run(command).code, 0u) << "asked for already: no second build";
    EXPECT_EQ(unfinished(), 1u);
    run(finished(schemas::build_id{1}, claim_builder("a")));
    EXPECT_EQ(registry.outbox().size(), 1u);
}

}  // namespace
}  // namespace herald::test
