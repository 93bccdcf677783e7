// A librdkafka-like thread completes a coroutine: the handler must be posted to its own executor.
#include <boost/asio/append.hpp>
#include <boost/asio/dispatch.hpp>
#include <thread>
#include "common.hpp"
using H = asio::any_completion_handler<void(int)>;
awaitable<int> wait(std::thread& th) {
    return asio::async_initiate<const asio::use_awaitable_t<>&, void(int)>(
        [&th](H h) {
            auto work = asio::make_work_guard(asio::get_associated_executor(h, asio::system_executor()));
            th = std::thread([h = std::move(h), work = std::move(work)]() mutable {
                auto ex = work.get_executor();
                asio::dispatch(ex, asio::append(std::move(h), 9));
            });
        },
        use_awaitable);
}
int main() {
    return run([]() -> awaitable<void> {
        for (int i = 0; i < 100; ++i) {
            std::thread th;
            if (co_await wait(th) != 9) std::puts("BAD");
            th.join();
        }
    });
}
