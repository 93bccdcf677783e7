#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

json_object server_owned_in(const json_value& body, std::span<const owned> names) {
    json_object found;
    for (const owned& each : names) {
        const json_value* value = body.find(each.name);
        if (value && !schemas::is_default(*value)) found.emplace_back(std::string(each.name), *value);
    }
    return found;
}

}  // namespace herald::schemas::requests
