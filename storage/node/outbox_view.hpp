// The registry's tables, in the form that the publisher needs (events/outbox.hpp).
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "events/outbox.hpp"
#include "schemas/commands/installation.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::node {

/// The events of a partition of an event topic, in the registry's tables.
registry::tables::output_partition place_of(const events::log::topic_partition&);

/// Reads the newest view at each call; between calls it remembers only what cannot become wrong. Used only on
/// the publisher's thread; GENESIS must be applied before the first call. Throws state_unreadable.
class outbox_view final : public events::outbox {
  public:
    /// The store must outlive this object.
    explicit outbox_view(const registry::state::state_store& from) : x_store(from) {}

    std::uint32_t generation() const override;
    std::vector<events::log::topic_partition> output_partitions() const override;
    std::uint64_t published(const events::log::topic_partition&) const override;
    std::vector<events::outbox_row> rows(const events::log::topic_partition&, std::uint64_t from,
                                         std::size_t rows_max, std::size_t bytes_max) const override;
    std::uint64_t last_subscriber_change() const override;
    std::vector<events::subscriber_change> subscriber_changes(std::uint64_t after,
                                                              std::size_t changes_max) const override;
    std::vector<schemas::subscriber> subscribers() const override;

  private:
    const schemas::commands::genesis& installation() const;
    /// Highest sequence assigned in the partition, according to `view`.
    std::uint64_t last_sequence(const std::shared_ptr<const registry::state::state_view>& view,
                                const events::log::topic_partition&) const;

    const registry::state::state_store& x_store;
    mutable std::optional<schemas::commands::genesis> x_installation;
    // The publisher asks about every partition in turn, so one scan of the counters answers for all of them.
    // A weak pointer, since a view keeps everything that was overwritten after it was taken.
    mutable std::weak_ptr<const registry::state::state_view> x_counted;
    mutable std::map<registry::tables::output_partition, std::uint64_t> x_last_sequences;
    mutable std::uint64_t x_last_change = 0;
};

}  // namespace herald::storage::node
