#include "storage/registry/tables/stages.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

namespace {

std::string open_key(schemas::version_id version, schemas::stage desired) {
    return key_of(table::open_transition).number(version).number(static_cast<std::uint64_t>(desired));
}

}  // namespace

template <>
struct description<schemas::activity> {
    static constexpr table rows = table::activity;
    static void index(const schemas::activity& row, index_entries& entries) {
        entries.mark(key_of(table::activity_of_version).number(row.model_version_id).number(row.id));
    }
};

template <>
struct description<transition_row> {
    static constexpr table rows = table::transition;
    static schemas::activity_id key(const transition_row& row) { return row.transition.id; }
    static void index(const transition_row& row, index_entries& entries) {
        using schemas::transition_state;
        const schemas::transition& asked = row.transition;
        if (asked.state != transition_state::closed && asked.state != transition_state::committed)
            entries.lead(open_key(row.model_version_id, asked.desired_stage), asked.id);
    }
};

template <>
struct description<schemas::promotion> {
    static constexpr table rows = table::promotion;
    static schemas::version_id key(const schemas::promotion& row) { return row.model_version_id; }
};

template class keyed_table<schemas::activity, schemas::activity_id>;
template class keyed_table<transition_row, schemas::activity_id>;
template class keyed_table<schemas::promotion, schemas::version_id>;

void activities::each_of(const state::state_view& state, schemas::version_id version,
                         schemas::activity_id from, const visitor<schemas::activity_id>& visit) {
    each_id_under(state, key_of(table::activity_of_version).number(version), from, visit);
}

std::optional<schemas::activity_id> transitions::open_to(const state::state_view& state,
                                                         schemas::version_id version,
                                                         schemas::stage desired) {
    return id_at<schemas::activity_id>(state, open_key(version, desired));
}

void transitions::each_open(const state::state_view& state, schemas::version_id from,
                            const std::function<bool(schemas::version_id, schemas::activity_id)>& visit) {
    const std::string all = key_of(table::open_transition);
    const std::string start = key_of(table::open_transition).number(from);
    state.scan(all, start, [&](std::string_view key, std::string_view value) {
        return visit(schemas::version_id{number_in_key(key)}, schemas::activity_id{read_number(key, value)});
    });
}

}  // namespace herald::storage::registry::tables
