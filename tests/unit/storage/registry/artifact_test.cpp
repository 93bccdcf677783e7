// Protects the bytes of artifacts: whose they are, who may replace them, and that they are dropped when, and
// only when, nothing refers to them any more (design.md §5).
#include <gmock/gmock.h>

#include "schemas/limits.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string digest_of(const std::string& bytes) {
    return std::string(runtime::as_bytes(runtime::sha256(bytes)));
}

schemas::artifact entry(const std::string& key, const std::string& path = "p") {
    schemas::artifact made;
    made.key = key;
    made.path = path;
    return made;
}

class artifact_rules : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = registry.model_named("m");
    schemas::model_version version = version_with({"a", "b"}, schemas::lock_level::open);

    schemas::model_version version_with(const std::vector<std::string>& keys, schemas::lock_level lock) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version.version = "v" + std::to_string(registry.offset);
        command.lock_level = lock;
        for (const std::string& key : keys) command.version.artifacts.push_back(entry(key));
        return registry.must<schemas::model_version>(command);
    }
    schemas::model_version now(schemas::version_id id) {
        return *tables::versions::find(*registry.view(), id);
    }
    std::optional<schemas::blob> blob_of(const std::string& bytes) {
        return tables::blobs::find(*registry.view(), digest_of(bytes));
    }
    std::uint64_t references(const std::string& bytes) {
        const auto found = blob_of(bytes);
        return found ? found->references : 999;
    }
    std::vector<std::string> doomed() {
        std::vector<std::string> all;
        tables::doomed_objects::each(*registry.view(), [&](const std::string& object) {
            all.push_back(object);
            return true;
        });
        return all;
    }
    void store(const std::string& bytes, std::uint64_t size = 1) {
        const schemas::commands::store_blob command{digest_of(bytes), size, "object of " + bytes};
        EXPECT_EQ(registry.run(command).code, 0u);
    }
    schemas::commands::outcome fill(const std::string& key, const std::string& bytes,
                                    const std::string& path = "p") {
        return registry.run(schemas::commands::set_artifact_bytes{
            version.id, key, access::digest_of_path(path), digest_of(bytes)});
    }
    schemas::commands::outcome part(std::uint32_t number, const std::string& bytes) {
        return registry.run(schemas::commands::put_artifact_part{version.id, "a", access::digest_of_path("p"),
                                                                 number, digest_of(bytes)});
    }
    schemas::commands::outcome commit(std::uint32_t number, const std::string& bytes) {
        return registry.run(schemas::commands::commit_artifact_part{
            version.id, "a", number, "\"" + runtime::to_hex(digest_of(bytes)) + "\""});
    }
    schemas::commands::outcome commit_all() {
        return registry.run(schemas::commands::commit_multipart_artifact{version.id, "a", {}});
    }
    schemas::commands::outcome commit_these(const std::vector<std::string>& parts) {
        schemas::commands::commit_multipart_artifact command{version.id, "a", {}};
        for (const std::string& bytes : parts)
            command.parts.push_back({static_cast<std::uint32_t>(command.parts.size()) + 1,
                                     "\"" + runtime::to_hex(digest_of(bytes)) + "\""});
        return registry.run(command);
    }
    void send(const std::vector<std::string>& parts) {
        for (std::uint32_t number = 1; number <= parts.size(); ++number) {
            EXPECT_EQ(part(number, parts[number - 1]).code, 0u);
            EXPECT_EQ(commit(number, parts[number - 1]).code, 0u);
        }
    }
    /// The artifact "a", as a list of what its parts were made of.
    std::vector<std::string> bytes_now() {
        std::vector<std::string> all;
        const auto found = tables::bytes_of_artifacts::find(*registry.view(), version.id, "a");
        for (const auto& each : found->parts)
            all.push_back(tables::blobs::find(*registry.view(), each.digest)->object.substr(10));
        return all;
    }
    schemas::commands::outcome replace(std::vector<schemas::artifact> artifacts) {
        schemas::commands::update_version command;
        command.id = version.id;
        command.mode = schemas::commands::update_mode::replace;
        command.version.artifacts = std::move(artifacts);
        return registry.run(command);
    }
    void settle(int records = 3) {
        for (int i = 0; i < records; ++i) registry.run(schemas::commands::no_operation{});
    }
    void wait_a_day() {
        registry.now_ms += limits::blob_kept_ms + 1;
        settle(5);
    }
};

