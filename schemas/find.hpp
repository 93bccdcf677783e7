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
    HERALD_DESCRIBE(page_number, page_limit, page_token);
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
    HERALD_DESCRIBE(workspace_name, name);
};

struct find_target {
    model_id registered_model_id;
    std::optional<schemas::named_id> named_id;

    HERALD_DESCRIBE(registered_model_id, named_id);
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
    HERALD_DESCRIBE(workspace_name, id, predicates, pagination, ascending, sort_key, ids);
};

}  // namespace herald::schemas
