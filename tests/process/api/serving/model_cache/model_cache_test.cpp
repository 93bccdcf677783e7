// Protects what engines load: a held file has exactly the bytes that were asked for, whatever is on the disk,
// and the copies keep to their bounds.
#include "api/serving/model_cache/model_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <future>
#include <iterator>

#include "api/serving/model_cache/memory_budget.hpp"
#include "runtime/task_group.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/memory_artifacts.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using api::serving::model_cache::held_model;
using api::serving::model_cache::memory_budget;
using api::serving::model_cache::model_cache;
using api::serving::model_cache::name_of;
using storage::artifacts::stored_object;
using held = std::shared_ptr<const held_model>;

std::string content(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

boost::asio::awaitable<void> get(model_cache& cache, std::vector<stored_object> parts,
                                 std::promise<result<held>>& came) {
    auto out = co_await cache.get(std::move(parts));
    came.set_value(std::move(out));
}

class copies : public testing::Test {
  protected:
    ~copies() override { tasks.stop(); }

    stored_object store(const std::string& bytes) {
        const std::string digest(runtime::as_bytes(runtime::sha256(bytes)));
        stored_object out{storage::artifacts::object_name(digest, "12345678"), digest, bytes.size()};
        objects.objects[out.object] = bytes;
        return out;
    }
    void open(model_cache::bounds most = {}) {
        cache.reset();
        auto opened = model_cache::open(folder / "models", {objects, loops.blocking()}, most);
        ASSERT_TRUE(opened) << opened.error().message;
        cache = *std::move(opened);
    }
    result<held> ask(std::vector<stored_object> parts) {
        std::promise<result<held>> came;
        tasks.start("test", get(*cache, std::move(parts), came));
        return came.get_future().get();
    }
    /// The same while what the store sends is held up; what waits for that fails, and goes on.
    result<held> ask_while_slow(std::vector<stored_object> parts) {
        std::promise<result<held>> came;
        tasks.start("test", get(*cache, std::move(parts), came));
        auto answer = came.get_future();
        if (answer.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
            ADD_FAILURE() << "it was let in";
            objects.are_reads_slow = false;
        }
        return answer.get();
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder / "models"), fs::directory_iterator()));
    }

    temporary_folder folder;
    memory_artifacts objects;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 2}};
    runtime::task_group tasks{loops[0]};
    std::unique_ptr<model_cache> cache;
};

TEST_F(copies, a_model_of_one_or_several_parts_becomes_one_file) {
    open();
    const auto first = store("first,"), second = store("second");
    const auto one = ask({first});
    const auto both = ask({first, second});
    ASSERT_TRUE(one && both);
    EXPECT_EQ(content((*one)->file()), "first,");
    EXPECT_EQ(content((*both)->file()), "first,second");
    EXPECT_NE(name_of({first, second}), name_of({second, first}));
    EXPECT_EQ(files(), 2u);
}

TEST_F(copies, a_restart_needs_no_store) {
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    objects.objects.clear();
    open();
    const auto again = ask({model});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(content((*again)->file()), "model");
}

TEST_F(copies, one_that_was_damaged_on_the_disk_is_fetched_again) {
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    for (const char* damaged : {"nodel", "mode", "model and more", ""}) {
        std::ofstream(folder / "models" / name_of({model}), std::ios::binary | std::ios::trunc) << damaged;
        if (std::string(damaged).size() != 5) open();
        const auto again = ask({model});
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(content((*again)->file()), "model") << damaged;
    }
    EXPECT_EQ(cache->bytes(), 5u);
}

TEST_F(copies, one_that_lost_its_end_takes_no_room_though_there_is_none_for_another) {
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    std::ofstream(folder / "models" / name_of({model}), std::ios::binary | std::ios::trunc) << "mode";
    open({.disk_free_bytes_min = std::uint64_t{1} << 60});
    EXPECT_FALSE(ask({model}));
    EXPECT_EQ(files(), 0u);
    EXPECT_EQ(cache->bytes(), 0u);
}

