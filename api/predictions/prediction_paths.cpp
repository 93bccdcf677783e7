#include "api/predictions/prediction_paths.hpp"

#include "runtime/text.hpp"

namespace herald::api::predictions {
namespace {

constexpr std::string_view predict = "/api/v1/predict";
constexpr std::string_view batch_predict = "/api/v1/batch-predict";
constexpr std::string_view v2 = "/v2";

/// The rest behind the prefix, if the path ends there or goes on with a slash.
std::optional<std::string_view> behind(std::string_view path, std::string_view prefix) noexcept {
    if (!path.starts_with(prefix)) return std::nullopt;
    path.remove_prefix(prefix.size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
    return path;
}

/// Takes "/<segment>" off the front; empty when there is none.
std::string_view take_segment(std::string_view& rest) noexcept {
    if (rest.empty()) return {};
    const std::string_view segment = rest.substr(1, rest.find('/', 1) - 1);
    rest.remove_prefix(segment.size() + 1);
    return segment;
}

std::optional<prediction_path> of_v2(std::string_view rest) noexcept {
    if (rest.empty() || rest == "/") return prediction_path{path_kind::server, {}, {}};
    if (rest == "/health/live") return prediction_path{path_kind::server_live, {}, {}};
    if (rest == "/health/ready") return prediction_path{path_kind::server_ready, {}, {}};
    if (take_segment(rest) != "models") return std::nullopt;
    prediction_path found{path_kind::model, take_segment(rest), {}};
    if (found.name.empty()) return std::nullopt;
    std::string_view next = take_segment(rest);
    if (next == "versions") {
        found.version = take_segment(rest);
        if (found.version.empty()) return std::nullopt;
        next = take_segment(rest);
    }
    if (!rest.empty()) return std::nullopt;
    if (next == "ready")
        found.what = path_kind::model_ready;
    else if (next == "infer")
        found.what = path_kind::inference;
    else if (!next.empty())
        return std::nullopt;
    return found;
}

}  // namespace

sent_path::sent_path(std::string_view sent) {
    if (sent.find('%') == sent.npos) {
        keep(sent);
        return;
    }
    while (!sent.empty()) {
        const auto escaped = runtime::percent_escape(sent);
        if (!escaped && sent.front() == '%') x_is_well_encoded = false;
        x_decoded += escaped.value_or(sent.front());
        sent.remove_prefix(escaped ? 3 : 1);
    }
    x_is_well_encoded = x_is_well_encoded && runtime::is_valid_utf8(x_decoded);
    if (x_is_well_encoded) keep(x_decoded);
}

void sent_path::keep(std::string_view whole) {
    const auto found = parsed_path(whole);
    if (!found) return;
    const auto place_of = [whole](std::string_view text) {
        if (text.empty()) return part();
        return part{static_cast<std::size_t>(text.data() - whole.data()), text.size()};
    };
    x_what = found->what;
    x_name = place_of(found->name);
    x_version = place_of(found->version);
}

prediction_path sent_path::parsed(std::string_view sent) const noexcept {
    const char* const text = x_decoded.empty() ? sent.data() : x_decoded.data();
    return {*x_what, {text + x_name.begin, x_name.bytes}, {text + x_version.begin, x_version.bytes}};
}

bool is_of_predictions(std::string_view path) noexcept {
    return behind(path, predict) || behind(path, batch_predict) || behind(path, v2);
}

std::optional<prediction_path> parsed_path(std::string_view path) noexcept {
    if (const auto rest = behind(path, predict)) {
        if (rest->size() < 2) return std::nullopt;
        return prediction_path{path_kind::json, *rest, {}};
    }
    if (const auto rest = behind(path, batch_predict)) {
        if (rest->size() < 2) return std::nullopt;
        return prediction_path{path_kind::table, *rest, {}};
    }
    if (const auto rest = behind(path, v2)) return of_v2(*rest);
    return std::nullopt;
}

}  // namespace herald::api::predictions
