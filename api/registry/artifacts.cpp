// The bytes of artifacts: signed URLs, uploads, downloads, multipart uploads (wire.md §3, client_calls.md
// §4).
#include "schemas/requests/artifacts.hpp"

#include "api/calls/rows.hpp"
#include "api/calls/streamed_call.hpp"
#include "api/registry/artifact_parts.hpp"
#include "api/registry/artifact_urls.hpp"
#include "api/registry/byte_ranges.hpp"
#include "api/registry/limits.hpp"
#include "api/registry/preconditions.hpp"
#include "api/registry/routes.hpp"
#include "api/registry/services.hpp"
#include "runtime/crypto.hpp"
#include "schemas/answers/artifacts.hpp"
#include "schemas/commands/artifacts.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/find/artifacts.hpp"

namespace herald::api::registry {
namespace {

using namespace calls::rows;
using calls::streamed_call;
using runtime::http::http_response;
using storage::artifacts::stored_object;
namespace access = storage::registry::access;

constexpr std::string_view path_of_bytes = "/api/v1/registry/artifact_bytes/";

answered get_url(reading_call& call, requests::get_url_for_artifact body) {
    const bool is_put = body.method == "PUT";
    if (!is_put && body.method != "GET")
        return runtime::invalid_argument({"method is ", in_quotes(body.method), "; it must be GET or PUT"});
    const auto id = version_of(call, body);
    if (!id) return id.error();
    const schemas::user_id user = call.user().id;
    const auto version = is_put ? access::version_to_fill(call.state(), user, *id, body.key)
                                : access::version_with_artifact(call.state(), user, *id, body.key);
    if (!version) return version.error();
    if (!is_put)
        if (const auto there =
                storage::registry::find::bytes_of_artifact(call.state(), version->row, body.key);
            !there)
            return there.error();
    if (const auto good = check_part_number(body.part_number); !good) return good.error();
    artifact_url url;
    url.version = *id;
    url.key = body.key;
    url.path_digest = access::digest_of_path(access::find_artifact(version->row, body.key)->path);
    url.is_put = is_put;
    url.part_number = static_cast<std::uint32_t>(body.part_number);
    url.user = user;
    url.expires_ms = call.with().clock.wall_ms() + limits::artifact_url_valid_ms;
    url.drawn = call.with().random.uuid();
    const signed_text signed_by =
        text_of(url, storage::registry::find::log_of_urls(call.state()), call.with().keys);
    answers::url_for_artifact answer;
    answer.url =
        call.base_url() + std::string(path_of_bytes) + signed_by.said + "?signature=" + signed_by.signature;
    answer.multipart_upload_ok = is_put && call.of<services>().artifacts.wants_parts();
    return call.answer(answer);
}

/// What a URL allows, and the version as it is now, after all that was answered before.
struct allowed {
    artifact_url url;
    storage::node::registry_node::reading state;
    schemas::model_version version;
};

/// A refusal from a state that may be old may be untrue by now.
error told_from(const storage::node::registry_node::reading& state, error why) {
    if (state.stale && (why.code == error_code::permission_denied || why.code == error_code::not_found))
        return runtime::unavailable("the log cannot be reached, and this node's state may be old; try again");
    return why;
}

/// What the URL says. Its form, signature and time need no question to the log. Errors: permission_denied;
/// unavailable when this node has applied nothing yet.
result<artifact_url> url_of(const streamed_call& call, url_use use) {
    const auto applied = call.with().registry.read_now(storage::node::freshness::applied);
    if (!applied) return runtime::unavailable("this node is not ready; try again");
    const signed_text said{call.path("signed"), call.query("signature")};
    return read_url(said, use, storage::registry::find::log_of_urls(*applied->view), call.with().keys,
                    call.with().clock.wall_ms());
}

/// Errors: permission_denied when the URL's user may no longer do this; not_found when the artifact is gone
/// or has another path; unavailable.
calls::task<allowed> allowed_now(streamed_call& call, artifact_url url) {
    auto state = co_await call.read_state();
    if (!state) co_return state.error();
    auto version = url.is_put ? access::version_to_fill(*state->view, url.user, url.version, url.key)
                              : access::version_with_artifact(*state->view, url.user, url.version, url.key);
    if (!version) co_return told_from(*state, version.error());
    const auto same = access::check_path(version->row, url.key, url.path_digest);
    if (!same) co_return told_from(*state, same.error());
    allowed out{std::move(url), *std::move(state), std::move(version->row)};
    co_return out;
}

/// Errors: as url_of and allowed_now.
calls::task<allowed> allowed_by_url(streamed_call& call, url_use use) {
    auto url = url_of(call, use);
    if (!url) co_return url.error();
    co_return co_await allowed_now(call, *std::move(url));
}

/// Errors: invalid_argument for bytes that are not the artifact as it is.
result<void> check_head_of_put(const streamed_call& call) {
    if (const auto range = call.received().header("content-range"))
        return runtime::invalid_argument(
            {"Content-Range is \"", *range, "\"; an upload must not have a range: send all bytes"});
    return calls::check_coding(call.received());
}

/// What is kept of a judgement while the bytes come. It holds no view of the state, which would keep all that
/// is replaced meanwhile.
struct upload_target {
    artifact_url url;
    storage::artifacts::store_owner log;
    std::optional<std::string> replaced;  // see schemas::commands::set_artifact_bytes
};

/// Part 1 is the whole, unless the client uploads in parts.
bool is_part(const artifact_url& url, const streamed_call& call) {
    return url.part_number > 1 || (url.part_number == 1 && call.of<services>().artifacts.wants_parts());
}

error changed_meanwhile(std::string message) {
    return {error_code::failed_precondition, std::move(message), 412};
}

/// The ETag of what the bytes are to replace; empty without If-Match and If-None-Match. Errors:
/// failed_precondition (412) when these do not hold.
result<std::optional<std::string>> replaced_by_put(const streamed_call& call, const allowed& may) {
    if (!has_condition(call)) return std::optional<std::string>();
    const auto& state = *may.state.view;
    std::string there =
        is_part(may.url, call)
            ? storage::registry::find::etag_of_part(state, may.version, may.url.key, may.url.part_number)
            : storage::registry::find::etag_of_artifact(state, may.version, may.url.key);
    const std::string etag = there.empty() ? there : in_quotes(there);
    if (precondition_of(call, etag) == precondition::holds) return std::optional(std::move(there));
    return changed_meanwhile(
        "If-Match or If-None-Match does not hold: " +
        (etag.empty() ? "there are no bytes yet" : "the ETag of the bytes that are there is " + etag));
}

/// Errors: as allowed_by_url, check_head_of_put and replaced_by_put; unavailable while writes are refused.
calls::task<upload_target> allowed_to_put(streamed_call& call) {
    const auto now = call.with().registry.state_now();
    if (now.writes_refused) co_return runtime::unavailable(now.writes_refused->message);
    auto may = co_await allowed_by_url(call, url_use::put);
    if (!may) co_return may.error();
    const auto good = check_head_of_put(call);
    if (!good) co_return good.error();
    if (!call.of<services>().transfers.is_store_checked)
        co_return runtime::unavailable("the store of artifacts is not checked yet; try again");
    auto replaced = replaced_by_put(call, *may);
    if (!replaced) co_return replaced.error();
    upload_target target{std::move(may->url),
                         {storage::registry::find::log_id_of(*may->state.view), may->state.generation},
                         *std::move(replaced)};
    co_return target;
}

/// A place among the uploads or downloads. Errors: unavailable.
result<calls::transfer_places::place> place_for(streamed_call& call, calls::transfer_places& among,
                                                const artifact_url& url) {
    return among.take(url.user, call.query("signature"));
}

boost::asio::awaitable<result<void>> judge_put(streamed_call& call) {
    const auto target = co_await allowed_to_put(call);
    if (!target) co_return target.error();
    // The client learns whether there is a place before it sends gigabytes; the place is taken when they
    // come.
    co_return call.of<services>().transfers.uploads.check(target->url.user, call.query("signature"));
}

/// The bytes of an upload, as long as its user may send them: rights and locks may change while they come.
class judged_body final : public runtime::http::body_stream {
  public:
    judged_body(streamed_call& call, const artifact_url& url)
        : x_call(call), x_url(url), x_body(call.body()), x_judged_ms(call.with().clock.steady_ms()) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        const std::int64_t now_ms = x_call.with().clock.steady_ms();
        if (now_ms - x_judged_ms >= limits::artifact_judged_again_ms) {
            x_judged_ms = now_ms;
            const auto may = co_await allowed_now(x_call, x_url);
            if (!may && may.error().code != error_code::unavailable) co_return may.error();
        }
        co_return co_await x_body.next();
    }

