#include "storage/node/opened_ahead.hpp"

#include "storage/node/limits.hpp"

namespace herald::storage::node {

using registry::engine::open_record;
using registry::engine::opened_record;

opened_ahead::opened_ahead(std::span<const events::log::record> records, bool is_helped)
    : x_records(records) {
    if (!is_helped || records.size() < limits::records_opened_ahead_min) return;
    x_opened.resize(records.size());
    x_helper = std::async(std::launch::async | std::launch::deferred, [this] {
        for (std::size_t i = 0; i < x_records.size() && !x_is_left; ++i) {
            x_opened[i].emplace(open_record(x_records[i]));
            x_opened_count.store(i + 1, std::memory_order_release);
        }
    });
}

opened_ahead::~opened_ahead() { x_is_left = true; }

opened_record opened_ahead::take(std::size_t index) {
    if (index < x_opened_count.load(std::memory_order_acquire)) return std::move(*x_opened[index]);
    return open_record(x_records[index]);
}

}  // namespace herald::storage::node
