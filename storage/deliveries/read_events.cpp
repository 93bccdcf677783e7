#include "storage/deliveries/read_events.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "events/event_topic.hpp"
#include "events/subscriber_table.hpp"
#include "runtime/metrics.hpp"
#include "runtime/mutex.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "schemas/event_filter.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"
#include "storage/deliveries/limits.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::deliveries {
namespace {

using reading = node::registry_node::reading;
namespace tables = registry::tables;

constexpr std::int64_t second_ms = 1'000;

/// When the last ones were sent: within any second there are never more than the bound.
class pace {
  public:
    bool takes_another(std::int64_t now_ms) noexcept {
        std::int64_t& oldest_ms = x_sent_ms[x_next];
        if (x_count == x_sent_ms.size() && now_ms - oldest_ms < second_ms) return false;
        x_count = std::min(x_count + 1, x_sent_ms.size());
        oldest_ms = now_ms;
        x_next = (x_next + 1) % x_sent_ms.size();
        return true;
    }

  private:
    std::array<std::int64_t, limits::read_events_per_second_max> x_sent_ms{};
    std::size_t x_next = 0;
    std::size_t x_count = 0;
};

/// A bit for each resource type.
using types = std::uint32_t;
constexpr types bit_of(schemas::resource_type type) noexcept {
    return types{1} << static_cast<unsigned>(type);
}

types types_read_by(const schemas::webhook& hook) {
    types heard = 0;
    if (hook.status == schemas::webhook_status::disabled) return heard;
    for (const auto& [type, name] : schemas::enum_names<schemas::resource_type>)
        if (hears(hook, schemas::event_type::read, type)) heard |= bit_of(type);
    return heard;
}

struct listener {
    schemas::webhook_id id;
    std::uint64_t revision = 0;
    types heard = 0;
    std::vector<schemas::filter_condition> filter;
    pace sent;
};

struct listeners {
    std::int64_t found_ms = 0;
    std::string workspace_name;
    types heard = 0;  // by any
    std::vector<listener> all;
};

listeners find_listeners(const registry::state::state_view& state, schemas::workspace_id workspace,
                         std::int64_t now_ms) {
    listeners found;
    found.found_ms = now_ms;
    tables::webhooks::each_of(state, workspace, {}, [&](schemas::webhook_id id) {
        const auto hook = tables::webhooks::find(state, id);
        const types heard = hook ? types_read_by(*hook) : 0;
        if (heard != 0) found.all.push_back({id, hook->revision, heard, hook->settings.delivery.filter, {}});
        found.heard |= heard;
        return found.all.size() < limits::webhooks_per_workspace_max;
    });
    if (found.all.empty()) return found;
    if (auto row = tables::workspaces::find(state, workspace)) found.workspace_name = std::move(row->name);
    return found;
}

class log_read_events final : public read_events, public std::enable_shared_from_this<log_read_events> {
  public:
    log_read_events(events::log::partitioned_log& log, std::int32_t partitions, const runtime::clock& clock,
                    runtime::random_source& random)
        : x_partitions(static_cast<std::uint32_t>(partitions)),
          x_clock(clock),
          x_random(random),
          x_dropped(runtime::metric_counter(runtime::metrics::read_events_dropped)),
          x_log(log) {}

    void tell(const reading& state, const what_was_read& what) override {
        const std::int64_t now_ms = x_clock.steady_ms();
        if (!is_heard(state, what, now_ms)) return;
        std::string workspace_name;
        std::vector<listener> told = listeners_of(what, workspace_name);
        if (told.empty()) return;
        schemas::delivery one;
        one.event = event_of(state, what, std::move(workspace_name));
        leave_out_filtered(one.event, told);
        take(what.workspace_id, now_ms, told);
        one.deadline_ms = x_clock.wall_ms() + limits::read_event_deadline_ms;
        for (const listener& each : told) send(one, each);
    }

  private:
    bool is_heard(const reading& state, const what_was_read& what, std::int64_t now_ms) {
        {
            const runtime::shared_lock lock(x_mutex);
            const auto known = x_listeners.find(what.workspace_id);
            if (known != x_listeners.end() &&
                now_ms - known->second.found_ms < limits::read_listeners_kept_ms)
                return (known->second.heard & bit_of(what.type)) != 0;
        }
        listeners found = find_listeners(*state.view, what.workspace_id, now_ms);
        const bool is_heard = (found.heard & bit_of(what.type)) != 0;
        const runtime::lock_guard lock(x_mutex);
        if (x_listeners.size() >= limits::read_workspaces_max) x_listeners.clear();
        listeners& kept = x_listeners[what.workspace_id];
        for (listener& each : found.all)
            for (const listener& before : kept.all)
                if (before.id == each.id) each.sent = before.sent;
        kept = std::move(found);
        return is_heard;
    }

