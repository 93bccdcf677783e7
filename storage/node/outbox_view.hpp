// The registry's tables as the publisher wants to see them (events/outbox.hpp).
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "events/outbox.hpp"
#include "schemas/commands/installation.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::node {

/// Reads the newest view at each call and remembers between calls only what cannot become wrong. Belongs to
/// the publisher's thread; GENESIS must be applied before the first call. Throws state_unreadable.
class outbox_view final : public events::outbox {
  public:
    /// The store must outlive it.
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
    /// Highest sequence given out in the partition, as far as `view` knows.
    std::uint64_t last_sequence(const std::shared_ptr<const registry::state::state_view>& view,
                                const events::log::topic_partition&) const;

    const registry::state::state_store& x_store;
    mutable std::optional<schemas::commands::genesis> x_installation;
    // The publisher asks for every partition in turn: one scan of the counters answers for all of them.
    // Not held: a view keeps all that has been overwritten since.
    mutable std::weak_ptr<const registry::state::state_view> x_counted;
    mutable std::map<registry::tables::output_partition, std::uint64_t> x_last_sequences;
    mutable std::uint64_t x_last_change = 0;
};

}  // namespace herald::storage::node
