// Protects the digest that a restore is judged by: it depends on what is registered, and on nothing of the
// log.
#include "storage/registry/tables/content.hpp"

#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using storage::registry::tables::content;

TEST(content, its_digest_changes_with_what_is_registered) {
    registry all;
    const std::string before = content::digest(*all.view());
    const auto model = all.model_named("m");
    const std::string with_model = content::digest(*all.view());
    all.version_named("v", model.id);
    EXPECT_NE(before, with_model);
    EXPECT_NE(with_model, content::digest(*all.view()));
}

TEST(content, its_digest_says_nothing_of_heartbeats_outcomes_and_the_place_in_the_log) {
    registry all;
    all.model_named("m");
    const std::string before = content::digest(*all.view());
    schemas::commands::node_heartbeat beat;
    beat.node = "n";
    beat.first = true;
    EXPECT_EQ(all.run(beat).code, 0u);
    all.idempotency_key = "k";
    schemas::commands::create_model again;
    again.workspace_name = "default";
    again.model.name = "m";
    EXPECT_NE(all.run(again).code, 0u);
    EXPECT_EQ(before, content::digest(*all.view()));
}

TEST(content, its_digest_says_nothing_of_where_a_webhook_was_made) {
    const auto digest_after = [](int records) {
        registry all;
        for (int i = 0; i < records; ++i) all.run(schemas::commands::no_operation{});
        schemas::commands::create_webhook command;
        command.settings.name = "hook";
        command.settings.location = "https://example.org/hook";
        command.settings.all_events = true;
        EXPECT_EQ(all.run(command).code, 0u);
        return content::digest(*all.view());
    };
    registry all;
    EXPECT_NE(content::digest(*all.view()), digest_after(1));
    EXPECT_EQ(digest_after(1), digest_after(7));
}

}  // namespace
}  // namespace herald::test
