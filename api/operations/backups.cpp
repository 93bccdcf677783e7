// Backups and snapshots of the installation, made by this node while it serves. For system administrators: a
// backup holds everything. Files are named, never sent: they are for the operator of the machine.
#include "storage/backup/backup_desk.hpp"

#include "api/calls/rows.hpp"
#include "api/operations/routes.hpp"
#include "api/operations/services.hpp"
#include "runtime/crypto.hpp"
#include "schemas/answers/copies.hpp"
#include "schemas/requests/identity.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/snapshots/snapshot_desk.hpp"

namespace herald::api::operations {
namespace {

using namespace calls::rows;
using storage::backup::backup_row;
using storage::backup::backup_state;
namespace access = storage::registry::access;

std::string name_of(backup_state state) {
    switch (state) {
        case backup_state::running:
            return "RUNNING";
        case backup_state::done:
            return "DONE";
        case backup_state::failed:
            return "FAILED";
        case backup_state::damaged:
            break;
    }
    return "DAMAGED";
}

answers::backup backup_answer(const backup_row& row) {
    answers::backup shown;
    shown.name = row.name;
    shown.path = row.path.string();
    shown.state = name_of(row.state);
    shown.time_created = row.made_ms;
    shown.message = row.problem;
    shown.bytes = row.bytes;
    shown.digest = runtime::to_hex(row.digest);
    shown.content_digest = runtime::to_hex(row.what.end.content_digest);
    shown.generation = row.what.header.log.generation;
    shown.offset = row.what.header.next_offset;
    if (row.state != backup_state::done) shown.generation = 0;
    shown.rows = row.what.end.rows;
    shown.carried_deliveries = row.what.end.records;
    shown.artifacts_compared = row.what.end.artifacts;
    shown.artifacts_lost = row.what.end.artifacts_lost;
    for (const std::string& digest : row.what.end.lost_artifacts)
        shown.lost_artifacts.push_back(runtime::to_hex(digest));
    return shown;
}

result<void> require_administrator(const reading_call& call, std::string_view what) {
    return access::require_system_admin(call.state(), call.user().id, what);
}

response make_backup(writing_call& call) {
    const auto body = call.body<requests::nothing>();
    if (!body) co_return body.error();
    if (const auto may = require_administrator(call, "a backup"); !may) co_return may.error();
    const auto begun = call.of<services>().backups.begin();
    if (!begun) co_return begun.error();
    const answers::begun_backup answer{backup_answer(*begun)};
    co_return call.answer(answers::text_of(answer));
}

answered list_backups(reading_call& call) {
    if (const auto may = require_administrator(call, "the list of backups"); !may) return may.error();
    const auto rows = call.of<services>().backups.list();
    if (!rows) return rows.error();
    answers::backups answer;
    for (const backup_row& row : *rows) answer.records.push_back(backup_answer(row));
    answer.total_records = answer.records.size();
    return call.answer(answer);
}

result<answers::snapshots> snapshots_of(const storage::snapshots::snapshot_desk& desk) {
    const auto rows = desk.list();
    if (!rows) return rows.error();
    answers::snapshots all;
    all.is_taking = desk.is_taking();
    for (const storage::snapshots::snapshot_row& row : *rows)
        all.snapshots_.push_back(
            {row.name, row.generation, row.next_offset, row.time_ms, row.bytes, runtime::to_hex(row.digest)});
    all.total_records = all.snapshots_.size();
    return all;
}

response take_snapshot(writing_call& call) {
    const auto body = call.body<requests::nothing>();
    if (!body) co_return body.error();
    if (const auto may = require_administrator(call, "a snapshot"); !may) co_return may.error();
    const auto begun = call.of<services>().snapshots.begin();
    if (!begun) co_return begun.error();
    answers::snapshots answer;
    answer.is_taking = true;
    co_return call.answer(answers::text_of(answer));
}

answered list_snapshots(reading_call& call) {
    if (const auto may = require_administrator(call, "the list of snapshots"); !may) return may.error();
    const auto all = snapshots_of(call.of<services>().snapshots);
    if (!all) return all.error();
    return call.answer(*all);
}

constexpr std::string_view backups_path = "/api/v1/uac-proxy/backups";
constexpr std::string_view snapshots_path = "/api/v1/uac-proxy/snapshots";

/// The lists are for system administrators, too. Their handlers check that, because a read has no rule.
const calls::route backup_table[] = {
    for_system_administrators(act<requests::nothing, answers::begun_backup>(
        "make_backup", backups_path, make_backup, "backups",
        "Begins a backup of all that is registered and not yet delivered, in this node's folder")),
    list<answers::backups>("list_backups", backups_path, list_backups, "backups",
                           "The backups in this node's folder, newest first"),
    for_system_administrators(
        act<requests::nothing, answers::snapshots>("take_snapshot", snapshots_path, take_snapshot, "backups",
                                                   "Begins a snapshot of the state, with which a new node "
                                                   "starts")),
    list<answers::snapshots>("list_snapshots", snapshots_path, list_snapshots, "backups",
                             "The snapshots of the state, newest first"),
};

}  // namespace

std::span<const calls::route> backup_routes() { return backup_table; }

}  // namespace herald::api::operations
