// One real client on its own event loop, for tests that ask something and look at its answer.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/http/client/client.hpp"
#include "tests/process/workers/receiver.hpp"

namespace herald::test {

/// Allows http, and 127.0.0.1 alone.
class client_bench {
    using answer = runtime::http::client::answer;
    using answer_body = runtime::http::client::answer_body;
    using exchange = runtime::http::client::exchange;
    using request = runtime::http::client::request;

  public:
    /// PEM, trusted too; empty: none.
    explicit client_bench(const std::string& extra_ca_file = {}) {
        runtime::http::client::client_options options;
        options.http = runtime::http::client::plain_http::allowed;
        options.extra_ca_file = extra_ca_file;
        options.policy = *runtime::http::client::address_policy::parse("127.0.0.1");
        x_client = runtime::http::client::make_client(io, std::move(options));
    }

    static request to(const receiver& target, answer_body how = answer_body::streamed) {
        request asked;
        asked.location = target.location();
        asked.pool_key = "test";
        asked.answer = how;
        asked.deadline_ms = 5'000;
        asked.piece_ms_max = 5'000;
        return asked;
    }

    std::unique_ptr<exchange> start(request asked, runtime::http::client::client::callback call_back) {
        return x_client->start(std::move(asked), std::move(call_back));
    }

    /// Keeps the exchange, for read().
    answer ask(request asked) {
        std::optional<answer> got;
        under_way = start(std::move(asked), [&](answer given) { got = std::move(given); });
        run_until([&] { return got.has_value(); });
        if (!got) {
            got.emplace();
            got->message = "the client never called back";
        }
        return *std::move(got);
    }

    result<std::string> read() {
        std::optional<result<std::string>> got;
        under_way->read([&](result<std::string_view> piece) {
            if (piece) {
                got.emplace(std::string(*piece));
            } else {
                got.emplace(piece.error());
            }
        });
        EXPECT_FALSE(got) << "called back from inside read()";
        run_until([&] { return got.has_value(); });
        if (!got) return runtime::internal("read() never called back");
        return *got;
    }

    /// All pieces up to the end.
    result<std::string> read_all() {
        std::string all;
        while (true) {
            const auto piece = read();
            if (!piece) return piece.error();
            if (piece->empty()) return all;
            all += *piece;
        }
    }

    template <class Condition>
    void run_until(Condition is_so) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        while (!is_so() && std::chrono::steady_clock::now() < until) {
            io.restart();
            io.run_one_until(until);
        }
    }

    boost::asio::io_context io;
    std::unique_ptr<exchange> under_way;

  private:
    std::unique_ptr<runtime::http::client::client> x_client;
};

}  // namespace herald::test
