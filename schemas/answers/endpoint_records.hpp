// Answers about endpoints, their access tokens and what happened to their stages (wire.md §5): ids of stages
// and tokens are numbers, times ISO-8601.
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/answers/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/json_schema.hpp"

namespace herald::schemas::answers {

struct endpoint : endpoint_record {
    std::string full_url;

    using shown_inline = endpoint_record;
    static constexpr integers style = integers::as_numbers;
    static constexpr std::array forms{member_form{"id", uuid_schema<schemas::endpoint_kind>}};
    static constexpr void describe(auto& self, auto&& field) {
        endpoint_record::describe(self, field);
        field(30, "full_url", self.full_url);
    }
};
/// `base_url`: where the caller found this node.
endpoint of(schemas::endpoint, std::string_view base_url);
/// The URL of its predictions.
std::string prediction_url(const schemas::endpoint&, std::string_view base_url);

struct endpoints : page<"endpoints", endpoint, integers::as_numbers> {};

/// How a token was asked for. Members that were null are left out.
struct access_token_request {
    std::string value;
    std::string label;
    json_text expires;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "value", self.value, shown::when_set);
        field(2, "label", self.label, shown::when_set);
        field(3, "expires", self.expires, shown::when_set);
    }
};

/// creator_request: as it came, with the value for callers who may see it.
struct access_token {
    access_token_id id;
    json_text creator_request;
    std::string date_created;

    static constexpr integers style = integers::as_numbers;
    static constexpr std::array forms{member_form{"creator_request", answer_schema<access_token_request>}};
    HERALD_DESCRIBE(id, creator_request, date_created);
};
/// Empty `value`: it is not shown.
access_token of(schemas::access_token, std::string_view value);

struct access_tokens {
    std::vector<access_token> tokens;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(tokens, total_records);
};

/// An access token or an endpoint that opens nothing any more, except on the listed nodes.
struct withdrawn {
    std::vector<unconfirmed_node> unconfirmed;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(unconfirmed);
};

/// Without an author: Herald's own step.
struct stage_log_entry {
    std::uint64_t id = 0;
    std::string message;
    std::string date_created;
    user_id author_id;
    std::string author_name;

    static constexpr void describe(auto& self, auto&& field) {
        HERALD_FIELDS(id, message, date_created);
        field(4, "author_id", self.author_id, shown::when_set);
        field(5, "author_name", self.author_name, shown::when_set);
    }
};

struct stage_logs {
    std::vector<stage_log_entry> entries;
    std::uint64_t total_records = 0;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(entries, total_records);
};

/// The newest update's body, as it came; empty before the first.
struct stage_update_status : one<"update_request", json_text, integers::as_numbers> {};

/// As Kubernetes names its members.
struct operations_manifest {
    std::string kind;
    json_text metadata;
    json_text spec;

    static constexpr integers style = integers::as_numbers;
    HERALD_DESCRIBE(kind, metadata, spec);
};

}  // namespace herald::schemas::answers
