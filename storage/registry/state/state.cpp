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

    bool read(std::string_view key, const row_reader& reader) const override {
        const auto row = x_rows->find(key);
        if (row == x_rows->end()) return false;
        reader(row->second);
        return true;
    }

    void scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const override {
        for (auto row = x_rows->lower_bound(std::max(prefix, from)); row != x_rows->end(); ++row)
            if (!row->first.starts_with(prefix) || !visit(row->first, row->second)) return;
    }

    void scan_back(std::string_view prefix, std::string_view before,
                   const row_visitor& visit) const override {
        const std::string end = before.empty() ? end_of(prefix) : std::string(before);
        auto row = end.empty() ? x_rows->end() : x_rows->lower_bound(end);
        while (row != x_rows->begin()) {
            --row;
            if (!row->first.starts_with(prefix) || !visit(row->first, row->second)) return;
        }
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

std::optional<std::string> state_view::get(std::string_view key) const {
    std::optional<std::string> value;
    read(key, [&value](std::string_view bytes) { value = bytes; });
    return value;
}

void state_view::scan_back(std::string_view prefix, std::string_view before, const row_visitor& visit) const {
    std::vector<std::pair<std::string, std::string>> found;
    scan(prefix, {}, [&](std::string_view key, std::string_view value) {
        if (!before.empty() && key >= before) return false;
        found.emplace_back(key, value);
        return true;
    });
    for (auto row = found.rbegin(); row != found.rend(); ++row)
        if (!visit(row->first, row->second)) return;
}

std::string end_of(std::string_view prefix) {
    std::string end(prefix);
    while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
    if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
    return end;
}

void state_changes::rebase(const state_view* base) noexcept {
    x_base = base;
    x_memory = base->memory();
    for (const auto& change : x_changes) look_at(change.first);
}

bool state_changes::has_of_table(std::string_view key) const {
    if (x_changes.empty()) return false;
    return x_fingers.empty() || key.empty() || finger_of(key) != x_changes.end();
}

state_changes::place state_changes::first_from(std::string_view key) const {
    if (x_fingers.empty() || key.empty()) return x_changes.lower_bound(key);
    const place finger = finger_of(key);
    if (finger == x_changes.end()) return x_changes.lower_bound(key);
    const int order = finger->first.compare(key);
    if (order == 0) return finger;
    const place next = std::next(finger);
    if (order < 0 && (next == x_changes.end() || next->first >= key)) return next;
    return x_changes.lower_bound(key);
}

void state_changes::keep_finger(place touched) const {
    if (!x_fingers.empty()) {
        finger_of(touched->first) = touched;
    } else if (x_changes.size() >= limits::changes_without_fingers_max) {
        x_fingers.assign(256, x_changes.end());
        for (auto change = x_changes.begin(); change != x_changes.end(); ++change)
            finger_of(change->first) = change;
    }
}

bool state_changes::read(std::string_view key, const row_reader& reader) const {
    if (!has_of_table(key)) return x_base->read(key, reader);
    const place changed = first_from(key);
    if (changed == x_changes.end() || changed->first != key) return x_base->read(key, reader);
    keep_finger(changed);
    if (!changed->second) return false;
    reader(*changed->second);
    return true;
}

void state_changes::scan(std::string_view prefix, std::string_view from, const row_visitor& visit) const {
    if (!has_of_table(prefix)) return x_base->scan(prefix, from, visit);
    auto changed = x_changes.lower_bound(std::max(prefix, from));
    if (changed == x_changes.end() || !changed->first.starts_with(prefix))
        return x_base->scan(prefix, from, visit);
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
    if (x_changes.empty()) {
        for (const auto& change : changes) look_at(change.first);
        x_changes = std::move(changes);
        return;
    }
    while (!changes.empty()) {
        const std::string& key = changes.begin()->first;
        look_at(key);
        const place where = first_from(key);
        auto change = changes.extract(changes.begin());
        if (where != x_changes.end() && where->first == change.key()) {
            const auto changed = x_changes.erase(where, where);  // the same place, to be written to
            changed->second = std::move(change.mapped());
            keep_finger(changed);
        } else {
            keep_finger(x_changes.insert(where, std::move(change)));
        }
    }
}

bool remembering_view::read(std::string_view key, const row_reader& reader) const {
    if (const auto known = x_rows.find(key); known != x_rows.end()) {
        reader(known->second);
        return true;
    }
    return x_base->read(key, [&](std::string_view value) {
        if (x_rows.size() < limits::rows_remembered_max && value.size() <= limits::row_bytes_remembered_max)
            x_rows.emplace(key, value);
        reader(value);
    });
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
