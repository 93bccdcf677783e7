// Protects versions: names are unique, updates change only what they carry, locks protect what a version is
// made of (wire.md §3).
#include <gmock/gmock.h>

#include <chrono>

#include "events/limits.hpp"
#include "schemas/limits.hpp"
#include "schemas/views.hpp"
#include "storage/registry/rules/unchanged.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace storage;

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class version_rules : public testing::Test {
  protected:
    registry registry;
    schemas::registered_model model = registry.model_named("m");

    schemas::commands::outcome create(const schemas::version_content& version,
                                      schemas::lock_level lock = schemas::lock_level::open) {
        schemas::commands::create_version command;
        command.lock_level = lock;
        command.registered_model_id = model.id;
        command.version = version;
        return registry.run(command);
    }
    schemas::commands::outcome update(
        schemas::version_id id, const schemas::version_content& body, std::vector<std::string> present,
        schemas::commands::update_mode mode = schemas::commands::update_mode::merge) {
        schemas::commands::update_version command;
        command.id = id;
        command.mode = mode;
        command.present = std::move(present);
        command.version = body;
        return registry.run(command);
    }
    static schemas::model_version read(const schemas::commands::outcome& outcome) {
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
        return *schemas::decode<schemas::model_version>(outcome.body);
    }
};

TEST_F(version_rules, names_are_unique_in_their_model_and_numbers_never_reused) {
    EXPECT_EQ(registry.version_named("v1", model.id).version_number, 1u);
    EXPECT_EQ(registry.version_named("v2", model.id).version_number, 2u);
    schemas::version_content again;
    again.version = "v1";
    const auto outcome = create(again);
    EXPECT_EQ(code_of(outcome), error_code::already_exists);
    EXPECT_THAT(outcome.message, HasSubstr("already exists"));
    EXPECT_EQ(registry.version_named("v1", registry.model_named("other").id).version_number, 1u);
}

TEST_F(version_rules, every_version_has_a_time_of_its_own) {
    const auto first = registry.version_named("v1", model.id);
    const auto second = registry.version_named("v2", model.id);
    EXPECT_LT(first.time_created, second.time_created);
}

