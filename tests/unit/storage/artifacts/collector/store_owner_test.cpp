// Protects stores of artifacts from a second log, and logs from a folder whose disk is missing.
#include "storage/artifacts/store_owner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

#include "runtime/random.hpp"
#include "storage/artifacts/collector/store_check.hpp"
#include "storage/artifacts/collector/store_watch.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/installation.hpp"
#include "tests/support/memory_artifacts.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace storage::artifacts;
using storage::artifacts::collector::store_check;
using testing::HasSubstr;

const store_owner parent{"log one", 1}, mine{"log two", 2}, child{"log three", 3}, sibling{"log four", 2};

void expect_refused(const std::optional<store_owner>& found, bool has_blobs, store_taking taking,
                    const std::string& text) {
    const auto step = judge_store(found, mine, has_blobs, taking);
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, error_code::failed_precondition);
    EXPECT_THAT(step.error().message, HasSubstr(text));
}

TEST(owner_of_a_store, is_found_again) {
    for (const bool has_blobs : {false, true})
        EXPECT_EQ(judge_store(mine, mine, has_blobs, store_taking::refused).value(), owner_step::use);
}

TEST(owner_of_a_store, is_the_first_log_that_has_no_bytes_yet_or_whose_operator_says_so) {
    EXPECT_EQ(judge_store({}, mine, false, store_taking::refused).value(), owner_step::mark);
    EXPECT_EQ(judge_store({}, mine, true, store_taking::accepted).value(), owner_step::mark);
    expect_refused({}, true, store_taking::refused, "check that its disk is mounted");
}

TEST(owner_of_a_store, of_an_earlier_generation_is_followed_only_when_the_operator_says_so) {
    for (const bool has_blobs : {false, true}) {
        expect_refused(parent, has_blobs, store_taking::refused, "--accept-artifacts");
        EXPECT_EQ(judge_store(parent, mine, has_blobs, store_taking::accepted).value(), owner_step::mark);
    }
}

TEST(owner_of_a_store, of_the_same_or_a_later_generation_stays) {
    for (const store_owner& other : {child, sibling})
        for (const store_taking taking : {store_taking::refused, store_taking::accepted})
            expect_refused(other, false, taking, "a store of its own");
}

TEST(owner_of_a_store, is_kept_as_text) {
    EXPECT_EQ(text_of(mine), "log log two\ngeneration 2\n");
    EXPECT_EQ(read_owner(text_of(mine)).value(), mine);
    for (const std::string& text :
         {std::string(), std::string("log a\n"), std::string("log a\ngeneration x\n"),
          std::string("log a\ngeneration 5"), std::string("x a\ngeneration 5\n")})
        EXPECT_FALSE(read_owner(text)) << text;
}

class check_of_a_store : public testing::Test {
  protected:
    ~check_of_a_store() override { check.end(); }

    void begin_log() {
        schemas::commands::genesis log;
        log.log_id.fill(7);
        change([&](auto& rows) { storage::registry::tables::installation::put(rows, log); });
        ours = {runtime::uuid_text(log.log_id), 1};
    }
    void know_bytes() {
        schemas::blob row;
        row.digest = std::string(32, 'x');
        change([&](auto& rows) { storage::registry::tables::blobs::put(rows, row); });
    }
    template <class Work>
    void change(const Work& work) {
        const auto view = state->view();
        storage::registry::state::state_changes changes(view.get());
        work(changes);
        ASSERT_TRUE(state->write(changes.changes()));
    }
    result<void> run(store_check::applied how_much) {
        std::promise<result<void>> done;
        loops[0].post([&] { check.run(how_much, [&](result<void> told) { done.set_value(told); }); });
        return done.get_future().get();
    }
    result<void> run_again() {
        std::promise<result<void>> done;
        loops[0].post([&] { check.run_again([&](result<void> told) { done.set_value(told); }); });
        return done.get_future().get();
    }

    store_owner ours;
    memory_artifacts objects;
    std::unique_ptr<storage::registry::state::state_store> state =
        storage::registry::state::make_memory_state();
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 0}};
    store_check check{{objects, *state, loops[0]}, store_taking::refused};
};

TEST_F(check_of_a_store, marks_it_only_when_all_of_the_log_is_known) {
    EXPECT_TRUE(run(store_check::applied::some)) << "nothing is applied yet";
    begin_log();
    EXPECT_TRUE(run(store_check::applied::some));
    EXPECT_EQ(objects.kept_owner, std::nullopt);
    EXPECT_TRUE(run(store_check::applied::all));
    EXPECT_EQ(objects.kept_owner, ours);
}

TEST_F(check_of_a_store, finds_that_it_lacks_the_mark_of_a_log_that_has_bytes) {
    begin_log();
    know_bytes();
    for (const auto how_much : {store_check::applied::some, store_check::applied::all})
        EXPECT_EQ(run(how_much).error().code, error_code::failed_precondition);
    EXPECT_EQ(objects.kept_owner, std::nullopt);
    objects.kept_owner = ours;
    EXPECT_TRUE(run(store_check::applied::all));
}

TEST_F(check_of_a_store, finds_out_later_that_another_log_has_taken_it) {
    begin_log();
    ASSERT_TRUE(run(store_check::applied::all));
    EXPECT_TRUE(run_again());
    objects.kept_owner = std::nullopt;
    EXPECT_EQ(run_again().error().code, error_code::unavailable) << "its disk may come back";
    objects.kept_owner = store_owner{ours.log_id, 2};
    EXPECT_EQ(run_again().error().code, error_code::failed_precondition);
    EXPECT_THAT(run_again().error().message, HasSubstr("belongs to generation 2"));
}

TEST_F(check_of_a_store, finds_another_log) {
    begin_log();
    objects.kept_owner = sibling;
    EXPECT_FALSE(run(store_check::applied::some));
}

/// The same store, watched.
class watch_of_a_store : public check_of_a_store {
  protected:
    ~watch_of_a_store() override {
        on_loop([this] { watch.leave(); });
        watch.end();
    }
    void on_loop(const std::function<void()>& work) {
        std::promise<void> done;
        loops[0].post([&] {
            work();
            done.set_value();
        });
        done.get_future().get();
    }
    void begin() {
        on_loop([this] {
            watch.begin([this] { return is_caught_up.load(); },
                        [this](const result<void>& checked) { ++(checked ? times_ours : times_refused); });
        });
    }

    std::atomic<bool> is_caught_up = false;
    std::atomic<int> times_ours = 0, times_refused = 0;
    storage::artifacts::collector::store_watch watch{{objects, *state, loops[0]}, store_taking::refused};
};

TEST_F(watch_of_a_store, takes_it_once_all_of_the_log_is_applied) {
    begin_log();
    EXPECT_TRUE(watch.check_first());
    begin();
    on_loop([] {});
    EXPECT_EQ(objects.kept_owner, std::nullopt);
    is_caught_up = true;
    EXPECT_TRUE(eventually([&] { return times_ours == 1; }));
    EXPECT_EQ(objects.kept_owner, ours);
    EXPECT_EQ(times_refused, 0);
}

TEST_F(watch_of_a_store, says_at_once_and_only_once_that_it_is_another_logs) {
    begin_log();
    objects.kept_owner = store_owner{"another", 1};
    EXPECT_EQ(watch.check_first().error().code, error_code::failed_precondition);
    is_caught_up = true;
    begin();
    EXPECT_TRUE(eventually([&] { return times_refused == 1; }));
    EXPECT_EQ(times_ours, 0);
}

}  // namespace
}  // namespace herald::test
