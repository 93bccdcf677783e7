// Protects locks: who may change, delete and unlock a version at which level, the order of refusals, and that
// a client may write back what it has read at every level (wire.md "Lock levels", "What is a change").
#include <gmock/gmock.h>

#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::tables;
using schemas::action;
using schemas::lock_level;
using schemas::commands::outcome;
using schemas::commands::update_mode;
using testing::HasSubstr;

class locks : public testing::Test {
  protected:
    registry registry;
    schemas::model_id model = registry.model_named("m").id;
    schemas::user_id stranger = registry.user_named("stranger@example.org").id;
    schemas::user_id reader = member({action::read});
    schemas::user_id updater = member({action::read, action::update});
    schemas::user_id editor = member({action::read, action::update, action::create, action::delete_});
    schemas::user_id deleter = member({action::read, action::delete_});
    schemas::user_id admin = registry.second_admin();

    /// A user who may do this with models in the administrator's workspace.
    schemas::user_id member(std::vector<action> actions) {
        const std::uint64_t id = 100 + registry.offset;
        const auto user = registry.user_named(std::to_string(id) + "@example.org");
        schemas::role role;
        role.id.value = id;
        role.org_id.value = 1;
        role.name = std::to_string(id);
        role.actions = {{schemas::protected_type::registered_model, std::move(actions)}};
        schemas::group group;
        group.id.value = id;
        group.org_id.value = 1;
        group.name = role.name;
        auto workspace = *find_row<schemas::workspace>(*registry.view(), key_of(table::workspace).number(1));
        workspace.permissions.push_back({schemas::group_id{id}, role.id});
        EXPECT_TRUE(registry.engine_of_log.write());
        EXPECT_TRUE(registry.store->write({{key_of(table::role).number(id), schemas::encode(role)},
                                           {key_of(table::group).number(id), schemas::encode(group)},
                                           {key_of(table::group_member).number(id).number(user.id), ""}}));
        registry.put(key_of(table::workspace).number(1), workspace);
        return user.id;
    }
    schemas::model_version version_at(lock_level level) {
        schemas::commands::create_version command;
        command.registered_model_id = model;
        command.version.version = "v" + std::to_string(registry.offset);
        command.lock_level = level;
        command.version.attributes = {{"k", {"1"}, {}}};
        return registry.must<schemas::model_version>(command);
    }
    outcome patch(schemas::user_id user, schemas::version_id id, std::vector<std::string> members) {
        schemas::commands::update_version command;
        command.id = id;
        command.present = std::move(members);
        command.version.description = command.version.readme_text = "d" + std::to_string(registry.offset);
        command.version.labels = {command.version.description};
        command.version.attributes = {{"k", {std::to_string(registry.offset)}, {}}};
        return registry.run_as(user, command);
    }
    outcome lock(schemas::user_id user, schemas::version_id id, lock_level level) {
        return registry.run_as(user, schemas::commands::lock_version{id, level});
    }
    outcome remove(schemas::user_id user, schemas::version_id id) {
        schemas::commands::delete_version command;
        command.id = id;
        return registry.run_as(user, command);
    }
};

constexpr lock_level all_levels[] = {lock_level::open, lock_level::redact, lock_level::closed};

TEST_F(locks, texts_and_labels_are_every_editors_at_every_level) {
    for (const lock_level level : all_levels) {
        const auto id = version_at(level).id;
        for (const auto user : {updater, editor, admin})
            for (const char* part : {"description", "labels", "readme_text"})
                EXPECT_EQ(patch(user, id, {part}).code, 0u) << part;
        EXPECT_EQ(code_of(patch(reader, id, {"labels"})), error_code::permission_denied);
        EXPECT_EQ(code_of(patch(stranger, id, {"labels"})), error_code::not_found);
    }
}

TEST_F(locks, what_a_version_is_made_of_is_the_editors_then_the_admins_then_nobodys) {
    auto id = version_at(lock_level::open).id;
    EXPECT_EQ(patch(updater, id, {"attributes"}).code, 0u);
    EXPECT_EQ(code_of(patch(reader, id, {"attributes"})), error_code::permission_denied);
    id = version_at(lock_level::redact).id;
    for (const auto user : {updater, editor}) {
        const auto refused = patch(user, id, {"attributes"});
        EXPECT_EQ(code_of(refused), error_code::permission_denied);
        EXPECT_THAT(refused.message, HasSubstr("REDACT"));
    }
    EXPECT_EQ(patch(admin, id, {"attributes"}).code, 0u);
    id = version_at(lock_level::closed).id;
    for (const auto user : {reader, deleter, updater, editor, admin}) {
        const auto refused = patch(user, id, {"attributes"});
        EXPECT_EQ(code_of(refused), error_code::permission_denied);
        EXPECT_THAT(refused.message, HasSubstr("locked for changes")) << "whatever else he lacks";
    }
    EXPECT_EQ(code_of(patch(stranger, id, {"attributes"})), error_code::not_found);
}

TEST_F(locks, deletion_is_the_editors_then_the_admins_then_nobodys) {
    auto id = version_at(lock_level::open).id;
    const auto lacking = remove(updater, id);
    EXPECT_EQ(code_of(lacking), error_code::permission_denied) << "UPDATE is not DELETE";
    EXPECT_EQ(remove(editor, id).code, 0u);
    EXPECT_EQ(remove(deleter, version_at(lock_level::open).id).code, 0u);
    id = version_at(lock_level::redact).id;
    const auto without_right = remove(updater, id), without_admin = remove(editor, id);
    EXPECT_THAT(without_right.message, HasSubstr("DELETE")) << "the missing action comes before REDACT";
    EXPECT_THAT(without_admin.message, HasSubstr("REDACT"));
    EXPECT_EQ(remove(admin, id).code, 0u);
    id = version_at(lock_level::closed).id;
    for (const auto user : {reader, updater, editor, admin})
        EXPECT_THAT(remove(user, id).message, HasSubstr("locked for changes"));
    EXPECT_EQ(code_of(remove(stranger, id)), error_code::not_found);
}

