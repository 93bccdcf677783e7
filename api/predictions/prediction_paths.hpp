// The paths at which models are asked (wire.md §6).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace herald::api::predictions {

enum class asked_for : std::uint8_t {
    json,          // POST /api/v1/predict/<path>
    table,         // POST /api/v1/batch-predict/<path>
    server,        // GET /v2
    server_live,   // GET /v2/health/live
    server_ready,  // GET /v2/health/ready
    model,         // GET /v2/models/{m}[/versions/{v}]
    model_ready,   // GET /v2/models/{m}[/versions/{v}]/ready
    inference,     // POST /v2/models/{m}[/versions/{v}]/infer
};

struct prediction_path {
    asked_for what = asked_for::json;
    std::string_view name;     // the endpoint's path, "/team/churn", or its name in the v2 protocol
    std::string_view version;  // of the model, in the v2 protocol; empty: whichever is served
};

/// Whether it is a path below those of predictions, known or not.
bool is_of_predictions(std::string_view path) noexcept;
/// Empty for a path that leads nowhere. Views into `path`, which is percent-encoded: the characters of
/// endpoints' paths need no encoding, so an encoded one names none.
std::optional<prediction_path> parsed_path(std::string_view path) noexcept;
/// Whether it is asked with POST, else with GET.
constexpr bool is_posted(asked_for what) noexcept {
    return what == asked_for::json || what == asked_for::table || what == asked_for::inference;
}
constexpr bool is_of_v2(asked_for what) noexcept { return what >= asked_for::server; }

}  // namespace herald::api::predictions
