#include "runtime/event_loop.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <string>
#include <system_error>

#include "runtime/deadline.hpp"

namespace herald::runtime {
namespace {

// The timer's clock stops while the machine sleeps and ours does not, so look again at least this often.
constexpr std::int64_t timer_ms_max = 1'000;

void pin(std::thread& thread, int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(core), &set);
    if (const int failed = ::pthread_setaffinity_np(thread.native_handle(), sizeof set, &set); failed != 0)
        throw std::system_error(failed, std::generic_category(),
                                "cannot run on core " + std::to_string(core));
}

std::size_t cores_allowed() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max<std::size_t>(1, static_cast<std::size_t>(CPU_COUNT(&set)));
}

}  // namespace

event_loop::event_loop(std::size_t index, const clock& time) : x_index(index), x_time(time) {}

void event_loop::post(task work) { boost::asio::post(x_context, std::move(work)); }

void event_loop::run_at(std::int64_t at_ms, task work) {
    x_tasks.emplace(at_ms, std::move(work));
    arm(at_ms);
}

void event_loop::add(std::int64_t at_ms, deadline& who) {
    x_deadlines.emplace(at_ms, &who);
    arm(at_ms);
}

// The timer stays armed: setting it again would cost a system call for each deadline that is met in time.
void event_loop::remove(std::int64_t at_ms, deadline& who) noexcept { x_deadlines.erase({at_ms, &who}); }

void event_loop::arm(std::int64_t at_ms) {
    if (x_armed_ms && *x_armed_ms <= at_ms) return;
    const std::int64_t wait_ms = std::clamp<std::int64_t>(at_ms - x_time.steady_ms(), 0, timer_ms_max);
    x_armed_ms = at_ms;
    x_timer.expires_after(std::chrono::milliseconds(wait_ms));
    x_timer.async_wait([this](const boost::system::error_code& cancelled) {
        if (!cancelled) fire();
    });
}

void event_loop::fire() {
    x_armed_ms.reset();
    const std::int64_t now_ms = x_time.steady_ms();
    // Only what is due now: anything it starts waits for the next round, so that I/O gets a turn.
    for (std::size_t left = x_deadlines.size(); left > 0 && !x_deadlines.empty(); --left) {
        const auto [at_ms, who] = *x_deadlines.begin();
        if (at_ms > now_ms) break;
        x_deadlines.erase(x_deadlines.begin());
        who->due(now_ms);
    }
    std::vector<task> due;
    while (!x_tasks.empty() && x_tasks.begin()->first <= now_ms)
        due.push_back(std::move(x_tasks.extract(x_tasks.begin()).mapped()));
    for (task& work : due) work();
    if (!x_deadlines.empty()) arm(x_deadlines.begin()->first);
    if (!x_tasks.empty()) arm(x_tasks.begin()->first);
}

std::thread& context_threads::start(boost::asio::io_context& context, const std::string& name) {
    x_contexts.push_back(&context);
    std::thread& started = x_threads.emplace_back([&context] {
        const auto keep_running = boost::asio::make_work_guard(context);
        context.run();
    });
    ::pthread_setname_np(started.native_handle(), name.c_str());
    return started;
}

void context_threads::stop() {
    for (boost::asio::io_context* const context : x_contexts) context->stop();
    for (std::thread& thread : x_threads) thread.join();
    x_contexts.clear();
    x_threads.clear();
}

blocking_pool::blocking_pool(std::size_t threads_max, std::size_t pending_max)
    : x_threads_max(threads_max), x_pending_max(pending_max) {
    start_thread();
}

void blocking_pool::start_thread() {
    const lock_guard lock(x_starting);
    const std::size_t started = x_started;
    if (started >= x_threads_max) return;
    x_threads.start(x_calls, "blocking " + std::to_string(started));
    ++x_started;
}

void blocking_pool::post(std::function<void()> call) { boost::asio::post(x_calls, std::move(call)); }

bool blocking_pool::take_place() noexcept {
    const std::size_t before = x_pending.fetch_add(1);
    if (before >= x_pending_max) {
        --x_pending;
        return false;
    }
    if (before < x_started || x_started >= x_threads_max) return true;
    try {
        start_thread();
    } catch (const std::system_error&) {
        // those that are there do the work
    }
    return true;
}

event_loops::event_loops(event_loops_options options, const clock& time)
    : x_blocking(options.blocking_threads, options.blocking_pending_max) {
    const std::size_t count = options.loops > 0 ? options.loops : cores_allowed();
    for (std::size_t i = 0; i < count; ++i) x_loops.push_back(std::make_unique<event_loop>(i, time));
    for (std::size_t i = 0; i < count; ++i) {
        std::thread& started = x_threads.start(x_loops[i]->context(), "loop " + std::to_string(i));
        if (i < options.cores.size()) pin(started, options.cores[i]);
    }
}

event_loops::~event_loops() { stop(); }

void event_loops::stop() { x_threads.stop(); }

}  // namespace herald::runtime
