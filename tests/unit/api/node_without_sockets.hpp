// A whole API node in memory that takes the bytes of requests: parser, routes, handlers, registry and log are
// the program's own, one thread at a time, without sockets, disk or waiting.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/console/services.hpp"
#include "api/deployment/services.hpp"
#include "api/operations/services.hpp"
#include "api/registry/services.hpp"
#include "api/service.hpp"
#include "api/webhooks/services.hpp"
#include "runtime/event_loop.hpp"
#include "schemas/json.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/desks.hpp"
#include "tests/support/memory_artifacts.hpp"

namespace herald::test {

struct caller {
    std::string email;
    std::string key;
};

/// One answer.
class reply {
  public:
    explicit reply(runtime::http::http_response from) : x_response(std::move(from)) {}

    int status() const { return x_response.status; }
    /// Whether the body came in pieces.
    bool is_streamed() const { return x_response.stream != nullptr; }
    const std::string& body() const { return x_response.body; }
    /// Without parameters: "application/json".
    std::string media_type() const {
        return x_response.content_type.substr(0, x_response.content_type.find(';'));
    }
    /// "" when there is none.
    std::string header(std::string_view name) const;
    /// The member at a path like "model_version.labels.0": a string as it is, anything else as JSON; "" when
    /// there is none.
    std::string at(std::string_view path) const;

  private:
    runtime::http::http_response x_response;
};

void PrintTo(const reply&, std::ostream*);

/// A history that knows what the test puts into it, in the order of lists.
class told_deliveries final : public storage::deliveries::delivery_history {
  public:
    using attempts = std::vector<storage::deliveries::attempt_in_full>;

    storage::deliveries::delivery_counts deliveries_of_event(std::string_view) const override { return {}; }
    std::vector<schemas::attempt> lost_deliveries_of_event(std::string_view) const override { return {}; }
    std::vector<schemas::delivery_row> rows_of_event(std::string_view) const override { return rows; }
    std::optional<schemas::delivery_row> find(std::string_view id) const override {
        for (const schemas::delivery_row& row : rows)
            if (row.id == id) return row;
        return std::nullopt;
    }
    attempts attempts_of_delivery(std::string_view) const override { return attempts_; }
    storage::deliveries::delivery_page list(
        const storage::deliveries::delivery_question& asked) const override {
        using namespace storage::deliveries;
        delivery_page page;
        for (const schemas::delivery_row& row : rows) {
            if (!matches(asked.filter, row) || (asked.may_see && !asked.may_see(row))) continue;
            ++page.total;
            if (asked.after && !is_before(*asked.after, place_of(row))) continue;
            if (page.rows.size() == asked.rows_max) page.next = place_of(page.rows.back());
            if (page.rows.size() < asked.rows_max) page.rows.push_back(row);
        }
        return page;
    }
    storage::deliveries::delivery_histogram histogram(
        const storage::deliveries::histogram_question&) const override {
        return {};
    }
    storage::deliveries::dead_groups groups_of_dead(
        schemas::workspace_id, const storage::deliveries::delivery_judge&) const override {
        return {};
    }
    storage::deliveries::webhook_record record_of(schemas::workspace_id, schemas::webhook_id,
                                                  std::int64_t) const override {
        return {};
    }
    schemas::replay_outcomes outcomes_of_replay(std::uint64_t) const override { return {}; }
    std::int64_t complete_from_ms() const override { return 0; }
    std::int64_t bodies_kept_from_ms() const override { return 0; }
    void keep(std::int32_t, const std::vector<storage::deliveries::placed_attempt>&, std::uint64_t) override {
    }
    std::uint64_t next_offset(std::int32_t) const override { return 0; }
    void lacks_before(std::int64_t) override {}
    void expect(const events::log::topic_partition&, const std::vector<schemas::delivery_row>&,
                std::uint64_t) override {}
    std::uint64_t next_expected(const events::log::topic_partition&) const override { return 1; }

    std::vector<schemas::delivery_row> rows;
    attempts attempts_;
};

/// Keeps what would be sent again.
class kept_deliveries final : public storage::deliveries::delivery_sender {
  public:
    void resend(schemas::delivery what, done_handler done) override {
        resent.push_back(std::move(what));
        done({});
    }
    void replay(schemas::delivery, done_handler done) override { done({}); }