TEST_F(artifact_rules, bytes_that_were_not_stored_are_refused_and_those_that_were_complete_the_upload) {
    const auto refused = fill("a", "x");
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_FALSE(now(version.id).artifacts[0].upload_completed);
    store("x");
    EXPECT_EQ(fill("a", "x").code, 0u);
    EXPECT_TRUE(now(version.id).artifacts[0].upload_completed);
    EXPECT_FALSE(now(version.id).artifacts[1].upload_completed);
    EXPECT_EQ(references("x"), 1u);
    EXPECT_EQ(code_of(fill("c", "x")), error_code::not_found) << "a key that is not in the record";
}

TEST_F(artifact_rules, new_bytes_replace_the_old_ones_which_are_dropped_a_day_later) {
    store("x");
    store("y");
    fill("a", "x");
    fill("b", "x");
    EXPECT_EQ(references("x"), 2u);
    fill("a", "y");
    EXPECT_EQ(references("x"), 1u);
    fill("b", "y");
    EXPECT_EQ(references("x"), 0u);
    EXPECT_EQ(references("y"), 2u);
    registry.now_ms += limits::blob_kept_ms - 1'000;
    settle();
    EXPECT_TRUE(blob_of("x")) << "less than a day without a reference";
    wait_a_day();
    EXPECT_FALSE(blob_of("x"));
    EXPECT_TRUE(blob_of("y"));
    EXPECT_THAT(doomed(), ElementsAre("object of x"));
}

TEST_F(artifact_rules, the_same_bytes_stored_twice_are_kept_once_in_the_newer_object) {
    store("x");
    fill("a", "x");
    EXPECT_EQ(registry.run(schemas::commands::store_blob{digest_of("x"), 1, "second object"}).code, 0u);
    EXPECT_EQ(blob_of("x")->object, "second object") << "the first one may be lost or damaged";
    EXPECT_EQ(references("x"), 1u);
    EXPECT_THAT(doomed(), ElementsAre("object of x"));
    EXPECT_EQ(registry.run(schemas::commands::store_blob{digest_of("x"), 1, "second object"}).code, 0u);
    EXPECT_EQ(blob_of("x")->object, "second object");
    EXPECT_THAT(doomed(), ElementsAre("object of x"));
    const auto again = registry.run(schemas::commands::store_blob{digest_of("y"), 1, "object of x"});
    EXPECT_EQ(code_of(again), error_code::aborted) << "what is to be erased holds nothing";
}

TEST_F(artifact_rules, bytes_that_are_stored_and_never_referred_to_are_dropped) {
    store("x");
    wait_a_day();
    EXPECT_FALSE(blob_of("x"));
    EXPECT_EQ(registry.run(schemas::commands::store_blob{digest_of("x"), 1, "another object"}).code, 0u);
    EXPECT_EQ(blob_of("x")->object, "another object");
}

TEST_F(artifact_rules, an_update_keeps_the_bytes_of_what_it_keeps_and_drops_the_others) {
    store("x");
    store("y");
    fill("a", "x");
    fill("b", "y");
    ASSERT_EQ(replace({entry("b"), entry("a", "another path")}).code, 0u);
    EXPECT_TRUE(now(version.id).artifacts[0].upload_completed);
    EXPECT_FALSE(now(version.id).artifacts[1].upload_completed) << "its path has changed";
    settle();
    EXPECT_EQ(references("x"), 0u);
    EXPECT_EQ(references("y"), 1u);
    EXPECT_FALSE(tables::bytes_of_artifacts::find(*registry.view(), version.id, "a"));
    ASSERT_EQ(replace({}).code, 0u);
    ASSERT_EQ(replace({entry("b")}).code, 0u);
    settle();
    EXPECT_FALSE(now(version.id).artifacts[0].upload_completed) << "it was away in between";
    EXPECT_EQ(references("y"), 0u);
}

TEST_F(artifact_rules, a_url_for_another_path_is_refused) {
    store("x");
    ASSERT_EQ(replace({entry("a", "q")}).code, 0u);
    EXPECT_EQ(code_of(fill("a", "x")), error_code::not_found);
    EXPECT_EQ(fill("a", "x", "q").code, 0u);
}

