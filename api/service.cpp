#include "api/service.hpp"

#include "api/calls/streamed_call.hpp"
#include "api/key_set.hpp"
#include "api/openapi.hpp"
#include "api/refusals.hpp"
#include "api/turns.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/error_response.hpp"

namespace herald::api {
namespace {

using calls::admission;
using calls::authenticate;
using calls::reading_call;
using calls::refusal_response;
using calls::route;
using calls::route_result;
using calls::services;
using calls::time_limit;
using runtime::http::http_response;
using runtime::http::server::error_response;
using runtime::http::server::plan;
using runtime::http::server::request;
using runtime::http::server::request_handler;
using storage::node::freshness;

/// Errors that must not be answered from a stale state: someone else's newer write may have made them untrue.
bool needs_fresh_state(const error& why) {
    return why.code == error_code::unauthenticated || why.code == error_code::permission_denied ||
           why.code == error_code::not_found;
}

/// The caller's connection will not be closed to make room for others.
void remember_known(const request& received) {
    if (received.is_known) received.is_known->store(true, std::memory_order_relaxed);
}

http_response respond(result<http_response> answered, const storage::node::registry_node::reading& state) {
    if (answered) return *std::move(answered);
    if (state.stale && needs_fresh_state(answered.error()))
        return error_response(
            runtime::unavailable("the log cannot be reached, and this node's state may be old; try again"));
    http_response refusal = error_response(answered.error());
    refusal.headers.push_back(calls::offset_header(state));
    return refusal;
}

// RFC 9110 §9.3.7: the methods that the server as a whole supports.
http_response options_of_server() {
    http_response out;
    out.status = 204;
    out.headers.push_back({"allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"});
    return out;
}

/// The answers to callers without credentials: those of open routes, and that a route does not exist.
class open_answers {
  public:
    explicit open_answers(calls::readiness ready, std::string openapi = {}, std::string keys = {})
        : x_ready(std::move(ready)), x_openapi(std::move(openapi)), x_keys(std::move(keys)) {}

    /// Whether the request leads to no row for callers with credentials.
    static bool has_answer(const route_result& match) {
        return !match || match->target->is<calls::open_row>();
    }
    http_response answer(const request& received, const route_result& match) const {
        if (received.path == "*") return options_of_server();
        if (!match) return refusal_response(match.error());
        auto answered =
            match->target->as<calls::open_row>()->answer({x_ready, x_openapi, x_keys, received.query});
        return answered ? *std::move(answered) : error_response(answered.error());
    }

  private:
    const calls::readiness x_ready;
    const std::string x_openapi;
    const std::string x_keys;
};

/// An answer whose beginning is sent before its end is made.
class piecewise_body final : public runtime::http::body_stream {
  public:
    piecewise_body(runtime::blocking_pool& pool, std::string first,
                   std::unique_ptr<calls::answer_pieces> rest)
        : x_pool(pool), x_piece(std::move(first)), x_rest(std::move(rest)) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        if (std::exchange(x_is_begun, true)) {
            const auto make = [this] { return x_rest->next(); };
            auto made = co_await runtime::run_blocking(x_pool, make);
            // The pool is full. Half an answer is of no use to anybody, and a piece is small.
            if (!made && made.error().code == error_code::unavailable) made = x_rest->next();
            if (!made) co_return made.error();
            x_piece = *std::move(made);
        }
        co_return std::string_view(x_piece);
    }

    /// The first piece is the longest.
    std::size_t bytes_held_max() const noexcept override { return x_piece.capacity(); }

  private:
    runtime::blocking_pool& x_pool;
    std::string x_piece;
    const std::unique_ptr<calls::answer_pieces> x_rest;
    bool x_is_begun = false;
};

class operator_service : public request_handler {
  public:
    explicit operator_service(calls::readiness ready) : x_open(std::move(ready)) {}

    request_handler& begin(const request& head, plan& out) noexcept override {
        out.keep<route_result>(x_router.match(head.method, head.path));
        out.is_decided = true;
        return *this;
    }
    bool handle_now(const request& received, const plan& begun, http_response& out) override {
        out = answer(received, begun.kept<route_result>());
        return true;
    }

  protected:
    virtual http_response answer(const request& received, const route_result& match) const {
        return x_open.answer(received, match);
    }

