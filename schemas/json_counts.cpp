#include "schemas/json_counts.hpp"

namespace herald::schemas {
namespace {

/// The place of the closing quote; the text's end if there is none.
std::size_t end_of_string(std::string_view json, std::size_t at) noexcept {
    for (++at; at < json.size() && json[at] != '"'; ++at)
        if (json[at] == '\\') ++at;
    return at;
}

}  // namespace

json_counts counts_of(std::string_view json) noexcept {
    json_counts out;
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char sign = json[at];
        if (sign == '"')
            at = end_of_string(json, at);
        else if (sign == ',')
            ++out.elements;
        else if (sign == '[' || sign == '{')
            ++out.lists;
        else if (sign == ':')
            ++out.members;
    }
    return out;
}

}  // namespace herald::schemas
