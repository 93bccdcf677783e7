// How the builds end that Herald makes: reported by the node that makes them, or by their deadline (design.md
// §4, wire.md §4).
#include "runtime/limits.hpp"
#include "runtime/text.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/emission/report_paths.hpp"
#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/artifacts.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/endpoint_updates.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/scanning.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/nodes.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::build;
using schemas::build_status;
using schemas::commands::finish_build;

constexpr std::size_t image_digest_bytes = 32;

void store_ended(rule_context& context, const build& before, build after) {
    context.cancel_timer(before.time_created + limits::build_ms_max, context::timer_kind::build_deadline,
                         schemas::big_endian(before.id.value));
    after.time_updated = context.stamp_ms();
    tables::builds::update(context.state, before, after);
    emission::emit_updated(context, schemas::resource_type::build, after.id.value, after.workspace_id, before,
                           after);
}

void end_in_error(rule_context& context, const build& before, std::string_view why) {
    build after = before;
    after.status = build_status::error;
    after.message = runtime::shortened(why, limits::comment_bytes_max);
    release_bytes(context, std::exchange(after.model_parts, {}));
    store_ended(context, before, after);
    end_waiting_scan(context, after);
    follow_build(context, after);
}

void finish(rule_context& context, const build& before, const finish_build& made) {
    build after = before;
    after.status = build_status::finished;
    after.image_digest = made.image_digest;
    after.image_bytes = made.image_bytes;
    after.signature = made.signature;
    const std::string workspace = access::workspace_of(context.state, before.workspace_id).name;
    after.location = (made.base_url.empty() ? before.base_url : made.base_url) +
                     emission::path_of_image(workspace, before.id, made.image_digest);
    if (const auto good = check_entity_size("the build", after, schemas::encode(after)); !good)
        return end_in_error(context, before,
                            "the model's signature is too large to be kept: " + good.error().message);
    store_ended(context, before, after);
    begin_waiting_scan(context, after);
    follow_build(context, after);
}

}  // namespace

/// Of a build that has ended, or is gone, nothing changes. Errors: aborted when the sender no longer holds
/// the job; invalid_argument.
answer apply(rule_context& context, const finish_build& command) {
    const auto claim = tables::claims::find(context.state, schemas::job_name(schemas::job::builder));
    if (!claim || claim->token != command.token)
        return runtime::aborted("the job builder has another holder");
    if (command.error.empty() && command.image_digest.size() != image_digest_bytes)
        return runtime::invalid_argument({"image_digest is ", command.image_digest.size(),
                                          " bytes; it must be the ", image_digest_bytes, " of a SHA-256"});
    if (const auto good = check_text("base_url", command.base_url, limits::url_bytes_max); !good)
        return good.error();
    if (const auto good = check_text("error", command.error, limits::entity_bytes_max); !good)
        return good.error();
    const auto before = tables::builds::find(context.state, command.build_id);
    if (!before || before->status != build_status::building) return std::string();
    if (command.error.empty())
        finish(context, *before, command);
    else
        end_in_error(context, *before, command.error);
    return std::string();
}

/// No node has made it in time.
void fire_build_deadline(rule_context& context, std::string_view key) {
    const auto late = tables::builds::find(context.state, schemas::build_id{schemas::read_big_endian(key)});
    if (!late || late->status != build_status::building) return;
    end_in_error(context, *late, "no node had made the build within 10 min; create another one");
}

runner runner_of(schemas::commands::command_type type, schemas::commands::build_ending_commands all) {
    return find_runner(type, all, [](auto& context, const auto& command) { return apply(context, command); });
}

}  // namespace herald::storage::registry::rules
