// The kinds of events, one row each: everything that distinguishes them except the body, which the emitting
// rule makes. Clients send the numbers, so they are frozen; answers carry the names.
#pragma once

#include "runtime/assert.hpp"
#include "schemas/describe.hpp"

namespace herald::schemas {

enum class event_type : std::uint8_t {
    create,
    read,
    update,
    delete_,
    promote,
    request_scan,
    transition,
    webhook_health
};
enum class resource_type : std::uint8_t {
    none,
    registered_model,
    registered_model_version,
    endpoint,
    build,
    all
};
/// Where events go (events/event_topic.hpp).
enum class event_topic : std::uint8_t { promote, request_scan, resource };

/// Who may say that such an event happened.
enum class event_teller : std::uint8_t { herald, anyone };
/// Which webhooks hear it. `named`: those that have the type in event_types and have no resource_types;
/// all_events is not enough.
enum class event_hearers : std::uint8_t { usual, named };

struct event_kind {
    event_type type;
    std::string_view name;
    event_topic topic;       // frozen: events of one resource stay in one partition
    resource_type resource;  // what every event of this type is about; none: anything
    event_teller teller = event_teller::herald;
    event_hearers hearers = event_hearers::usual;
};
inline constexpr std::array event_kinds{
    event_kind{event_type::create, "CREATE", event_topic::resource, resource_type::none,
               event_teller::anyone},
    event_kind{event_type::read, "READ", event_topic::resource, resource_type::none, event_teller::anyone},
    event_kind{event_type::update, "UPDATE", event_topic::resource, resource_type::none,
               event_teller::anyone},
    event_kind{event_type::delete_, "DELETE", event_topic::resource, resource_type::none,
               event_teller::anyone},
    event_kind{event_type::promote, "PROMOTE", event_topic::promote, resource_type::registered_model_version},
    event_kind{event_type::request_scan, "REQUEST_SCAN", event_topic::request_scan, resource_type::build},
    event_kind{event_type::transition, "TRANSITION", event_topic::resource,
               resource_type::registered_model_version},
    event_kind{event_type::webhook_health, "WEBHOOK_HEALTH", event_topic::resource, resource_type::none,
               event_teller::herald, event_hearers::named},
};

static_assert(
    [] {
        for (std::size_t i = 0; i < event_kinds.size(); ++i)
            if (static_cast<std::size_t>(event_kinds[i].type) != i) return false;
        return true;
    }(),
    "rows stand in the order of event_type");

constexpr const event_kind& kind_of(event_type type) noexcept {
    const auto place = static_cast<std::size_t>(type);
    HERALD_ASSERT(place < event_kinds.size());
    return event_kinds[place];
}

template <>
inline constexpr auto enum_names<event_type> = [] {
    std::array<named<event_type>, event_kinds.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = {event_kinds[i].type, event_kinds[i].name};
    return names;
}();
template <>
inline constexpr auto enum_names<resource_type> =
    in_order<resource_type>("", "REGISTERED_MODEL", "REGISTERED_MODEL_VERSION", "ENDPOINT", "BUILD", "ALL");

}  // namespace herald::schemas
