// The bytes of artifacts: by digest; those of each version's artifacts, and of uploads that are not finished;
// and the objects that are to be erased from the store.
#pragma once

#include "schemas/artifacts.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

extern template class keyed_table<schemas::blob, std::string>;

class blobs final : public keyed_table<schemas::blob, std::string> {};

/// Rows by version and key. `Row` is schemas::artifact_bytes or schemas::unfinished_upload.
template <class Row>
class rows_of_artifacts {
  public:
    using row_type = Row;

    static std::optional<Row> find(const state::state_view&, schemas::version_id, std::string_view key);
    /// The version's rows by ascending key.
    static void each_of(const state::state_view&, schemas::version_id, const visitor<Row>&);
    static void put(state::state_changes&, const Row&);
    static void erase(state::state_changes&, const Row&);
};

extern template class rows_of_artifacts<schemas::artifact_bytes>;
extern template class rows_of_artifacts<schemas::unfinished_upload>;

class bytes_of_artifacts final : public rows_of_artifacts<schemas::artifact_bytes> {};
class unfinished_uploads final : public rows_of_artifacts<schemas::unfinished_upload> {};

class doomed_objects final {
  public:
    static bool has(const state::state_view&, std::string_view object);
    static void put(state::state_changes&, std::string_view object);
    static void erase(state::state_changes&, std::string_view object);
    /// By ascending name.
    static void each(const state::state_view&, const visitor<std::string>&);
};

}  // namespace herald::storage::registry::tables
