// Finds the component that answers a request, from its header, or the reason why none does. Takes no lock.
#pragma once

#include <optional>
#include <variant>

#include "api/predictions/prediction_paths.hpp"
#include "api/serving/route_book.hpp"
#include "api/serving/serving_gate.hpp"
#include "runtime/error.hpp"
#include "runtime/http/server/request.hpp"

namespace herald::api::predictions {

/// Both live as long as `endpoint`, which is a copy of the entry.
struct routed {
    serving::route_table::entry endpoint;
    const serving::component_route* component = nullptr;
};
struct unrouted {
    error why;
    serving::route_table::entry endpoint;                 // null: there is none
    const serving::component_route* component = nullptr;  // null: none was chosen
    /// The refusal rests on this node's state; another node may know better.
    bool rests_on_state = false;
};

/// On the request's own loop. Errors: not_found for a path that no endpoint has, and for another version of
/// the model than the one that is served; unauthenticated and permission_denied for tokens; permission_denied
/// for an unsafe build; failed_precondition where nothing has been deployed; unavailable while nothing can
/// answer yet.
std::variant<routed, unrouted> route(serving::route_book&, const serving::serving_gate&,
                                     const runtime::http::server::request&, const prediction_path&);

/// Called in the step in which the answer's first byte goes out (P7): the reason why it may not; empty if it
/// may. Errors: permission_denied for an unsafe build; unavailable without a lease.
std::optional<error> second_look(const serving::serving_gate&, const serving::component_route&);

}  // namespace herald::api::predictions