  private:
    streamed_call& x_call;
    const artifact_url& x_url;
    body_stream& x_body;
    std::int64_t x_judged_ms;
};

boost::asio::awaitable<result<void>> judge_get(streamed_call& call) {
    const auto may = co_await allowed_by_url(call, url_use::get);
    if (!may) co_return may.error();
    co_return result<void>();
}

calls::task<schemas::commands::outcome> refer_to(streamed_call& call, const upload_target& target,
                                                 const stored_object& stored) {
    const artifact_url& url = target.url;
    if (is_part(url, call)) {
        const schemas::commands::put_artifact_part part{url.version,     url.key,       url.path_digest,
                                                        url.part_number, stored.digest, target.replaced};
        co_return co_await call.submit_for(url.user, part);
    }
    const schemas::commands::set_artifact_bytes whole{url.version, url.key, url.path_digest, stored.digest,
                                                      target.replaced};
    co_return co_await call.submit_for(url.user, whole);
}

/// Appends that the bytes are stored. If the log certainly did not take that, the object is erased, because
/// nothing refers to it. An object whose command may still come into the log is left to the collector.
calls::task<> tell_of(streamed_call& call, const stored_object& stored) {
    const schemas::commands::store_blob blob{stored.digest, stored.bytes, stored.object};
    const schemas::user_id nobody;
    const auto known = co_await call.submit_for(nobody, blob);
    if (known) co_return result<void>();
    const bool is_unknown = known.error().code == error_code::internal;
    if (!is_unknown) (void)co_await call.of<services>().artifacts.erase(stored.object);
    co_return known.error();
}

/// Bytes would be lost in another log's store, or where the store's disk should be. Errors: unavailable.
calls::task<> check_store(streamed_call& call, const storage::artifacts::store_owner& mine) {
    const auto found = co_await call.of<services>().artifacts.owner();
    if (!found) co_return found.error();
    const auto still = storage::artifacts::check_still(*found, mine);
    if (!still) co_return runtime::unavailable(still.error().message);
    co_return result<void>();
}

response put_bytes(streamed_call& call) {
    const auto target = co_await allowed_to_put(call);
    if (!target) co_return target.error();
    const auto place = place_for(call, call.of<services>().transfers.uploads, target->url);
    if (!place) co_return place.error();
    const auto ours = co_await check_store(call, target->log);
    if (!ours) co_return ours.error();
    const std::uint64_t bytes_max =
        is_part(target->url, call) ? limits::artifact_part_bytes_max : limits::artifact_bytes_max;
    judged_body body(call, target->url);
    const auto stored = co_await call.of<services>().artifacts.put(body, bytes_max);
    if (!stored) co_return stored.error();
    const auto known = co_await tell_of(call, *stored);
    if (!known) co_return known.error();
    const auto referred = co_await refer_to(call, *target, *stored);
    if (!referred && target->replaced && referred.error().code == error_code::aborted)
        co_return changed_meanwhile(referred.error().message);
    if (!referred) co_return referred.error();
    http_response out;
    out.body = "{}";
    out.headers.push_back({"etag", in_quotes(runtime::to_hex(stored->digest))});
    out.headers.push_back(calls::offset_header({nullptr, referred->offset, target->log.generation, false}));
    co_return out;
}

struct found_bytes {
    std::vector<stored_object> objects;
    std::uint64_t size = 0;
    std::string etag;
};

found_bytes bytes_of(std::vector<schemas::blob> parts) {
    found_bytes found;
    std::vector<schemas::blob_part> all;
    for (schemas::blob& part : parts) {
        found.size += part.bytes;
        all.push_back({part.digest, part.bytes});
        found.objects.push_back({std::move(part.object), std::move(part.digest), part.bytes});
    }
    found.etag = in_quotes(storage::registry::find::etag_of(all));
    return found;
}

/// A range of bytes that were replaced since gets the whole of the new bytes. A range is for GET alone (RFC
/// 9110 §14.2).
wanted_range range_wanted(const streamed_call& call, const found_bytes& found) {
    if (call.received().method == http_method::head) return {};
    const auto only_if = call.received().header("if-range");
    if (only_if && *only_if != found.etag) return {};
    return range_of(call.received().header("range"), found.size);
}

http_response head_of(const found_bytes& found, const wanted_range& wanted) {
    http_response out;
    // A client may keep them, and asks whether they are still the same. A browser must not show them: what
    // somebody has uploaded would be a page of the console's origin.
    out.headers = {{"etag", found.etag},
                   {"accept-ranges", "bytes"},
                   {"cache-control", "private, no-cache"},
                   {"content-disposition", "attachment"},
                   {"content-security-policy", "default-src 'none'; sandbox"}};
    const std::string size = std::to_string(found.size);
    if (wanted.kind == range_kind::unsatisfiable) {
        out.headers.push_back({"content-range", "bytes */" + size});
        return out;
    }
    out.content_type = "application/octet-stream";
    out.stream_bytes = found.size;
    if (wanted.kind == range_kind::part) {
        out.status = 206;
        out.stream_bytes = wanted.bytes.bytes;
        out.headers.push_back(
            {"content-range", "bytes " + std::to_string(wanted.bytes.offset) + "-" +
                                  std::to_string(wanted.bytes.offset + wanted.bytes.bytes - 1) + "/" + size});
    }
    return out;
}

/// The object that a URL for GET leads to, without a view of the state.
struct download {
    artifact_url url;
    found_bytes found;
    runtime::http::header at;
};

/// Errors: as allowed_by_url; not_found before any bytes were uploaded.
calls::task<download> download_of(streamed_call& call) {
    auto may = co_await allowed_by_url(call, url_use::get);
    if (!may) co_return may.error();
    auto parts = storage::registry::find::bytes_of_artifact(*may->state.view, may->version, may->url.key);
    if (!parts) co_return told_from(may->state, parts.error());
    download out{std::move(may->url), bytes_of(*std::move(parts)), calls::offset_header(may->state)};
    co_return out;
}

/// Keeps its place among the downloads until it has ended.
class placed_stream final : public runtime::http::body_stream {
  public:
    placed_stream(std::shared_ptr<body_stream> stream, calls::transfer_places::place place)
        : x_place(std::move(place)), x_stream(std::move(stream)) {}
    boost::asio::awaitable<result<std::string_view>> next() override { return x_stream->next(); }
    void wind_down() override { x_stream->wind_down(); }
    bool can_send_to_socket() const noexcept override { return x_stream->can_send_to_socket(); }
    boost::asio::awaitable<result<std::size_t>> send_to(int socket, std::uint64_t bytes_max) override {
        return x_stream->send_to(socket, bytes_max);
    }

