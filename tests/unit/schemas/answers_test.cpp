// Protects answers and requests: answers show what they must and no secret, requests name what they lack, and
// a change to what the server owns is recognised by value, however it is written.
#include <gmock/gmock.h>

#include "schemas/answers/events.hpp"
#include "schemas/answers/identity.hpp"
#include "schemas/answers/models.hpp"
#include "schemas/requests/identity.hpp"
#include "schemas/requests/models.hpp"
#include "schemas/views.hpp"

namespace herald::test {
namespace {

using namespace schemas;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

json_value parsed(std::string_view text) { return parse_json(text).value(); }

TEST(answers, a_user_shows_no_key_unless_it_was_just_made) {
    user row;
    row.primary_key_hash = "secret hash";
    answers::user shown = answers::of(row);
    EXPECT_THAT(answers::text_of(shown), Not(HasSubstr("key")));
    shown.dev_key = "abc";
    EXPECT_THAT(answers::text_of(shown), HasSubstr("\"dev_key\":\"abc\""));
}

TEST(answers, sharing_goes_out_as_names) {
    registered_model row;
    row.visibility = visibility::org_scoped_public;
    row.custom_permission = {collaborator_type::read_write, ternary::true_, ternary::unknown};
    const std::string text = answers::text_of(answers::registered_model{answers::of(row)});
    EXPECT_THAT(text, HasSubstr(R"("visibility":"ORG_SCOPED_PUBLIC")"));
    EXPECT_THAT(
        text, HasSubstr(R"({"collaborator_type":"READ_WRITE","can_deploy":"TRUE","can_predict":"UNKNOWN"})"));
}

TEST(answers, the_body_of_promote_is_the_one_that_the_document_describes) {
    model_version version;
    version.id.value = 7;
    version.attributes = {{"a", {"1"}, {}}};
    unknown_members unknown{unknown_told::all, {}};
    const std::string body = promote_body(version);
    const auto event = from_json<answers::promote_event>(parsed(body), &unknown);
    ASSERT_TRUE(event);
    EXPECT_TRUE(unknown.found.empty());
    EXPECT_EQ(answers::text_of(*event), body);
}

TEST(requests, a_required_member_is_named_at_any_depth) {
    requests::create_user request;
    EXPECT_THAT(requests::check_required(request).error().message,
                HasSubstr("info is missing; it must be an object with email"));
    request.info.emplace();
    EXPECT_THAT(requests::check_required(request).error().message, HasSubstr("info.email is missing"));
    request.info->email = "ada@example.org";
    EXPECT_TRUE(requests::check_required(request));
}

TEST(requests, what_the_server_owns_differs_by_value_and_not_by_how_it_is_written) {
    answers::model kept;
    kept.id.value = 5;
    kept.owner.value = 1;
    const auto differing = [&](std::string_view body) {
        const auto sent =
            requests::server_owned_in(parsed(body), requests::server_owned_of<requests::create_model>());
        std::vector<std::string> names;
        for (const std::string_view name : requests::differing(sent, kept)) names.emplace_back(name);
        return names;
    };
    EXPECT_THAT(differing(R"({"id":"5","owner":1,"time_created":"0","workspace_id":""})"), ElementsAre());
    EXPECT_THAT(differing(R"({"id":6,"owner":"zz","name":"n"})"), ElementsAre("id", "owner"));
}

}  // namespace
}  // namespace herald::test
