// Webhooks; found by id, by name in a workspace, and by workspace. The table of changes, which the publisher
// forwards, has one entry for each webhook, under the offset of its newest change.
#pragma once

#include <string_view>

#include "schemas/webhooks.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::webhook, schemas::webhook_id>;

class webhooks final : public keyed_table<schemas::webhook, schemas::webhook_id> {
  public:
    static std::optional<schemas::webhook_id> named(const state::state_view&, schemas::workspace_id,
                                                    std::string_view name);
    /// The workspace's webhooks by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::workspace_id, schemas::webhook_id from,
                        const visitor<schemas::webhook_id>&);

    /// Erases the webhook with all its entries, and records the erasure as a change under this offset. The
    /// returned name of that entry is for forget_erasure().
    static std::string erase_at(state::state_changes&, const schemas::webhook&, std::uint64_t offset);
    static void forget_erasure(state::state_changes&, std::string_view name);

    struct change {
        std::uint64_t offset = 0;
        schemas::webhook_id id;
    };
    /// The changes by ascending offset, beginning at `from`. The webhook of an erasure no longer exists.
    static void each_change(const state::state_view&, std::uint64_t from, const visitor<change>&);

  private:
    using keyed_table::erase;  // would not tell the publisher
};

/// Events that other systems reported, by workspace and event_uuid.
class external_events final {
  public:
    static std::optional<schemas::external_event> find(const state::state_view&, schemas::workspace_id,
                                                       std::string_view event_uuid);
    /// The returned name of the row is for forget().
    static std::string put(state::state_changes&, const schemas::external_event&);
    static void forget(state::state_changes&, std::string_view name);
};

}  // namespace herald::storage::registry::tables