TEST_F(copies, one_that_cannot_be_read_is_fetched_again) {
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    const auto file = folder / "models" / name_of({model});
    fs::remove(file);
    fs::create_directory(file);  // also for a superuser
    const auto again = ask({model});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(content((*again)->file()), "model");
}

TEST_F(copies, one_that_cannot_be_read_for_want_of_descriptors_stays) {
    if (is_sanitized) GTEST_SKIP() << "a sanitizer needs descriptors of its own";
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto refused = ask({model});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::unavailable);
    objects.objects.clear();
    const auto again = ask({model});
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(content((*again)->file()), "model");
}

/// The want is over by the time that something could be done to the copy.
TEST_F(copies, one_that_could_not_be_read_for_a_moment_stays) {
    open();
    const auto model = store("model");
    ASSERT_TRUE(ask({model}));
    objects.objects.clear();
    using call = runtime::started_call<result<void>>;
    runtime::blocking_pool disk(1, 16);  // one call after the other
    auto opened = model_cache::open(folder / "models", {objects, disk}, {});
    ASSERT_TRUE(opened);
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    std::promise<void> may_begin, is_asked, is_behind;
    const auto wait = [&]() -> result<void> {
        may_begin.get_future().wait();
        return {};
    };
    const auto restore = [&]() -> result<void> {
        ::setrlimit(RLIMIT_NOFILE, &before);
        return {};
    };
    // Runs before the copy is compared, and puts `restore` behind that.
    const auto arrange = [&]() -> result<void> {
        loops[0].post([&] {
            (void)call::start(disk, restore);
            is_behind.set_value();
        });
        is_behind.get_future().wait();
        return {};
    };
    ASSERT_TRUE(call::start(disk, wait));
    std::promise<result<held>> came;
    tasks.start("test", get(**opened, {model}, came));
    loops[0].post([&] { is_asked.set_value(); });
    is_asked.get_future().wait();
    ASSERT_TRUE(call::start(disk, arrange));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    may_begin.set_value();
    const auto refused = came.get_future().get();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::unavailable);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("failed: open: Too many open files"));
    EXPECT_EQ(files(), 1u);
    EXPECT_TRUE(ask({model}));
}

TEST_F(copies, those_that_are_there_stay_when_little_is_left_of_the_disk) {
    open();
    const auto kept = store("kept"), unused = store("unused"), next = store("next");
    ASSERT_TRUE(ask({kept}) && ask({unused}));
    open({.disk_free_bytes_min = std::uint64_t{1} << 62});
    EXPECT_EQ(files(), 2u) << "a start that finds a full disk";
    const auto refused = ask({next});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::unavailable);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("must stay free"));
    EXPECT_EQ(files(), 2u) << "they would not have been enough";
    EXPECT_TRUE(ask({kept})) << "what is there needs no more room";
}

TEST_F(copies, while_the_disk_is_low_those_go_that_nobody_holds_or_needs) {
    open();
    const auto needed = store("needed"), held_one = store("held"), unused = store("unused");
    ASSERT_TRUE(ask({needed}) && ask({unused}) && ask({held_one}));
    EXPECT_FALSE(cache->is_disk_low());
    cache->make_disk_room({});
    EXPECT_EQ(files(), 3u) << "there is room";
    open({.disk_free_bytes_min = std::uint64_t{1} << 62});
    const auto held_now = ask({held_one});
    ASSERT_TRUE(held_now);
    EXPECT_TRUE(cache->is_disk_low());
    cache->make_disk_room({name_of({needed})});
    EXPECT_TRUE(fs::exists(folder / "models" / name_of({needed})));
    EXPECT_TRUE(fs::exists((*held_now)->file()));
    EXPECT_EQ(files(), 2u);
    EXPECT_EQ(cache->bytes(), 10u);
}

