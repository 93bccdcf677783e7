// The paths of predictions (wire.md §6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace herald::api::predictions {

enum class path_kind : std::uint8_t {
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
    path_kind what = path_kind::json;
    std::string_view name;     // the endpoint's path, "/team/churn", or its name in the v2 protocol
    std::string_view version;  // of the model, in the v2 protocol; empty: the one that is served
};

/// Whether it is a path below those of predictions, known or not.
bool is_of_predictions(std::string_view path) noexcept;
/// Empty for a path that leads nowhere. Views into `path`, which is not percent-encoded.
std::optional<prediction_path> parsed_path(std::string_view path) noexcept;
/// A path as it was sent. Clients encode what needs no encoding, too. Does not refer to the text that it was
/// made from, which may move in memory meanwhile.
class sent_path {
  public:
    explicit sent_path(std::string_view sent);

    /// False: it is not percent-encoded UTF-8, and leads nowhere.
    bool is_well_encoded() const noexcept { return x_is_well_encoded; }
    /// Empty: it leads nowhere.
    const std::optional<path_kind>& what() const noexcept { return x_what; }
    /// If it leads somewhere: views into `sent`, the same text again, and into this object.
    prediction_path parsed(std::string_view sent) const noexcept;

  private:
    struct part {
        std::size_t begin = 0, bytes = 0;
    };
    void keep(std::string_view whole);

    std::string x_decoded;  // only if it was encoded
    bool x_is_well_encoded = true;
    std::optional<path_kind> x_what;
    part x_name, x_version;
};

/// Whether it takes POST, else GET.
constexpr bool is_posted(path_kind what) noexcept {
    return what == path_kind::json || what == path_kind::table || what == path_kind::inference;
}
/// Whether the endpoint's token must be sent.
constexpr bool needs_token(path_kind what) noexcept {
    return what < path_kind::server || what >= path_kind::model;
}
constexpr bool is_of_v2(path_kind what) noexcept { return what >= path_kind::server; }

}  // namespace herald::api::predictions
