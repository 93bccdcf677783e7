// Protects the process from models that end it: what was being loaded at two ends is not loaded again, what
// was only loading beside it is, and an end that was ordered counts for nothing.
#include "api/serving/model_cache/load_marks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <map>
#include <thread>

#include "api/serving/model_cache/marked_engine.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
namespace engines = api::serving::engines;
using api::serving::model_cache::load_marks;
using api::serving::model_cache::make_marked_engine;
using api::serving::model_cache::mark_of;
using api::serving::model_cache::mark_of_runs;

/// Keeps the handlers of the loads that it was asked for, until it is told to answer.
class asked_engine final : public engines::engine {
  public:
    std::string_view name() const noexcept override { return "asked"; }
    void load(const engines::model_source& source, load_handler loaded) override {
        const runtime::lock_guard lock(x_mutex);
        x_asked.emplace(source.build.value, std::move(loaded));
        x_end_marks[source.build.value] = source.end_mark;
    }
    std::filesystem::path end_mark(std::uint64_t build) {
        const runtime::lock_guard lock(x_mutex);
        return x_end_marks[build];
    }
    bool is_loading(std::uint64_t build) const {
        const runtime::lock_guard lock(x_mutex);
        return x_asked.contains(build);
    }
    std::size_t count(std::uint64_t build) const {
        const runtime::lock_guard lock(x_mutex);
        return x_asked.count(build);
    }
    /// The first of this build.
    void answer(std::uint64_t build) {
        load_handler loaded;
        {
            const runtime::lock_guard lock(x_mutex);
            const auto found = x_asked.find(build);
            loaded = std::move(found->second);
            x_asked.erase(found);
        }
        loaded(engines::loaded_model());
    }

  private:
    mutable runtime::mutex x_mutex;
    std::multimap<std::uint64_t, load_handler> x_asked GUARDED_BY(x_mutex);
    std::map<std::uint64_t, std::filesystem::path> x_end_marks GUARDED_BY(x_mutex);
};

engines::model_source source_of(std::uint64_t build) {
    engines::model_source out;
    out.build = schemas::build_id{build};
    return out;
}

class marked_loads : public testing::Test {
  protected:
    marked_loads() { next_process(); }
    /// As after an end of the process that nobody ordered.
    void next_process() {
        inner = std::make_shared<asked_engine>();
        marks = std::make_shared<load_marks>(folder / "loads");
        engine = make_marked_engine(inner, marks);
    }
    /// What load() answers, or nothing if it does not yet.
    std::shared_ptr<std::promise<result<void>>> begin(std::uint64_t build) {
        const auto came = std::make_shared<std::promise<result<void>>>();
        engine->load(source_of(build), [came](const result<engines::loaded_model>& loaded) {
            came->set_value(loaded ? result<void>() : result<void>(loaded.error()));
        });
        return came;
    }
    bool is_marked(std::uint64_t build) const {
        return fs::exists(folder / "loads" / mark_of(source_of(build)));
    }

    temporary_folder folder;
    std::shared_ptr<asked_engine> inner;
    std::shared_ptr<load_marks> marks;
    std::shared_ptr<engines::engine> engine;
};

TEST_F(marked_loads, leave_nothing_behind_when_they_end) {
    const auto came = begin(5);
    EXPECT_TRUE(is_marked(5));
    inner->answer(5);
    EXPECT_TRUE(came->get_future().get());
    EXPECT_FALSE(is_marked(5));
}

TEST_F(marked_loads, at_which_the_process_ended_twice_are_refused_until_the_mark_is_taken_away) {
    // The handlers stay with engines that never answer: what a process that is gone has left.
    std::vector<std::shared_ptr<asked_engine>> gone;
    for (int round = 0; round < limits::load_ends_max; ++round) {
        begin(5);
        ASSERT_TRUE(inner->is_loading(5)) << round;
        gone.push_back(inner);
        next_process();
    }
    for (int round = 0; round < 3; ++round) {
        const auto refused = begin(5)->get_future().get();
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::invalid_argument);
        EXPECT_THAT(refused.error().message,
                    testing::AllOf(testing::HasSubstr("ended the process of this node 2 times"),
                                   testing::HasSubstr("herald/loads/build-5 in the node's --data folder")));
        EXPECT_FALSE(inner->is_loading(5));
    }
    begin(6);
    EXPECT_TRUE(inner->is_loading(6)) << "others go on";
    inner->answer(6);
    fs::remove(folder / "loads" / "build-5");
    const auto again = begin(5);
    inner->answer(5);
    EXPECT_TRUE(again->get_future().get());
}

