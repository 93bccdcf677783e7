#include "tests/unit/storage/registry/golden_endpoints.hpp"

#include "schemas/commands/endpoints.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using schemas::access_token_id;
using schemas::endpoint_stage_id;
using std::string;

schemas::uuid uuid_of(std::uint8_t number) {
    schemas::uuid id{};
    id[0] = number;
    return id;
}

create_endpoint endpoint_of(std::uint8_t number, const string& path) {
    return {uuid_of(number), "default", path, {R"({"path":")" + path + "\"}"}};
}

new_access_token token_of(char letter) {
    return {string(32, letter), string("sealed ") + letter, string("access token:") + letter};
}

create_endpoint_stage stage_of(std::uint8_t endpoint, const string& name) {
    return {uuid_of(endpoint), "default", name, true, token_of('d'), {R"({"name":")" + name + "\"}"}};
}

create_access_token token_for(std::uint8_t endpoint, std::uint64_t stage, char letter) {
    create_access_token command;
    command.endpoint_id = uuid_of(endpoint);
    command.workspace_name = "default";
    command.stage_id.value = stage;
    command.token = token_of(letter);
    command.creator_request.text = R"({"label":"l"})";
    command.label = "l";
    return command;
}

void tell_of_refused_endpoints(golden_writer& log) {
    create_endpoint command = endpoint_of(9, "x");
    command.workspace_name = "nowhere";
    log.refused(command, "in a workspace that there is none of");
    log.user = ann;
    log.refused(endpoint_of(9, "x"), "by somebody who may only read");
    log.refused(delete_endpoint{uuid_of(1), "default"}, "by somebody who may only read");
    log.refused(stage_of(1, "s"), "by somebody who may only read");
    log.refused(token_for(1, 1, 'a'), "by somebody who may only read");
    log.refused(delete_access_token{uuid_of(1), "default", endpoint_stage_id{1}, access_token_id{1}},
                "by somebody who may only read");
    log.user = admin;
    for (const char* path : {"", "/", "a//b", "a/", "a/..", "a b"})
        log.refused(endpoint_of(9, path), "at a path that is none");
    log.refused(endpoint_of(9, string(256, 'x')), "at a path that is too long");
    command = endpoint_of(9, "x");
    command.path = "\xff";
    log.refused(command, "at a path that is no text");
    command = endpoint_of(9, "x");
    command.creator_request.text = "[]";
    log.refused(command, "with a body that is no object");
    command.creator_request.text = "{" + string(192 * 1024, ' ') + "}";
    log.refused(command, "with a body that is too long");
    command.creator_request.text = R"({"description":")" + string(64 * 1024 + 1, 'x') + "\"}";
    log.refused(command, "with a description that is too long");
    log.refused(endpoint_of(9, "/kept"), "at the path of another");
    log.refused(endpoint_of(9, "a.b"), "with the name of another in the v2 protocol");
    log.refused(endpoint_of(1, "x"), "with the id of another");
    log.refused(delete_endpoint{uuid_of(9), "default"}, "that there is none of");
    log.refused(delete_endpoint{uuid_of(1), "3"}, "of another workspace");
}

void tell_of_stages_of_endpoints(golden_writer& log) {
    log.done(stage_of(1, "production"), "1 of the first");
    log.refused(stage_of(1, "production"), "with the name of another");
    log.refused(stage_of(1, ""), "without a name");
    log.refused(stage_of(9, "s"), "of an endpoint that there is none of");
    create_endpoint_stage command = stage_of(1, "s");
    command.token.hash.clear();
    log.refused(command, "with a token without a hash");
    command = stage_of(1, "s");
    command.token.sealed_value.clear();
    log.refused(command, "with a token without a value");
    command = stage_of(1, "s");
    command.creator_request.text = "7";
    log.refused(command, "with a body that is no object");
    for (int i = 0; i < 16; ++i) {
        command = stage_of(2, "stage " + std::to_string(i));
        command.autocreate_token = i % 2 == 0;
        log.done(command, "of the second");
    }
    log.refused(stage_of(2, "one more"), "one too many");
}

void tell_of_access_tokens(golden_writer& log) {
    log.refused(token_for(1, 1, 'd'), "with the value of the default one");
    log.refused(token_for(1, 2, 'a'), "in the stage of another endpoint");
    log.refused(token_for(9, 1, 'a'), "of an endpoint that there is none of");
    create_access_token command = token_for(1, 1, 'a');
    command.label = string(257, 'x');
    log.refused(command, "with a label that is too long");
    command = token_for(1, 1, 'a');
    command.expires_ms = log.now_ms;
    log.refused(command, "that has ended");
    log.done(token_for(1, 1, 'a'), "for ever");
    command = token_for(1, 1, 'b');
    command.expires_ms = log.now_ms + hour_ms;
    const std::uint64_t ends = log.done(command, "for an hour");
    command = token_for(1, 1, 'c');
    command.expires_ms = log.now_ms + hour_ms;
    log.done(command, "for an hour, but revoked");
    // The default ones of stages 1, 2, 4, … 16 are 1 to 9.
    log.done(delete_access_token{uuid_of(1), "default", endpoint_stage_id{1}, access_token_id{12}});
    log.refused(delete_access_token{uuid_of(1), "default", endpoint_stage_id{1}, access_token_id{12}},
                "that there is none of any more");
    for (int i = 0; i < 99; ++i) {
        command = token_for(2, 2, 'x');
        command.token.hash.replace(0, 3, std::to_string(100 + i));
        log.done(command, "one of a hundred");
    }
    command.token.hash = string(32, 'y');
    log.refused(command, "one too many");
    log.now_ms += hour_ms;
    log.done(no_operation{}, "the token made at " + std::to_string(ends) + " ends");
}

}  // namespace

void tell_of_endpoints(golden_writer& log) {
    log.user = admin;
    create_webhook hook;
    hook.settings.name = "endpoints";
    hook.settings.location = "https://example.org/endpoints";
    hook.settings.all_events = true;
    hook.settings.resource_types.push_back(
        {schemas::resource_type::none, schemas::resource_type::endpoint, schemas::resource_type::none});
    log.done(hook, "that hears of endpoints");
    log.done(endpoint_of(1, "kept"), "/kept");
    log.done(endpoint_of(2, "/a/b"), "/a/b");
    tell_of_refused_endpoints(log);
    tell_of_stages_of_endpoints(log);
    tell_of_access_tokens(log);
    log.done(delete_endpoint{uuid_of(2), "1"}, "/a/b, with sixteen stages and a hundred tokens");
    for (int i = 0; i < 4; ++i) log.done(no_operation{}, "its parts are swept");
}

}  // namespace herald::test
