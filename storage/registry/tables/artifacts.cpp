#include "storage/registry/tables/artifacts.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {

template <>
struct description<schemas::blob> {
    static constexpr table rows = table::blob;
    static std::string key(const schemas::blob& row) { return row.digest; }
};

template class keyed_table<schemas::blob, std::string>;

namespace {

template <class Row>
constexpr table table_of = table::artifact_bytes;
template <>
constexpr table table_of<schemas::unfinished_upload> = table::unfinished_upload;

template <class Row>
std::string key_to(schemas::version_id version, std::string_view key) {
    return key_of(table_of<Row>).number(version).text(key);
}

}  // namespace

template <class Row>
std::optional<Row> rows_of_artifacts<Row>::find(const state::state_view& state, schemas::version_id version,
                                                std::string_view key) {
    return find_row<Row>(state, key_to<Row>(version, key));
}

template <class Row>
void rows_of_artifacts<Row>::each_of(const state::state_view& state, schemas::version_id version,
                                     const visitor<Row>& visit) {
    const std::string prefix = key_to<Row>(version, {});
    state.scan(prefix, {}, [&](std::string_view key, std::string_view value) {
        return visit(decode_row<Row>(key, value));
    });
}

template <class Row>
void rows_of_artifacts<Row>::put(state::state_changes& state, const Row& row) {
    put_row(state, key_to<Row>(row.model_version_id, row.key), row);
}

template <class Row>
void rows_of_artifacts<Row>::erase(state::state_changes& state, const Row& row) {
    state.erase(key_to<Row>(row.model_version_id, row.key));
}

template class rows_of_artifacts<schemas::artifact_bytes>;
template class rows_of_artifacts<schemas::unfinished_upload>;

bool doomed_objects::has(const state::state_view& state, std::string_view object) {
    return has_row(state, key_of(table::doomed_object).text(object));
}

void doomed_objects::put(state::state_changes& state, std::string_view object) {
    state.put(key_of(table::doomed_object).text(object), "");
}

void doomed_objects::erase(state::state_changes& state, std::string_view object) {
    state.erase(key_of(table::doomed_object).text(object));
}

void doomed_objects::each(const state::state_view& state, const visitor<std::string>& visit) {
    const std::string prefix = key_of(table::doomed_object);
    state.scan(prefix, {}, [&](std::string_view key, std::string_view) {
        return visit(std::string(key.substr(prefix.size())));
    });
}

}  // namespace herald::storage::registry::tables
