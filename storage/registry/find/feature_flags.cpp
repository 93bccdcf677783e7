#include "storage/registry/find/feature_flags.hpp"

namespace herald::storage::registry::find {

schemas::feature_flag feature_flag_of(const state::state_view& state, schemas::flag_name which) {
    const std::string key(schemas::name_of(which));
    return tables::feature_flags::find(state, key).value_or(schemas::feature_flag{});
}

}  // namespace herald::storage::registry::find
