#include "storage/artifacts/s3_store.hpp"

#include <atomic>
#include <future>
#include <optional>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/task_group.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/s3_answers.hpp"
#include "storage/artifacts/s3_calls.hpp"
#include "storage/artifacts/s3_object_stream.hpp"
#include "storage/artifacts/s3_upload.hpp"
#include "storage/artifacts/uploads.hpp"

namespace herald::storage::artifacts {
namespace {

using runtime::http::body_stream;
using runtime::http::http_method;

constexpr std::int64_t place_look_ms = 20;

s3_request put_of(std::string key, std::string text) {
    s3_request request;
    request.method = http_method::put;
    request.key = std::move(key);
    request.body_hash = runtime::to_hex(runtime::as_bytes(runtime::sha256(text)));
    request.body = std::make_shared<const std::string>(std::move(text));
    return request;
}

std::string random_part(std::string_view object) {
    return std::string(object.substr(object.size() - random_digits));
}

/// The object's name in a key that has the digest, if it is one.
std::optional<std::string> object_of_mark(std::string_view name) {
    if (name.size() != random_digits + 1 + digest_digits || name[random_digits] != '-') return std::nullopt;
    std::string object(name.substr(random_digits + 1));
    object.append("-").append(name.substr(0, random_digits));
    if (!digest_of(object)) return std::nullopt;
    return object;
}

bool is_key_of_bytes(std::string_view name) {
    return name.size() == random_digits && runtime::from_hex(name);
}

class s3_store final : public artifact_store {
  public:
    s3_store(const s3_options& options, const s3_address& address, runtime::blocking_pool& pool,
             runtime::random_source& random, const runtime::clock& time)
        : x_options(options),
          x_folder(options.place.prefix + "objects/"),
          x_owner(options.place.prefix + "owner"),
          x_pool(pool),
          x_random(random),
          x_time(time),
          x_calls({address, options.region, options.credentials, options.client}, random, time) {}

    /// Whether all that the store needs can be done. Errors: internal.
    task<> check();
    void forget(boost::asio::io_context& loop) { x_calls.forget(loop); }

    bool wants_parts() const noexcept override { return true; }
    task<stored_object> put(body_stream&, std::uint64_t bytes_max) override;
    task<std::shared_ptr<body_stream>> read(stored_object, byte_range) override;
    task<bool> has(std::string object) override;
    task<> erase(std::string object) override;
    task<std::vector<listed_object>> list(std::string after) override;
    task<std::optional<store_owner>> owner() override;
    task<> set_owner(store_owner) override;

  private:
    error why_not_open(const s3_answer&) const;
    task<> remove_old(const s3_key& bytes);
    task<> compare_whole(const stored_object&);
    task<s3_keys> keys_behind(std::string key);
    task<> end_old_uploads();

