// Protects the guarantees that the log in memory shares with every log. A thread runs what it posts.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/log/memory/memory_log.hpp"
#include "tests/support/log_suite.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using namespace events::log::memory;

class posting_thread {
  public:
    posting_thread() : x_thread([this] { run(); }) {}
    ~posting_thread() {
        post(nullptr);
        x_thread.join();
    }
    void post(std::function<void()> task) {
        std::lock_guard lock(x_mutex);
        x_tasks.push_back(std::move(task));
        x_changed.notify_one();
    }

  private:
    void run() {
        while (true) {
            std::unique_lock lock(x_mutex);
            x_changed.wait(lock, [this] { return !x_tasks.empty(); });
            const std::function<void()> task = std::move(x_tasks.front());
            x_tasks.pop_front();
            lock.unlock();
            if (!task) return;
            task();
        }
    }

    std::mutex x_mutex;
    std::condition_variable x_changed;
    std::deque<std::function<void()>> x_tasks;
    std::thread x_thread;
};

class memory_fixture final : public log_fixture {
  public:
    memory_fixture() : x_broker(runtime::system_clock()) { open(); }
    events::log::partitioned_log& log() override { return *x_log; }
    bool restart() override {
        open();
        return true;
    }
    bool hard_stop() override {
        x_broker.lose_unsynced(0);
        open();
        return true;
    }
    bool compact() override {
        x_broker.compact({std::string(topic::subscribers), 0});
        return true;
    }

  private:
    void open() {
        x_log = std::make_unique<memory_log>(
            x_broker, [this](std::function<void()> task) { x_thread.post(std::move(task)); });
    }

    memory_broker x_broker;
    std::unique_ptr<memory_log> x_log;
    posting_thread x_thread;  // last: what it still runs needs the others
};

INSTANTIATE_TEST_SUITE_P(
    memory, log_suite,
    ::testing::Values(log_factory{
        "memory", [] { return result<std::unique_ptr<log_fixture>>(std::make_unique<memory_fixture>()); }}),
    log_name);

}  // namespace
}  // namespace herald::test
