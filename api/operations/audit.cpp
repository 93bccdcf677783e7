// The audit (wire.md §2): who did what; and its export, which ends with a signature.
#include "schemas/answers/audit.hpp"

#include "api/calls/finding.hpp"
#include "api/calls/rows.hpp"
#include "api/operations/routes.hpp"
#include "runtime/crypto.hpp"
#include "runtime/http/body.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/signing.hpp"
#include "runtime/text.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/audit.hpp"
#include "storage/registry/find/directory.hpp"

namespace herald::api::operations {
namespace {

using namespace calls::rows;
using schemas::audit_row;
using storage::registry::find::audit_question;
using storage::registry::state::state_view;
namespace access = storage::registry::access;

/// An id, or an e-mail.
result<std::optional<schemas::user_id>> user_in(const reading_call& call) {
    const std::string text = call.query("user");
    if (text.empty()) return std::optional<schemas::user_id>();
    if (const auto id = runtime::parse_plain_decimal(text)) return std::optional(schemas::user_id{*id});
    const auto user = storage::registry::find::user_with_email(call.state(), text);
    if (!user) return runtime::not_found({"user with the e-mail \"", text, "\" not found"});
    return std::optional(user->id);
}

/// A name, or the id of one where no workspace has that name; one that the caller may see.
result<std::optional<schemas::workspace>> workspace_in(const reading_call& call) {
    const std::string text = call.query("workspace");
    if (text.empty()) return std::optional<schemas::workspace>();
    std::optional<schemas::workspace> found;
    if (const auto named = access::workspace_named(call.state(), text))
        found = *named;
    else if (const auto id = runtime::parse_plain_decimal(text))
        found = access::find_workspace(call.state(), schemas::workspace_id{*id});
    if (!found || !access::is_seen(call.state(), call.user().id, *found))
        return runtime::not_found({"workspace \"", text, "\" not found"});
    return found;
}

/// OK, REFUSED, or the name of an error.
result<void> read_outcome(std::string_view text, audit_question& out) {
    if (text.empty()) return {};
    if (text == "OK" || text == "REFUSED") {
        out.is_done = text == "OK";
        return {};
    }
    for (std::uint32_t code = 1; code <= UINT8_MAX; ++code)
        if (runtime::is_error_code(code) && runtime::name_of(static_cast<error_code>(code)) == text) {
            out.code = code;
            return {};
        }
    return runtime::invalid_argument({"outcome is \"", text,
                                      "\"; it must be OK, REFUSED or the name of an error such as "
                                      "PERMISSION_DENIED"});
}

result<void> may_ask(const reading_call& call, const std::optional<schemas::workspace>& of) {
    const state_view& state = call.state();
    const schemas::user_id user = call.user().id;
    if (access::is_system_admin(state, user) || (of && access::is_workspace_admin(state, user, *of)))
        return {};
    return runtime::permission_denied(of ? "the audit of the workspace \"" + of->name +
                                               "\" needs its admin or a system administrator"
                                         : "the whole audit needs a system administrator; an admin of a "
                                           "workspace must name it with workspace=");
}

result<audit_question> question_in(const reading_call& call) {
    audit_question asked;
    const auto since = calls::number_in_query(call, "since", 0),
               until = calls::number_in_query(call, "until", 0);
    if (!since) return since.error();
    if (!until) return until.error();
    asked.since_ms = *since;
    asked.until_ms = *until;
    const auto workspace = workspace_in(call);
    if (!workspace) return workspace.error();
    if (const auto may = may_ask(call, *workspace); !may) return may.error();
    if (*workspace) asked.workspace = (*workspace)->id;
    const auto user = user_in(call);
    if (!user) return user.error();
    asked.user = *user;
    const std::string resource = call.query("resource");
    const std::size_t slash = std::min(resource.find('/'), resource.size());
    asked.resource_type = resource.substr(0, slash);
    if (slash < resource.size()) asked.resource_id = resource.substr(slash + 1);
    if (const auto good = read_outcome(call.query("outcome"), asked); !good) return good.error();
    auto page = calls::page_in_query(call);
    if (!page) return page.error();
    asked.page = *std::move(page);
    return asked;
}

slicing find_audit(reading_call& call) {
    auto asked = question_in(call);
    if (!asked) return asked.error();
    return calls::answer_in_slices<answers::audit_entries>(
        call, storage::registry::find::search_audit(call.state(), *std::move(asked)),
        [](audit_row row) { return answers::of(std::move(row)); });
}

constexpr std::size_t rows_per_piece = 256;

/// One JSON object a row, then the seal. Holds the state as it was at the request, so rows that come or go
/// meanwhile do not show.
class export_stream final : public runtime::http::body_stream {
  public:
    export_stream(std::shared_ptr<const state_view> state, schemas::audit_seal seal, std::string seed)
        : x_state(std::move(state)), x_seal(std::move(seal)), x_seed(std::move(seed)) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        x_piece.clear();
        if (x_next <= x_seal.head.last) {
            x_next = std::max(x_next, x_seal.head.first);
            for (const audit_row& row :
                 storage::registry::find::audit_rows_from(*x_state, x_seal.head, x_next, rows_per_piece)) {
                x_piece += schemas::to_json_object(row, schemas::integers::as_strings) + "\n";
                x_next = row.sequence + 1;
            }
            x_next = x_piece.empty() ? x_seal.head.last + 1 : x_next;
        }
        if (x_next > x_seal.head.last && !x_is_sealed) {
            x_is_sealed = true;
            x_seal.signature.bytes = runtime::sign(x_seed, schemas::signed_text(x_seal));
            x_piece += schemas::to_json_object(x_seal, schemas::integers::as_strings) + "\n";
        }
        co_return std::string_view(x_piece);
    }

