// What serving's tests share: a node that keeps what it is told, an engine that loads when it is let.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/serving/components.hpp"
#include "runtime/mutex.hpp"
#include "schemas/binary.hpp"
#include "storage/node/node.hpp"

namespace herald::test {

/// Takes commands of nodes, and answers each at once: as it is told to, else with success.
class keeping_node final : public storage::node::registry_node {
  public:
    void submit(schemas::commands::command_type type, std::string body, schemas::commands::request_identity,
                schemas::uuid, outcome_handler handler) override {
        bool is_taken = true, is_early = false;
        {
            const runtime::lock_guard lock(x_mutex);
            if (x_refusals > 0) {
                --x_refusals;
                is_taken = false;
            } else if (x_aborts > 0) {
                --x_aborts;
                is_early = true;
            } else {
                x_commands.emplace_back(type, std::move(body));
            }
            ++x_asked;
        }
        if (!is_taken) return handler(runtime::unavailable("the log is out of reach"));
        schemas::commands::outcome outcome;
        if (is_early) outcome.code = static_cast<std::uint32_t>(error_code::aborted);
        handler(outcome);
    }
    /// As before this process has been heard of.
    void abort_next(std::size_t count) {
        const runtime::lock_guard lock(x_mutex);
        x_aborts = count;
    }
    void refuse_next(std::size_t count) {
        const runtime::lock_guard lock(x_mutex);
        x_refusals = count;
    }
    std::size_t asked() const {
        const runtime::lock_guard lock(x_mutex);
        return x_asked;
    }
    /// The commands of this type, as they came.
    template <class Command>
    std::vector<Command> told() const {
        const runtime::lock_guard lock(x_mutex);
        std::vector<Command> out;
        for (const auto& [type, body] : x_commands)
            if (type == Command::type) out.push_back(*schemas::decode<Command>(body));
        return out;
    }
    identity me() const override { return {"n1", {1, 2, 3}}; }
    std::int64_t serves_until_ms() const noexcept override { return std::int64_t{1} << 60; }

    std::optional<reading> read_now(storage::node::freshness) const override { return std::nullopt; }
    void read(reading_handler handler) override { handler(runtime::unavailable("no state here")); }
    void after_next_heartbeat(std::function<void()>) override {}
    bool ready() const noexcept override { return true; }
    status state_now() const override { return {}; }
    void add_job(schemas::job, std::shared_ptr<storage::node::claimed_job>) override {}
    void start() override {}
    void drain(std::function<void()> done) override { done(); }

  private:
    mutable runtime::mutex x_mutex;
    std::vector<std::pair<schemas::commands::command_type, std::string>> x_commands GUARDED_BY(x_mutex);
    std::size_t x_refusals GUARDED_BY(x_mutex) = 0;
    std::size_t x_aborts GUARDED_BY(x_mutex) = 0;
    std::size_t x_asked GUARDED_BY(x_mutex) = 0;
};

class silent_model final : public api::serving::engines::body_model {
  public:
    void infer(api::serving::engines::body_request, response_handler handler) override {
        handler(runtime::unavailable("it has nothing to say"));
    }
};

/// Loads what it is asked for, or fails as it was told to. Thread-safe.
class told_engine final : public api::serving::engines::engine {
  public:
    explicit told_engine(std::string name) : x_name(std::move(name)) {}
    std::string_view name() const noexcept override { return x_name; }
    void load(const api::serving::engines::model_source& source, load_handler handler) override {
        std::optional<error> failure;
        bool throws = false;
        std::string trouble;
        {
            const runtime::lock_guard lock(x_mutex);
            ++x_loads[source.build.value];
            x_most = std::max(x_most, ++x_at_a_time);
            trouble = std::exchange(x_troubles[source.build.value], {});
            throws = std::exchange(x_throws[source.build.value], false);
            auto& failures = x_failures[source.build.value];
            if (!failures.empty()) {
                failure = std::move(failures.front());
                failures.pop_front();
            }
        }
        if (!trouble.empty()) source.tell_trouble(trouble);
        const auto is_unwanted = [&source] { return source.cancelled && source.cancelled->is_cancelled(); };
        while (is_held() && !is_unwanted()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        {
            const runtime::lock_guard lock(x_mutex);
            --x_at_a_time;
        }
        if (throws) throw std::runtime_error("thrown while loading");
        if (failure) return handler(*failure);
        const auto model = std::make_shared<silent_model>();
        {
            const runtime::lock_guard lock(x_mutex);
            x_models[source.build.value] = model;
            ++x_made[source.build.value];
        }
        handler(api::serving::engines::loaded_model{nullptr, model});
    }

    void fail_next(std::uint64_t build, error why) {
        const runtime::lock_guard lock(x_mutex);
        x_failures[build].push_back(std::move(why));
    }
    /// Before it loads.
    void tell_of_next(std::uint64_t build, std::string trouble) {
        const runtime::lock_guard lock(x_mutex);
        x_troubles[build] = std::move(trouble);
    }
    void throw_next(std::uint64_t build) {
        const runtime::lock_guard lock(x_mutex);
        x_throws[build] = true;
    }
    void hold(bool yes) {
        const runtime::lock_guard lock(x_mutex);
        x_is_held = yes;
    }
    std::size_t loads_of(std::uint64_t build) {
        const runtime::lock_guard lock(x_mutex);
        return x_loads[build];
    }
    std::size_t made_of(std::uint64_t build) {
        const runtime::lock_guard lock(x_mutex);
        return x_made[build];
    }
    std::size_t most_at_a_time() const {
        const runtime::lock_guard lock(x_mutex);
        return x_most;
    }
    std::size_t at_a_time() const {
        const runtime::lock_guard lock(x_mutex);
        return x_at_a_time;
    }
    bool has_model_of(std::uint64_t build) {
        const runtime::lock_guard lock(x_mutex);
        return !x_models[build].expired();
    }

  private:
    bool is_held() const {
        const runtime::lock_guard lock(x_mutex);
        return x_is_held;
    }

    const std::string x_name;
    mutable runtime::mutex x_mutex;
    bool x_is_held GUARDED_BY(x_mutex) = false;
    std::size_t x_at_a_time GUARDED_BY(x_mutex) = 0;
    std::size_t x_most GUARDED_BY(x_mutex) = 0;
    std::map<std::uint64_t, std::size_t> x_loads GUARDED_BY(x_mutex);
    std::map<std::uint64_t, std::size_t> x_made GUARDED_BY(x_mutex);
    std::map<std::uint64_t, std::string> x_troubles GUARDED_BY(x_mutex);
    std::map<std::uint64_t, bool> x_throws GUARDED_BY(x_mutex);
    std::map<std::uint64_t, std::deque<error>> x_failures GUARDED_BY(x_mutex);
    std::map<std::uint64_t, std::weak_ptr<silent_model>> x_models GUARDED_BY(x_mutex);
};

}  // namespace herald::test
