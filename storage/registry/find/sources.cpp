#include "storage/registry/find/sources.hpp"

#include <algorithm>

#include "storage/registry/find/limits.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {
namespace {

using state::state_view;
using visitor = std::function<bool(const glimpse&)>;
using position = std::optional<place_in_order>;

schemas::workspace_id parent_of(const tables::models*, std::uint64_t id) { return {id}; }
schemas::model_id parent_of(const tables::versions*, std::uint64_t id) { return {id}; }

/// What is known of every child: a version's model.
template <class Table>
glimpse child_of(std::uint64_t parent, std::uint64_t id) {
    glimpse seen;
    seen.id = id;
    if (std::is_same_v<Table, tables::versions>) seen.model = parent;
    return seen;
}

template <class Table>
struct walker {
    const state_view& state;
    bool ascending;
    const position& at;
    const visitor& visit;

    void operator()(const listed_source& from) const {
        std::optional<tables::listed> after;
        if (at) after = tables::listed{at->time_ms, at->id, 0};
        const auto order = ascending ? tables::list_order::oldest_first : tables::list_order::newest_first;
        tables::lists::each(state, from.list, order, after, [&](const tables::listed& entry) {
            return visit({entry.id, entry.time_updated, entry.model, {}});
        });
    }
    void operator()(const children_source& from) const {
        const auto parent = parent_of(static_cast<const Table*>(nullptr), from.parent);
        const auto show = [&](auto id) { return visit(child_of<Table>(from.parent, id.value)); };
        if (ascending)
            Table::each_of(state, parent, {at ? at->id + 1 : 0}, show);
        else
            Table::each_back_of(state, parent, {at ? at->id : 0}, show);
    }
    void operator()(const names_source& from) const {
        std::optional<std::string> after;
        if (at) after = at->name;
        const auto order = ascending ? tables::name_order::ascending : tables::name_order::descending;
        const auto parent = parent_of(static_cast<const Table*>(nullptr), from.parent);
        Table::each_name(state, parent, order, after, [&](std::string_view name, auto id) {
            glimpse seen = child_of<Table>(from.parent, id.value);
            seen.name = name;
            return visit(seen);
        });
    }
    void operator()(const named_source& from) const {
        const auto parent = parent_of(static_cast<const Table*>(nullptr), from.parent);
        for (const std::string& name : from.names) {
            if (at && name <= at->name) continue;
            const auto id = Table::named(state, parent, name);
            if (!id) continue;
            glimpse seen = child_of<Table>(from.parent, id->value);
            seen.name = name;
            if (!visit(seen)) return;
        }
    }
    void operator()(const ids_source& from) const {
        auto next = from.ids.begin();
        if (at) next = std::upper_bound(from.ids.begin(), from.ids.end(), at->id);
        for (; next != from.ids.end(); ++next)
            if (glimpse seen{*next, {}, 0, {}}; !visit(seen)) return;
    }
    void operator()(const span_source& from) const {
        for (std::uint64_t id = at ? at->id + 1 : from.ids.first; id <= from.ids.last; ++id)
            if (glimpse seen{id, {}, 0, {}}; !visit(seen)) return;
    }
    void operator()(const models_source&) const {}
};

}  // namespace

template <class Table>
void walk(const state_view& state, const source& from, bool ascending, const position& at,
          const visitor& visit) {
    std::visit(walker<Table>{state, ascending, at, visit}, from);
}

template void walk<tables::models>(const state_view&, const source&, bool, const position&, const visitor&);
template void walk<tables::versions>(const state_view&, const source&, bool, const position&, const visitor&);

std::deque<source> next_of(const state_view& state, models_source& from, position& at) {
    std::deque<source> found;
    tables::models::each_of(state, {from.workspace}, {at ? at->id + 1 : 0}, [&](schemas::model_id model) {
        at.emplace().id = model.value;
        std::visit(
            [&](auto each) {
                each.parent = model.value;
                found.push_back(std::move(each));
            },
            from.each);
        return found.size() < limits::find_models_at_a_time;
    });
    return found;
}

}  // namespace herald::storage::registry::find
