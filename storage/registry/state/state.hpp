// The registry's state as ordered rows of bytes: a view to read, and changes laid over it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/error.hpp"

namespace herald::storage::registry::state {

/// Gets the bytes of one row; they are valid only during the call.
using row_reader = std::function<void(std::string_view value)>;
/// Called for each row in ascending order of key; returns false to stop.
using row_visitor = std::function<bool(std::string_view key, std::string_view value)>;

/// Memory that a reader of a store's views keeps beside them (storage/registry/access/access.cpp keeps rights
/// of users).
class view_memory {
  public:
    virtual ~view_memory() = default;
    /// Whether it would be wrong once the row with this key has changed.
    virtual bool depends_on(std::string_view key) const noexcept = 0;
};

/// Reads rows. A view never changes: two reads of one view agree. Throws state_unreadable.
class state_view {
  public:
    virtual ~state_view() = default;
    /// Shows the row to `reader`, at once and without a copy; returns whether there is one.
    virtual bool read(std::string_view key, const row_reader& reader) const = 0;
    /// A copy of the row.
    std::optional<std::string> get(std::string_view key) const;
    /// Rows whose key starts with `prefix`, beginning at `from` (empty: at the prefix's first row).
    virtual void scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const = 0;
    /// As scan, in descending order of key, beginning at the last row before `before` (empty: at the prefix's
    /// last row). Here by way of a scan, which takes the memory of all these rows: a view from which finds
    /// are answered goes backwards itself.
    virtual void scan_back(std::string_view prefix, std::string_view before, const row_visitor& visit) const;
    /// Null when nothing is kept.
    virtual view_memory* memory() const noexcept { return nullptr; }
};

/// The first key after all that start with the prefix; empty when there is none.
std::string end_of(std::string_view prefix);

/// A row that cannot be read: the disk failed, or what was read is corrupt. The node stops and opens its
/// database again.
class state_unreadable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};
class state_corrupt final : public state_unreadable {
  public:
    using state_unreadable::state_unreadable;
};

/// nullopt: the row is erased.
using row_changes = std::map<std::string, std::optional<std::string>, std::less<>>;

/// Changes over a base view, which must outlive this object and must not change meanwhile. One thread.
class state_changes final : public state_view {
  public:
    explicit state_changes(const state_view* base) : x_base(base), x_memory(base->memory()) {}
    state_changes(const state_changes&) = delete;
    state_changes& operator=(const state_changes&) = delete;
    /// Continues over another view of the same rows.
    void rebase(const state_view* base) noexcept;
    bool read(std::string_view key, const row_reader& reader) const override;
    void scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const override;
    /// The base's, until a row changes that it depends on.
    view_memory* memory() const noexcept override { return x_memory; }
    void put(std::string key, std::string value) { change(std::move(key), std::move(value)); }
    void erase(std::string key) { change(std::move(key), std::nullopt); }
    /// Takes over the changes of an overlay of this view.
    void absorb(row_changes changes);
    const row_changes& changes() const noexcept { return x_changes; }
    row_changes take() {
        x_fingers.clear();
        return std::exchange(x_changes, {});
    }

  private:
    using place = row_changes::const_iterator;

    void change(std::string key, std::optional<std::string> value) {
        look_at(key);
        const place where = first_from(key);
        keep_finger(x_changes.insert_or_assign(where, std::move(key), std::move(value)));
    }
    /// Whether there may be changes in the table of this key or prefix.
    bool has_of_table(std::string_view key) const;
    place& finger_of(std::string_view key) const {
        return x_fingers[static_cast<unsigned char>(key.front())];
    }
    /// The first change whose key is not before this one.
    place first_from(std::string_view key) const;
    void keep_finger(place) const;
    void look_at(std::string_view key) noexcept {
        if (x_memory && x_memory->depends_on(key)) x_memory = nullptr;
    }

    const state_view* x_base;
    view_memory* x_memory;
    row_changes x_changes;
    /// The change of each table that was touched last, once there are many: what comes next is mostly beside
    /// it. By the key's first byte; the end where the table has no change.
    mutable std::vector<place> x_fingers;
};

/// A view that reads each row, and each short table, from its base only once: neighbouring commands mostly
/// read the same rows. One thread.
class remembering_view final : public state_view {
  public:
    explicit remembering_view(std::shared_ptr<const state_view> base) : x_base(std::move(base)) {}
    bool read(std::string_view key, const row_reader& reader) const override;
    void scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const override;
    view_memory* memory() const noexcept override { return x_base->memory(); }

  private:
    using rows = std::vector<std::pair<std::string, std::string>>;
    struct hash_of_text {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    template <class Value>
    using by_text = std::unordered_map<std::string, Value, hash_of_text, std::equal_to<>>;

    const std::shared_ptr<const state_view> x_base;
    mutable by_text<std::string> x_rows;
    mutable by_text<std::optional<rows>> x_tables;  // by prefix; empty: too long to remember
};

/// The store of rows: RocksDB (storage/rocks/rocks_state.hpp) or memory. One thread writes; any thread takes
/// views.
class state_store {
  public:
    virtual ~state_store() = default;
    /// Writes all changes or none. Errors: unavailable when they cannot be written (disk full): nothing
    /// changed, try again.
    virtual result<void> write(const row_changes&) = 0;
    /// A view of the rows as they are now; later writes do not show in it.
    virtual std::shared_ptr<const state_view> view() const = 0;
    /// Whether write() may run on another thread while its caller goes on and reads views.
    virtual bool is_written_beside() const noexcept { return false; }
};

/// In memory, for tests and the simulation. Views are copies, so it suits small states.
std::unique_ptr<state_store> make_memory_state();

}  // namespace herald::storage::registry::state
