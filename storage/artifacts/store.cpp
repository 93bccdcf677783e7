#include "storage/artifacts/store.hpp"

#include <algorithm>
#include <utility>

#include "runtime/crypto.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/metrics.hpp"
#include "storage/artifacts/uploads.hpp"

namespace herald::storage::artifacts {
namespace {

using runtime::http::body_stream;

class joined_stream final : public body_stream {
  public:
    joined_stream(artifact_store& store, std::vector<stored_object> objects, byte_range range)
        : x_store(store), x_objects(std::move(objects)), x_range(range) {
        while (x_next < x_objects.size() && x_range.offset >= x_objects[x_next].bytes)
            x_range.offset -= x_objects[x_next++].bytes;
    }

    /// Opens the object where the range goes on. Errors: as artifact_store::read.
    task<> open() {
        const stored_object object = x_objects[x_next++];
        const byte_range part{x_range.offset, std::min(x_range.bytes, object.bytes - x_range.offset)};
        auto opened = co_await x_store.read(object, part);
        if (!opened) co_return opened.error();
        x_range.offset = 0;
        x_range.bytes -= part.bytes;
        x_current = *std::move(opened);
        co_return result<void>();
    }

    boost::asio::awaitable<result<std::string_view>> next() override {
        while (x_current) {
            const auto piece = co_await x_current->next();
            if (!piece || !piece->empty()) co_return piece;
            x_current.reset();
            if (x_range.bytes == 0 || x_next == x_objects.size()) break;
            const auto opened = co_await open();
            if (!opened) co_return opened.error();
        }
        co_return std::string_view();
    }
    bool can_send_to_socket() const noexcept override { return x_current && x_current->can_send_to_socket(); }
    boost::asio::awaitable<result<std::size_t>> send_to(int socket, std::uint64_t bytes_max) override {
        return x_current->send_to(socket, bytes_max);
    }

  private:
    artifact_store& x_store;
    const std::vector<stored_object> x_objects;
    byte_range x_range;      // the rest; its offset is in the next object
    std::size_t x_next = 0;  // object to open
    std::shared_ptr<body_stream> x_current;
};

}  // namespace

task<std::shared_ptr<body_stream>> read_joined(artifact_store& store, std::vector<stored_object> objects,
                                               byte_range range) {
    auto stream = std::make_shared<joined_stream>(store, std::move(objects), range);
    if (range.bytes > 0) {
        const auto opened = co_await stream->open();
        if (!opened) co_return opened.error();
    }
    std::shared_ptr<body_stream> out = stream;
    co_return out;
}

error lost_or_damaged(const std::string& object, std::string_view reason) {
    runtime::log(runtime::log_level::error, runtime::log_events::artifact_damaged,
                 {{"object", object}, {"reason", reason}});
    runtime::metric_counter(runtime::metrics::artifacts_damaged).add();
    return runtime::internal({"the stored bytes are lost or damaged: ", reason, "; upload them again"});
}

std::string object_name(std::string_view digest, std::string_view random_bytes) {
    return runtime::to_hex(digest) + "-" + runtime::to_hex(random_bytes);
}

std::optional<std::string> digest_of(std::string_view object) {
    if (object.size() != digest_digits + 1 + random_digits || object[digest_digits] != '-')
        return std::nullopt;
    auto digest = runtime::from_hex(object.substr(0, digest_digits));
    if (!digest || runtime::to_hex(*digest) != object.substr(0, digest_digits)) return std::nullopt;
    return *std::move(digest);
}

}  // namespace herald::storage::artifacts
