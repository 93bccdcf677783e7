// Bodies of the find calls (client_calls.md §5). They stand here and not among the requests, since the state
// is asked with them as they came (storage/registry/find/). Their texts are only compared: one that is longer
// than any that is kept finds nothing.
#pragma once

#include "schemas/enums.hpp"

namespace herald::schemas {

struct pagination {
    std::int64_t page_number = 1;  // from 1
    std::int64_t page_limit = 0;   // 0 and −1: all
    std::string page_token;        // next_page_token of an answer: the rows after that page

    static constexpr bool only_compared = true;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "page_number", self.page_number);
        field(2, "page_limit", self.page_limit);
        field(3, "page_token", self.page_token);
    }
};

struct predicate {
    std::string key;
    json_text value;
    find_operator operator_ = find_operator::eq;
    std::optional<schemas::value_type> value_type = {};  // ignored: the value itself has a type

    static constexpr bool only_compared = true;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "key", self.key);
        field(2, "value", self.value);
        field(3, "operator", self.operator_);
        field(4, "value_type", self.value_type);
    }
};

struct named_id {
    std::string workspace_name;
    std::string name;

    static constexpr bool only_compared = true;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "name", self.name);
    }
};

struct find_target {
    model_id registered_model_id;
    std::optional<schemas::named_id> named_id;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "registered_model_id", self.registered_model_id);
        field(2, "named_id", self.named_id);
    }
};

/// Without `pagination` all rows are returned, up to limits::list_rows_max at a time.
struct find_request {
    std::string workspace_name;
    std::optional<find_target> id;
    std::vector<predicate> predicates;
    std::optional<schemas::pagination> pagination;
    bool ascending = false;
    std::string sort_key;
    std::vector<std::uint64_t> ids;

    static constexpr bool only_compared = true;
    static constexpr std::string_view example =
        R"({"predicates":[{"key":"labels","value":"candidate","operator":"EQ"}],"pagination":{"page_number":1,"page_limit":10}})";
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "workspace_name", self.workspace_name);
        field(2, "id", self.id);
        field(3, "predicates", self.predicates);
        field(4, "pagination", self.pagination);
        field(5, "ascending", self.ascending);
        field(6, "sort_key", self.sort_key);
        field(7, "ids", self.ids);
    }
};

}  // namespace herald::schemas
