// Protects a node on a full disk: what it has applied can be read, the process survives, and once there is
// room its databases are written again.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/deliveries/delivery_history.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/log/memory/memory_log.hpp"
#include "tests/process/storage/node/standalone.hpp"
#include "tests/support/folder.hpp"

namespace herald::test {
namespace {

using std::chrono::steady_clock;

/// While it lives, no file can grow, as if the disk were full.
class full_disk {
  public:
    full_disk() {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &x_before);
        const rlimit small{1, x_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &x_before); }

  private:
    rlimit x_before{};
};

storage::registry::state::row_changes row(const std::string& key, const std::string& value) {
    storage::registry::state::row_changes changes;
    changes[key] = value;
    return changes;
}

TEST(full_disk_test, the_state_is_read_on_and_asks_to_be_opened_anew_when_there_is_room) {
    temporary_folder folder;
    auto opened = storage::rocks::open_rocks_state(folder / "state");
    ASSERT_TRUE(opened) << opened.error().message;
    bool is_due = false;
    opened->store->on_reopening([&] { is_due = true; });
    ASSERT_TRUE(opened->store->write(row("Za", "1")));
    {
        const full_disk full;
        for (int i = 0; i < 20; ++i) EXPECT_FALSE(opened->store->write(row("Zb", std::string(100'000, 'x'))));
        EXPECT_EQ(opened->store->view()->get("Za"), "1");
    }
    const auto deadline = steady_clock::now() + patience;
    while (!is_due && steady_clock::now() < deadline) {
        EXPECT_FALSE(opened->store->write(row("Zb", "2")));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(is_due);
    opened->store.reset();
    opened = storage::rocks::open_rocks_state(folder / "state");
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_TRUE(opened->rebuilt_because.empty()) << opened->rebuilt_because;
    EXPECT_EQ(opened->store->view()->get("Za"), "1");
    ASSERT_TRUE(opened->store->write(row("Zb", "2")));
    EXPECT_EQ(opened->store->view()->get("Zb"), "2");
}

TEST(full_disk_test, while_the_log_takes_no_appends_writes_are_refused_at_once_and_taken_soon_after) {
    temporary_folder data;
    standalone one(data.path(), state_in::memory);
    ASSERT_EQ(one.problem, "");
    EXPECT_EQ(one.trouble(), "");
    const auto until = [&](std::string_view trouble) {
        const auto deadline = steady_clock::now() + patience;
        while (one.trouble() != trouble && steady_clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(one.trouble(), trouble);
    };
    {
        const full_disk full;
        const auto of_unknown_outcome = one.create_model_later("sent while nobody knew");
        until("log_not_written");
        const auto start = steady_clock::now();
        for (int i = 0; i < 20; ++i)
            EXPECT_EQ(one.create_model("m").code, static_cast<std::uint32_t>(error_code::unavailable));
        EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(5));
        EXPECT_TRUE(one.node->ready()) << "it still answers what it can";
    }
    const auto start = steady_clock::now();
    until("");
    EXPECT_EQ(one.create_model("m").code, 0u);
    EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(full_disk_test, the_history_of_deliveries_is_written_again_when_there_is_room) {
    temporary_folder folder;
    const auto opened = storage::deliveries::open_delivery_history(folder / "deliveries");
    ASSERT_TRUE(opened) << opened.error().message;
    storage::deliveries::delivery_history& deliveries = **opened;
    std::uint64_t offset = 0;
    const auto report = [&](const std::string& delivery) {
        schemas::attempt made;
        made.delivery_id = delivery;
        made.time_ms = 10;
        deliveries.keep(0, {{offset, made}}, offset + 1);
        ++offset;
    };
    report("before");
    {
        const full_disk full;
        report("lost");
        EXPECT_EQ(deliveries.attempts_of_delivery("before").size(), 1u);
    }
    const auto deadline = steady_clock::now() + patience;
    int count = 0;
    std::string last;
    do {
        last = "after" + std::to_string(++count);
        report(last);
    } while (deliveries.attempts_of_delivery(last).empty() && steady_clock::now() < deadline);
    EXPECT_EQ(deliveries.attempts_of_delivery(last).size(), 1u);
    EXPECT_EQ(deliveries.attempts_of_delivery("before").size(), 1u);
}

}  // namespace
}  // namespace herald::test
