// A request that its signed URL alone allows, with a body or an answer that comes piece by piece.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "api/calls/call.hpp"

namespace herald::api::calls {

/// Lives for one request, on its event loop. Bodies may take as long as they make progress (the server's
/// bounds of pace); any other wait of its handler ends with the row's deadline, counted from the beginning of
/// that wait.
class streamed_call {
  public:
    streamed_call(const runtime::http::server::request& received, const route_match& match,
                  const services& with, runtime::event_loop& loop)
        : x_request(received), x_match(match), x_services(with), x_loop(loop) {}

    const runtime::http::server::request& received() const noexcept { return x_request; }
    const services& with() const noexcept { return x_services; }
    /// As reading_call::of().
    template <class ServicesOfArea>
    const ServicesOfArea& of() const noexcept {
        return *std::get<const ServicesOfArea*>(x_services.of_areas);
    }
    std::string path(std::string_view name) const {
        return std::string(x_match.parameter(name, x_request.path));
    }
    /// The decoded query parameter, or "".
    std::string query(std::string_view name) const {
        return find_in_query(x_request.query, name).value_or("");
    }
    /// Never null; valid as long as the call.
    runtime::http::body_stream& body();

    /// Errors: as calls::read_state.
    task<storage::node::registry_node::reading> read_state() const;
    /// Appends the command on behalf of the user that the URL names, or of nobody. Errors: as
    /// writing_call::submit.
    template <schemas::commands::command_struct Command>
    task<schemas::commands::outcome> submit_for(schemas::user_id user, const Command& command) {
        return append(Command::type, schemas::encode(command), user);
    }

  private:
    /// A body that has arrived already.
    class whole_body final : public runtime::http::body_stream {
      public:
        explicit whole_body(std::string_view bytes) : x_bytes(bytes) {}
        boost::asio::awaitable<result<std::string_view>> next() override {
            co_return std::exchange(x_bytes, std::string_view());
        }

      private:
        std::string_view x_bytes;
    };

    task<schemas::commands::outcome> append(schemas::commands::command_type, std::string body,
                                            schemas::user_id);

    const runtime::http::server::request& x_request;
    const route_match& x_match;
    const services& x_services;
    runtime::event_loop& x_loop;
    std::optional<whole_body> x_whole;
};

}  // namespace herald::api::calls