    std::vector<schemas::delivery> resent;
};

/// Says at once that there is nothing to replay.
class nothing_to_replay final : public storage::deliveries::replay_counter {
  public:
    void count(schemas::replay, std::function<void(storage::deliveries::replay_count)> counted) override {
        counted({});
    }
};

/// Tests of webhooks are answered at once with the values given here, or not before they are told to.
class told_tests final : public storage::deliveries::trigger_calls {
  public:
    void send(schemas::delivery what, attempt_handler handler) override {
        sent.push_back(std::move(what));
        if (is_silent)
            waiting.push_back(std::move(handler));
        else
            handler(answer);
    }
    void hear(const schemas::attempt&) override {}
    void close() override {}

    std::vector<schemas::delivery> sent;
    bool is_silent = false;
    std::vector<attempt_handler> waiting;
    result<schemas::attempt> answer = runtime::internal("the test says no answer");
};

/// Writes rows past the log, before the node starts: what no command can make yet, or very many.
using preparation = std::function<void(storage::registry::state::state_changes&)>;

class node_without_sockets {
  public:
    explicit node_without_sockets(storage::node::node_kind = storage::node::node_kind::standalone,
                                  std::span<const api::calls::route> table = api::routes::all_routes(),
                                  const preparation& = {});
    ~node_without_sockets();

    const caller administrator{std::string(admin_email), std::string(admin_key)};

    /// Sends a request as `who`, or without credentials. `target`: path and query. `more` are header lines,
    /// each with its line end.
    reply ask(const caller* who, std::string_view method, std::string_view target, std::string_view body = "",
              std::string_view more = "");
    /// Sends it as the administrator.
    reply get(std::string_view target) { return ask(&administrator, "GET", target); }
    reply post(std::string_view target, std::string_view body, std::string_view more = "") {
        return ask(&administrator, "POST", target, body, more);
    }
    /// A new user without any rights; an administrator is in the group Admins.
    caller user(const std::string& email);
    caller administrator_named(const std::string& email) { return member_of(1, email); }
    caller member_of(std::uint64_t group, const std::string& email);
    caller second_administrator() { return administrator_named("second@example.org"); }
    /// Create these and return their ids.
    std::string model(const std::string& name);
    std::string version(const std::string& model, const std::string& name);

    /// The commands of this type in the log.
    std::vector<schemas::commands::command_envelope> commands(schemas::commands::command_type type) const {
        return x_cluster.commands(type);
    }
    /// The last event in the outbox that is about such a resource, or about the one with this id.
    schemas::event event_about(schemas::resource_type type, const std::string& resource_id = "") const {
        using storage::registry::tables::outbox;
        const auto view = x_machine.store->view();
        std::optional<schemas::event> last;
        outbox::each_from(*view, 0, {}, [&](const auto& each) {
            if (each.event.resource_type != type) return true;
            auto event = outbox::find(*view, each.event.id);
            if (resource_id.empty() || event->resource_id == resource_id) last = std::move(event);
            return true;
        });
        return last.value();
    }
    /// From now on the node hears nothing of its log, until it hears all of it.
    void is_deaf() { x_machine.is_paused = true; }
    void hears_again() {
        on_loop([this] { x_cluster.resume(x_machine); });
        on_loop([] {});  // after what that resumed
    }
    void time_passes(std::int64_t ms) {
        on_loop([this, ms] { x_cluster.scheduler.run_for(ms); });
    }
    void store_is_checked(bool whether) { x_transfers.is_store_checked = whether; }
    void is_found_at(api::calls::address_of_node address) { x_services.address = std::move(address); }

    told_tests tests;
    told_deliveries history;
    kept_deliveries sent_again;
    memory_artifacts artifacts;
    backups_in_memory backups;
    snapshots_in_memory snapshots;
    api::console::sign_in_codes codes{runtime::system_random(), runtime::system_clock()};

  private:
    runtime::http::http_response answered(const runtime::http::server::request&,
                                          const runtime::http::server::plan&);
    std::string whole_body(runtime::http::body_stream&);
    /// Runs it on the loop of the requests, which then also drives the registry.
    void on_loop(const std::function<void()>& work);

    cluster x_cluster;
    machine& x_machine;
    nothing_to_replay x_replays;
    api::calls::artifact_transfers x_transfers;
    const api::registry::services x_of_registry{artifacts, x_transfers, history};
    const api::deployment::services x_of_deployment{artifacts, x_transfers};
    const api::webhooks::services x_of_webhooks{tests, history, sent_again, x_replays};
    const api::operations::services x_of_operations{backups, snapshots};
    const api::console::services x_of_console{&codes};
    api::calls::services x_services;
    runtime::event_loops x_loops{
        runtime::event_loops_options{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::unique_ptr<runtime::http::server::request_handler> x_service;
};

}  // namespace herald::test
