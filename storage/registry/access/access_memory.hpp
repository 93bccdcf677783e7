// Users and their rights as they were read, kept as long as none of the rows behind them changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/mutex.hpp"
#include "schemas/identity.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/written_tables.hpp"

namespace herald::storage::registry::access {

/// The rights of one user in one workspace.
struct access_rights {
    bool everything = false;  // the owner, or a member of Admins
    bool super_user = false;  // through the built-in role `Super User`
    bool reports_scans = false;
    std::uint64_t actions = 0;  // one bit for each protected type and action

    /// READ of each type.
    static constexpr std::uint64_t every_read = 0x01'01'01'01'01'01'01;
    static constexpr std::uint64_t bit(schemas::protected_type type, schemas::action what) noexcept {
        return 1ull << (8 * static_cast<unsigned>(type) + static_cast<unsigned>(what) - 1);
    }
    bool may_read_something() const noexcept { return everything || (actions & every_read) != 0; }
    bool allow(schemas::protected_type type, schemas::action what) const noexcept {
        return everything || (actions & bit(type, what)) != 0;
    }
};

/// Shared by the views of a store between two changes to users, groups, roles or workspaces; each such change
/// starts a new one. Thread-safe. Holds at most limits::access_memory_entries_max entries of each kind, then
/// starts over.
class access_memory final : public state::view_memory {
  public:
    /// Null when the view keeps nothing. A view has no other kind of memory.
    static access_memory* of(const state::state_view& state) noexcept {
        return static_cast<access_memory*>(state.memory());
    }
    bool depends_on(std::string_view key) const noexcept override { return tables::decides_rights(key); }

    using user = std::shared_ptr<const schemas::user>;
    using workspace = std::shared_ptr<const schemas::workspace>;

    user user_of(std::string_view credential_hash) const;
    void keep(std::string_view credential_hash, user found);
    workspace workspace_of(schemas::workspace_id) const;
    void keep(workspace found);
    std::optional<access_rights> rights_of(schemas::user_id, schemas::workspace_id) const;
    void keep(schemas::user_id, schemas::workspace_id, access_rights found);

  private:
    struct place {
        schemas::user_id user;
        schemas::workspace_id workspace;
        bool operator==(const place&) const = default;
    };
    struct hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
        std::size_t operator()(const place& where) const noexcept {
            return where.user.value * 0x9E3779B97F4A7C15ull ^ where.workspace.value;
        }
    };

    mutable runtime::shared_mutex x_mutex;
    std::unordered_map<std::string, user, hash, std::equal_to<>> x_users GUARDED_BY(x_mutex);
    std::unordered_map<std::uint64_t, workspace> x_workspaces GUARDED_BY(x_mutex);
    std::unordered_map<place, access_rights, hash> x_rights GUARDED_BY(x_mutex);
};

}  // namespace herald::storage::registry::access
