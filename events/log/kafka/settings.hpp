// The librdkafka properties of each kind of client, and which of them an operator may not change (kafka.md
// §2).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "events/log/kafka/kafka_log.hpp"
#include "runtime/error.hpp"

namespace herald::events::log::kafka {

/// `admin` asks and appends nothing: librdkafka treats it as a consumer, which never creates a topic by
/// asking for it.
enum class client_kind : std::uint8_t { producer, strict_producer, reader, member, admin };

using properties = std::vector<std::pair<std::string, std::string>>;

/// The properties to set, in order. A member also needs its group.id. Pure.
properties settings_of(client_kind, const kafka_options&);

/// Errors: invalid_argument, naming the property, when Herald's guarantees depend on it. Pure.
result<void> check_properties(const properties& from_operator);

}  // namespace herald::events::log::kafka
