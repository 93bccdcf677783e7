#include "api/webhooks/delivery_view.hpp"

#include <algorithm>
#include <array>

#include "api/webhooks/limits.hpp"
#include "api/webhooks/services.hpp"
#include "runtime/text.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/event_subjects.hpp"
#include "storage/registry/find/webhooks.hpp"
#include "workers/retry_policy.hpp"

namespace herald::api::webhooks {
namespace {

using calls::reading_call;
using schemas::delivery_filter;
using schemas::delivery_row;
using schemas::resource_type;
using storage::deliveries::delivery_place;
namespace access = storage::registry::access;
namespace answers = schemas::answers;
namespace registry_find = storage::registry::find;

constexpr std::array<std::pair<resource_type, std::string_view>, 4> resource_names{{
    {resource_type::registered_model, "model"},
    {resource_type::registered_model_version, "version"},
    {resource_type::build, "build"},
    {resource_type::endpoint, "endpoint"},
}};

/// Host and port of a URL.
std::string host_of(std::string_view location) {
    const std::size_t begin = location.find("://");
    if (begin == location.npos) return {};
    const std::string_view rest = location.substr(begin + 3);
    return std::string(rest.substr(0, rest.find_first_of("/?#")));
}

error unknown_name(std::string_view member, std::string_view found, const std::string& names) {
    return runtime::invalid_argument({member, " is \"", found, "\"; it must be one of ", names});
}

template <schemas::named_enum E>
result<E> named(std::string_view member, std::string_view text) {
    std::string names;
    for (const auto& [value, name] : schemas::enum_names<E>) {
        if (name == text) return value;
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return unknown_name(member, text, names);
}

/// "404", "4xx" or "none".
result<schemas::status_range> statuses_in(std::string_view text) {
    using range = schemas::status_range;
    if (text == "none") return range{std::uint16_t{0}, std::uint16_t{0}};
    if (text.size() == 3 && text.ends_with("xx") && text.front() >= '1' && text.front() <= '9') {
        const auto first = static_cast<std::uint16_t>((text.front() - '0') * 100);
        return range{first, static_cast<std::uint16_t>(first + 99)};
    }
    const auto status = runtime::parse_plain_decimal(text);
    if (status && *status >= 100 && *status <= 999)
        return range{static_cast<std::uint16_t>(*status), static_cast<std::uint16_t>(*status)};
    return runtime::invalid_argument(
        {"status is \"", text, "\"; it must be a status such as 404, a class such as 4xx, or none"});
}

result<std::vector<schemas::delivery_state>> states_in(std::string_view text) {
    std::vector<schemas::delivery_state> states;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const auto state = named<schemas::delivery_state>("state", text.substr(0, end));
        if (!state) return state.error();
        if (std::ranges::count(states, *state) == 0) states.push_back(*state);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return states;
}

}  // namespace

delivery_sight::delivery_sight(const reading_call& call, schemas::workspace workspace)
    : x_call(call),
      x_workspace(std::move(workspace)),
      x_sees_all(access::may_change_webhooks(call.state(), call.user().id, x_workspace)) {}

bool delivery_sight::sees(const delivery_row& row) const {
    return row.workspace_id == x_workspace.id && sees(row.resource_type, row.resource_id);
}

bool delivery_sight::sees(resource_type type, const std::string& resource_id) const {
    if (x_sees_all) return true;
    const auto [at, is_new] = x_known.try_emplace({type, resource_id});
    if (is_new)
        at->second =
            registry_find::may_read_subject(x_call.state(), x_call.user().id, x_workspace, type, resource_id);
    return at->second;
}

storage::deliveries::delivery_judge delivery_sight::judge() const {
    if (x_sees_all) return {};
    return [this](const delivery_row& row) { return sees(row); };
}

result<delivery_sight> sight_of(const reading_call& call, schemas::workspace_id id) {
    if (!id) id = access::default_workspace_of(call.state(), call.user());
    auto workspace = access::find_workspace(call.state(), id);
    if (!workspace || !access::is_seen(call.state(), call.user().id, *workspace))
        return runtime::not_found({"workspace ", id.value, " not found"});
    return delivery_sight(call, *std::move(workspace));
}

result<delivery_sight> sight_of(const reading_call& call) {
    const std::string text = call.query("workspace_id");
    if (text.empty()) return sight_of(call, schemas::workspace_id{});
    const auto id = runtime::parse_plain_decimal(text);
    if (!id)
        return runtime::invalid_argument(
            {"workspace_id is \"", text, "\"; it must be the id of a workspace"});
    return sight_of(call, schemas::workspace_id{*id});
}

result<seen_delivery> seen(const reading_call& call, std::string_view id) {
    const error absent = runtime::not_found({"delivery \"", id, "\" not found"});
    auto row = call.of<services>().history.find(id);
    if (!row) return absent;
    auto sight = sight_of(call, row->workspace_id);
    if (!sight || !sight->sees(*row)) return absent;
    return seen_delivery{*std::move(row), *std::move(sight)};
}

std::string resource_text(resource_type type, std::string_view id) {
    for (const auto& [known, name] : resource_names)
        if (known == type) return std::string(name) + "/" + std::string(id);
    return {};
}

result<std::pair<resource_type, std::string>> resource_in(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash != text.npos && slash + 1 < text.size())
        for (const auto& [type, name] : resource_names)
            if (text.substr(0, slash) == name) return std::pair{type, std::string(text.substr(slash + 1))};
    return runtime::invalid_argument(
        {"resource is \"", text, "\"; it must be model/ID, version/ID, build/ID or endpoint/ID"});
}

std::vector<std::int64_t> retry_schedule_of(const std::optional<schemas::webhook>& hook) {
    if (!hook || hook->settings.delivery.retry_schedule.empty())
        return {workers::default_retry_schedule_ms.begin(), workers::default_retry_schedule_ms.end()};
    std::vector<std::int64_t> waits_ms;
    for (const std::uint32_t seconds : hook->settings.delivery.retry_schedule)
        waits_ms.push_back(std::int64_t{1'000} * seconds);
    return waits_ms;
}

std::string time_text(std::int64_t ms) { return ms == 0 ? std::string() : runtime::iso8601_ms(ms); }

const delivery_view::known_webhook& delivery_view::look_up(schemas::webhook_id id) {
    const auto [at, is_new] = x_webhooks.try_emplace(id);
    known_webhook& known = at->second;
    if (!is_new) return known;
    const auto hook = registry_find::find_webhook(x_call.state(), id);
    known.attempts_max = static_cast<std::uint32_t>(retry_schedule_of(hook).size()) + 1;
    known.shown.id = id;
    if (!hook) return known;
    known.shown.name = hook->settings.name;
    known.shown.host = host_of(hook->settings.location);
    return known;
}

answers::delivery_webhook delivery_view::webhook(schemas::webhook_id id) { return look_up(id).shown; }

answers::delivery_subject delivery_view::subject(resource_type type, const std::string& resource_id) {
    const auto [at, is_new] = x_subjects.try_emplace({type, resource_id});
    if (is_new) {
        auto found = registry_find::subject_of(x_call.state(), type, resource_id);
        at->second = {std::move(found.model), std::move(found.version), std::move(found.build)};
    }
    return at->second;
}

answers::delivery_core delivery_view::core(const delivery_row& row) {
    answers::delivery_core core;
    core.id = row.id;
    core.event_id = row.event_id;
    core.event_type = row.event_type;
    core.resource = resource_text(row.resource_type, row.resource_id);
    core.subject = subject(row.resource_type, row.resource_id);
    const known_webhook& hook = look_up(row.webhook_id);
    core.webhook = hook.shown;
    core.attempts_max = hook.attempts_max;
    core.state = row.state;
    if (row.last_ms != 0)
        core.last = {{time_text(row.last_ms), row.last_status, row.last_error, row.last_total_us}};
    if (row.state == schemas::delivery_state::waiting && row.next_attempt_ms != 0)
        core.next = {
            {time_text(row.next_attempt_ms),
             x_in_full ? row.last_message : answers::words_about(row.last_error, row.last_status).sentence}};
    core.time_event = time_text(row.time_event_ms);
    core.time_done = time_text(row.time_done_ms);
    return core;
}

answers::delivery_entry delivery_view::entry(const delivery_row& row) { return {core(row), row.attempts}; }

std::vector<answers::attempt_entry> delivery_view::attempts(std::string_view delivery_id) const {
    std::vector<answers::attempt_entry> shown;
    for (const auto& each : x_call.of<services>().history.attempts_of_delivery(delivery_id))
        shown.push_back(attempt(each));
    return shown;
}

answers::attempt_entry delivery_view::attempt(const storage::deliveries::attempt_in_full& full) const {
    const schemas::attempt& made = full.made;
    answers::attempt_entry entry;
    entry.number = made.number;
    entry.time = time_text(made.time_ms);
    entry.source = made.source;
    entry.result = made.result;
    entry.status = made.status;
    entry.error = made.error;
    entry.dns_us = made.dns_us;
    entry.connect_us = made.connect_us;
    entry.tls_us = made.tls_us;
    entry.first_byte_us = made.first_byte_us;
    entry.total_us = made.total_us;
    entry.next_time = time_text(made.next_attempt_ms);
    if (!x_in_full) return entry;
    entry.message = made.message;
    entry.address = made.address;
    if (!full.has_bodies) return entry;
    entry.request_headers = made.request_headers;
    entry.response_headers = made.response_headers;
    entry.response_body = made.response_body;
    return entry;
}

std::string token_of(const delivery_place& place) {
    return std::to_string(place.time_event_ms) + "." + place.id;
}

result<std::optional<delivery_place>> place_in(const std::string& token) {
    if (token.empty()) return std::optional<delivery_place>();
    const std::size_t point = token.find('.');
    const auto time_ms = runtime::parse_plain_decimal(std::string_view(token).substr(0, point));
    if (point == token.npos || !time_ms || *time_ms > INT64_MAX || point + 1 == token.size())
        return runtime::invalid_argument(
            {"page_token is \"", token, "\"; it must be the next_page_token of an earlier answer"});
    return std::optional(delivery_place{static_cast<std::int64_t>(*time_ms), token.substr(point + 1)});
}

result<std::int64_t> time_in(std::string_view name, std::string_view text) {
    if (const auto ms = runtime::parse_iso8601_ms(text)) return *ms;
    if (const auto ms = runtime::parse_plain_decimal(text); ms && *ms <= 253'402'300'799'999)
        return static_cast<std::int64_t>(*ms);
    return runtime::invalid_argument(
        {name, " is \"", text,
         "\"; it must be a time such as 2026-01-31T09:30:00.000Z, or milliseconds since "
         "the epoch"});
}

result<delivery_filter> filter_of(schemas::workspace_id workspace, const filter_text& text) {
    for (const auto& [name, value] : {std::pair{"event_id", &text.event_id}, {"resource", &text.resource}})
        if (value->size() > limits::filter_text_bytes_max)
            return runtime::invalid_argument({name, " is ", value->size(), " bytes long; it must be at most ",
                                              limits::filter_text_bytes_max});
    delivery_filter filter;
    filter.workspace_id = workspace;
    filter.event_id = text.event_id;
    if (!text.webhook_id.empty()) {
        const auto id = runtime::parse_plain_decimal(text.webhook_id);
        if (!id || *id == 0)
            return runtime::invalid_argument(
                {"webhook_id is \"", text.webhook_id, "\"; it must be the id of a webhook"});
        filter.webhook_id.value = *id;
    }
    if (!text.resource.empty()) {
        auto resource = resource_in(text.resource);
        if (!resource) return resource.error();
        filter.resource_type = resource->first;
        filter.resource_id = std::move(resource->second);
    }
    if (!text.event_type.empty()) {
        const auto type = named<schemas::event_type>("event_type", text.event_type);
        if (!type) return type.error();
        filter.event_type = *type;
    }
    auto states = states_in(text.state);
    if (!states) return states.error();
    filter.states = *std::move(states);
    if (!text.error.empty()) {
        const auto kind = named<schemas::delivery_error>("error", text.error);
        if (!kind) return kind.error();
        filter.error = *kind;
    }
    if (!text.status.empty()) {
        const auto status = statuses_in(text.status);
        if (!status) return status.error();
        filter.status = *status;
    }
    if (!text.since.empty()) {
        const auto since = time_in("since", text.since);
        if (!since) return since.error();
        filter.since_ms = *since;
    }
    if (!text.until.empty()) {
        const auto until = time_in("until", text.until);
        if (!until) return until.error();
        filter.until_ms = *until;
    }
    if (filter.since_ms >= filter.until_ms) return runtime::invalid_argument("since must be before until");
    return filter;
}

}  // namespace herald::api::webhooks
