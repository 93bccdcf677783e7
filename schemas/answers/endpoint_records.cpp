#include "schemas/answers/endpoint_records.hpp"

#include "runtime/random.hpp"
#include "runtime/text.hpp"

namespace herald::schemas::answers {

std::string prediction_url(const schemas::endpoint& row, std::string_view base_url) {
    return std::string(base_url) + "/api/v1/predict" + row.path;
}

endpoint of(schemas::endpoint row, std::string_view base_url) {
    std::string url = prediction_url(row, base_url);
    return {record_of(std::move(row)), std::move(url)};
}

access_token of(schemas::access_token row, std::string_view value) {
    access_token out;
    out.id = row.id;
    object_writer request;
    if (!value.empty()) request.text("value", value);
    auto asked = parse_json(row.creator_request.text);
    if (json_object* const members = asked ? asked->get_if<json_object>() : nullptr) {
        // What a caller sent beside these was ignored.
        std::erase_if(*members, [](const json_member& each) {
            return each.second.is_null() || (each.first != "label" && each.first != "expires");
        });
        request.members_of(to_json_text(*asked));
    }
    out.creator_request.text = request.finish();
    out.date_created = runtime::iso8601_ms(row.time_created);
    return out;
}

}  // namespace herald::schemas::answers
