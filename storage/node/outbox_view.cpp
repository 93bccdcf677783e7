#include "storage/node/outbox_view.hpp"

#include "events/event_topic.hpp"
#include "runtime/assert.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::node {
namespace {

using registry::tables::output_partition;

schemas::subscriber subscriber_of(const schemas::webhook& hook) {
    schemas::subscriber row;
    row.webhook_id = hook.id;
    row.workspace_id = hook.workspace_id;
    row.revision = hook.revision;
    row.settings = hook.settings;
    row.settings.delivery.description.clear();  // workers need neither
    row.settings.delivery.filter.clear();
    row.sealed_secret = hook.sealed_secret;
    row.seal_binding = hook.seal_binding;
    row.headers = hook.headers;
    row.earlier_secret = hook.earlier_secret;
    row.enabled = hook.status != schemas::webhook_status::disabled;
    if (!row.enabled) {
        row.disabled_because = hook.status_reason;
        row.failing_since_ms = hook.failing_since_ms;
    }
    return row;
}

}  // namespace

output_partition place_of(const events::log::topic_partition& where) {
    return {where.topic, static_cast<std::uint64_t>(where.partition)};
}

const schemas::commands::genesis& outbox_view::installation() const {
    if (!x_installation) x_installation = registry::tables::installation::find(*x_store.view());
    HERALD_ASSERT(x_installation.has_value());
    return *x_installation;
}

std::uint32_t outbox_view::generation() const { return installation().generation; }

std::vector<events::log::topic_partition> outbox_view::output_partitions() const {
    std::vector<events::log::topic_partition> all;
    for (const std::string_view topic : events::event_topics)
        for (std::uint32_t partition = 0; partition < installation().event_partitions; ++partition)
            all.push_back({std::string(topic), static_cast<std::int32_t>(partition)});
    return all;
}

std::uint64_t outbox_view::published(const events::log::topic_partition& where) const {
    return registry::tables::outbox::published(*x_store.view(), place_of(where));
}

std::uint64_t outbox_view::last_sequence(const std::shared_ptr<const registry::state::state_view>& view,
                                         const events::log::topic_partition& where) const {
    if (x_counted.lock() != view) {
        registry::tables::outbox::each_last(*view, [&](const output_partition& one, std::uint64_t sequence) {
            x_last_sequences.insert_or_assign(one, sequence);
        });
        x_counted = view;
    }
    const auto found = x_last_sequences.find(place_of(where));
    return found == x_last_sequences.end() ? 0 : found->second;
}

std::vector<events::outbox_row> outbox_view::rows(const events::log::topic_partition& where,
                                                  std::uint64_t from, std::size_t rows_max,
                                                  std::size_t bytes_max) const {
    std::vector<events::outbox_row> found;
    std::size_t bytes = 0;
    const auto view = x_store.view();
    if (last_sequence(view, where) < from || rows_max == 0) return found;
    registry::tables::outbox::each_of(
        *view, place_of(where), from, [&](const schemas::event& event, std::string_view row) {
            found.push_back({event.partition_sequence, event.resource_id, std::string(row)});
            bytes += row.size();
            return found.size() < rows_max && bytes < bytes_max;
        });
    return found;
}

std::uint64_t outbox_view::last_subscriber_change() const {
    registry::tables::webhooks::each_change(*x_store.view(), x_last_change + 1,
                                            [&](const registry::tables::webhooks::change& change) {
                                                x_last_change = change.offset;
                                                return true;
                                            });
    return x_last_change;
}

std::vector<events::subscriber_change> outbox_view::subscriber_changes(std::uint64_t after,
                                                                       std::size_t changes_max) const {
    std::vector<events::subscriber_change> found;
    const auto view = x_store.view();
    using change = registry::tables::webhooks::change;
    registry::tables::webhooks::each_change(*view, after + 1, [&](const change& next) {
        if (found.size() >= changes_max && found.back().offset != next.offset) return false;
        const auto hook = registry::tables::webhooks::find(*view, next.id);
        found.push_back({next.offset, next.id, std::nullopt});
        if (hook) found.back().row = subscriber_of(*hook);
        return true;
    });
    return found;
}

std::vector<schemas::subscriber> outbox_view::subscribers() const {
    std::vector<schemas::subscriber> all;
    registry::tables::webhooks::each(*x_store.view(), [&](const schemas::webhook& hook) {
        all.push_back(subscriber_of(hook));
        return true;
    });
    return all;
}

}  // namespace herald::storage::node
