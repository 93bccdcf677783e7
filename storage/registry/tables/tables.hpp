// The tables of the state and the grammar of their keys: only for the .cpp files of this folder, and tests.
// Letters are frozen: nodes of different versions share them.
//
//   key    := letter component*
//   number := 8 bytes big-endian          so that rows sort by number
//   text   := the bytes, last in its key; before another component it is followed by a 0 byte (no text
//             contains one), but for a UUID, which is always of 16 bytes
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/assert.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::tables {

enum class table : char {
    installation = 'A',           // → schemas::commands::genesis; "restoring" → schemas::restoring_row
    position = 'B',               // → engine_position; not part of the hash
    counter = 'C',                // name → varint: the last number assigned
    organization = 'D',           // id
    user = 'E',                   // id
    user_by_email = 'F',          // lower-case e-mail → id
    group = 'G',                  // id
    group_member = 'H',           // group, user → ""
    user_group = 'I',             // user, group → "" (the reverse)
    role = 'J',                   // id
    workspace = 'K',              // id
    workspace_by_name = 'L',      // name → id
    model = 'M',                  // id
    model_by_name = 'N',          // workspace, name → id
    version = 'O',                // id
    version_by_name = 'P',        // model, name → id
    version_of_model = 'Q',       // model, version → ""
    activity = 'R',               // id
    activity_of_version = 'S',    // version, activity → ""
    transition = 'T',             // activity id → transition_row
    promotion = 'V',              // version
    build = 'W',                  // id
    build_of_version = 'X',       // version, workspace, build → ""
    scan = 'Y',                   // id
    scan_of_build = 'Z',          // build, scan → ""
    webhook = 'a',                // id
    webhook_by_name = 'b',        // workspace, name → id
    webhook_of_workspace = 'c',   // workspace, webhook → ""
    webhook_change = 'd',         // offset, webhook → "" (changed) or "-" (deleted)
    feature_flag = 'e',           // name
    outcome = 'f',                // principal, 16 bytes of SHA-256(scope, key)
    outcome_bucket = 'g',         // hour, key of the outcome row → varint: bytes of that row
    timer = 'h',                  // due, kind, key → ""
    outbox = 'i',                 // topic 0, partition, sequence → schemas::event
    outbox_sequence = 'j',        // topic 0, partition → the last sequence assigned
    outbox_published = 'k',       // topic 0, partition → the last sequence known to be published
    resource_sequence = 'l',      // event type, resource type, resource id → svc-sequence
    node = 'm',                   // name
    claim = 'n',                  // job
    replaced_processes = '(',     // name of the node
    model_of_workspace = 'o',     // workspace, model → ""
    outbox_by_time = 'p',         // time, key of the outbox row → schemas::event_summary
    outbox_of_event = '4',        // event id → key of the outbox row
    replay = ',',                 // id
    replay_of_workspace = '.',    // workspace, replay → ""
    running_replay = '/',         // replay → "": it has not ended
    level = 'q',                  // → varint: the level in force; absent: schemas::commands::first_level
    user_by_username = 'u',       // lower-case username → id
    session = 'v',                // id
    session_of_user = 'w',        // user, session → ""
    session_by_key = 'x',         // user, 32 bytes of SHA-256(key) → id
    workspace_use = 'y',          // 1 (role) or 2 (group), its id, workspace → ""
    open_transition = 'r',        // version, desired stage → activity id: neither closed nor committed
    audit = '9',                  // sequence → schemas::audit_row; 0 → schemas::audit_head
    external_event = 'z',         // workspace, event_uuid → schemas::external_event
    blob = '5',                   // digest
    artifact_bytes = '6',         // version, key
    unfinished_upload = '7',      // version, key
    doomed_object = '8',          // object → "": to be erased from the store of artifacts
    deleted_model = 's',          // id → the version to go on with: they are there, for nobody
    deleted_version = 't',        // id → where its removal goes on: what hung on it is there, for nobody
    list_count = '0',             // key of a list → varint: how many rows it has
    list_of_models = '1',         // list, ~time_updated, ~model → "" (lists.hpp)
    list_of_versions = '2',       // list, ~time_updated, ~version → varint: model
    list_of_builds = '3',         // list, ~0, ~build → "" (lists.hpp)
    endpoint = '!',               // 16 bytes of its UUID
    endpoint_by_path = '"',       // normalised path → 16 bytes
    endpoint_by_v2_name = '#',    // "a.b" of "/a/b" → 16 bytes
    endpoint_of_workspace = '$',  // workspace, 16 bytes → ""
    endpoint_stage = '%',         // id
    stage_of_endpoint = '&',      // 16 bytes, stage → ""
    access_token = '@',           // id
    token_of_stage = '[',         // stage of an endpoint, token → ""
    token_by_hash = ']',          // stage of an endpoint, SHA-256(value) → id
    stage_log = '{',              // stage of an endpoint, number
    endpoint_update = '*',        // id
    deployed_build = '+',         // 1, model, version, build, stage; 2, workspace of the build, build, stage;
                                  // 3, build, stage → "": it is a component there
    unfinished_build = '-',       // build → "": Herald is to make it
    installation_settings = ')',  // → schemas::installation_settings
};

/// Builds a key: key_of(table::version_by_name).number(model.value).text(name).
class key_of {
  public:
    explicit key_of(table which) : x_key(1, static_cast<char>(which)) {}
    key_of&& number(std::uint64_t value) && {
        schemas::append_big_endian(x_key, value);
        return std::move(*this);
    }
    template <schemas::numeric_id Id>
    key_of&& number(Id value) && {
        return std::move(*this).number(value.value);
    }
    /// Only allowed as the last component, or where all such texts have one length.
    key_of&& text(std::string_view value) && {
        x_key += value;
        return std::move(*this);
    }
    key_of&& ended_text(std::string_view value) && {
        x_key += value;
        x_key += '\0';
        return std::move(*this);
    }
    operator std::string() const& { return x_key; }
    operator std::string() && { return std::move(x_key); }

  private:
    std::string x_key;
};

/// The number in a key's component that begins `position` bytes after the letter.
inline std::uint64_t number_in_key(std::string_view key, std::size_t position = 0) {
    return schemas::read_big_endian(key.substr(1 + position));
}

/// Throws state_corrupt: "a row of table 'm' <what is wrong>".
[[noreturn]] void throw_corrupt(std::string_view key, std::string_view what);

/// `fresh` is as Row{} makes it; rows are large, so that none is moved about.
template <schemas::described Row>
void decode_row_into(Row& fresh, std::string_view key, std::string_view value) {
    if (!schemas::decode_into(fresh, value)) throw_corrupt(key, "does not decode");
    if (!schemas::has_only_named_values(fresh))
        throw_corrupt(key, "holds a number that its enumeration does not have");
}

template <schemas::described Row>
Row decode_row(std::string_view key, std::string_view value) {
    Row row{};
    decode_row_into(row, key, value);
    return row;
}

inline bool has_row(const state::state_view& state, const std::string& key) {
    return state.read(key, [](std::string_view) {});
}

template <schemas::described Row>
std::optional<Row> find_row(const state::state_view& state, const std::string& key) {
    std::optional<Row> row;
    state.read(key, [&](std::string_view value) { decode_row_into(row.emplace(), key, value); });
    return row;
}

template <schemas::described Row>
void put_row(state::state_changes& state, std::string key, const Row& row) {
    HERALD_ASSERT(schemas::has_only_named_values(row));
    state.put(std::move(key), schemas::encode(row));
}

/// Numbers are stored as varints.
std::uint64_t read_number(std::string_view key, std::string_view value);
std::optional<std::uint64_t> find_number(const state::state_view&, const std::string& key);
void put_number(state::state_changes&, std::string key, std::uint64_t value);

}  // namespace herald::storage::registry::tables
