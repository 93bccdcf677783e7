// What a handler finds out from the head of a request, kept until the request is answered.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

#include "runtime/assert.hpp"
#include "runtime/http/limits.hpp"

namespace herald::runtime::http::server {

/// Filled by request_handler::begin(), and handed to every other function for the same request. A member of
/// the connection, for its requests one after another: what a handler keeps here costs no allocation.
class plan {
  public:
    /// The longest body; a longer one gets 413.
    std::size_t body_bytes_max = limits::management_body_bytes_max;
    /// The head alone decides: handle_now() answers, also before the body has arrived. Then no body is read,
    /// and the connection closes.
    bool is_decided = false;
    /// Whether the handler takes the body piece by piece, from request::stream (a request without a body has
    /// no stream). judge() is then always called, and handle() before the body has arrived. Nothing is read
    /// from the socket while the handler asks for nothing. Errors of a piece: deadline_exceeded (408) when it
    /// does not arrive in time, unavailable when the client left, and any error in the framing. After an
    /// answer to a body that was not read to its end the connection closes.
    bool streams_body = false;

    plan() = default;
    ~plan() { clear(); }
    plan(const plan&) = delete;
    plan& operator=(const plan&) = delete;

    /// Keeps one object for the handler's other functions. It must hold no views of the request, which moves
    /// in memory while its body arrives.
    template <class Kept, class... Arguments>
    Kept& keep(Arguments&&... arguments) {
        static_assert(sizeof(Kept) <= sizeof(x_space) && alignof(Kept) <= alignof(std::max_align_t));
        HERALD_ASSERT(x_destroy == nullptr);
        Kept* const kept = ::new (x_space) Kept(std::forward<Arguments>(arguments)...);
        x_destroy = &destroy<Kept>;
        return *kept;
    }
    /// The kept object, of exactly this type.
    template <class Kept>
    const Kept& kept() const {
        HERALD_ASSERT(x_destroy == &destroy<Kept>);
        return *std::launder(reinterpret_cast<const Kept*>(x_space));
    }
    /// For the next request.
    void clear() noexcept {
        if (x_destroy) std::exchange(x_destroy, nullptr)(x_space);
        body_bytes_max = limits::management_body_bytes_max;
        is_decided = streams_body = false;
    }

  private:
    template <class Kept>
    static void destroy(std::byte* space) noexcept {
        std::launder(reinterpret_cast<Kept*>(space))->~Kept();
    }

    alignas(std::max_align_t) std::byte x_space[192];
    void (*x_destroy)(std::byte*) noexcept = nullptr;
};

}  // namespace herald::runtime::http::server