TEST_F(version_rules, a_record_whose_json_would_not_fit_into_an_event_is_refused) {
    const auto made = registry.version_named("v1", model.id);
    schemas::version_content texts;
    texts.readme_text = std::string(119'500, '\x01');
    const auto outcome = update(made.id, texts, {"readme_text"});
    EXPECT_EQ(code_of(outcome), error_code::invalid_argument);
    EXPECT_THAT(outcome.message, HasSubstr("as JSON"));
    texts.readme_text.resize(118'000);
    EXPECT_EQ(update(made.id, texts, {"readme_text"}).code, 0u);
    texts.version = "v2";
    texts.readme_text.resize(120'000, '\x01');
    EXPECT_EQ(code_of(create(texts)), error_code::invalid_argument);
    schemas::commands::create_model command;
    command.workspace_name = "default";
    command.model.name = "large";
    command.model.readme_text = std::string(120'000, '\x01');
    EXPECT_EQ(code_of(registry.run(command)), error_code::invalid_argument);
}

TEST_F(version_rules, the_largest_event_fits_into_a_record_with_all_that_a_delivery_adds) {
    for (std::size_t hooks = 0; hooks < limits::webhooks_per_workspace_max; ++hooks)
        registry.webhook_for({schemas::event_type::update, schemas::event_type::promote});
    schemas::version_content texts;
    texts.version = "v1";
    texts.readme_text = std::string(119'000, '\x01');
    while (create(texts).code != 0) texts.readme_text.resize(texts.readme_text.size() - 100);
    const schemas::version_id id{1};
    schemas::version_content label;
    label.labels = {"a"};
    ASSERT_EQ(update(id, label, {"labels"}).code, 0u);
    std::size_t largest = 0;
    for (const auto& event : registry.outbox()) largest = std::max(largest, schemas::encode(event).size());
    EXPECT_GT(largest, 2 * limits::entity_json_bytes_max - 5'000) << "the test would show nothing";
    EXPECT_LE(largest, limits::event_bytes_max);
}

TEST_F(version_rules, what_counts_as_short_fits_as_json_whatever_it_holds) {
    schemas::model_version version;
    version.version = "v1";
    schemas::artifact artifact;
    artifact.artifact_type = schemas::artifact_type::image;
    for (const auto& [type, name] : schemas::enum_names<schemas::artifact_type>)
        if (name.size() > name_of(artifact.artifact_type).size()) artifact.artifact_type = type;
    artifact.linked_artifact_id = "1";
    for (std::size_t i = 0; i < limits::artifacts_max; ++i) {
        artifact.key = std::to_string(i);
        version.artifacts.push_back(artifact);
        version.datasets.push_back(artifact);
    }
    ASSERT_LT(schemas::encode(version).size(), limits::entity_short_bytes_max);
    version.readme_text =
        std::string(limits::entity_short_bytes_max - schemas::encode(version).size() - 4, '\x01');
    ASSERT_LE(schemas::encode(version).size(), limits::entity_short_bytes_max);
    EXPECT_LE(view_of(version).size(), limits::entity_json_bytes_max);
}

TEST_F(version_rules, bad_names_are_refused) {
    schemas::version_content bad;
    for (const std::string& name :
         {std::string(), std::string(257, 'x'), std::string("a\nb"), std::string("\xff")}) {
        bad.version = name;
        EXPECT_EQ(code_of(create(bad)), error_code::invalid_argument);
    }
}

TEST_F(version_rules, patch_adds_labels_and_merges_attributes_by_key) {
    schemas::version_content made;
    made.version = "v1";
    made.labels = {"b", "a", "b"};
    made.attributes = {{"x", {"1"}, {}}, {"y", {"2"}, {}}};
    const auto version = read(create(made));
    EXPECT_THAT(version.labels, ElementsAre("a", "b"));
    schemas::version_content patch;
    patch.labels = {"c", "a"};
    patch.attributes = {{"y", {"3"}, {}}, {"z", {"4"}, {}}};
    const auto patched = read(update(version.id, patch, {"labels", "attributes"}));
    EXPECT_THAT(patched.labels, ElementsAre("a", "b", "c"));
    ASSERT_EQ(patched.attributes.size(), 3u);
    EXPECT_EQ(patched.attributes[1].value.text, "3");
    EXPECT_EQ(patched.version, "v1");
}

TEST_F(version_rules, an_empty_patch_changes_nothing) {
    const auto version = registry.version_named("v1", model.id);
    EXPECT_EQ(read(update(version.id, {}, {})).time_updated, version.time_updated);
}

TEST_F(version_rules, put_replaces_the_record_and_keeps_what_the_server_owns) {
    schemas::version_content made;
    made.version = "v1";
    made.labels = {"a"};
    made.description = "text";
    const auto version = read(create(made));
    auto body = content_of(version);
    body.labels.clear();
    const auto replaced = read(update(version.id, body, {}, schemas::commands::update_mode::replace));
    EXPECT_TRUE(replaced.labels.empty());
    EXPECT_EQ(replaced.description, "text");
    EXPECT_EQ(replaced.id, version.id);
    EXPECT_EQ(replaced.stage, schemas::stage::unassigned);
    EXPECT_EQ(replaced.owner, registry.admin);
}

TEST_F(version_rules, a_closed_version_is_locked_for_changes_of_what_it_is_made_of) {
    schemas::version_content made;
    made.version = "v1";
    const auto version = read(create(made, schemas::lock_level::closed));
    schemas::version_content patch;
    patch.attributes = {{"x", {"1"}, {}}};
    const auto outcome = update(version.id, patch, {"attributes"});
    EXPECT_EQ(code_of(outcome), error_code::permission_denied);
    EXPECT_THAT(outcome.message, HasSubstr("locked for changes"));
    patch.description = "allowed";
    EXPECT_EQ(update(version.id, patch, {"description"}).code, 0u);
}

TEST_F(version_rules, a_locked_version_takes_its_own_ingredients_back_in_another_form) {
    schemas::version_content made;
    made.version = "v1";
    made.attributes = {{"a", {"{\"x\":1.0,\"y\":[2]}"}, {}}, {"n", {}, {}}};
    made.code_blob_map = {"{}"};
    made.model.emplace();
    made.environment = {"{\"a\":1,\"b\":2}"};
    const auto version = read(create(made, schemas::lock_level::closed));
    EXPECT_EQ(version.model, std::nullopt) << "a model without a key is none";
    EXPECT_EQ(version.code_blob_map.text, "") << "a map without entries is none";
    auto body = content_of(version);
    body.attributes = {{"a", {"{\"y\":[2.0],\"x\":1}"}, {}}, {"n", {}, {}}};
    body.environment = {"{\"b\":2,\"a\":1}"};
    EXPECT_EQ(update(version.id, body, {}, schemas::commands::update_mode::replace).code, 0u);
    body.attributes[0].value = {"{\"y\":[2.0],\"x\":2}"};
    EXPECT_EQ(code_of(update(version.id, body, {}, schemas::commands::update_mode::replace)),
              error_code::permission_denied);
}

TEST_F(version_rules,
       a_locked_version_takes_itself_back_without_what_is_at_its_default_and_stays_to_the_byte) {
    schemas::version_content made;
    made.version = "v1";
    made.labels = {"a"};
    made.code_blob_map = {R"({"k":{"git":{"repo":"r","hash":"h","branch":"","tag":"","is_dirty":false}},)"
                          R"("n":{"notebook":{"path":{"components":[{"path":"p","size":"0"}]}}}})"};
    made.environment = {R"({"python":{"version":{"major":3,"minor":0}},"command_line":[]})"};
    made.docker_metadata = {R"({"request_port":0,"request_path":"/p"})"};
    made.attributes = {{"big", {"9007199254740993"}, schemas::value_type::number}};
    const auto version = read(create(made, schemas::lock_level::closed));
    schemas::version_content body = content_of(version);
    body.labels.clear();
    body.code_blob_map = {
        R"({"n":{"notebook":{"path":{"components":[{"path":"p"}]}}},"k":{"git":{"hash":"h","repo":"r"}}})"};
    body.environment = {R"({"python":{"version":{"major":3}}})"};
    body.docker_metadata = {R"({"request_path":"/p"})"};
    body.attributes[0].value = {"9007199254740992.0"};
    const auto put = [&] { return update(version.id, body, {}, schemas::commands::update_mode::replace); };
    schemas::model_version expected = version;
    expected.labels.clear();
    const auto kept = read(put());
    expected.time_updated = kept.time_updated;
    EXPECT_EQ(schemas::encode(kept), schemas::encode(expected));
    const auto is_change = [&](auto&& change) {
        const schemas::version_content before = body;
        change();
        EXPECT_THAT(put().message, HasSubstr("locked for changes"));
        body = before;
    };
    is_change([&] { body.code_blob_map = {R"({"k":{"git":{"hash":"h","repo":"r","tag":"0"}}})"}; });
    is_change([&] { body.environment = {R"({"python":{"version":{}}})"}; });
    is_change([&] { body.environment = {}; });
    is_change([&] { body.docker_metadata = {R"({"request_path":"/p","request_port":1})"}; });
    is_change([&] { body.attributes[0].value_type = schemas::value_type::string; });
    is_change([&] { body.attributes[0].value = {"9007199254740992"}; });
}

TEST_F(version_rules, values_mean_the_same_whatever_their_members_order_and_their_numbers_form) {
    using storage::registry::rules::absent_is_default;
    using storage::registry::rules::means_the_same;
    const auto same = [](const char* a, const char* b, absent_is_default absent = absent_is_default::no) {
        EXPECT_EQ(means_the_same({a}, {b}, absent), means_the_same({b}, {a}, absent));
        return means_the_same({a}, {b}, absent);
    };
    EXPECT_TRUE(same(R"({"b":[1.0,-0.0],"a":1e19})", R"({"a":10000000000000000000,"b":[1,0]})"));
    EXPECT_TRUE(same("1e20", "100000000000000000000")) << "as clients write it that keep doubles";
    EXPECT_FALSE(same("100000000000000000001", "100000000000000000002"));
    EXPECT_FALSE(same("9007199254740993", "9007199254740992"));
    EXPECT_TRUE(same("9007199254740993", "9007199254740992.0"));
    EXPECT_FALSE(same("[1,2]", "[2,1]"));
    EXPECT_FALSE(same("1", "\"1\""));
    EXPECT_FALSE(same("1", "true"));
    EXPECT_FALSE(same(R"({"a":0})", "{}")) << "nothing is a default in a value";
    EXPECT_TRUE(same(R"({"a":0,"b":"","c":[],"d":false,"e":null})", "{}", absent_is_default::yes));
    EXPECT_FALSE(same(R"({"a":{}})", "{}", absent_is_default::yes)) << "a message without members is there";
}

TEST_F(version_rules, objects_with_many_members_are_compared_without_searching_one_for_each_of_the_other) {
    constexpr int members = 100'000;
    std::string upwards = "{", downwards = "{";
    for (int i = 0; i < members; ++i) {
        const char* comma = i == 0 ? "" : ",";
        upwards += comma + ("\"" + std::to_string(i)) + "\":1";
        downwards += comma + ("\"" + std::to_string(members - 1 - i)) + "\":1";
    }
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(storage::registry::rules::means_the_same({upwards + "}"}, {downwards + "}"},
                                                         storage::registry::rules::absent_is_default::no));
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20));
}

TEST_F(version_rules, a_path_of_names_that_fits_two_versions_changes_neither) {
    const auto first = registry.version_named("first", model.id);
    schemas::commands::update_version command;
    command.workspace_name = "default";
    command.model_name = "m";
    command.present = {"description"};
    const auto change = [&](const std::string& last) {
        command.version_or_name = last;
        command.version.description = "by " + last;
        return registry.run(command);
    };
    const std::string id = std::to_string(first.id.value);
    EXPECT_EQ(read(change(id)).id, first.id);
    EXPECT_EQ(read(change("first")).id, first.id);
    const auto shadow = registry.version_named(id.c_str(), model.id);
    const auto refused = change(id);
    EXPECT_EQ(code_of(refused), error_code::failed_precondition);
    EXPECT_THAT(refused.message, AllOf(HasSubstr("\"first\""), HasSubstr(std::to_string(shadow.id.value))));
    EXPECT_EQ(read(change(std::to_string(shadow.id.value))).id, shadow.id);
    EXPECT_EQ(code_of(change("none")), error_code::not_found);
}

TEST_F(version_rules, of_two_versions_for_one_path_a_locked_one_is_said_to_be_locked) {
    const auto version = registry.version_named("v", model.id);
    const auto named = registry.version_named(std::to_string(version.id.value), model.id);
    schemas::commands::update_version change;
    change.workspace_name = "default";
    change.model_name = model.name;
    change.version_or_name = named.version;
    change.mode = schemas::commands::update_mode::merge;
    change.present = {"attributes"};
    change.version.attributes = {{"a", {"1"}, schemas::value_type::number}};
    schemas::commands::delete_version removal;
    removal.workspace_name = "default";
    removal.model_name = model.name;
    removal.version_or_name = named.version;
    EXPECT_EQ(code_of(registry.run(change)), error_code::failed_precondition);
    EXPECT_EQ(code_of(registry.run(removal)), error_code::failed_precondition);
    EXPECT_EQ(registry.run(schemas::commands::lock_version{version.id, schemas::lock_level::closed}).code,
              0u);
    EXPECT_EQ(code_of(registry.run(change)), error_code::permission_denied);
    EXPECT_EQ(code_of(registry.run(removal)), error_code::permission_denied);
}

TEST_F(version_rules, an_unknown_experiment_run_is_not_found_before_anything_else_is_judged) {
    schemas::commands::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "";
    command.experiment_run_id = "run";
    const auto reader = registry.user_named("reader@example.org").id;
    EXPECT_EQ(code_of(registry.run_as(reader, command)), error_code::not_found);
    EXPECT_EQ(code_of(registry.run(command)), error_code::not_found);
}

TEST_F(version_rules, parts_that_are_echoed_must_be_objects) {
    const auto version = registry.version_named("v1", model.id);
    for (auto part : {&schemas::version_content::environment, &schemas::version_content::docker_metadata,
                      &schemas::version_content::code_blob_map}) {
        schemas::version_content body;
        body.*part = {"[1]"};
        EXPECT_EQ(code_of(update(version.id, body, {"environment", "docker_metadata", "code_blob_map"})),
                  error_code::invalid_argument);
    }
}

TEST_F(version_rules, an_unknown_experiment_run_is_not_found) {
    schemas::commands::create_version command;
    command.registered_model_id = model.id;
    command.version.version = "v1";
    command.experiment_run_id = "run";
    const auto outcome = registry.run(command);
    EXPECT_EQ(code_of(outcome), error_code::not_found);
    EXPECT_THAT(outcome.message, HasSubstr("not found"));
}

TEST_F(version_rules, a_version_has_a_bounded_size) {
    schemas::version_content made;
    made.version = "v1";
    for (int i = 0; i < 100; ++i)
        made.attributes.push_back({std::to_string(i), {"\"" + std::string(4096, 'x') + "\""}, {}});
    EXPECT_EQ(code_of(create(made)), error_code::invalid_argument);
}

TEST_F(version_rules, an_update_through_another_models_path_finds_nothing) {
    const auto version = registry.version_named("v1", model.id);
    schemas::commands::update_version command;
    command.id = version.id;
    command.registered_model_id = registry.model_named("other").id;
    EXPECT_EQ(code_of(registry.run(command)), error_code::not_found);
}

TEST_F(version_rules, attributes_sent_twice_count_once) {
    schemas::version_content body;
    body.version = "v1";
    body.attributes = {{"a", {"1"}, {}}, {"b", {"2"}, {}}, {"a", {"3"}, {}}};
    const std::vector<schemas::key_value> once{{"a", {"3"}, {}}, {"b", {"2"}, {}}};
    const auto made = read(create(body));
    EXPECT_EQ(made.attributes, once);
    EXPECT_EQ(read(update(made.id, body, {"attributes"}, schemas::commands::update_mode::replace)).attributes,
              once);
}

TEST_F(version_rules, long_lists_are_refused_before_they_are_merged) {
    const auto version = registry.version_named("v1", model.id);
    schemas::version_content attributes;
    for (std::size_t i = 0; i <= limits::attributes_max; ++i)
        attributes.attributes.push_back({std::to_string(i), {"1"}, {}});
    schemas::version_content artifacts;
    artifacts.artifacts.resize(limits::artifacts_max + 1, {.key = "a"});
    schemas::version_content datasets;
    datasets.datasets = artifacts.artifacts;
    schemas::version_content labels;
    labels.labels.assign(limits::labels_max + 1, "l");
    for (const auto& body : {attributes, artifacts, datasets, labels})
        for (const auto mode :
             {schemas::commands::update_mode::merge, schemas::commands::update_mode::replace})
            EXPECT_EQ(
                code_of(update(version.id, body, {"attributes", "artifacts", "datasets", "labels"}, mode)),
                error_code::invalid_argument);
}

std::string utf8(char32_t point) {
    std::string out;
    const auto add = [&](char32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) return std::string(1, static_cast<char>(point));
    if (point < 0x800) add(0xC0 | point >> 6);
    if (point >= 0x800 && point < 0x10000) add(0xE0 | point >> 12);
    if (point >= 0x10000) {
        add(0xF0 | point >> 18);
        add(0x80 | (point >> 12 & 0x3F));
    }
    if (point >= 0x800) add(0x80 | (point >> 6 & 0x3F));
    add(0x80 | (point & 0x3F));
    return out;
}

TEST_F(version_rules, names_show_all_that_they_hold) {
    const auto refused = [&](const std::string& name) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version.version = name;
        const schemas::commands::outcome outcome = registry.run(command);
        return outcome.code == 0 ? "taken" : outcome.message;
    };
    for (const char* blank : {" ", "  ", "\xC2\xA0", "\xE2\x80\x83 \xE3\x80\x80"})
        EXPECT_THAT(refused(blank), HasSubstr("version is only white space")) << blank;
    for (const char* invisible : {"\xE2\x80\x8B", "\xE2\x80\x8B \xEF\xBB\xBF", "\xC2\xAD", "\xE2\x81\xA0",
                                  "\xEF\xB8\x8F", "\xE3\x85\xA4", "\xF3\xA0\x80\xA0"})
        EXPECT_THAT(refused(invisible), HasSubstr("must hold a character that shows")) << invisible;
    EXPECT_THAT(refused("evil\xE2\x80\xAE"
                        "gpj"),
                HasSubstr("control character U+202E"));
    EXPECT_THAT(refused("\xE2\x81\xA6x"), HasSubstr("U+2066"));
    EXPECT_THAT(refused("x\xE2\x81\xA9"), HasSubstr("U+2069"));
    EXPECT_THAT(refused("x\xC2\x85"), HasSubstr("U+0085"));
    EXPECT_THAT(refused("x\ty"), HasSubstr("U+0009"));
    EXPECT_THAT(refused("x\x7F"), HasSubstr("U+007F"));
    for (const int point : {0x2028, 0x2029})
        EXPECT_THAT(refused("x" + utf8(static_cast<char32_t>(point)) + "y"), HasSubstr("control character"))
            << point;
    for (const int point : {0xAD, 0x34F, 0x61C, 0x115F, 0x17B4, 0x180E, 0x200B, 0x200E, 0x2060, 0x2064,
                            0x3164, 0xFEFF, 0xFFA0, 0xFFF0, 0x1BCA0, 0x1D173, 0xE0041})
        EXPECT_THAT(refused("fr" + utf8(static_cast<char32_t>(point)) + "aud"),
                    HasSubstr("invisible character U+"))
            << point;
    EXPECT_THAT(refused("x" + utf8(0xE0041)), HasSubstr("U+E0041"));
    for (const std::string& at_an_end :
         {"fraud" + utf8(0x200D), utf8(0xFE0F) + "fraud", "a " + utf8(0x200C) + "b"})
        EXPECT_THAT(refused(at_an_end), HasSubstr("invisible character U+")) << at_an_end;
    for (const std::string& spaced :
         {std::string("fraud "), std::string(" fraud"), utf8(0xA0) + "fraud", "fraud" + utf8(0x3000)})
        EXPECT_THAT(refused(spaced), HasSubstr("must not begin or end with white space")) << spaced;
    for (const std::string& good :
         {std::string("a b"), utf8(0xE4) + " " + utf8(0x1F600), "x" + utf8(0x202F) + "y",
          utf8(0x2764) + utf8(0xFE0F) + utf8(0x200D) + utf8(0x1F525), "1" + utf8(0xFE0F) + utf8(0x20E3),
          utf8(0x6A9) + utf8(0x200C) + utf8(0x62A), utf8(0x915) + utf8(0x94D) + utf8(0x200D) + utf8(0x937),
          std::string("1")})
        EXPECT_EQ(refused(good), "taken") << good;
}

TEST_F(version_rules, a_member_named_many_times_is_merged_once) {
    const auto version = registry.version_named("v1", model.id);
    schemas::version_content body;
    body.labels.assign(limits::labels_max, "l");
    const std::vector<std::string> named(10'000, "labels");
    EXPECT_THAT(read(update(version.id, body, named)).labels, ElementsAre("l"));
}

}  // namespace
}  // namespace herald::test
