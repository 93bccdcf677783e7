// A store of artifacts in memory, for tests without a disk.
#pragma once

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <map>
#include <set>

#include "runtime/clock.hpp"
#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::test {

/// One thread.
class memory_artifacts final : public storage::artifacts::artifact_store {
  public:
    using body_stream = runtime::http::body_stream;

    bool wants_parts() const noexcept override { return are_parts_wanted; }
    storage::artifacts::task<storage::artifacts::stored_object> put(body_stream& body,
                                                                    std::uint64_t bytes_max) override {
        std::string bytes;
        is_taking = true;
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
        while (is_slow) {
            pause.expires_after(std::chrono::milliseconds(1));
            co_await pause.async_wait(boost::asio::use_awaitable);
        }
        while (true) {
            const auto piece = co_await body.next();
            if (!piece) co_return piece.error();
            if (piece->empty()) break;
            bytes += *piece;
        }
        if (bytes.size() > bytes_max) co_return runtime::resource_exhausted("too long");
        const std::string number = schemas::big_endian(++x_count);
        const std::string digest(runtime::as_bytes(runtime::sha256(bytes)));
        storage::artifacts::stored_object stored{storage::artifacts::object_name(digest, number), digest,
                                                 bytes.size()};
        stored.object += end_of_names;
        objects[stored.object] = std::move(bytes);
        co_return stored;
    }
    storage::artifacts::task<std::shared_ptr<body_stream>> read(
        storage::artifacts::stored_object object, storage::artifacts::byte_range range) override {
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
        ++reads;
        while (are_reads_slow) {
            pause.expires_after(std::chrono::milliseconds(1));
            co_await pause.async_wait(boost::asio::use_awaitable);
        }
        const auto found = objects.find(object.object);
        if (found == objects.end())
            co_return storage::artifacts::lost_or_damaged(object.object, "they are not there");
        std::shared_ptr<body_stream> stream =
            std::make_shared<text_stream>(found->second.substr(range.offset, range.bytes));
        co_return stream;
    }
    storage::artifacts::task<bool> has(std::string object) override { co_return objects.contains(object); }
    storage::artifacts::task<> erase(std::string object) override {
        if (stuck.contains(object)) co_return runtime::internal("it cannot be erased");
        objects.erase(object);
        co_return result<void>();
    }
    storage::artifacts::task<std::vector<storage::artifacts::listed_object>> list(
        std::string after) override {
        std::vector<storage::artifacts::listed_object> listed;
        for (auto next = objects.upper_bound(after);
             next != objects.end() && listed.size() < limits::listed_objects_max; ++next)
            listed.push_back({next->first, *storage::artifacts::digest_of(next->first), stored_ms});
        co_return listed;
    }

    storage::artifacts::task<std::optional<storage::artifacts::store_owner>> owner() override {
        co_return kept_owner;
    }
    storage::artifacts::task<> set_owner(storage::artifacts::store_owner mine) override {
        kept_owner = std::move(mine);
        co_return result<void>();
    }

    std::optional<storage::artifacts::store_owner> kept_owner;
    std::map<std::string, std::string> objects;
    std::set<std::string> stuck;  // objects that cannot be erased
    bool are_parts_wanted = false;
    std::atomic<bool> is_slow = false;  // an upload waits before its first piece
    std::atomic<bool> is_taking = false;
    std::atomic<bool> are_reads_slow = false;  // what is read waits before its first piece
    std::atomic<int> reads = 0;
    std::string end_of_names;    // of the objects that are put
    std::int64_t stored_ms = 0;  // of all objects

  private:
    class text_stream final : public body_stream {
      public:
        explicit text_stream(std::string text) : x_text(std::move(text)) {}
        boost::asio::awaitable<result<std::string_view>> next() override {
            if (std::exchange(x_is_given, true)) co_return std::string_view();
            co_return std::string_view(x_text);
        }

      private:
        const std::string x_text;
        bool x_is_given = false;
    };
    std::uint64_t x_count = 0;
};

}  // namespace herald::test
