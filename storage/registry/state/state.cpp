#include "storage/registry/state/state.hpp"

#include <algorithm>

#include "runtime/mutex.hpp"
#include "storage/registry/state/limits.hpp"

namespace herald::storage::registry::state {
namespace {

using rows = std::map<std::string, std::string, std::less<>>;

class memory_view final : public state_view {
  public:
    explicit memory_view(std::shared_ptr<const rows> contents) : x_rows(std::move(contents)) {}

    std::optional<std::string> get(std::string_view key) const override {
        const auto row = x_rows->find(key);
        if (row == x_rows->end()) return std::nullopt;
        return row->second;
    }

    void scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const override {
        for (auto row = x_rows->lower_bound(std::max(prefix, from)); row != x_rows->end(); ++row)
            if (!row->first.starts_with(prefix) || !visit(row->first, row->second)) return;
    }

  private:
    std::shared_ptr<const rows> x_rows;
};

// Views share the rows; a write copies them first if a view still holds them.
class memory_state final : public state_store {
  public:
    result<void> write(const row_changes& changes) override {
        const runtime::lock_guard lock(x_mutex);
        if (x_rows.use_count() > 1) x_rows = std::make_shared<rows>(*x_rows);
        for (const auto& [key, value] : changes) {
            if (value)
                x_rows->insert_or_assign(key, *value);
            else
                x_rows->erase(key);
        }
        return {};
    }

    std::shared_ptr<const state_view> view() const override {
        const runtime::lock_guard lock(x_mutex);
        return std::make_shared<memory_view>(x_rows);
    }

  private:
    mutable runtime::mutex x_mutex;
    std::shared_ptr<rows> x_rows GUARDED_BY(x_mutex) = std::make_shared<rows>();
};

}  // namespace

std::optional<std::string> state_changes::get(std::string_view key) const {
    const auto changed = x_changes.find(key);
    if (changed != x_changes.end()) return changed->second;
    return x_base->get(key);
}

void state_changes::scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const {
    auto changed = x_changes.lower_bound(std::max(prefix, from));
    bool wanted = true;
    // Visits the changed rows up to `limit`; returns whether the row `limit` itself was among them.
    const auto show_changed_until = [&](const std::string_view* limit) {
        bool replaced = false;
        while (wanted && changed != x_changes.end() && changed->first.starts_with(prefix) &&
               (!limit || changed->first <= *limit)) {
            replaced = limit && changed->first == *limit;
            if (changed->second) wanted = visit(changed->first, *changed->second);
            ++changed;
        }
        return replaced;
    };
    x_base->scan(prefix, from, [&](std::string_view key, std::string_view value) {
        if (!show_changed_until(&key) && wanted) wanted = visit(key, value);
        return wanted;
    });
    if (wanted) show_changed_until(nullptr);
}

void state_changes::absorb(row_changes changes) {
    while (!changes.empty()) {
        look_at(changes.begin()->first);
        auto placed = x_changes.insert(changes.extract(changes.begin()));
        if (!placed.inserted) placed.position->second = std::move(placed.node.mapped());
    }
}

std::optional<std::string> remembering_view::get(std::string_view key) const {
    if (const auto known = x_rows.find(key); known != x_rows.end()) return known->second;
    auto value = x_base->get(key);
    if (x_rows.size() < limits::rows_remembered_max &&
        (!value || value->size() <= limits::row_bytes_remembered_max))
        x_rows.emplace(key, value);
    return value;
}

void remembering_view::scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const {
    if (!from.empty()) return x_base->scan(prefix, from, visit);
    auto known = x_tables.find(prefix);
    if (known == x_tables.end() && x_tables.size() < limits::tables_remembered_max) {
        rows found;
        bool is_short = true;
        x_base->scan(prefix, {}, [&](std::string_view key, std::string_view value) {
            is_short = found.size() < limits::rows_of_short_table_max &&
                       value.size() <= limits::row_bytes_remembered_max;
            if (is_short) found.emplace_back(key, value);
            return is_short;
        });
        known = x_tables.emplace(prefix, std::nullopt).first;
        if (is_short) known->second = std::move(found);
    }
    if (known == x_tables.end() || !known->second) return x_base->scan(prefix, {}, visit);
    for (const auto& [key, value] : *known->second)
        if (!visit(key, value)) return;
}

std::unique_ptr<state_store> make_memory_state() { return std::make_unique<memory_state>(); }

}  // namespace herald::storage::registry::state