TEST_F(copies, those_that_are_useless_go_unless_somebody_holds_them) {
    open();
    const auto kept = store("kept"), held_one = store("held"), useless = store("useless");
    ASSERT_TRUE(ask({kept}) && ask({useless}));
    const auto held_now = ask({held_one});
    ASSERT_TRUE(held_now);
    EXPECT_EQ(cache->unheld(), (std::set{name_of({kept}), name_of({useless})}));
    cache->drop({name_of({useless}), name_of({held_one})});
    EXPECT_TRUE(fs::exists(folder / "models" / name_of({kept})));
    EXPECT_TRUE(fs::exists((*held_now)->file()));
    EXPECT_EQ(files(), 2u);
    EXPECT_EQ(cache->bytes(), 8u);
}

TEST_F(copies, a_folder_that_cannot_be_used_is_named) {
    const auto text = "the copies of models in " + (folder / "models").native() + " failed: ";
    open();
    fs::remove(folder / "models");
    std::ofstream(folder / "models") << "no folder";  // also for a superuser
    const auto refused = ask({store("model")});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::StartsWith(text));
    cache.reset();
    const auto opened = model_cache::open(folder / "models", {objects, loops.blocking()}, {});
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().message, testing::StartsWith(text));
    const auto nowhere = model_cache::open(folder / "models" / "below", {objects, loops.blocking()}, {});
    ASSERT_FALSE(nowhere);
    EXPECT_THAT(nowhere.error().message, testing::HasSubstr("/models/below failed: make: "));
}

TEST_F(copies, those_that_still_arrive_leave_less_of_the_disk_for_others) {
    const std::uint64_t available = fs::space(folder.path()).available;
    open({.bytes_max = UINT64_MAX / 4, .disk_free_bytes_min = available / 5});
    // Of each half of the disk is asked for; what the store then has is short.
    auto first = store("first"), second = store("second");
    first.bytes = second.bytes = available / 2;
    objects.are_reads_slow = true;
    std::promise<result<held>> first_came;
    tasks.start("test", get(*cache, {first}, first_came));
    ASSERT_TRUE(eventually([&] { return objects.reads == 1; }));
    const auto refused = ask_while_slow({second});
    EXPECT_FALSE(refused);
    if (!refused) EXPECT_THAT(refused.error().message, testing::HasSubstr("must stay free"));
    EXPECT_EQ(objects.reads, 1);
    objects.are_reads_slow = false;
    EXPECT_FALSE(first_came.get_future().get()) << "it is shorter than was asked for";
    const auto again = ask({second});
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error().message, testing::HasSubstr("damaged")) << "it was let in";
}

TEST_F(copies, of_one_name_that_arrive_at_once_are_two_on_the_disk) {
    const std::uint64_t available = fs::space(folder.path()).available;
    open({.bytes_max = UINT64_MAX / 4, .disk_free_bytes_min = available / 5});
    auto model = store("model");
    model.bytes = available / 2;
    objects.are_reads_slow = true;
    std::promise<result<held>> first_came;
    tasks.start("test", get(*cache, {model}, first_came));
    ASSERT_TRUE(eventually([&] { return objects.reads == 1; }));
    const auto refused = ask_while_slow({model});
    EXPECT_FALSE(refused);
    if (!refused) EXPECT_THAT(refused.error().message, testing::HasSubstr("must stay free"));
    objects.are_reads_slow = false;
    EXPECT_FALSE(first_came.get_future().get());
}

TEST_F(copies, those_that_nobody_holds_stay_when_they_would_not_make_room_enough) {
    open({.bytes_max = 10, .models_max = 100});
    const auto a = store("aaaa"), b = store("bbbb");
    const auto held_a = ask({a});
    ASSERT_TRUE(held_a && ask({b}));
    const auto refused = ask({store("seven b")});
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("models in use take 4 of 10"));
    EXPECT_TRUE(fs::exists(folder / "models" / name_of({b})));
}

