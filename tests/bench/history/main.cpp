// Measures the history of deliveries: what recording an attempt costs, and how long lists take with many
// deliveries kept.
//
//     history_bench FOLDER [DELIVERIES]      default 1,000,000, of the last 24 hours, to 20 webhooks
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "storage/deliveries/delivery_history.hpp"

namespace herald {
namespace {

using namespace storage::deliveries;
using schemas::attempt_result;
using schemas::delivery_error;
using schemas::delivery_state;

constexpr std::int64_t begin_ms = 1'764'200'000'000;
constexpr std::int64_t day_ms = 24ll * 3'600'000;
constexpr std::size_t batch = 64;

double seconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

schemas::attempt attempt_of(std::size_t number, std::size_t count) {
    schemas::attempt made;
    made.event_id = "1-" + std::to_string(number);
    made.webhook_id.value = 1 + number % 20;
    made.delivery_id = schemas::delivery_id(made.event_id, made.webhook_id);
    made.event_type = number % 3 == 0 ? schemas::event_type::promote : schemas::event_type::update;
    made.resource_type = schemas::resource_type::registered_model_version;
    made.resource_id = std::to_string(number % 5'000);
    made.workspace_id.value = 1;
    made.time_event_ms = begin_ms + static_cast<std::int64_t>(static_cast<double>(number) /
                                                              static_cast<double>(count) * day_ms);
    made.time_ms = made.time_event_ms + 5;
    made.number = 1;
    made.status = 200;
    made.total_us = 1'500;
    made.request_headers = std::string(700, 'h');
    made.response_headers = std::string(200, 'r');
    if (number % 50 == 0) {
        made.result = attempt_result::will_retry;
        made.error = delivery_error::status;
        made.status = 503;
    } else if (number % 1'000 == 1) {
        made.result = attempt_result::dead;
        made.error = delivery_error::timeout;
        made.status = 0;
    }
    return made;
}

void fill(delivery_history& history, std::size_t count) {
    const double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const double thread = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    for (std::size_t first = 0; first < count; first += batch) {
        std::vector<placed_attempt> read;
        for (std::size_t i = first; i < std::min(count, first + batch); ++i)
            read.push_back({i, attempt_of(i, count)});
        history.keep(static_cast<std::int32_t>(first / batch % 12), read, first + batch);
    }
    const auto each = static_cast<double>(count) / 1e6;
    std::printf("recording: %.1f us wall, %.1f us CPU (%.1f of the recording thread) an attempt\n",
                (seconds_of(CLOCK_MONOTONIC) - wall) / each,
                (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / each,
                (seconds_of(CLOCK_THREAD_CPUTIME_ID) - thread) / each);
}

void measure(const char* what, const std::function<std::size_t()>& ask) {
    std::vector<double> took;
    std::size_t rows = 0;
    for (int i = 0; i < 21; ++i) {
        const double start = seconds_of(CLOCK_MONOTONIC);
        rows = ask();
        took.push_back((seconds_of(CLOCK_MONOTONIC) - start) * 1e3);
    }
    std::ranges::sort(took);
    std::printf("%-44s p50 %7.2f ms  max %7.2f ms  (%zu)\n", what, took[took.size() / 2], took.back(), rows);
}

void ask_all(const delivery_history& history) {
    delivery_filter all;
    all.workspace_id.value = 1;
    const auto page = [&](const char* what, delivery_filter filter, std::size_t rows_max = 50) {
        measure(what, [&] { return history.list({filter, {}, rows_max, true, {}}).rows.size(); });
    };
    const auto with = [&](auto change) {
        delivery_filter filter = all;
        change(filter);
        return filter;
    };
    page("first page of all", all);
    page("of a webhook", with([](auto& of) { of.webhook_id.value = 7; }));
    page("of a state", with([](auto& of) { of.states = {delivery_state::dead}; }));
    page("of an error", with([](auto& of) { of.error = delivery_error::timeout; }));
    page("of a status", with([](auto& of) { of.status = schemas::status_range{500, 599}; }));
    page("of an event type", with([](auto& of) { of.event_type = schemas::event_type::promote; }));
    page("of an event", with([](auto& of) { of.event_id = "1-4711"; }));
    page("of a resource", with([](auto& of) {
             of.resource_type = schemas::resource_type::registered_model_version;
             of.resource_id = "4711";
         }));
    page("since an hour ago", with([](auto& of) { of.since_ms = begin_ms + day_ms - 3'600'000; }));
    page("page of 1,000", all, 1'000);
    const auto counted = [&](const char* what, delivery_filter filter) {
        filter.since_ms = begin_ms;
        filter.until_ms = begin_ms + day_ms;
        measure(what, [&] { return history.histogram({filter, 96, {}}).steps.size(); });
    };
    counted("histogram of 24 h", all);
    counted("histogram of a webhook", with([](auto& of) { of.webhook_id.value = 7; }));
    counted("histogram of a state", with([](auto& of) { of.states = {delivery_state::dead}; }));
    counted("histogram of a resource", with([](auto& of) {
                of.resource_type = schemas::resource_type::registered_model_version;
                of.resource_id = "4711";
            }));
    measure("groups of dead ones", [&] { return history.groups_of_dead({1}, {}).groups.size(); });
    measure("list judged row by row", [&] {
        return history.list({all, {}, 50, true, [](const schemas::delivery_row&) { return true; }})
            .rows.size();
    });
}

}  // namespace
}  // namespace herald

int main(int count, char** arguments) {
    if (count < 2) return std::fputs("usage: history_bench FOLDER [DELIVERIES]\n", stderr), 2;
    const std::size_t deliveries = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1'000'000;
    auto opened = herald::storage::deliveries::open_delivery_history(std::filesystem::path(arguments[1]));
    if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
    herald::fill(**opened, deliveries);
    herald::ask_all(**opened);
}
