// A bound on what all connections hold together: incomplete bodies, or answers that nobody reads.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

namespace herald::runtime::http::server {

/// Thread-safe.
class byte_budget {
  public:
    explicit byte_budget(std::size_t bytes_max) : x_bytes_max(bytes_max) {}

    /// One holder's share; returned when it is destroyed. It may outlive the budget.
    class share {
      public:
        explicit share(const byte_budget& of) : x_bytes_max(of.x_bytes_max), x_taken(of.x_taken) {}
        ~share() { resize(0); }
        share(const share&) = delete;
        share& operator=(const share&) = delete;

        /// False, and the share stays as it was, when that much is not left. Shrinking always succeeds.
        bool resize(std::size_t bytes) noexcept {
            if (bytes > x_bytes && x_taken->fetch_add(bytes - x_bytes) + (bytes - x_bytes) > x_bytes_max) {
                *x_taken -= bytes - x_bytes;
                return false;
            }
            if (bytes < x_bytes) *x_taken -= x_bytes - bytes;
            x_bytes = bytes;
            return true;
        }

        /// Of the whole budget.
        std::size_t bytes_max() const noexcept { return x_bytes_max; }

      private:
        const std::size_t x_bytes_max;
        const std::shared_ptr<std::atomic<std::size_t>> x_taken;
        std::size_t x_bytes = 0;
    };

  private:
    const std::size_t x_bytes_max;
    const std::shared_ptr<std::atomic<std::size_t>> x_taken = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace herald::runtime::http::server
