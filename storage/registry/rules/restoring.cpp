// How a log that continues another one takes over its rows (design.md §1 "GENESIS").
#include "runtime/crypto.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/tables/content.hpp"
#include "storage/registry/tables/installation.hpp"

namespace herald::storage::registry::rules {
namespace {

error continues_no_other() {
    return runtime::failed_precondition("this log continues no other: there is nothing to restore into it");
}

}  // namespace

/// Errors: failed_precondition in a log without a parent, and for a piece that comes before its
/// predecessor; invalid_argument for a row that does not outlive its log.
answer apply(rule_context& context, const schemas::commands::restore_rows& command) {
    auto progress = tables::restoring::find(context.state);
    if (!progress) return continues_no_other();
    if (progress->is_done || command.piece < progress->pieces) return std::string();
    if (command.piece > progress->pieces)
        return runtime::failed_precondition(
            {"piece ", command.piece, " of the restored rows came before piece ", progress->pieces});
    for (const schemas::carried_row& row : command.rows)
        if (!tables::content::is_carried(row.key))
            return runtime::invalid_argument("a row of a table that a restore does not bring");
    for (const schemas::carried_row& row : command.rows)
        tables::content::put_carried(context.state, row, context.offset());
    ++progress->pieces;
    progress->digest = tables::content::digest_after(progress->digest, command.rows);
    tables::restoring::put(context.state, *progress);
    return std::string();
}

/// Errors: failed_precondition in a log without a parent, and when the rows are not those that GENESIS
/// names.
answer apply(rule_context& context, const schemas::commands::end_restore& command) {
    auto progress = tables::restoring::find(context.state);
    const auto installation = tables::installation::find(context.state);
    if (!progress || !installation) return continues_no_other();
    if (progress->is_done) return std::string();
    if (progress->pieces != command.pieces || progress->digest != installation->snapshot_digest)
        return runtime::failed_precondition({"the restored rows are not those of the backup: there are ",
                                             progress->pieces, " pieces, and there must be ", command.pieces,
                                             " with the digest of GENESIS"});
    progress->is_done = true;
    progress->is_paused = command.paused;
    tables::restoring::put(context.state, *progress);
    return std::string();
}

answer apply(rule_context& context, const schemas::commands::resume_deliveries&) {
    auto progress = tables::restoring::find(context.state);
    if (!progress || !progress->is_paused) return std::string();
    progress->is_paused = false;
    tables::restoring::put(context.state, *progress);
    return std::string();
}

runner runner_of(schemas::commands::command_type type, schemas::commands::restoring_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
