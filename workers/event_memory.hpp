// How many bytes of events are in memory. All deliveries of an event share its body, so it is counted once
// where it is held, not for each delivery.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "schemas/webhooks.hpp"

namespace herald::workers {

/// The events it counts may outlive it. Everything on one thread.
class event_memory {
  public:
    std::shared_ptr<const schemas::event> hold(schemas::event event) {
        const std::size_t bytes = event.body.size();
        *x_bytes += bytes;
        return {new schemas::event(std::move(event)), [held = x_bytes, bytes](const schemas::event* gone) {
                    *held -= bytes;
                    delete gone;
                }};
    }
    std::size_t bytes() const noexcept { return *x_bytes; }

  private:
    std::shared_ptr<std::size_t> x_bytes = std::make_shared<std::size_t>(0);
};

}  // namespace herald::workers
