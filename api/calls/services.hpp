// The parts of a process that handlers use: here those that any call may use; in each area's services.hpp
// those that its handlers alone use.
#pragma once

#include <string>
#include <tuple>

#include "runtime/clock.hpp"
#include "runtime/key_ring.hpp"
#include "runtime/random.hpp"
#include "storage/deliveries/read_events.hpp"
#include "storage/node/node.hpp"

namespace herald::api {

// Only the handlers of the area see what is in it.
namespace registry {
struct services;
}
namespace deployment {
struct services;
}
namespace webhooks {
struct services;
}
namespace operations {
struct services;
}
namespace console {
struct services;
}

namespace calls {

/// Where callers find this node.
struct address_of_node {
    std::string public_url;       // as the operator gave it; if empty, the request's Host field,
    std::string scheme = "http";  // with this scheme
};

/// The composition makes them and what they refer to; all of it outlives the server. Thread-safe.
struct services {
    storage::node::registry_node& registry;
    const runtime::key_ring& keys;
    runtime::random_source& random;
    const runtime::clock& clock;
    storage::deliveries::read_events* reads = nullptr;  // null: no READ events are sent
    /// See calls::reading_call::of(). None is null.
    std::tuple<const registry::services*, const deployment::services*, const webhooks::services*,
               const operations::services*, const console::services*>
        of_areas;
    address_of_node address;
};

}  // namespace calls
}  // namespace herald::api