  private:
    const calls::router x_router{routes::operator_routes()};
    const open_answers x_open;
};

class starting_service final : public operator_service {
  public:
    starting_service(calls::readiness ready, routes::metrics_here metrics)
        : operator_service(ready), x_ready(std::move(ready)), x_metrics(metrics) {}

  protected:
    http_response answer(const request& received, const route_result& match) const override {
        const bool is_hidden = x_metrics == routes::metrics_here::no && received.path == "/metrics";
        if (!is_hidden && match) return operator_service::answer(received, match);
        const auto said = x_ready(calls::ready_for::everything);
        return error_response(
            runtime::unavailable("this node is starting: " +
                                 (said && said->not_ready ? said->not_ready->message : std::string("wait"))));
    }

  private:
    const calls::readiness x_ready;
    const routes::metrics_here x_metrics;
};

class service final : public request_handler {
  public:
    service(const services& with, runtime::event_loops& loops, service_options options)
        : x_services(with),
          x_loops(loops),
          x_router(options.table),
          x_open(std::move(options.ready), openapi_document(x_router.routes(), options.beside_table),
                 key_set_of(with.keys)),
          x_refusals(with.clock) {}

    request_handler& begin(const request& head, plan& out) noexcept override {
        const auto& match = out.keep<route_result>(x_router.match(head.method, head.path));
        out.is_decided = open_answers::has_answer(match);
        if (out.is_decided) return *this;
        out.body_bytes_max = match->target->body_bytes_max;
        out.streams_body = match->target->is<calls::streamed_row>();
        return *this;
    }

    bool handle_now(const request& received, const plan& begun, http_response& out) override {
        const auto& match = begun.kept<route_result>();
        if (begun.is_decided) {
            out = x_open.answer(received, match);
            return true;
        }
        const auto* const read = match->target->as<calls::read_row>();
        if (!read || read->is_long) return false;
        auto state = x_services.registry.read_now(freshness::newest);
        if (!state) return false;
        answer_read(received, *match, *std::move(state), out);
        return true;
    }

    boost::asio::awaitable<http_response> handle(const request& received, const plan& begun) override {
        const auto& match = begun.kept<route_result>();
        const route& row = *match->target;
        if (row.is<calls::streamed_row>()) co_return co_await handle_streamed(received, *match);
        const time_limit limit(x_loops[received.loop_index], row.deadline_ms);
        const auto* const write = row.as<calls::write_row>();
        const freshness wanted = write ? write->state : freshness::newest;
        auto admitted = co_await admit(received, wanted, limit);
        if (!admitted) co_return admitted.error();
        const auto good = calls::check_query(row, received);
        if (!good) co_return respond(good.error(), admitted->state);
        calls::writing_call call(received, *match, x_services, *std::move(admitted), limit);
        result<http_response> answered = error();
        if (write) {
            answered = co_await write->answer(call);
        } else if (const auto* const sliced = row.as<calls::sliced_row>()) {
            answered = co_await answer_in_slices(*sliced, call, limit);
        } else {
            const auto* const reading = row.as<calls::read_row>();
            const auto read = [&]() -> result<http_response> {
                if (limit.is_over()) return limit.passed();  // it waited too long for a thread
                return reading->answer(call);
            };
            answered = co_await runtime::run_blocking(x_loops.blocking(), read);
        }
        // A command that came to its place in the log is in the audit, unless its key had ended by then.
        if (!answered && (!call.has_sent() || answered.error().code == error_code::unauthenticated))
            x_refusals.note(received, answered.error());
        co_return respond(std::move(answered), call.reading());
    }

    boost::asio::awaitable<std::optional<http_response>> judge(const request& head,
                                                               const plan& begun) override {
        const auto& match = begun.kept<route_result>();
        if (match->target->is<calls::streamed_row>()) co_return co_await judge_streamed(head, *match);
        const time_limit limit(x_loops[head.loop_index], match->target->deadline_ms);
        auto admitted = co_await admit(head, freshness::applied, limit);
        if (!admitted) co_return admitted.error();
        co_return std::nullopt;
    }

  private:
    boost::asio::awaitable<http_response> handle_streamed(const request& received,
                                                          const calls::route_match& match) {
        calls::streamed_call call(received, match, x_services, x_loops[received.loop_index]);
        auto answered = co_await match.target->as<calls::streamed_row>()->answer(call);
        if (!answered) {
            x_refusals.note(received, answered.error(), match.target->pattern);
            co_return error_response(answered.error());
        }
        remember_known(received);
        co_return *std::move(answered);
    }