  private:
    const calls::transfer_places::place x_place;
    const std::shared_ptr<body_stream> x_stream;
};

/// HEAD is answered from the state alone.
class no_bytes final : public runtime::http::body_stream {
  public:
    boost::asio::awaitable<result<std::string_view>> next() override { co_return std::string_view(); }
};

http_response behind_the_end(http_response head, std::uint64_t size) {
    const error none{error_code::invalid_argument,
                     "the Range is beyond the end: the artifact has " + std::to_string(size) + " bytes", 416};
    head.status = 416;
    head.body = answers::text_of(
        answers::failure{none.message, static_cast<std::uint32_t>(none.code), none.message, {}});
    return head;
}

response get_bytes(streamed_call& call) {
    auto asked = co_await download_of(call);
    if (!asked) co_return asked.error();
    const precondition condition = precondition_of(call, asked->found.etag);
    if (condition == precondition::failed)
        co_return changed_meanwhile("If-Match does not hold: the ETag of the bytes is " + asked->found.etag);
    if (condition == precondition::not_modified) {
        http_response same;
        same.status = 304;
        same.headers = {{"etag", asked->found.etag}, {"cache-control", "private, no-cache"}, asked->at};
        co_return same;
    }
    const wanted_range wanted = range_wanted(call, asked->found);
    http_response out = head_of(asked->found, wanted);
    out.headers.push_back(asked->at);
    if (wanted.kind == range_kind::unsatisfiable) co_return behind_the_end(std::move(out), asked->found.size);
    if (call.received().method == http_method::head) {
        out.stream = std::make_shared<no_bytes>();
        co_return out;
    }
    auto place = place_for(call, call.of<services>().transfers.downloads, asked->url);
    if (!place) co_return place.error();
    storage::artifacts::byte_range range{0, asked->found.size};
    if (wanted.kind == range_kind::part) range = wanted.bytes;
    auto stream = co_await storage::artifacts::read_joined(call.of<services>().artifacts,
                                                           std::move(asked->found.objects), range);
    if (!stream) co_return stream.error();
    out.stream = std::make_shared<placed_stream>(*std::move(stream), *std::move(place));
    co_return out;
}

constexpr calls::query_parameter key_of_artifact[] = {{"key", "an artifact's key", false, false}};

constexpr calls::query_parameter signature[] = {{"signature", "as getUrlForArtifact made it", false, false}};

constexpr calls::route with_signature(calls::route row) {
    row.query = signature;
    return row;
}

constexpr calls::route taking(std::uint64_t bytes, calls::route row) {
    row.body_bytes_max = bytes;
    row.answer = schemas::answer_schema<answers::done>;
    return row;
}

const calls::route artifact_table[] = {
    needing(on_models, action::read,
            ask<get_url, answers::url_for_artifact>(
                "get_url_for_artifact", "/api/v1/registry/model_versions/{version}/getUrlForArtifact",
                "artifacts", "A URL for an artifact's bytes; one for PUT needs UPDATE")),
    taking(limits::artifact_bytes_max,
           with_signature(streamed("put_artifact_bytes", http_method::put,
                                   "/api/v1/registry/artifact_bytes/{signed}", put_bytes, judge_put,
                                   "artifacts", "Stores the bytes of an artifact, or of one part"))),
    with_signature(streamed("get_artifact_bytes", http_method::get,
                            "/api/v1/registry/artifact_bytes/{signed}", get_bytes, judge_get, "artifacts",
                            "The bytes of an artifact, or a range of them")),
    needing(on_models, action::update,
            write<requests::commit_artifact_part, answers::done>(
                "commit_artifact_part", http_method::post,
                "/api/v1/registry/model_versions/{version}/commitArtifactPart", commit_part, "artifacts",
                "Says which bytes a part has")),
    needing(on_models, action::read,
            read<answers::committed_parts>(
                "get_committed_artifact_parts",
                "/api/v1/registry/model_versions/{version}/getCommittedArtifactParts", get_parts, "artifacts",
                "The committed parts of an upload that is not finished", key_of_artifact)),
    needing(on_models, action::update,
            write<requests::commit_multipart_artifact, answers::done>(
                "commit_multipart_artifact", http_method::post,
                "/api/v1/registry/model_versions/{version}/commitMultipartArtifact", commit_multipart,
                "artifacts", "Makes the committed parts the artifact's bytes")),
    needing(
        on_models, action::update,
        erase<answers::done>("delete_artifact", "/api/v1/registry/model_versions/{version}/artifacts/{key}",
                             delete_artifact, "artifacts", "Removes an artifact and its bytes")),
};

}  // namespace

std::span<const calls::route> artifact_routes() { return artifact_table; }

}  // namespace herald::api::registry