TEST_F(artifact_rules, parts_become_the_bytes_in_their_order_when_all_are_committed) {
    for (const char* bytes : {"1", "2", "3"}) store(bytes);
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition);
    EXPECT_EQ(part(2, "2").code, 0u);
    EXPECT_EQ(part(1, "1").code, 0u);
    EXPECT_EQ(code_of(commit(3, "3")), error_code::failed_precondition);
    EXPECT_EQ(code_of(commit(2, "3")), error_code::invalid_argument) << "another ETag";
    EXPECT_EQ(commit(2, "2").code, 0u);
    const auto refused = commit_all();
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("part 1 "));
    EXPECT_EQ(commit(1, "1").code, 0u);
    EXPECT_EQ(part(2, "3").code, 0u) << "the same part again replaces";
    EXPECT_EQ(references("2"), 0u);
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition) << "and is to be committed again";
    EXPECT_EQ(commit(2, "3").code, 0u);
    EXPECT_EQ(commit_all().code, 0u);
    const auto bytes = tables::bytes_of_artifacts::find(*registry.view(), version.id, "a");
    ASSERT_TRUE(bytes);
    EXPECT_THAT(bytes->parts,
                ElementsAre(schemas::blob_part{digest_of("1"), 1}, schemas::blob_part{digest_of("3"), 1}));
    EXPECT_TRUE(now(version.id).artifacts[0].upload_completed);
    EXPECT_EQ(references("1"), 1u);
    EXPECT_EQ(references("3"), 1u);
}

TEST_F(artifact_rules, a_first_part_sent_as_if_it_were_all_counts_as_part_1) {
    for (const char* bytes : {"1", "2"}) store(bytes);
    fill("a", "1");
    part(2, "2");
    EXPECT_EQ(commit(1, "1").code, 0u);
    EXPECT_EQ(commit(2, "2").code, 0u);
    EXPECT_EQ(commit_all().code, 0u);
    EXPECT_EQ(references("1"), 1u);
    EXPECT_EQ(references("2"), 1u);
}

TEST_F(artifact_rules, a_part_that_is_sent_again_replaces_that_part_alone) {
    for (const char* bytes : {"1", "2", "3", "4", "other"}) store(bytes);
    for (std::uint32_t number = 1; number <= 4; ++number) {
        part(number, std::to_string(number));
        EXPECT_EQ(commit(number, std::to_string(number)).code, 0u);
    }
    part(3, "other");
    EXPECT_EQ(references("3"), 0u);
    EXPECT_EQ(references("4"), 1u);
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition)
        << "the new part 3 is not committed yet";
    EXPECT_EQ(commit(3, "other").code, 0u);
    EXPECT_EQ(commit_all().code, 0u);
    const auto bytes = tables::bytes_of_artifacts::find(*registry.view(), version.id, "a");
    EXPECT_THAT(
        bytes->parts,
        ElementsAre(schemas::blob_part{digest_of("1"), 1}, schemas::blob_part{digest_of("2"), 1},
                    schemas::blob_part{digest_of("other"), 1}, schemas::blob_part{digest_of("4"), 1}));
}

TEST_F(artifact_rules, a_first_part_that_is_sent_again_loses_no_other_part_but_asks_for_each_again) {
    for (const char* bytes : {"a1", "a2", "a3", "b1"}) store(bytes);
    const std::vector<std::string> parts = {"a1", "a2", "a3"};
    for (const bool is_sent_as_whole : {false, true}) {
        SCOPED_TRACE(is_sent_as_whole);
        send(parts);
        EXPECT_EQ((is_sent_as_whole ? fill("a", "b1") : part(1, "b1")).code, 0u);
        EXPECT_EQ(references("a2"), 1u);
        EXPECT_EQ(references("a3"), 1u);
        EXPECT_EQ(commit(1, "b1").code, 0u);
        const auto refused = commit_all();
        EXPECT_EQ(code_of(refused), error_code::failed_precondition) << "parts of an upload given up?";
        EXPECT_THAT(refused.message, HasSubstr("part 2 of the artifact \"a\" is not committed"));
        EXPECT_EQ(commit(2, "a2").code, 0u);
        EXPECT_EQ(commit(3, "a3").code, 0u);
        EXPECT_EQ(commit_all().code, 0u);
        EXPECT_THAT(bytes_now(), ElementsAre("b1", "a2", "a3"));
    }
}