TEST_F(copies, a_start_keeps_to_the_bounds) {
    open();
    ASSERT_TRUE(ask({store("aaaa")}) && ask({store("bbbb")}) && ask({store("cccc")}));
    open({.bytes_max = 10, .models_max = 100});
    EXPECT_EQ(files(), 2u);
    open({.bytes_max = 10, .models_max = 1});
    EXPECT_EQ(files(), 1u);
}

TEST_F(copies, a_store_that_sends_other_bytes_gives_no_model) {
    open();
    const auto model = store("model");
    objects.objects[model.object] = "nodel";
    const auto out = ask({model});
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().code, error_code::internal);
    objects.objects.clear();
    EXPECT_FALSE(ask({store("x"), model}));
}

TEST_F(copies, what_a_killed_process_left_is_gone_at_the_next_start) {
    open();
    const auto model = store("model");
    std::ofstream(folder / "models" / (name_of({model}) + ".3.part")) << "mod";
    open();
    EXPECT_EQ(files(), 0u);
    EXPECT_EQ(cache->bytes(), 0u);
    EXPECT_TRUE(ask({model}));
}

TEST_F(copies, above_the_bounds_the_longest_unused_goes_and_never_one_that_is_held) {
    open({.bytes_max = 10, .models_max = 100});
    const auto a = store("aaaa"), b = store("bbbb"), c = store("cccc");
    auto held_a = ask({a});
    ASSERT_TRUE(held_a);
    ASSERT_TRUE(ask({b}));
    const auto held_c = ask({c});
    ASSERT_TRUE(held_c);
    EXPECT_FALSE(fs::exists(folder / "models" / name_of({b})));
    EXPECT_EQ(content((*held_a)->file()), "aaaa");
    const auto refused = ask({b});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::unavailable) << "it may pass";
    *held_a = nullptr;
    EXPECT_TRUE(ask({b}));
    EXPECT_LE(cache->bytes(), 10u);
}

TEST_F(copies, one_that_would_not_fit_if_it_were_alone_is_refused_for_good) {
    open({.bytes_max = 10, .models_max = 100});
    ASSERT_TRUE(ask({store("aaaa")}));
    const auto refused = ask({store("eleven byte")});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::invalid_argument);
    EXPECT_EQ(files(), 1u);
}

TEST_F(copies, there_are_no_more_than_the_bound_of_them) {
    open({.bytes_max = 1'000, .models_max = 2});
    for (const char* each : {"1", "2", "3", "4"}) ASSERT_TRUE(ask({store(each)}));
    EXPECT_EQ(files(), 2u);
}

TEST_F(copies, one_that_did_not_arrive_takes_no_room) {
    open({.bytes_max = 5, .models_max = 100});
    auto lost = store("lost!");
    objects.objects.erase(lost.object);
    EXPECT_FALSE(ask({lost}));
    EXPECT_EQ(cache->bytes(), 0u);
    EXPECT_EQ(files(), 0u);
    EXPECT_TRUE(ask({store("fives")}));
}

TEST(memory_of_models, is_given_up_to_the_bound_and_given_back) {
    memory_budget budget(100);
    auto most = budget.take(60);
    ASSERT_TRUE(most);
    const auto refused = budget.take(41);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::resource_exhausted);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("60"));
    const auto rest = budget.take(40);
    ASSERT_TRUE(rest);
    *most = nullptr;
    EXPECT_EQ(budget.taken(), 40u);
}

TEST(memory_of_models, is_never_waited_for_by_one_that_needs_more_than_all) {
    memory_budget budget(100);
    EXPECT_TRUE(budget.take(100));
    for (const std::uint64_t bytes : {std::uint64_t{101}, UINT64_MAX}) {
        const auto refused = budget.take(bytes);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, error_code::invalid_argument);
        EXPECT_THAT(refused.error().message, testing::HasSubstr("100 (--models-memory-mb)"));
    }
}

}  // namespace
}  // namespace herald::test
