// Protects appends on a full disk: nothing is lost or comes late, and service resumes with room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <thread>

#include "tests/process/storage/embedded_log/disk_gate.hpp"
#include "tests/process/storage/embedded_log/embedded_log.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace events;
using namespace events::log;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// While it lives, no file can grow beyond `bytes`, as if the disk were full.
class full_disk {
  public:
    explicit full_disk(std::uintmax_t bytes = 1) {
        std::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &x_before);
        const rlimit small{bytes, x_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &x_before); }

  private:
    rlimit x_before{};
};

TEST_F(embedded_log, a_full_disk_is_unavailable_and_service_resumes_with_room) {
    x_options.recent_bytes_max = 0;
    open();
    append_many(direct_0, 100, 100);
    const auto strict = x_log->open_producer(producer_kind::strict);
    {
        const full_disk full;
        const auto refused = append(direct_0, "too much", std::string(10'000, 'x'));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::unavailable) << refused.error().message;
        EXPECT_EQ(append(direct_0, "still", "v").error().code, error_code::aborted)
            << "it was not even tried to write";
        ASSERT_FALSE(x_log->takes_appends());
        EXPECT_THAT(x_log->takes_appends().error().message, HasSubstr("the log cannot be written now"));
        EXPECT_EQ(x_log->takes_appends().error().message.find('/'), std::string::npos)
            << "callers of the API hear this: no folders";
        const auto readable = read(direct_0, 0);
        ASSERT_TRUE(readable) << readable.error().message;
        EXPECT_EQ(readable->size(), 100u);
        EXPECT_EQ(strict->append(direct_0, "strict", "v", [](auto) {}).error().code, error_code::aborted);
    }
    const auto deadline = steady_clock::now() + patience;
    result<std::int64_t> again = append(direct_0, "again", "v");
    while (!again && steady_clock::now() < deadline) again = append(direct_0, "again", "v");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(x_log->takes_appends());
    EXPECT_EQ(strict->append(direct_0, "k", "v", [](auto) {}).error().code, error_code::aborted)
        << "a strict producer ends with its first error";

    const auto all = read(direct_0, 0);
    ASSERT_TRUE(all);
    EXPECT_EQ(std::count_if(all->begin(), all->end(), [](const record& each) { return each.key == "99"; }),
              1);
    EXPECT_EQ(all->back().key, "again");
    EXPECT_EQ(all->back().offset, *again);
    open(copy_alive());
    EXPECT_EQ(read(direct_0, 0)->size(), all->size());
}

TEST_F(embedded_log, nothing_of_a_strict_producer_lands_after_a_write_that_failed) {
    open();
    const auto strict = x_log->open_producer(producer_kind::strict);
    const auto other = x_log->open_producer(producer_kind::ordinary);
    std::atomic<int> failed = 0;
    const auto count_failure = [&](const result<std::int64_t>& got) { failed += got ? 0 : 1; };
    const full_disk full(256 *
                         1024);  // too small for the batch that follows, large enough for what follows that
    const auto deadline = steady_clock::now() + patience;
    {
        const std::lock_guard disk_is_slow(sync_gate);
        ASSERT_TRUE(other->append(direct_0, "before", "v", [](const auto&) {}));
        while (syncs_waiting == 0 && steady_clock::now() < deadline) std::this_thread::yield();
        for (int i = 0; i < 4; ++i)  // as much as one batch takes
            ASSERT_TRUE(strict->append(direct_0, "large", std::string(1024 * 1024, 'x'), count_failure));
        ASSERT_TRUE(strict->append(direct_0, "small", "v", count_failure));
    }
    while (failed < 5 && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_EQ(failed, 5);
    while (!append(direct_0, "after", "v") && steady_clock::now() < deadline) std::this_thread::yield();
    EXPECT_THAT(values(direct_0, 0), ElementsAre("before=v", "after=v"));
}

}  // namespace
}  // namespace herald::test