    boost::asio::awaitable<std::optional<http_response>> judge_streamed(const request& head,
                                                                        const calls::route_match& match) {
        calls::streamed_call call(head, match, x_services, x_loops[head.loop_index]);
        const auto may = co_await match.target->as<calls::streamed_row>()->judge(call);
        if (!may) {
            x_refusals.note(head, may.error(), match.target->pattern);
            co_return error_response(may.error());
        }
        remember_known(head);
        co_return std::nullopt;
    }

    /// The caller and the state to answer from, or the refusal. A caller who is not in the applied state is
    /// also looked up in the newest one. Needs only the header.
    boost::asio::awaitable<result<admission, http_response>> admit(const request& received, freshness needed,
                                                                   const time_limit& limit) {
        if (needed == freshness::applied) {
            if (auto applied = x_services.registry.read_now(needed)) {
                if (auto who = authenticate(received, *applied->view)) {
                    remember_known(received);
                    admission out{*std::move(applied), *std::move(who)};
                    co_return out;
                }
            }
        }
        // No caller is refused for something that the state does not have yet.
        auto newest = co_await calls::read_state(x_services.registry, limit);
        if (!newest) co_return error_response(newest.error());
        auto who = authenticate(received, *newest->view);
        if (!who) {
            x_refusals.note(received, who.error());
            co_return respond(who.error(), *newest);
        }
        remember_known(received);
        admission out{*std::move(newest), *std::move(who)};
        co_return out;
    }

    void answer_read(const request& received, const calls::route_match& match,
                     storage::node::registry_node::reading state, http_response& out) {
        auto who = authenticate(received, *state.view);
        if (!who) {
            x_refusals.note(received, who.error());
            out = respond(who.error(), state);
            return;
        }
        remember_known(received);
        if (const auto good = calls::check_query(*match.target, received); !good) {
            out = respond(good.error(), state);
            return;
        }
        reading_call call(received, match, x_services, {std::move(state), *std::move(who)});
        auto answered = match.target->as<calls::read_row>()->answer(call);
        if (!answered) x_refusals.note(received, answered.error());
        out = respond(std::move(answered), call.reading());
    }

    /// After each slice the search goes to the back of the queue. Most need one slice; the others first wait
    /// for their user's turn. The turn ends with the search: the rest of a long answer is read from the state
    /// when the client has taken the part before.
    boost::asio::awaitable<result<http_response>> answer_in_slices(const calls::sliced_row& row,
                                                                   reading_call& call,
                                                                   const time_limit& limit) {
        std::unique_ptr<calls::sliced_answer> work;
        const auto slice = [&]() -> result<std::optional<http_response>> {
            if (limit.is_over()) return limit.passed();
            if (!work) {
                auto begun = row.answer(call);
                if (!begun) return begun.error();
                work = *std::move(begun);
            }
            auto made = work->next();
            if (!made || !*made) return made;
            if (auto rest = work->rest())
                (*made)->stream = std::make_shared<piecewise_body>(x_loops.blocking(),
                                                                   std::move((*made)->body), std::move(rest));
            return made;
        };
        auto made = co_await runtime::run_blocking(x_loops.blocking(), slice);
        if (!made) co_return made.error();
        if (*made) co_return std::move(**made);
        const auto turn = co_await x_turns.take(call.user().id, limit.loop());
        if (!turn) co_return turn.error();
        for (;;) {
            auto more = co_await runtime::run_blocking(x_loops.blocking(), slice);
            if (!more) co_return more.error();
            if (*more) co_return std::move(**more);
        }
    }

    const services& x_services;
    runtime::event_loops& x_loops;
    const calls::router x_router;
    const open_answers x_open;
    refusals x_refusals;
    turns x_turns;
};

}  // namespace

std::unique_ptr<request_handler> make_service(const services& with, runtime::event_loops& loops,
                                              service_options options) {
    return std::make_unique<service>(with, loops, std::move(options));
}

std::unique_ptr<request_handler> make_starting_service(calls::readiness ready, routes::metrics_here metrics) {
    return std::make_unique<starting_service>(std::move(ready), metrics);
}

std::unique_ptr<request_handler> make_operator_service(calls::readiness ready) {
    return std::make_unique<operator_service>(std::move(ready));
}

}  // namespace herald::api
