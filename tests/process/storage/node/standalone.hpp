// A whole standalone registry on disk: embedded log, RocksDB, threads; for tests that stop, kill and damage
// it.
#pragma once

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/binary.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/node/genesis.hpp"
#include "storage/node/node.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/until.hpp"

namespace herald::test {

enum class state_in : std::uint8_t { disk, memory };

/// `problem` says why it did not start.
class standalone {
  public:
    explicit standalone(const std::filesystem::path& data, state_in place = state_in::disk) {
        open(data, place);
    }
    ~standalone() {
        if (loops) loops->stop();
        node.reset();
        log.reset();  // its threads post to the loops
    }

    schemas::commands::outcome create_model(const std::string& name) {
        return create_model_later(name).get();
    }
    std::future<schemas::commands::outcome> create_model_later(const std::string& name) {
        schemas::commands::create_model command;
        command.workspace_name = "Default";
        command.model.name = name;
        const auto answer = std::make_shared<std::promise<schemas::commands::outcome>>();
        node->submit(schemas::commands::create_model::type, schemas::encode(command), request_of(),
                     runtime::system_random().uuid(),
                     [answer](const result<schemas::commands::outcome>& outcome) {
                         schemas::commands::outcome none;
                         if (!outcome) none.code = static_cast<std::uint32_t>(outcome.error().code);
                         answer->set_value(outcome ? *outcome : none);
                     });
        return answer->get_future();
    }
    bool has_model(const std::string& name) const {
        return storage::registry::tables::models::named(
                   *node->read_now(storage::node::freshness::newest)->view, schemas::workspace_id{1}, name)
            .has_value();
    }
    std::size_t rows() const {
        std::size_t count = 0;
        node->read_now(storage::node::freshness::newest)
            ->view->scan({}, {}, [&](std::string_view, std::string_view) {
                ++count;
                return true;
            });
        return count;
    }
    /// Why it is not ready; empty when it is.
    std::string_view trouble() const {
        const auto now = node->state_now().not_ready;
        return now ? now->reason : std::string_view();
    }
    std::optional<storage::node::node_failure> failure() {
        return failed.wait_for(std::chrono::seconds(0)) == std::future_status::ready
                   ? std::optional(failed.get())
                   : std::nullopt;
    }

    std::string problem;
    std::string rebuilt_because;
    std::unique_ptr<events::log::partitioned_log> log;
    std::unique_ptr<storage::registry::state::state_store> store;
    std::unique_ptr<runtime::event_loops> loops;
    std::shared_ptr<storage::node::registry_node> node;
    std::shared_future<storage::node::node_failure> failed;

  private:
    void fail(const std::string& why) { problem = why; }
    void open(const std::filesystem::path& data, state_in place) {
        auto opened_log = storage::embedded_log::make_embedded_log(data / "log", {}, runtime::system_clock());
        if (!opened_log) return fail(opened_log.error().message);
        log = *std::move(opened_log);
        if (const auto made = log->create_topics(); !made) return fail(made.error().message);
        if (place == state_in::memory) {
            store = storage::registry::state::make_memory_state();
        } else {
            auto opened = storage::rocks::open_rocks_state(data / "state");
            if (!opened) return fail(opened.error().message);
            rebuilt_because = opened->rebuilt_because;
            store = std::move(opened->store);
        }
        const runtime::key_ring keys = runtime::key_ring::of("first", std::string(32, 'k'));
        storage::node::genesis_options options;
        options.admin_email = admin_email;
        options.admin_key = admin_key;
        const auto begun = storage::node::begin_log(*log, keys, options, *store->view(),
                                                    runtime::system_random(), runtime::system_clock());
        if (!begun) return fail(begun.error().message);
        loops = std::make_unique<runtime::event_loops>(
            runtime::event_loops_options{.loops = 1, .cores = {}, .blocking_threads = 1});
        start();
    }
    void start() {
        const auto failing = std::make_shared<std::promise<storage::node::node_failure>>();
        failed = failing->get_future().share();
        storage::node::registry_node::options options;
        options.name = "alone";
        options.on_failure = [failing](const storage::node::node_failure& why) { failing->set_value(why); };
        node = storage::node::make_node(options, {*log, *store, (*loops)[0], runtime::system_random()});
        node->start();
        if (!eventually([&] { return node->ready() || failure(); })) return fail("not ready in time");
        if (const auto why = failure()) fail(why->message);
    }
};

}  // namespace herald::test
