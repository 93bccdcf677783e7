#include "storage/registry/tables/access_tokens.hpp"

#include "storage/registry/tables/description.hpp"

namespace herald::storage::registry::tables {
namespace {

std::string key_by_hash(schemas::endpoint_stage_id stage, std::string_view hash) {
    return key_of(table::token_by_hash).number(stage).text(hash);
}

}  // namespace

template <>
struct description<schemas::access_token> {
    static constexpr table rows = table::access_token;
    static void index(const schemas::access_token& row, index_entries& entries) {
        entries.mark(key_of(table::token_of_stage).number(row.stage_id).number(row.id));
        entries.lead(key_by_hash(row.stage_id, row.hash), row.id);
    }
};

template class keyed_table<schemas::access_token, schemas::access_token_id>;

std::optional<schemas::access_token_id> access_tokens::with_hash(const state::state_view& state,
                                                                 schemas::endpoint_stage_id stage,
                                                                 std::string_view hash) {
    return id_at<schemas::access_token_id>(state, key_by_hash(stage, hash));
}

void access_tokens::each_of(const state::state_view& state, schemas::endpoint_stage_id stage,
                            schemas::access_token_id from, const visitor<schemas::access_token_id>& visit) {
    each_id_under(state, key_of(table::token_of_stage).number(stage), from, visit);
}

}  // namespace herald::storage::registry::tables