TEST_F(artifact_rules, a_shorter_upload_with_the_same_first_part_never_gets_the_tail_of_one_given_up) {
    for (const char* bytes : {"1", "2", "tail", "other"}) store(bytes);
    send({"1", "2", "tail"});
    send({"1", "other"});
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition);
    EXPECT_EQ(commit_these({"1", "other"}).code, 0u);
    EXPECT_THAT(bytes_now(), ElementsAre("1", "other"));
    EXPECT_EQ(references("2") + references("tail"), 0u) << "what was not named is released";
}

TEST_F(artifact_rules, named_parts_are_the_whole_and_must_be_those_that_were_uploaded) {
    for (const char* bytes : {"1", "2", "3"}) store(bytes);
    part(1, "1");
    part(2, "2");
    EXPECT_EQ(code_of(commit_these({"1", "2", "3"})), error_code::failed_precondition);
    EXPECT_EQ(code_of(commit_these({"1", "3"})), error_code::invalid_argument) << "another ETag";
    EXPECT_EQ(code_of(registry.run(schemas::commands::commit_multipart_artifact{
                  version.id, "a", {{2, runtime::to_hex(digest_of("2"))}}})),
              error_code::invalid_argument)
        << "without part 1";
    EXPECT_EQ(references("1"), 1u) << "a refusal changes nothing";
    EXPECT_EQ(commit_these({"1", "2"}).code, 0u) << "to name them commits them";
    EXPECT_THAT(bytes_now(), ElementsAre("1", "2"));
}

TEST_F(artifact_rules, a_first_part_sent_as_a_whole_asks_for_parts_again_that_came_behind_an_earlier_one) {
    for (const char* bytes : {"1", "2", "other"}) store(bytes);
    fill("a", "1");
    part(2, "2");
    EXPECT_EQ(commit(2, "2").code, 0u);
    fill("a", "other");
    EXPECT_EQ(commit(1, "other").code, 0u);
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition)
        << "part 2 may be of the upload given up";
    EXPECT_EQ(commit_these({"other"}).code, 0u);
    EXPECT_THAT(bytes_now(), ElementsAre("other"));
}

TEST_F(artifact_rules, a_whole_that_is_replaced_keeps_the_parts_of_an_unfinished_upload) {
    for (const char* bytes : {"1", "2", "whole"}) store(bytes);
    part(2, "2");
    fill("a", "whole");
    EXPECT_EQ(references("2"), 1u);
    EXPECT_EQ(code_of(commit_all()), error_code::failed_precondition) << "part 1 is missing";
    EXPECT_THAT(bytes_now(), ElementsAre("whole"));
}

TEST_F(artifact_rules, bytes_that_were_replaced_meanwhile_are_not_replaced_unseen) {
    for (const char* bytes : {"1", "2"}) store(bytes);
    const auto replace_if = [&](const std::string& there, const std::string& bytes) {
        return registry.run(schemas::commands::set_artifact_bytes{
            version.id, "a", access::digest_of_path("p"), digest_of(bytes), there});
    };
    const auto put_if = [&](const std::string& there, const std::string& bytes) {
        return registry.run(schemas::commands::put_artifact_part{version.id, "a", access::digest_of_path("p"),
                                                                 2, digest_of(bytes), there});
    };
    const std::string one = runtime::to_hex(digest_of("1")), two = runtime::to_hex(digest_of("2"));
    EXPECT_EQ(code_of(replace_if(one, "2")), error_code::aborted) << "there are none yet";
    EXPECT_EQ(replace_if("", "1").code, 0u);
    EXPECT_EQ(code_of(replace_if("", "2")), error_code::aborted);
    EXPECT_EQ(code_of(replace_if(two, "2")), error_code::aborted);
    EXPECT_EQ(replace_if(one, "2").code, 0u);
    EXPECT_EQ(code_of(put_if(one, "1")), error_code::aborted);
    EXPECT_EQ(put_if("", "1").code, 0u);
    EXPECT_EQ(put_if(one, "2").code, 0u);
}

TEST_F(artifact_rules, an_upload_that_is_not_finished_in_a_day_is_dropped) {
    store("1");
    part(1, "1");
    registry.now_ms += limits::unfinished_upload_kept_ms - 1'000;
    settle();
    EXPECT_EQ(references("1"), 1u);
    registry.now_ms += 2'000;
    settle();
    EXPECT_EQ(references("1"), 0u);
    EXPECT_EQ(code_of(commit(1, "1")), error_code::failed_precondition);
}

