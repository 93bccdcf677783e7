// Protects models: an update changes what it carries and nothing else, and what changes nothing leaves the
// row as it was, to the byte (wire.md §3).
#include <gmock/gmock.h>

#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using schemas::commands::update_mode;
using testing::ElementsAre;
using testing::HasSubstr;

class model_rules : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = made();

    schemas::registered_model made() {
        schemas::commands::create_model command;
        command.workspace_name = "default";
        command.model.name = "m";
        command.model.description = "d";
        command.model.labels = {"b", "a"};
        command.model.attributes = {{"k", {"1"}, {}}, {"l", {R"({"x":[1.5,null]})"}, {}}};
        command.model.visibility = schemas::visibility::private_;
        command.model.custom_permission.emplace();
        return registry.must<schemas::registered_model>(command);
    }
    static schemas::model_content content_of(const schemas::registered_model& row) {
        return *schemas::decode<schemas::model_content>(schemas::encode(row));
    }
    schemas::commands::outcome update(update_mode mode, const schemas::model_content& content,
                                      std::vector<std::string> present = {}) {
        schemas::commands::update_model command;
        command.id = model.id;
        command.mode = mode;
        command.present = std::move(present);
        command.model = content;
        return registry.run(command);
    }
    static schemas::registered_model read(const schemas::commands::outcome& outcome) {
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
        return *schemas::decode<schemas::registered_model>(outcome.body);
    }
};

TEST_F(model_rules, a_put_of_what_was_read_changes_nothing_with_or_without_what_is_at_its_default) {
    registry.webhook_for({schemas::event_type::update});
    schemas::model_content content = content_of(model);
    EXPECT_EQ(schemas::encode(read(update(update_mode::replace, content))), schemas::encode(model));
    content.visibility = {};
    content.custom_permission = {};
    content.resource_visibility = schemas::resource_visibility::unknown;
    content.attributes[1].value = {R"({"x":[1.50,null]})"};
    content.labels = {"a", "b", "a"};
    EXPECT_EQ(schemas::encode(read(update(update_mode::replace, content))), schemas::encode(model));
    EXPECT_THAT(registry.outbox(), testing::IsEmpty());
    content.pii = true;
    EXPECT_TRUE(read(update(update_mode::replace, content)).pii);
    EXPECT_EQ(registry.outbox().size(), 1u);
}

TEST_F(model_rules, a_put_clears_what_it_leaves_out_but_keeps_name_number_and_owner) {
    const auto version = registry.version_named("v", model.id);
    const auto after = read(update(update_mode::replace, {}));
    EXPECT_EQ(after.name, "m");
    EXPECT_EQ(after.description, "");
    EXPECT_THAT(after.labels, ElementsAre());
    EXPECT_THAT(after.attributes, ElementsAre());
    EXPECT_EQ(after.resource_visibility, schemas::resource_visibility::workspace_default);
    EXPECT_EQ(after.owner, model.owner);
    EXPECT_EQ(after.time_created, model.time_created);
    EXPECT_GT(after.time_updated, model.time_updated);
    EXPECT_EQ(registry.version_named("w", model.id).version_number, version.version_number + 1);
}

TEST_F(model_rules, a_patch_adds_labels_and_merges_attributes_and_a_masked_one_replaces_them) {
    schemas::model_content content;
    content.labels = {"c", "a"};
    content.attributes = {{"k", {"2"}, {}}, {"n", {"3"}, {}}};
    auto after = read(update(update_mode::merge, content, {"labels", "attributes"}));
    EXPECT_THAT(after.labels, ElementsAre("a", "b", "c"));
    ASSERT_EQ(after.attributes.size(), 3u);
    EXPECT_EQ(after.attributes[0].value.text, "2");
    EXPECT_EQ(after.attributes[2].key, "n");
    EXPECT_EQ(after.description, "d");
    after = read(update(update_mode::members, content, {"labels", "attributes", "description"}));
    EXPECT_THAT(after.labels, ElementsAre("a", "c"));
    EXPECT_EQ(after.attributes.size(), 2u);
    EXPECT_EQ(after.description, "") << "named and absent is cleared";
    EXPECT_EQ(after.name, "m");
}

TEST_F(model_rules, a_name_can_be_changed_to_one_that_is_free_and_is_then_free_itself) {
    registry.model_named("taken");
    schemas::model_content content;
    content.name = "taken";
    const auto refused = update(update_mode::merge, content, {"name"});
    EXPECT_EQ(code_of(refused), error_code::already_exists);
    EXPECT_THAT(refused.message, HasSubstr("already exists"));
    content.name = "7";
    EXPECT_EQ(read(update(update_mode::merge, content, {"name"})).name, "7");
    registry.model_named("m");
    schemas::commands::update_model by_name;
    by_name.workspace_name = "default";
    by_name.model_name = "7";
    by_name.present = {"description"};
    EXPECT_EQ(read(registry.run(by_name)).id, model.id);
    content.name.clear();
    EXPECT_EQ(code_of(update(update_mode::merge, content, {"name"})), error_code::invalid_argument);
}

TEST_F(model_rules, every_change_of_a_model_is_told_with_what_it_was_and_is) {
    registry.webhook_for({schemas::event_type::update});
    schemas::model_content content;
    content.description = "new";
    read(update(update_mode::merge, content, {"description"}));
    const auto events = registry.outbox();
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].resource_type, schemas::resource_type::registered_model);
    const auto original = events[0].body.find("\"original\":{"),
               updated = events[0].body.find("\"updated\":{");
    ASSERT_LT(original, updated) << events[0].body;
    ASSERT_NE(updated, std::string::npos) << events[0].body;
    EXPECT_THAT(events[0].body.substr(original, updated - original),
                HasSubstr(R"("name":"m","description":"d")"));
    EXPECT_THAT(events[0].body.substr(updated), HasSubstr(R"("name":"m","description":"new")"));
}

}  // namespace
}  // namespace herald::test
