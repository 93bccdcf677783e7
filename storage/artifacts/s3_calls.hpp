// Calls of S3's interface: signed, sent, and sent again while that may help.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/http/client/client.hpp"
#include "runtime/mutex.hpp"
#include "runtime/random.hpp"
#include "storage/artifacts/limits.hpp"
#include "storage/artifacts/s3_address.hpp"
#include "storage/artifacts/s3_signing.hpp"
#include "storage/artifacts/store.hpp"

namespace herald::storage::artifacts {

struct s3_request {
    runtime::http::http_method method = runtime::http::http_method::get;
    std::string key;  // empty: the bucket
    std::vector<std::pair<std::string, std::string>> query;
    std::vector<runtime::http::header> headers;
    std::shared_ptr<const std::string> body;  // null: none
    std::string body_hash;                    // SHA-256 of it in hex: the server compares
    std::int64_t deadline_ms = limits::s3_deadline_ms;
    /// A good answer's body is read piece by piece.
    runtime::http::client::answer_body answer = runtime::http::client::answer_body::collected;
};

struct s3_answer {
    std::uint16_t status = 0;
    std::vector<runtime::http::header> headers;
    std::string body;  // of a refusal, or collected
    std::unique_ptr<runtime::http::client::exchange> rest;

    bool is_good() const noexcept { return status >= 200 && status < 300; }
    /// The field's value; empty when there is none.
    std::string header(std::string_view name) const;
    /// For people: "403 AccessDenied: …".
    std::string text() const;
};

/// unavailable: "the store of artifacts refuses to <do something>: <why>".
error refused(std::string_view what, const s3_answer&);

/// Thread-safe: an HTTP client for each event loop that calls, made with its first call. Owned by the store.
class s3_calls {
  public:
    struct parts {
        s3_address address;
        std::string region;
        s3_credentials credentials;
        /// CA file and DNS servers; what it says of addresses and plain HTTP is the address's matter.
        runtime::http::client::client_options client;
    };
    s3_calls(parts with, runtime::random_source& random, const runtime::clock& time);

    /// Any answer that another attempt would not change. Errors: unavailable when after all attempts the
    /// server was not reached, or answered only that it cannot now.
    task<s3_answer> send(s3_request);
    /// One that is not there counts as removed. Errors: unavailable.
    task<> remove(std::string key);
    /// Appends the next piece of a streamed body to `into`; nothing at its end. Errors: unavailable when it
    /// was cut off, or nothing came in time.
    static task<> read_piece(runtime::http::client::exchange&, std::string& into);
    /// Waits on the caller's loop.
    static boost::asio::awaitable<void> pause(std::int64_t ms);
    /// Ends what was made for that loop, which has stopped.
    void forget(boost::asio::io_context&);

  private:
    struct attempt;
    task<s3_answer> try_once(const s3_request&);
    runtime::http::client::request signed_now(const s3_request&) const;
    runtime::http::client::client& client_on(boost::asio::io_context&);

    const parts x_with;
    runtime::random_source& x_random;
    const runtime::clock& x_time;
    runtime::mutex x_mutex;
    std::map<boost::asio::io_context*, std::unique_ptr<runtime::http::client::client>> x_clients
        GUARDED_BY(x_mutex);
};

}  // namespace herald::storage::artifacts
