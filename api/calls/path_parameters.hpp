// What the parameters of paths hold: names, and ids of the things that this table says.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "schemas/deliveries.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/json_schema.hpp"

namespace herald::api::calls {

struct path_parameter_type {
    std::string_view name;
    schemas::schema_maker id = nullptr;  // null: it holds a name
    bool is_number = false;
};

namespace detail {

template <class Id>
constexpr path_parameter_type holds(std::string_view name) {
    return {name, schemas::id_schema<Id>, true};
}

}  // namespace detail

/// Every parameter of every pattern. By name.
constexpr std::array path_parameter_types{
    detail::holds<schemas::build_id>("build"),
    path_parameter_type{"delivery"},
    path_parameter_type{"email"},
    path_parameter_type{"endpoint", schemas::uuid_schema<schemas::endpoint_kind>},
    detail::holds<schemas::group_id>("group"),
    path_parameter_type{"key"},
    path_parameter_type{"model"},
    detail::holds<schemas::model_id>("model_id"),
    path_parameter_type{"name"},
    detail::holds<schemas::organization_id>("org"),
    path_parameter_type{"path"},
    detail::holds<schemas::replay_id>("replay"),
    detail::holds<schemas::role_id>("role"),
    path_parameter_type{"signed"},
    detail::holds<schemas::endpoint_stage_id>("stage"),
    detail::holds<schemas::access_token_id>("token"),
    detail::holds<schemas::user_id>("user"),
    detail::holds<schemas::version_id>("version"),
    path_parameter_type{"version_or_name"},
    path_parameter_type{"workspace"},
    detail::holds<schemas::workspace_id>("workspace_id"),
};
static_assert(std::is_sorted(path_parameter_types.begin(), path_parameter_types.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));

/// Null for a parameter that no pattern has.
constexpr const path_parameter_type* type_of_path_parameter(std::string_view name) {
    for (const path_parameter_type& each : path_parameter_types)
        if (each.name == name) return &each;
    return nullptr;
}

/// Whether it can only hold decimal digits.
constexpr bool is_numeric_in_path(std::string_view name) {
    const path_parameter_type* const known = type_of_path_parameter(name);
    return known && known->is_number;
}

}  // namespace herald::api::calls