TEST_F(locks, every_editor_may_make_a_lock_stricter_and_only_an_admin_looser) {
    using enum lock_level;
    const std::pair<lock_level, lock_level> stricter[] = {{open, redact}, {open, closed}, {redact, closed}};
    for (const auto& [from, to] : stricter) {
        const auto id = version_at(from).id;
        EXPECT_EQ(code_of(lock(reader, id, to)), error_code::permission_denied);
        EXPECT_EQ(code_of(lock(stranger, id, to)), error_code::not_found);
        EXPECT_EQ(lock(updater, id, from).code, 0u) << "the same again";
        EXPECT_EQ(lock(updater, id, to).code, 0u);
        const auto refused = lock(editor, id, from);
        EXPECT_EQ(code_of(refused), error_code::permission_denied);
        EXPECT_EQ(lock(admin, id, from).code, 0u);
    }
    EXPECT_EQ(code_of(lock(admin, version_at(open).id, unknown)), error_code::invalid_argument);
}

TEST_F(locks, a_lock_is_a_change_that_is_told_and_the_same_level_again_is_none) {
    registry.webhook_for({schemas::event_type::update});
    const auto made = version_at(lock_level::open);
    const auto locked =
        *schemas::decode<schemas::model_version>(lock(updater, made.id, lock_level::closed).body);
    EXPECT_EQ(locked.lock_level, lock_level::closed);
    EXPECT_GT(locked.time_updated, made.time_updated);
    EXPECT_EQ(schemas::encode(
                  *schemas::decode<schemas::model_version>(lock(updater, made.id, lock_level::closed).body)),
              schemas::encode(locked));
    EXPECT_EQ(registry.outbox().size(), 1u);
}

/// As the published client writes an object back: members in another order, without what is at its default.
TEST_F(locks, what_was_read_may_be_written_back_at_every_level_after_every_kind_of_log) {
    using content = schemas::version_content;
    content datasets, code, attributes, docker;
    schemas::artifact linked{.key = "train", .path_only = true};
    linked.artifact_type = schemas::artifact_type::data;
    linked.linked_artifact_id = "7";
    datasets.datasets = {linked};
    code.code_blob_map = {
        R"({"a":{"git":{"repo":"r","hash":"","is_dirty":"TRUE"}},)"
        R"("n":{"notebook":{"path":{"path":"p","size":"12","last_modified_at_source":0}}}})"};
    attributes.attributes = {{"auc", {"0.910"}, {}}, {"zero", {"0"}, {}}};
    docker.docker_metadata = {R"({"request_port":8080,"request_path":"","health_path":"/h"})"};
    const std::pair<const char*, content> logs[] = {{"datasets", datasets},
                                                    {"code_blob_map", code},
                                                    {"attributes", attributes},
                                                    {"docker_metadata", docker}};
    for (const auto& [member, logged] : logs)
        for (const lock_level level : all_levels) {
            const auto id = version_at(lock_level::open).id;
            schemas::commands::log_version_parts log;
            log.update.id = id;
            log.update.present = {member};
            log.update.version = logged;
            ASSERT_EQ(registry.run(log).code, 0u);
            const auto kept = *schemas::decode<schemas::model_version>(lock(updater, id, level).body);
            schemas::commands::update_version put;
            put.id = id;
            put.mode = update_mode::replace;
            put.version = content_of(kept);
            if (!kept.code_blob_map.text.empty())
                put.version.code_blob_map = {R"({"n":{"notebook":{"path":{"size":12,"path":"p"}}},)"
                                             R"("a":{"git":{"is_dirty":1,"repo":"r"}}})"};
            if (!kept.docker_metadata.text.empty())
                put.version.docker_metadata = {R"({"health_path":"/h","request_port":8080.0})"};
            for (auto& attribute : put.version.attributes)
                if (attribute.key == "auc") attribute.value = {"0.91"};
            const auto same = registry.run_as(updater, put);
            EXPECT_EQ(same.code, 0u) << member << " at " << name_of(level) << ": " << same.message;
            EXPECT_EQ(same.body, schemas::encode(kept)) << member << " at " << name_of(level);
            if (level == lock_level::open) continue;
            put.version.attributes.push_back({"more", {"1"}, {}});
            EXPECT_EQ(code_of(registry.run_as(updater, put)), error_code::permission_denied);
            log.update.present = {"attributes"};
            log.update.version = attributes;
            log.update.version.attributes.push_back({"more", {"1"}, {}});
            EXPECT_EQ(code_of(registry.run_as(updater, log)), error_code::permission_denied);
        }
}

TEST_F(locks, the_missing_action_comes_before_redact_and_both_before_values_and_names) {
    const auto id = version_at(lock_level::redact).id;
    schemas::commands::update_version wrong;
    wrong.id = id;
    wrong.present = {"attributes"};
    wrong.version.attributes = {{"", {"1"}, {}}};
    EXPECT_THAT(registry.run_as(reader, wrong).message, HasSubstr("UPDATE"));
    EXPECT_THAT(registry.run_as(updater, wrong).message, HasSubstr("REDACT"));
    EXPECT_EQ(code_of(registry.run_as(admin, wrong)), error_code::invalid_argument);
    EXPECT_EQ(code_of(registry.run_as(stranger, wrong)), error_code::not_found);
    lock(updater, id, lock_level::closed);
    EXPECT_THAT(registry.run_as(reader, wrong).message, HasSubstr("locked for changes"));
}

}  // namespace
}  // namespace herald::test