  private:
    const std::shared_ptr<const state_view> x_state;
    schemas::audit_seal x_seal;
    const std::string x_seed;
    std::string x_piece;
    std::uint64_t x_next = 1;
    bool x_is_sealed = false;
};

answered export_audit(reading_call& call) {
    if (const auto may = access::require_system_admin(call.state(), call.user().id, "an export of the audit");
        !may)
        return may.error();
    runtime::http::http_response answer = call.answer(std::string());
    answer.content_type = "application/octet-stream";
    answer.stream = std::make_shared<export_stream>(
        call.reading().view,
        storage::registry::find::unsigned_audit_seal(call.state(), call.reading().offset),
        call.with().keys.signing_seed());
    return answer;
}

answered get_signing_key(reading_call& call) {
    const schemas::audit_seal seal =
        storage::registry::find::unsigned_audit_seal(call.state(), call.reading().offset);
    return call.answer(answers::signing_key{
        "ed25519", runtime::to_hex(runtime::signing_public_key(call.with().keys.signing_seed())),
        runtime::to_hex(runtime::as_bytes(seal.log_id))});
}

constexpr calls::query_parameter filters[]{
    {"since", "this time or later, in milliseconds since the epoch", true, false},
    {"until", "before this time", true, false},
    {"user", "id or e-mail of who did it", false, false},
    {"workspace", "name or id; without it only a system administrator may ask", false, false},
    {"resource", "REGISTERED_MODEL_VERSION, or REGISTERED_MODEL_VERSION/7", false, false},
    {"outcome", "OK, REFUSED, or the name of an error such as PERMISSION_DENIED", false, false},
    calls::page_number,
    calls::page_limit,
    calls::page_token,
};

/// Only for system administrators; the read checks that itself.
const calls::route exported = [] {
    calls::route row = list<answers::audit_entries>(
        "export_audit", "/api/v1/uac-proxy/audit/export", export_audit, "audit",
        "All entries, oldest first, one JSON object a line; the last line is signed");
    row.answer = nullptr;
    row.answers_with_bytes = true;  // to be kept as they are
    return row;
}();

const calls::route audit_table[] = {
    list<answers::audit_entries>("find_audit", "/api/v1/uac-proxy/audit", find_audit, "audit",
                                 "Who did what, newest first", filters),
    exported,
    read<answers::signing_key>("get_signing_key", "/api/v1/uac-proxy/audit/public-key", get_signing_key,
                               "audit", "The installation's public key, which verifies exports"),
};

}  // namespace

std::span<const calls::route> audit_routes() { return audit_table; }

}  // namespace herald::api::operations
