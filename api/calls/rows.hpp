// Makes rows of the table of routes, by the kind of call and its types. A file of handlers ends with its
// rows; it begins with `using namespace calls::rows`, which also brings the words of handlers.
#pragma once

#include "api/calls/handler.hpp"
#include "api/calls/route.hpp"
#include "schemas/json_schema.hpp"
#include "schemas/requests/request.hpp"

namespace herald::api::calls::rows {

using namespace handling;
using runtime::http::http_method;

/// A GET that anybody may make.
constexpr route open(std::string_view name, std::string_view pattern, public_handler handler,
                     schemas::schema_maker answer, std::string_view summary) {
    route row;
    row.name = name;
    row.pattern = pattern;
    row.kind = open_row{handler};
    row.tag = "operations";
    row.summary = summary;
    row.answer = answer;
    return row;
}

/// A request that a signed URL allows, with bytes that come or go piece by piece.
constexpr route streamed(std::string_view name, http_method method, std::string_view pattern,
                         streamed_handler handler, streamed_judge judge, std::string_view tag,
                         std::string_view summary) {
    route row;
    row.name = name;
    row.method = method;
    row.pattern = pattern;
    row.kind = streamed_row{handler, judge};
    row.deadline_ms = limits::write_deadline_ms;
    row.tag = tag;
    row.summary = summary;
    return row;
}

/// What anybody may send, with or without credentials; it may append a command.
template <schemas::described Answer>
constexpr route for_guests(std::string_view name, http_method method, std::string_view pattern,
                           guest_handler handler, std::string_view tag, std::string_view summary) {
    route row;
    row.name = name;
    row.method = method;
    row.pattern = pattern;
    row.kind = guest_row{handler};
    row.body_bytes_max = limits::guest_body_bytes_max;
    row.deadline_ms = limits::write_deadline_ms;
    row.tag = tag;
    row.summary = summary;
    row.answer = schemas::answer_schema<Answer>;
    return row;
}

/// The row with a body.
template <schemas::described Body>
constexpr route with_body(route row) {
    row.body = schemas::request_schema<Body>;
    row.needs_body = !schemas::requests::required_of<Body>().empty();
    return row;
}

/// A POST in place of a GET: the body says what to look at.
template <schemas::described Body>
constexpr route asking(route row) {
    row.method = http_method::post;
    return with_body<Body>(row);
}

/// A GET that is answered from the state at hand.
template <schemas::described Answer>
constexpr route read(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary,
                     std::span<const query_parameter> query = {}) {
    route row;
    row.name = name;
    row.pattern = pattern;
    row.kind = read_row{handler};
    row.tag = tag;
    row.summary = summary;
    row.query = query;
    row.answer = schemas::answer_schema<Answer>;
    return row;
}

/// A GET that looks through many rows.
template <schemas::described Answer>
constexpr route list(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary,
                     std::span<const query_parameter> query = {}) {
    route row = read<Answer>(name, pattern, handler, tag, summary, query);
    row.kind = read_row{handler, true};
    row.deadline_ms = limits::long_read_deadline_ms;
    return row;
}

/// The same, in slices: of any number of rows.
template <schemas::described Answer>
constexpr route list(std::string_view name, std::string_view pattern, slicing_handler handler,
                     std::string_view tag, std::string_view summary,
                     std::span<const query_parameter> query = {}) {
    route row = list<Answer>(name, pattern, read_handler(nullptr), tag, summary, query);
    row.kind = sliced_row{handler};
    return row;
}

/// A POST that only looks, through many rows.
template <schemas::described Body, schemas::described Answer>
constexpr route find(std::string_view name, std::string_view pattern, read_handler handler,
                     std::string_view tag, std::string_view summary) {
    return asking<Body>(list<Answer>(name, pattern, handler, tag, summary));
}

/// The same, in slices: of any number of rows.
template <schemas::described Body, schemas::described Answer>
constexpr route find(std::string_view name, std::string_view pattern, slicing_handler handler,
                     std::string_view tag, std::string_view summary) {
    return asking<Body>(list<Answer>(name, pattern, handler, tag, summary));
}

/// What changes something.
template <schemas::described Answer>
constexpr route change(std::string_view name, http_method method, std::string_view pattern,
                       writing_handler handler, std::string_view tag, std::string_view summary) {
    route row;
    row.name = name;
    row.method = method;
    row.pattern = pattern;
    row.kind = write_row{handler};
    row.deadline_ms = limits::write_deadline_ms;
    row.tag = tag;
    row.summary = summary;
    row.answer = schemas::answer_schema<Answer>;
    return row;
}

template <schemas::described Body, schemas::described Answer>
constexpr route write(std::string_view name, http_method method, std::string_view pattern,
                      writing_handler handler, std::string_view tag, std::string_view summary) {
    return with_body<Body>(change<Answer>(name, method, pattern, handler, tag, summary));
}

/// The rows of a handler that is given its body.
template <auto Handler, schemas::described Answer>
constexpr route find(std::string_view name, std::string_view pattern, std::string_view tag,
                     std::string_view summary) {
    return find<typename given_body<Handler>::type, Answer>(name, pattern, given_body<Handler>::handle, tag,
                                                            summary);
}
template <auto Handler, schemas::described Answer>
constexpr route write(std::string_view name, http_method method, std::string_view pattern,
                      std::string_view tag, std::string_view summary) {
    return write<typename given_body<Handler>::type, Answer>(name, method, pattern,
                                                             given_body<Handler>::handle, tag, summary);
}
template <auto Handler, schemas::described Answer>
constexpr route ask(std::string_view name, std::string_view pattern, std::string_view tag,
                    std::string_view summary) {
    return asking<typename given_body<Handler>::type>(
        read<Answer>(name, pattern, given_body<Handler>::handle, tag, summary));
}

/// A POST that only looks, at little.
template <schemas::described Body, schemas::described Answer>
constexpr route ask(std::string_view name, std::string_view pattern, read_handler handler,
                    std::string_view tag, std::string_view summary) {
    return asking<Body>(read<Answer>(name, pattern, handler, tag, summary));
}

/// A DELETE of what the path names. A body is allowed and ignored.
template <schemas::described Answer>
constexpr route erase(std::string_view name, std::string_view pattern, writing_handler handler,
                      std::string_view tag, std::string_view summary) {
    return change<Answer>(name, http_method::delete_, pattern, handler, tag, summary);
}

constexpr route on_newest_state(route row) {
    std::get<write_row>(row.kind).state = storage::node::freshness::newest;
    return row;
}

/// A POST that acts on the state.
template <schemas::described Body, schemas::described Answer>
constexpr route act(std::string_view name, std::string_view pattern, writing_handler handler,
                    std::string_view tag, std::string_view summary) {
    return on_newest_state(write<Body, Answer>(name, http_method::post, pattern, handler, tag, summary));
}

template <auto Handler, schemas::described Answer>
constexpr route act(std::string_view name, std::string_view pattern, std::string_view tag,
                    std::string_view summary) {
    return on_newest_state(write<Handler, Answer>(name, http_method::post, pattern, tag, summary));
}

constexpr route making_subscribers(route row) {
    row.makes_subscriber = true;
    return row;
}

/// For members of the organisation's Admins, and system administrators.
constexpr route for_organization_administrators(route row) {
    row.who = authentication::organization_administrator;
    return row;
}

/// For those who may change webhooks (wire.md §7).
constexpr route for_webhook_administrators(route row) {
    row.who = authentication::webhook_administrator;
    return row;
}

constexpr route for_system_administrators(route row) {
    row.who = authentication::system_administrator;
    return row;
}

inline constexpr auto on_models = schemas::protected_type::registered_model;
inline constexpr auto on_endpoints = schemas::protected_type::endpoint;
using schemas::action;

constexpr route needing(schemas::protected_type on, schemas::action what, route row) {
    row.right = {on, what};
    return row;
}

/// Builds, their scans, and deliveries: READ of either will do.
constexpr route needing_read_of_either(route row) {
    row.right = {on_endpoints, action::read, action::read, on_models};
    return row;
}

/// UPDATE of models, or the mark of a role.
constexpr route for_who_reports_scans(route row) {
    row.right = {on_models, action::update, action::none, std::nullopt, true};
    return row;
}

/// CREATE will do as well.
constexpr route needing_deploy(route row) {
    row.right = {on_endpoints, action::deploy, action::create};
    return row;
}

/// Stages, tokens and updates of endpoints: UPDATE will do as well.
constexpr route needing_deploy_or_update(route row) {
    row.right = {on_endpoints, action::deploy, action::update};
    return row;
}

}  // namespace herald::api::calls::rows
