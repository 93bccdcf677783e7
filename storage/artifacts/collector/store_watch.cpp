#include "storage/artifacts/collector/store_watch.hpp"

#include <future>
#include <utility>

namespace herald::storage::artifacts::collector {
namespace {

constexpr std::int64_t catching_up_ms = 20;    // between two looks whether all is applied
constexpr std::int64_t unanswered_ms = 1'000;  // before a store that does not answer is asked again
constexpr std::int64_t between_looks_ms = 10'000;

}  // namespace

result<void> store_watch::check_first() {
    std::promise<result<void>> checked;
    x_loop.post([&] {
        x_check.run(store_check::applied::some,
                    [&](result<void> outcome) { checked.set_value(std::move(outcome)); });
    });
    return checked.get_future().get();
}

void store_watch::begin(std::function<bool()> is_caught_up, std::function<void(const result<void>&)> judged) {
    x_is_caught_up = std::move(is_caught_up);
    x_judged = std::move(judged);
    look();
}

void store_watch::later(std::int64_t ms, void (store_watch::*what)()) {
    x_loop.run_at(x_loop.time().steady_ms() + ms, [this, what] {
        if (x_judged) (this->*what)();
    });
}

bool store_watch::is_refused(const result<void>& checked) {
    if (checked || checked.error().code != error_code::failed_precondition) return false;
    std::exchange(x_judged, nullptr)(checked);
    return true;
}

void store_watch::look() {
    if (!x_is_caught_up()) return later(catching_up_ms, &store_watch::look);
    x_check.run(store_check::applied::all, [this](const result<void>& checked) {
        if (!x_judged || is_refused(checked)) return;
        if (!checked) return later(unanswered_ms, &store_watch::look);
        later(between_looks_ms, &store_watch::look_again);
        x_judged(checked);
    });
}

void store_watch::look_again() {
    x_check.run_again([this](const result<void>& still) {
        if (x_judged && !is_refused(still)) later(between_looks_ms, &store_watch::look_again);
    });
}

}  // namespace herald::storage::artifacts::collector
