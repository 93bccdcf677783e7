#include "schemas/requests/request.hpp"

#include <algorithm>

namespace herald::schemas::requests {

json_object server_owned_in(const json_value& body, std::span<const owned> names) {
    json_object found;
    for (const owned& each : names) {
        const json_value* value = body.find(each.name);
        if (value && !schemas::is_default(*value)) found.emplace_back(std::string(each.name), *value);
    }
    return found;
}

namespace detail {

std::string names_of_enum(std::span<const numbered_name> all, zero_of_enum zero) {
    std::string names = "one of";
    for (const numbered_name& each : all) {
        const bool is_none =
            each.number == 0 && (zero == zero_of_enum::no_value || each.name.empty() ||
                                 each.name.ends_with("UNKNOWN") || each.name.ends_with("unknown"));
        if (!is_none) names += " " + std::string(each.name);
    }
    return names;
}

bool required_checker::is_required(std::string_view name) const {
    return std::find(required.begin(), required.end(), name) != required.end();
}

void required_checker::fail(std::string_view name, const std::string& expected) {
    failure = runtime::invalid_argument(
        {schemas::detail::member_path(path, name), " is missing; it must be ", expected});
}

}  // namespace detail
}  // namespace herald::schemas::requests
