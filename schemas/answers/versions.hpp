// Answers about model versions (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"

namespace herald::schemas::answers {

struct version : version_record {
    using shown_inline = version_record;
    static constexpr void describe(auto& self, auto&& field) {
        version_record::describe(base_of<version_record>(self), field);
    }
};

version of(schemas::model_version);

struct model_version : one<"model_version", version> {};

struct model_versions : page<"model_versions", version> {};

}  // namespace herald::schemas::answers
