// What one connection's request and its answer take of the memory that all connections share.
#pragma once

#include <cstddef>
#include <optional>

#include "runtime/http/limits.hpp"
#include "runtime/http/server/byte_budget.hpp"
#include "runtime/http/server/connection.hpp"

namespace herald::runtime::http::server {

/// Member of a connection, for its requests one after another. Each function but the last is false when
/// so much does not fit.
class request_room {
  public:
    explicit request_room(shared_room& of) : x_of(of) {}

    /// Of what has come so far. A small body, and the beginning of any other, has room of its own if there is
    /// some.
    bool hold_unfinished(std::size_t bytes) noexcept {
        const bool is_small = bytes <= limits::small_body_bytes_max && x_small.resize(bytes);
        if (!is_small) x_small.resize(0);
        return x_unfinished.resize(is_small ? 0 : bytes);
    }
    /// Until it is answered: what has come keeps nobody else's from coming. A small one stays in its own
    /// room, so that large ones that wait for their answers keep it out neither.
    bool hold_finished(std::size_t bytes) noexcept {
        x_unfinished.resize(0);
        if (bytes <= limits::small_body_bytes_max && x_small.resize(bytes)) return true;
        x_small.resize(0);
        return x_finished.resize(bytes);
    }
    bool hold_answer(std::size_t bytes, bool is_known) {
        return x_answer.emplace(is_known ? x_of.answers : x_of.answers_to_strangers).resize(bytes);
    }
    void clear() noexcept {
        x_small.resize(0);
        x_unfinished.resize(0);
        x_finished.resize(0);
        x_answer.reset();
    }

  private:
    shared_room& x_of;
    byte_budget::share x_small{x_of.small_bodies};
    byte_budget::share x_unfinished{x_of.bodies};
    byte_budget::share x_finished{x_of.finished_bodies};
    std::optional<byte_budget::share> x_answer;
};

}  // namespace herald::runtime::http::server
