// Protects the disk from readers: an object is compared once however many ask for it, few at a time, and not
// for those who no longer wait.
#include "storage/artifacts/comparisons.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/task_group.hpp"
#include "storage/artifacts/object_files.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using storage::artifacts::comparisons;

boost::asio::awaitable<void> ask(comparisons* of, std::string object, comparisons::work what,
                                 std::atomic<int>* answers, std::atomic<int>* errors) {
    const auto outcome = co_await of->wait_for(std::move(object), std::move(what));
    ++*(outcome ? answers : errors);
}

/// Runs when all that was started before it on the same loop waits.
boost::asio::awaitable<void> mark(std::atomic<bool>* all_wait) {
    *all_wait = true;
    co_return;
}

class comparisons_of_objects : public testing::Test {
  protected:
    ~comparisons_of_objects() override {
        let_go = true;
        tasks.stop();
    }
    comparisons::work held() {
        return [this](const std::atomic<bool>& is_unwanted) -> result<void> {
            ++begun;
            most = std::max<int>(most, ++running);
            while (!let_go && !is_unwanted) std::this_thread::sleep_for(std::chrono::milliseconds(1));
            --running;
            if (is_unwanted) ++stopped;
            if (fails) return runtime::internal("the bytes are others");
            return {};
        };
    }
    void start(const std::string& object) {
        tasks.start("ask", ask(&all, object, held(), &answers, &errors));
    }

    std::atomic<int> begun = 0, running = 0, most = 0, stopped = 0, answers = 0, errors = 0;
    std::atomic<bool> let_go = false, fails = false;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 4}};
    comparisons all{loops.blocking(), 2};
    runtime::task_group tasks{loops[0]};
};

TEST_F(comparisons_of_objects, one_serves_all_who_wait_for_it) {
    for (int i = 0; i < 50; ++i) start("an object");
    std::atomic<bool> all_wait = false;
    tasks.start("mark", mark(&all_wait));
    ASSERT_TRUE(eventually([&] { return begun == 1 && all_wait; }));
    let_go = true;
    EXPECT_TRUE(eventually([&] { return answers == 50; }));
    EXPECT_EQ(begun, 1);
    start("an object");
    EXPECT_TRUE(eventually([&] { return answers == 51; }));
    EXPECT_EQ(begun, 2) << "what has ended is not remembered here";
}

TEST_F(comparisons_of_objects, run_a_few_at_a_time) {
    for (int i = 0; i < 20; ++i) start(std::to_string(i));
    ASSERT_TRUE(eventually([&] { return begun == 2; }));
    let_go = true;
    EXPECT_TRUE(eventually([&] { return answers == 20; }));
    EXPECT_EQ(most, 2);
}

TEST_F(comparisons_of_objects, tell_their_error_to_all) {
    fails = true;
    for (int i = 0; i < 3; ++i) start("an object");
    ASSERT_TRUE(eventually([&] { return begun == 1; }));
    let_go = true;
    EXPECT_TRUE(eventually([&] { return errors == 3; }));
}

TEST_F(comparisons_of_objects, stop_when_nobody_waits_any_more) {
    start("an object");
    start("an object");
    ASSERT_TRUE(eventually([&] { return begun == 1; }));
    tasks.stop();
    EXPECT_TRUE(eventually([&] { return stopped == 1; }));
}

TEST(verified_objects, forget_those_that_were_asked_for_longest_ago) {
    using storage::artifacts::file_identity;
    storage::artifacts::verified_objects known(2);
    const file_identity file{1, 1};
    known.add("a", file);
    known.add("b", file);
    EXPECT_TRUE(known.has("a", file));
    known.add("c", file);
    EXPECT_TRUE(known.has("a", file) && known.has("c", file));
    EXPECT_FALSE(known.has("b", file));
    EXPECT_FALSE(known.has("a", {2, 1})) << "another file";
}

}  // namespace
}  // namespace herald::test
