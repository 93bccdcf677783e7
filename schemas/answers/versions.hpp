// Answers about model versions (wire.md §3).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/registry.hpp"
#include "schemas/sharing.hpp"

namespace herald::schemas::answers {

struct version : version_record {
    using shown_inline = version_record;
    static constexpr void describe(auto& self, auto&& field) {
        version_record::describe(base_of<version_record>(self), field);
    }
};

version of(schemas::model_version);

struct model_version {
    version model_version_;

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_version", self.model_version_);
    }
};

struct model_versions {
    std::vector<version> model_versions_;
    std::uint64_t total_records = 0;
    std::string next_page_token;  // empty: there are no more

    static constexpr integers style = integers::as_strings;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "model_versions", self.model_versions_);
        field(2, "total_records", self.total_records);
        field(3, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
