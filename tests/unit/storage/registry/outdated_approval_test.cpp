// Protects approvals: they are of the version as it was when they were given, and do not count for other
// content.
#include <gmock/gmock.h>

#include "runtime/crypto.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

namespace find = storage::registry::find;

using schemas::transition_state;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class outdated_approvals : public stage_rules {
  protected:
    schemas::commands::outcome change(const std::string& member,
                                      const std::function<void(schemas::version_content&)>& how) {
        schemas::commands::update_version command;
        command.id = version.id;
        command.mode = schemas::commands::update_mode::merge;
        command.present = {member};
        how(command.version);
        return registry.run(command);
    }
    schemas::commands::outcome describe(const std::string& text) {
        return change("description", [&](auto& content) { content.description = text; });
    }
    schemas::commands::outcome set_attribute(const std::string& value) {
        return change("attributes", [&](auto& content) { content.attributes = {{"k", {value}, {}}}; });
    }
    std::vector<std::uint64_t> waiting_for(user_id user) {
        find::transition_filter filter;
        filter.waiting_for_me = true;
        return ids(transitions(user, filter));
    }
    activity_id transition = transition_to(stage::production);
};

TEST_F(outdated_approvals, of_other_ingredients_do_not_count) {
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::approved);
    ASSERT_EQ(set_attribute("1").code, 0u);
    const auto refused = commit(transition);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message,
                HasSubstr("PENDING with 0 of 1 approvals that count (not those given before"));
    EXPECT_THAT(waiting_for(other), ElementsAre(transition.value)) << "it is to be looked at again";
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::approved);
    EXPECT_THAT(waiting_for(other), IsEmpty());
    EXPECT_EQ(commit(transition).code, 0u);
    EXPECT_THAT(promotion().approved_by, ElementsAre(other));
}

TEST_F(outdated_approvals, are_not_made_by_what_no_lock_protects_nor_by_what_changes_nothing) {
    ASSERT_EQ(set_attribute("1").code, 0u);
    review(other, transition, true);
    ASSERT_EQ(describe("d").code, 0u);
    ASSERT_EQ(set_attribute("1").code, 0u);
    ASSERT_EQ(registry.run(schemas::commands::lock_version{version.id, schemas::lock_level::closed}).code,
              0u);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(outdated_approvals, leave_rejections_as_they_are) {
    const user_id third =
        member("third@example.org", {schemas::action::read, schemas::action::approve_reject});
    review(third, transition, false);
    ASSERT_EQ(set_attribute("1").code, 0u);
    EXPECT_EQ(review(other, transition, true).activity_state, transition_state::rejected);
    review(third, transition, true);
    EXPECT_EQ(commit(transition).code, 0u);
}

TEST_F(outdated_approvals, are_made_by_other_bytes_of_a_file_and_not_by_the_same_again) {
    const auto fill = [&](const std::string& bytes) {
        const std::string digest(runtime::as_bytes(runtime::sha256(bytes)));
        EXPECT_EQ(registry.run(schemas::commands::store_blob{digest, 1, "object of " + bytes}).code, 0u);
        EXPECT_EQ(registry
                      .run(schemas::commands::set_artifact_bytes{
                          version.id, "f", storage::registry::access::digest_of_path("p"), digest})
                      .code,
                  0u);
    };
    ASSERT_EQ(change("artifacts",
                     [](auto& content) {
                         content.artifacts.emplace_back();
                         content.artifacts.back().key = "f";
                         content.artifacts.back().path = "p";
                     })
                  .code,
              0u);
    fill("bytes");
    review(other, transition, true);
    const std::int64_t before_ms = stored().time_updated;
    fill("others");
    EXPECT_EQ(stored().time_updated, before_ms);
    EXPECT_EQ(code_of(commit(transition)), error_code::failed_precondition);
    review(other, transition, true);
    fill("others");
    EXPECT_EQ(commit(transition).code, 0u);
}

}  // namespace
}  // namespace herald::test