    std::vector<listener> listeners_of(const what_was_read& what, std::string& workspace_name) {
        std::vector<listener> told;
        const runtime::shared_lock lock(x_mutex);
        const auto known = x_listeners.find(what.workspace_id);
        if (known == x_listeners.end()) return told;
        workspace_name = known->second.workspace_name;
        for (const listener& each : known->second.all)
            if ((each.heard & bit_of(what.type)) != 0) told.push_back(each);
        return told;
    }

    static void leave_out_filtered(const schemas::event& event, std::vector<listener>& told) {
        if (std::ranges::all_of(told, [](const listener& each) { return each.filter.empty(); })) return;
        const auto body = schemas::parse_json(event.body);
        std::erase_if(told, [&](const listener& each) {
            return !each.filter.empty() && !(body && schemas::passes(each.filter, *body));
        });
    }

    /// Leaves those that have had too many by now.
    void take(schemas::workspace_id workspace, std::int64_t now_ms, std::vector<listener>& told) {
        const runtime::lock_guard lock(x_mutex);
        const auto known = x_listeners.find(workspace);
        std::vector<listener>* const kept = known == x_listeners.end() ? nullptr : &known->second.all;
        std::erase_if(told, [&](const listener& each) {
            if (kept == nullptr) return true;
            const auto found = std::ranges::find(*kept, each.id, &listener::id);
            if (found != kept->end() && found->sent.takes_another(now_ms)) return false;
            x_dropped.add();
            return true;
        });
    }

    schemas::event event_of(const reading& state, const what_was_read& what,
                            std::string workspace_name) const {
        schemas::event event;
        event.id = runtime::uuid_text(x_random.uuid());
        event.type = schemas::event_type::read;
        event.resource_type = what.type;
        event.resource_id = what.id;
        event.workspace_id = what.workspace_id;
        event.workspace_name = std::move(workspace_name);
        event.time_ms = x_clock.wall_ms();
        // Together with the webhook's revision, this tells a worker how far its table must be before
        // "unknown" means "deleted".
        event.generation = state.generation;
        if (runtime::is_traceparent(what.traceparent)) event.traceparent = what.traceparent;
        event.body = schemas::object_writer()
                         .text("id", event.id)
                         .text("timestamp", runtime::iso8601_ms(event.time_ms))
                         .text("event_type", name_of(event.type))
                         .text("resource_type", name_of(event.resource_type))
                         .number("workspaceID", event.workspace_id.value)
                         .raw("original", what.entity())
                         .finish();
        return event;
    }

    void send(schemas::delivery& one, const listener& to) {
        if (x_in_flight.fetch_add(1) >= limits::read_events_in_flight_max) return drop();
        one.webhook_id = to.id;
        one.revision_seen = to.revision;
        const std::string key = events::subscriber_key(to.id);
        const events::log::topic_partition where{std::string(events::log::topic::direct),
                                                 events::partition_of(key, x_partitions)};
        const auto done = [weak = weak_from_this()](const result<std::int64_t>& appended) {
            const auto self = weak.lock();
            if (!self) return;
            if (!appended) return self->drop();
            --self->x_in_flight;
        };
        if (!producer().append(where, key, schemas::encode(one), done)) drop();
    }

    /// Opened when somebody asks for reads: a producer has threads of its own.
    events::log::producer& producer() {
        const runtime::lock_guard lock(x_mutex);
        if (!x_producer) x_producer = x_log.open_producer(events::log::producer_kind::ordinary);
        return *x_producer;
    }

    void drop() {
        --x_in_flight;
        x_dropped.add();
    }

    const std::uint32_t x_partitions;  // of deliveries.direct
    const runtime::clock& x_clock;
    runtime::random_source& x_random;
    runtime::counter& x_dropped;
    std::atomic<std::size_t> x_in_flight{0};
    runtime::shared_mutex x_mutex;
    std::map<schemas::workspace_id, listeners> x_listeners GUARDED_BY(x_mutex);
    events::log::partitioned_log& x_log;
    std::unique_ptr<events::log::producer> x_producer GUARDED_BY(x_mutex);  // destroyed first
};

}  // namespace

std::shared_ptr<read_events> make_read_events(events::log::partitioned_log& log, std::int32_t partitions,
                                              const runtime::clock& clock, runtime::random_source& random) {
    return std::make_shared<log_read_events>(log, partitions, clock, random);
}

}  // namespace herald::storage::deliveries
