// Calls about the parts of uploads, and what calls about artifacts have in common (wire.md §3).
#pragma once

#include "api/calls/handler.hpp"

namespace herald::api::registry {

inline std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

/// The version of the path, which the body may name, too.
template <class Call, class Body>
result<schemas::version_id> version_of(const Call& call, const Body& body) {
    const auto id = call.template path_id<schemas::version_id>("version");
    if (id && body.model_version_id && body.model_version_id != *id)
        return runtime::invalid_argument({"model_version_id is ", body.model_version_id.value,
                                          ", but the path names model version ", id->value,
                                          "; name the same one in the body, or leave it out"});
    return id;
}

/// 0 is the whole. Errors: invalid_argument.
result<void> check_part_number(std::uint64_t number);

calls::response commit_part(calls::writing_call&);
calls::response commit_multipart(calls::writing_call&);
calls::response delete_artifact(calls::writing_call&);
calls::answered get_parts(calls::reading_call&);

}  // namespace herald::api::registry
