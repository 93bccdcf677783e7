#include "storage/registry/rules/webhook_settings.hpp"

#include <algorithm>
#include <array>

#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "schemas/event_filter.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/rules/checks.hpp"
#include "storage/registry/rules/limits.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::webhook_header;

error out_of_range(std::string_view field, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    return runtime::invalid_argument({field, " is ", value, "; it must be ", least, " to ", most});
}

bool is_within(std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    return least <= value && value <= most;
}

result<void> check_schedule(const std::vector<std::uint32_t>& waits) {
    if (waits.size() > limits::retry_waits_max)
        return runtime::invalid_argument({"retry_schedule holds ", waits.size(),
                                          " waits; it must hold at most ", limits::retry_waits_max});
    for (std::size_t i = 0; i < waits.size(); ++i)
        if (!is_within(waits[i], limits::retry_wait_seconds_min, limits::retry_wait_seconds_max))
            return out_of_range("retry_schedule[" + std::to_string(i) + "]", waits[i],
                                limits::retry_wait_seconds_min, limits::retry_wait_seconds_max);
    return {};
}

/// RFC 9110 §5.6.2, in lower case.
bool is_token(std::string_view name) {
    static constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !name.empty() && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos;
    });
}

/// Headers that Herald sets itself, or that belong to a connection.
bool is_reserved(std::string_view name) {
    constexpr std::array whole{"accept-encoding",
                               "connection",
                               "content-encoding",
                               "content-length",
                               "content-type",
                               "expect",
                               "forwarded",
                               "host",
                               "keep-alive",
                               "origin",
                               "te",
                               "traceparent",
                               "tracestate",
                               "trailer",
                               "transfer-encoding",
                               "upgrade",
                               "user-agent",
                               "x-hub-signature",
                               "x-hub-signature-256"};
    constexpr std::array beginnings{"ce-", "proxy-", "svc-", "webhook-"};
    return std::ranges::any_of(whole, [&](std::string_view one) { return name == one; }) ||
           std::ranges::any_of(beginnings, [&](std::string_view one) { return name.starts_with(one); });
}

/// Scheme, host and port.
std::string origin_of(std::string_view url) {
    const std::size_t host = url.find("://") + 3;
    return runtime::to_lower(url.substr(0, url.find_first_of("/?#", host)));
}

}  // namespace

result<void> check_delivery(const schemas::webhook_settings& settings, std::int64_t now_ms) {
    const schemas::webhook_delivery& delivery = settings.delivery;
    if (const auto good = check_text("description", delivery.description, limits::description_bytes_max);
        !good)
        return good;
    if (delivery.timeout_ms != 0 &&
        !is_within(delivery.timeout_ms, limits::webhook_timeout_ms_min, limits::webhook_timeout_ms_max))
        return out_of_range("timeout_ms", delivery.timeout_ms, limits::webhook_timeout_ms_min,
                            limits::webhook_timeout_ms_max);
    if (const auto good = check_schedule(delivery.retry_schedule); !good) return good;
    if (delivery.rate_limit > limits::webhook_rate_max)
        return out_of_range("rate_limit", delivery.rate_limit, 0, limits::webhook_rate_max);
    if (delivery.time_expires != 0 &&
        (delivery.time_expires <= now_ms || delivery.time_expires > limits::event_time_ms_max))
        return runtime::invalid_argument(
            {"time_expires is ", delivery.time_expires,
             "; it must be a time to come, in milliseconds since the epoch, up to "
             "the year 9999"});
    return schemas::check_filter(settings);
}

result<void> check_headers(const std::vector<webhook_header>& headers) {
    if (headers.size() > limits::webhook_headers_max)
        return runtime::invalid_argument({"headers holds ", headers.size(), " headers; it must hold at most ",
                                          limits::webhook_headers_max});
    for (const webhook_header& header : headers) {
        if (header.name.size() > limits::webhook_header_name_bytes_max || !is_token(header.name))
            return runtime::invalid_argument({"headers has a name that is not valid: expected 1 to ",
                                              limits::webhook_header_name_bytes_max,
                                              " letters, digits and !#$%&'*+-.^_`|~"});
        if (is_reserved(header.name))
            return runtime::invalid_argument(
                {"headers has ", header.name,
                 ", which Herald sets itself or which belongs to the connection; "
                 "use another name"});
    }
    return {};
}

void set_given(schemas::webhook_delivery& delivery, const schemas::commands::update_webhook& command) {
    schemas::each_of_both(delivery, command.delivery,
                          [&](std::string_view name, auto& mine, const auto& sent) {
                              if (std::ranges::count(command.given, name) > 0) mine = sent;
                          });
}

std::vector<webhook_header> with_changes(std::vector<webhook_header> headers,
                                         const schemas::commands::update_webhook& command) {
    if (command.clear_headers) headers.clear();
    std::erase_if(headers, [&](const webhook_header& each) {
        return std::ranges::count(command.not_headers, each.name) > 0;
    });
    merge_by_key(headers, command.headers, &webhook_header::name);
    return headers;
}

result<void> check_move(const schemas::webhook& before, const schemas::webhook& after) {
    if (origin_of(before.settings.location) == origin_of(after.settings.location)) return {};
    for (const webhook_header& kept : before.headers)
        if (std::ranges::count(after.headers, kept) > 0)
            return runtime::invalid_argument(
                {"new_location leads to another host, which must not get the value of the header ", kept.name,
                 "; give headers.", kept.name, " again in this request, or null to remove it"});
    return {};
}

void plan_to_expire(context::rule_context& context, const schemas::webhook& hook) {
    if (hook.settings.delivery.time_expires == 0) return;
    context.set_timer(hook.settings.delivery.time_expires, context::timer_kind::webhook_expiry,
                      schemas::big_endian(hook.id.value));
}

}  // namespace herald::storage::registry::rules