TEST_F(artifact_rules, many_parts_are_released_by_a_timer_in_steps) {
    store("1");
    for (std::uint32_t number = 1; number <= limits::artifact_parts_max; ++number) {
        ASSERT_EQ(part(number, "1").code, 0u);
        ASSERT_EQ(commit(number, "1").code, 0u);
    }
    EXPECT_EQ(code_of(part(1'001, "1")), error_code::invalid_argument);
    ASSERT_EQ(commit_all().code, 0u);
    EXPECT_EQ(references("1"), 1'000u);
    store("2");
    ASSERT_EQ(fill("a", "2").code, 0u);
    EXPECT_EQ(references("1"), 1'000u);
    settle(1);
    EXPECT_EQ(references("1"), 700u);
    settle(4);
    EXPECT_EQ(references("1"), 0u);
    EXPECT_EQ(references("2"), 1u);
}

TEST_F(artifact_rules, parts_that_are_too_large_together_are_refused) {
    store("1", limits::artifact_bytes_max / 2 + 1);
    for (const std::uint32_t number : {1u, 2u}) {
        part(number, "1");
        commit(number, "1");
    }
    EXPECT_EQ(code_of(commit_all()), error_code::invalid_argument);
}

TEST_F(artifact_rules, a_lock_protects_the_bytes_and_the_artifact) {
    store("x");
    for (const auto lock : {schemas::lock_level::closed, schemas::lock_level::redact}) {
        version = version_with({"a"}, lock);
        const bool is_closed = lock == schemas::lock_level::closed;
        EXPECT_EQ(fill("a", "x").code, is_closed ? 7u : 0u) << "by a workspace admin";
        EXPECT_EQ(part(1, "x").code, is_closed ? 7u : 0u);
        EXPECT_EQ(registry.run(schemas::commands::delete_artifact{version.id, "a"}).code,
                  is_closed ? 7u : 0u);
    }
    version = version_with({"a"}, schemas::lock_level::closed);
    EXPECT_THAT(fill("a", "x").message, HasSubstr("locked for changes"));
}

TEST_F(artifact_rules, who_may_not_see_the_version_finds_none) {
    store("x");
    const auto stranger = registry.user_named("stranger@example.org");
    const schemas::commands::set_artifact_bytes command{version.id, "a", access::digest_of_path("p"),
                                                        digest_of("x")};
    EXPECT_EQ(code_of(registry.run_as(stranger.id, command)), error_code::not_found);
    EXPECT_EQ(code_of(registry.run_as(stranger.id, schemas::commands::delete_artifact{version.id, "a"})),
              error_code::not_found);
}

TEST_F(artifact_rules, a_deleted_artifact_is_gone_from_the_record_with_its_bytes) {
    store("x");
    fill("a", "x");
    EXPECT_EQ(registry.run(schemas::commands::delete_artifact{version.id, "a"}).code, 0u);
    EXPECT_THAT(now(version.id).artifacts, ElementsAre(entry("b")));
    settle();
    EXPECT_EQ(references("x"), 0u);
}

TEST_F(artifact_rules, the_models_key_and_a_key_twice_are_no_artifacts) {
    EXPECT_EQ(code_of(replace({entry("model")})), error_code::invalid_argument);
    EXPECT_EQ(code_of(replace({entry("a"), entry("a")})), error_code::invalid_argument);
}

TEST_F(artifact_rules, only_what_no_row_has_is_a_stray_and_only_the_claims_holder_may_say_so) {
    store("x");
    schemas::commands::claim claim;
    claim.job = schemas::job_name(schemas::job::artifact_collector);
    claim.node = "n";
    const auto token = registry.must<schemas::claim_row>(claim).token;
    schemas::blob known = *blob_of("x"), stray = known;
    stray.object = "an older object of x";
    EXPECT_EQ(code_of(registry.run(schemas::commands::find_stray_objects{{stray}, token + 1})),
              error_code::aborted);
    EXPECT_EQ(registry.run(schemas::commands::find_stray_objects{{known, stray}, token}).code, 0u);
    EXPECT_THAT(doomed(), ElementsAre("an older object of x"));
    EXPECT_EQ(registry.run(schemas::commands::forget_erased_objects{{stray.object}, token}).code, 0u);
    EXPECT_THAT(doomed(), IsEmpty());
}

}  // namespace
}  // namespace herald::test
