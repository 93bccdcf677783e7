#include "tests/simulation/state_outbox.hpp"

#include "events/event_topic.hpp"
#include "schemas/commands.hpp"
#include "storage/tables.hpp"

namespace herald::simulation {
namespace {

using storage::key_of;
using storage::table;

key_of partition_key(table which, const events::topic_partition& where) {
    return key_of(which).ended_text(where.topic).number(static_cast<std::uint64_t>(where.partition));
}

class state_outbox final : public events::outbox {
  public:
    explicit state_outbox(const storage::state_store& store) : x_store(store) {}

    std::uint32_t generation() const override { return installation().generation; }
    std::vector<events::topic_partition> output_partitions() const override {
        std::vector<events::topic_partition> all;
        for (const std::string_view topic : events::event_topics)
            for (std::uint32_t partition = 0; partition < installation().event_partitions; ++partition)
                all.push_back({std::string(topic), static_cast<std::int32_t>(partition)});
        return all;
    }
    std::uint64_t published(const events::topic_partition& where) const override {
        return storage::find_number(*x_store.view(), partition_key(table::outbox_published, where))
            .value_or(0);
    }
    std::vector<events::outbox_row> rows(const events::topic_partition& where, std::uint64_t from,
                                         std::size_t rows_max) const override {
        std::vector<events::outbox_row> found;
        const std::string prefix = partition_key(table::outbox, where);
        const std::string first = partition_key(table::outbox, where).number(from);
        x_store.view()->scan(prefix, first, [&](std::string_view key, std::string_view value) {
            const auto event = storage::decode_row<schemas::event>(key, value);
            found.push_back({event.partition_sequence, event.resource_id, std::string(value)});
            return found.size() < rows_max;
        });
        return found;
    }
    std::uint64_t last_subscriber_change() const override {
        std::uint64_t last = 0;
        x_store.view()->scan(key_of(table::webhook_change), "", [&](std::string_view key, std::string_view) {
            last = storage::number_in_key(key);
            return true;
        });
        return last;
    }
    std::vector<events::subscriber_change> subscriber_changes(std::uint64_t after,
                                                              std::size_t) const override {
        std::vector<events::subscriber_change> found;
        const auto view = x_store.view();
        const std::string first = key_of(table::webhook_change).number(after + 1);
        view->scan(key_of(table::webhook_change), first, [&](std::string_view key, std::string_view) {
            events::subscriber_change change;
            change.offset = storage::number_in_key(key);
            change.webhook_id.value = storage::number_in_key(key, 8);
            if (const auto hook = storage::find_row<schemas::webhook>(
                    *view, key_of(table::webhook).number(change.webhook_id)))
                change.row = subscriber_of(*hook);
            found.push_back(std::move(change));
            return true;
        });
        return found;
    }
    std::vector<schemas::subscriber> subscribers() const override {
        std::vector<schemas::subscriber> all;
        x_store.view()->scan(key_of(table::webhook), "", [&](std::string_view key, std::string_view value) {
            all.push_back(subscriber_of(storage::decode_row<schemas::webhook>(key, value)));
            return true;
        });
        return all;
    }

  private:
    schemas::genesis installation() const {
        return *storage::find_row<schemas::genesis>(*x_store.view(), key_of(table::installation));
    }
    static schemas::subscriber subscriber_of(const schemas::webhook& hook) {
        return {hook.id,
                hook.workspace_id,
                hook.revision,
                hook.location,
                hook.sealed_secret,
                hook.seal_binding,
                hook.status == schemas::webhook_status::enabled,
                hook.name};
    }

    const storage::state_store& x_store;
};

}  // namespace

std::unique_ptr<events::outbox> make_state_outbox(const storage::state_store& store) {
    return std::make_unique<state_outbox>(store);
}

}  // namespace herald::simulation
