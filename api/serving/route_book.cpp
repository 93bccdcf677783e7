#include "api/serving/route_book.hpp"

namespace herald::api::serving {

route_book::route_book(std::size_t loops) : x_seats(loops) {
    const auto empty = std::make_shared<const route_table>();
    x_newest.store(empty);
    for (seat& each : x_seats) each.table = empty;
}

void route_book::renew(seat& mine) noexcept {
    // The version first: a table that is newer than its version is looked up once more.
    mine.version = x_version.load(std::memory_order_acquire);
    mine.table = x_newest.load();
}

void route_book::store(std::shared_ptr<const route_table> next) {
    x_newest.store(std::move(next));
    x_version.fetch_add(1, std::memory_order_release);
}

void route_book::clear() {
    const auto empty = std::make_shared<const route_table>();
    x_newest.store(empty);
    for (seat& each : x_seats) each.table = empty;
}

}  // namespace herald::api::serving
