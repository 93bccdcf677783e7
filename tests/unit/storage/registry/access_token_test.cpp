// Protects access tokens: each is found by its value's hash in its stage until it is revoked or has ended,
// and never after.
#include <gmock/gmock.h>

#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/find/endpoints.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "tests/unit/storage/registry/endpoint_rules.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using testing::HasSubstr;

class access_token_rules : public endpoint_rules {
  protected:
    schemas::endpoint endpoint = endpoint_at("x");
    schemas::endpoint_stage stage = stage_of(endpoint, "production");

    bool opens(const std::string& value, const schemas::endpoint_stage& at) {
        return tables::access_tokens::with_hash(*registry.view(), at.id, token_with(value).hash).has_value();
    }
};

TEST_F(access_token_rules, open_their_stage_alone_until_they_are_revoked) {
    const auto other = stage_of(endpoint, "staging");
    EXPECT_FALSE(opens("secret", stage));
    const auto made = registry.must<schemas::access_token>(new_token(endpoint, stage, "secret"));
    EXPECT_TRUE(opens("secret", stage));
    EXPECT_FALSE(opens("secret", other));
    EXPECT_FALSE(opens("Secret", stage));
    EXPECT_EQ(code_of(registry.run(revoke(endpoint, other, made.id))), error_code::not_found);
    EXPECT_TRUE(opens("secret", stage));
    EXPECT_EQ(registry.run(revoke(endpoint, stage, made.id)).code, 0u);
    EXPECT_FALSE(opens("secret", stage));
    EXPECT_EQ(code_of(registry.run(revoke(endpoint, stage, made.id))), error_code::not_found);
    EXPECT_EQ(registry.run(new_token(endpoint, stage, "secret")).code, 0u) << "it may be given again";
}

TEST_F(access_token_rules, a_value_is_there_once_in_a_stage_but_may_be_in_another) {
    EXPECT_EQ(registry.run(new_token(endpoint, stage, "secret")).code, 0u);
    const auto refused = registry.run(new_token(endpoint, stage, "secret"));
    EXPECT_EQ(code_of(refused), error_code::already_exists);
    EXPECT_THAT(refused.message, HasSubstr("already exists"));
    EXPECT_THAT(refused.message, testing::Not(HasSubstr("secret")));
    EXPECT_EQ(registry.run(new_token(endpoint, stage_of(endpoint, "staging"), "secret")).code, 0u);
}

TEST_F(access_token_rules, end_at_their_time_by_the_log_and_not_before) {
    auto command = new_token(endpoint, stage, "secret");
    command.expires_ms = registry.now_ms;
    const auto ended = registry.run(command);
    EXPECT_EQ(code_of(ended), error_code::invalid_argument) << "it has ended already";
    EXPECT_THAT(ended.message, HasSubstr("expires is " + runtime::iso8601_ms(command.expires_ms)));
    command.expires_ms = registry.now_ms + 1'000;
    const auto made = registry.must<schemas::access_token>(command);
    const auto lasting = new_token(endpoint, stage, "lasting");
    EXPECT_EQ(registry.run(lasting).code, 0u);
    registry.now_ms += 999;
    registry.run(schemas::commands::no_operation{});
    EXPECT_TRUE(opens("secret", stage));
    registry.now_ms += 1;
    registry.run(schemas::commands::no_operation{});
    EXPECT_FALSE(opens("secret", stage));
    EXPECT_TRUE(opens("lasting", stage));
    EXPECT_EQ(code_of(registry.run(revoke(endpoint, stage, made.id))), error_code::not_found);
}

TEST_F(access_token_rules, are_listed_while_they_live_the_default_one_first) {
    auto command = new_token(endpoint, stage, "secret");
    command.expires_ms = registry.now_ms + 1'000;
    command.label = "for a while";
    registry.must<schemas::access_token>(command);
    auto listed = find::tokens_of(*registry.view(), stage.id, registry.now_ms);
    ASSERT_EQ(listed.size(), 2u);
    EXPECT_TRUE(listed[0].is_default);
    EXPECT_EQ(listed[1].label, "for a while");
    EXPECT_EQ(find::tokens_of(*registry.view(), stage.id, registry.now_ms + 1'000).size(), 1u)
        << "though its timer has not fired";
}

TEST_F(access_token_rules, there_are_a_hundred_of_a_stage_and_their_texts_are_bounded) {
    for (std::size_t i = 1; i < limits::access_tokens_max; ++i)
        ASSERT_EQ(registry.run(new_token(endpoint, stage, std::to_string(i))).code, 0u);
    const auto refused = registry.run(new_token(endpoint, stage, "one more"));
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, HasSubstr("100"));

    const auto other = stage_of(endpoint, "staging");
    auto command = new_token(endpoint, other, "secret");
    command.label = std::string(limits::label_bytes_max + 1, 'x');
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command = new_token(endpoint, other, "secret");
    command.token.sealed_value.clear();
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command.token.sealed_value = std::string(2'000, 'x');
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command = new_token(endpoint, other, "secret");
    command.token.hash.resize(31);
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
    command = new_token(endpoint, other, "secret");
    command.creator_request.text = "7";
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
}

}  // namespace
}  // namespace herald::test