TEST_F(marked_loads, of_a_model_whose_runs_ended_the_process_twice_are_refused_however_it_is_batched) {
    EXPECT_EQ(mark_of_runs(source_of(5)), "build-5-runs");
    begin(5);
    ASSERT_TRUE(inner->is_loading(5));
    const fs::path mark = inner->end_mark(5);
    EXPECT_EQ(mark, folder / "loads" / "build-5-runs");
    inner->answer(5);
    EXPECT_FALSE(fs::exists(mark)) << "only a run that ends the process makes it";
    for (int ends = 1; ends <= limits::load_ends_max; ++ends) {
        std::ofstream(mark, std::ios::app) << 'x';
        next_process();
        const auto came = begin(5);
        if (ends < limits::load_ends_max) {
            ASSERT_TRUE(inner->is_loading(5));
            inner->answer(5);
            EXPECT_TRUE(came->get_future().get()) << "a load that succeeds forgets no run";
            continue;
        }
        const auto refused = came->get_future().get();
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::invalid_argument);
        EXPECT_THAT(refused.error().message,
                    testing::HasSubstr("running the model ended the process of this node 2 times"));
    }
    fs::remove(mark);
    begin(5);
    EXPECT_TRUE(inner->is_loading(5));
}

TEST_F(marked_loads, beside_which_the_process_ended_are_tried_by_themselves) {
    const auto gone = inner;
    begin(5);
    begin(6);
    next_process();
    std::thread first([&] { begin(5); });
    ASSERT_TRUE(eventually([&] { return inner->is_loading(5); }));
    std::thread second([&] { begin(6); });
    std::thread third([&] { begin(7); });
    // Both wait: neither is marked a further time before the first has ended.
    std::this_thread::yield();
    EXPECT_FALSE(inner->is_loading(6) || inner->is_loading(7));
    EXPECT_EQ(fs::file_size(folder / "loads" / "build-6"), 1u);
    inner->answer(5);
    ASSERT_TRUE(eventually([&] { return inner->is_loading(6) || inner->is_loading(7); }));
    EXPECT_NE(inner->is_loading(6), inner->is_loading(7));
    for (const std::uint64_t each : {6UL, 7UL, 6UL})
        if (eventually(1, [&] { return inner->is_loading(each); })) inner->answer(each);
    first.join();
    second.join();
    third.join();
    EXPECT_FALSE(is_marked(6) || is_marked(7));
}

TEST_F(marked_loads, by_themselves_hold_up_others_only_for_a_time) {
    const auto gone = inner;
    begin(5);
    next_process();
    engine = make_marked_engine(inner, marks, 20);
    begin(5);
    begin(6);
    EXPECT_TRUE(inner->is_loading(6));
}

TEST_F(marked_loads, count_for_nothing_when_the_process_was_told_to_end) {
    const auto gone = inner;
    begin(5);
    marks->let_off();
    EXPECT_FALSE(is_marked(5));
    begin(6);
    EXPECT_FALSE(is_marked(6));
}

TEST_F(marked_loads, of_one_name_at_a_time_count_once_and_neither_is_suspected_for_the_other) {
    engine = make_marked_engine(inner, marks, 60'000);
    const auto first = begin(5);
    EXPECT_FALSE(marks->is_suspect("build-5"));
    std::thread other([&] { begin(5); });
    EXPECT_TRUE(eventually([&] { return inner->count(5) == 2; })) << "it waits to be alone";
    EXPECT_EQ(fs::file_size(folder / "loads" / "build-5"), 1u);
    inner->answer(5);
    EXPECT_TRUE(is_marked(5)) << "one is still under way";
    other.join();
    inner->answer(5);
    EXPECT_FALSE(is_marked(5));
}

TEST_F(marked_loads, are_named_by_a_delay_only_where_rows_wait_for_others) {
    engines::model_source source = source_of(5);
    source.batching.delay_ms_max = 7;
    EXPECT_EQ(mark_of(source), "build-5");
    source.batching.size_max = 1;
    EXPECT_EQ(mark_of(source), "build-5-batch-1");
    source.batching.size_max = 2;
    EXPECT_EQ(mark_of(source), "build-5-batch-2-7");
}

TEST_F(marked_loads, go_on_where_no_mark_can_be_written) {
    std::ofstream(folder / "loads") << "a file where the folder should be";
    begin(5);
    EXPECT_TRUE(inner->is_loading(5));
}

}  // namespace
}  // namespace herald::test
