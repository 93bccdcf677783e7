// The records of a batch, opened on another thread ahead of the one that applies them: when many are read at
// once, a start or what came meanwhile.
#pragma once

#include <atomic>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "events/log/log.hpp"
#include "storage/registry/engine/engine.hpp"

namespace herald::storage::node {

/// The records must outlive it. One thread takes them.
class opened_ahead {
  public:
    /// Another thread helps only if `is_helped`, and only with limits::records_opened_ahead_min or more.
    opened_ahead(std::span<const events::log::record> records, bool is_helped);
    ~opened_ahead();
    opened_ahead(const opened_ahead&) = delete;
    opened_ahead& operator=(const opened_ahead&) = delete;

    /// Each index once. Opens the record itself if the other thread has not come so far.
    registry::engine::opened_record take(std::size_t index);

  private:
    const std::span<const events::log::record> x_records;
    std::vector<std::optional<registry::engine::opened_record>> x_opened;
    std::atomic<std::size_t> x_opened_count = 0;
    std::atomic<bool> x_is_left = false;
    std::future<void> x_helper;
};

}  // namespace herald::storage::node