    const s3_options x_options;
    const std::string x_folder;  // of the keys of all objects
    const std::string x_owner;   // the key of the mark
    runtime::blocking_pool& x_pool;
    runtime::random_source& x_random;
    const runtime::clock& x_time;
    s3_calls x_calls;
    std::atomic<std::size_t> x_uploads = 0;
    s3_verified_objects x_verified;
};

error s3_store::why_not_open(const s3_answer& answer) const {
    const std::string bucket = "bucket " + x_options.place.bucket;
    std::string region = answer.header("x-amz-bucket-region");
    if (region.empty()) region = xml_text(answer.body, "Region").value_or("");
    const std::string code = failure_in(answer.body).value_or(s3_failure()).code;
    if (code == "NoSuchBucket")
        return runtime::internal(
            {"there is no ", bucket, " (", answer.text(), "); create it, or name another with --artifacts"});
    if (code == "AuthorizationHeaderMalformed" || code == "PermanentRedirect" ||
        (!region.empty() && region != x_options.region))
        return runtime::internal({bucket, " is not in region ", x_options.region, " (", answer.text(),
                                  "); name its region with --artifacts-region",
                                  (region.empty() ? "" : ": in " + region)});
    if (answer.status == 401 || answer.status == 403)
        return runtime::internal(
            {"the server refuses AWS_ACCESS_KEY_ID ", x_options.credentials.key_id,
             " with its AWS_SECRET_ACCESS_KEY (", answer.text(),
             "); they must belong to an account that may list, read, write and delete in ", bucket});
    return runtime::internal({bucket, " cannot be used with AWS_ACCESS_KEY_ID ", x_options.credentials.key_id,
                              ": ", answer.text()});
}

task<> s3_store::check() {
    s3_request look;
    look.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", x_folder}};
    const auto listed = co_await x_calls.send(std::move(look));
    if (!listed) co_return listed.error();
    if (!listed->is_good()) co_return why_not_open(*listed);
    if (!keys_in(listed->body))
        co_return runtime::internal("the server there does not speak S3: it lists nothing");
    const std::string probe =
        x_options.place.prefix + "probe-" + runtime::to_hex(x_random.bytes(random_bytes_of_name));
    for (const http_method each : {http_method::put, http_method::get, http_method::delete_}) {
        s3_request tried;
        tried.method = each;
        tried.key = probe;
        if (each == http_method::put) tried = put_of(probe, "Herald may write here.\n");
        const auto answer = co_await x_calls.send(std::move(tried));
        if (!answer) co_return answer.error();
        if (!answer->is_good()) co_return why_not_open(*answer);
    }
    co_return result<void>();
}

// ---- storing, reading, erasing

task<stored_object> s3_store::put(body_stream& body, std::uint64_t bytes_max) {
    upload_place place(x_uploads);
    const std::int64_t begun_ms = x_time.steady_ms();
    while (!place.take(limits::s3_uploads_max)) {
        if (x_time.steady_ms() - begun_ms > limits::s3_place_wait_ms_max)
            co_return runtime::unavailable("too many uploads are under way; try again");
        co_await s3_calls::pause(place_look_ms);
    }
    const std::string random = x_random.bytes(random_bytes_of_name);
    s3_upload upload({x_calls, x_pool, x_time}, x_folder + runtime::to_hex(random));
    const auto taken = co_await upload.take(body, bytes_max);
    if (!taken) {
        co_await upload.discard();
        co_return taken.error();
    }
    stored_object stored{object_name(upload.digest(), random), upload.digest(), upload.bytes()};
    if (!upload.etag().empty()) x_verified.add(stored.object, upload.etag());
    co_return stored;
}

task<> s3_store::compare_whole(const stored_object& object) {
    const byte_range all{0, object.bytes};
    s3_object_stream whole(x_calls, x_folder + random_part(object.object), object, all, x_verified);
    const auto opened = co_await whole.open();
    if (!opened) co_return opened;
    while (true) {
        const auto piece = co_await whole.next();
        if (!piece) co_return piece.error();
        if (piece->empty()) break;
    }
    co_return result<void>();
}

task<std::shared_ptr<body_stream>> s3_store::read(stored_object object, byte_range range) {
    const bool is_whole = range.offset == 0 && range.bytes == object.bytes;
    if (!is_whole && x_verified.etag_of(object.object).empty()) {
        const auto good = co_await compare_whole(object);
        if (!good) co_return good.error();
    }
    const std::string key = x_folder + random_part(object.object);
    const auto stream = std::make_shared<s3_object_stream>(x_calls, key, object, range, x_verified);
    const auto opened = co_await stream->open();
    if (!opened) co_return opened.error();
    std::shared_ptr<body_stream> out = stream;
    co_return out;
}

task<bool> s3_store::has(std::string object) {
    s3_request request;
    request.method = http_method::head;
    request.key = x_folder + random_part(object) + "-" + object.substr(0, digest_digits);
    const auto answer = co_await x_calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good() && answer->status != 404) co_return refused("look for an object", *answer);
    co_return answer->is_good();
}

/// The bytes first: while the key of their digest is there, the object is listed.
task<> s3_store::erase(std::string object) {
    std::string key = x_folder + random_part(object);
    std::string mark = key + "-" + object.substr(0, digest_digits);
    const auto bytes = co_await x_calls.remove(std::move(key));
    if (!bytes) co_return bytes;
    co_return co_await x_calls.remove(std::move(mark));
}

// ---- whose they are

task<std::optional<store_owner>> s3_store::owner() {
    s3_request request;
    request.key = x_owner;
    const auto answer = co_await x_calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (failure_in(answer->body).value_or(s3_failure()).code == "NoSuchKey")
        co_return std::optional<store_owner>();
    if (!answer->is_good()) co_return refused("say whose it is", *answer);
    auto found = read_owner(answer->body);
    if (!found) co_return found.error();
    co_return std::optional<store_owner>(*std::move(found));
}

/// Of two first marks at once, the later one stays. The writer of the other one finds out before its next
/// upload.
task<> s3_store::set_owner(store_owner mine) {
    const auto answer = co_await x_calls.send(put_of(x_owner, text_of(mine)));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return refused("keep the mark of its owner", *answer);
    co_return result<void>();
}

// ---- listing

task<s3_keys> s3_store::keys_behind(std::string key) {
    s3_request request;
    request.query = {{"list-type", "2"},
                     {"max-keys", std::to_string(limits::listed_objects_max)},
                     {"prefix", x_folder},
                     {"start-after", std::move(key)}};
    const auto answer = co_await x_calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return refused("list objects", *answer);
    auto keys = keys_in(answer->body);
    if (!keys) co_return refused("list objects", *answer);
    co_return *std::move(keys);
}

/// Servers that know no such list, or keys that may not see it, leave this to the bucket's own rules.
task<> s3_store::end_old_uploads() {
    s3_request request;
    request.query = {
        {"max-uploads", std::to_string(limits::listed_objects_max)}, {"prefix", x_folder}, {"uploads", ""}};
    const auto answer = co_await x_calls.send(std::move(request));
    if (!answer) co_return answer.error();
    if (!answer->is_good()) co_return result<void>();
    const auto uploads = uploads_in(answer->body);
    if (!uploads) co_return result<void>();
    for (const unfinished_upload& each : *uploads) {
        const bool is_old = each.begun_ms + limits::stray_object_kept_ms < x_time.wall_ms();
        if (!is_old || !each.key.starts_with(x_folder)) continue;
        s3_request abort;
        abort.method = http_method::delete_;
        abort.key = each.key;
        abort.query = {{"uploadId", each.id}};
        const auto ended = co_await x_calls.send(std::move(abort));
        if (!ended) co_return ended.error();
    }
    co_return result<void>();
}

task<std::vector<listed_object>> s3_store::list(std::string after) {
    std::vector<listed_object> found;
    if (after.empty()) {
        const auto ended = co_await end_old_uploads();
        if (!ended) co_return ended.error();
    }
    std::string from = x_folder;
    if (!after.empty()) from += random_part(after) + "-" + after.substr(0, digest_digits);
    std::optional<s3_key> bytes;  // whose digest may follow
    bool is_more = true;
    while (is_more && found.empty()) {
        const auto page = co_await keys_behind(from);
        if (!page) co_return page.error();
        is_more = page->is_truncated && !page->keys.empty();
        for (const s3_key& each : page->keys) {
            from = each.key;
            if (!from.starts_with(x_folder)) continue;
            const std::string_view name = std::string_view(from).substr(x_folder.size());
            const auto object = object_of_mark(name);
            if (object) found.push_back({*object, *digest_of(*object), each.modified_ms});
            // The key of the digest stands right behind that of the bytes.
            if (bytes && !name.starts_with(bytes->key.substr(x_folder.size()))) {
                const auto gone = co_await remove_old(*bytes);
                if (!gone) co_return gone.error();
            }
            bytes.reset();
            if (is_key_of_bytes(name)) bytes = each;
        }
    }
    if (bytes && !is_more) {
        const auto gone = co_await remove_old(*bytes);
        if (!gone) co_return gone.error();
    }
    co_return found;
}

/// Bytes without a digest that nobody is about to write any more.
task<> s3_store::remove_old(const s3_key& bytes) {
    if (bytes.modified_ms + limits::stray_object_kept_ms >= x_time.wall_ms()) co_return result<void>();
    co_return co_await x_calls.remove(bytes.key);
}

boost::asio::awaitable<void> checked(s3_store& store, std::promise<result<void>>& done) {
    try {
        auto good = co_await store.check();
        done.set_value(std::move(good));
    } catch (const std::exception& thrown) {
        done.set_value(runtime::internal(thrown.what()));
    }
}

}  // namespace

result<std::unique_ptr<artifact_store>> open_s3_store(const s3_options& options, runtime::blocking_pool& pool,
                                                      runtime::random_source& random,
                                                      const runtime::clock& time) {
    const std::string cannot = "the store of artifacts cannot be used: ";
    const auto address = address_of(options.place, options.region, options.endpoint);
    if (!address) return runtime::internal({cannot, address.error().message});
    auto store = std::make_unique<s3_store>(options, *address, pool, random, time);
    std::promise<result<void>> done;
    runtime::event_loops loops({.loops = 1, .cores = {}, .blocking_threads = 1}, time);
    runtime::task_group asking(loops[0]);
    asking.start("check_artifact_store", checked(*store, done));
    const auto good = done.get_future().get();
    asking.stop();
    loops.stop();
    store->forget(loops[0].context());
    if (!good) return runtime::internal({cannot, good.error().message});
    return std::unique_ptr<artifact_store>(std::move(store));
}

}  // namespace herald::storage::artifacts
