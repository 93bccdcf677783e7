// A request that anybody may make, with or without credentials.
#pragma once

#include "api/calls/call.hpp"

namespace herald::api::calls {

/// Lives for one request, on its event loop.
class guest_call {
  public:
    guest_call(const runtime::http::server::request& received, const route_match& match, const services& with,
               storage::node::registry_node::reading state, result<caller> who, const time_limit& limit)
        : x_request(received),
          x_match(match),
          x_services(with),
          x_state(std::move(state)),
          x_who(std::move(who)),
          x_limit(limit) {}

    const runtime::http::server::request& received() const noexcept { return x_request; }
    const services& with() const noexcept { return x_services; }
    /// As reading_call::of().
    template <class ServicesOfArea>
    const ServicesOfArea& of() const noexcept {
        return *std::get<const ServicesOfArea*>(x_services.of_areas);
    }
    const storage::node::registry_node::reading& state() const noexcept { return x_state; }
    /// Errors: unauthenticated for one whom the request does not show.
    const result<caller>& who() const noexcept { return x_who; }

    /// The call of a caller who is known.
    writing_call as(caller who) const {
        return writing_call(x_request, x_match, x_services, {x_state, std::move(who)}, x_limit);
    }
    /// An answer to anybody, from the state.
    template <schemas::described Answer>
    runtime::http::http_response answer(const Answer& value) const {
        runtime::http::http_response out;
        out.body = schemas::answers::text_of(value);
        out.headers.push_back(offset_header(x_state));
        return out;
    }

  private:
    const runtime::http::server::request& x_request;
    const route_match& x_match;
    const services& x_services;
    const storage::node::registry_node::reading x_state;
    const result<caller> x_who;
    const time_limit& x_limit;
};

}  // namespace herald::api::calls
