// Protects: what a run or a load allocates is bounded while it does so, whichever operator it is and however
// it allocates; the error names the operator; others have their memory. No run sees what was in it before.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "api/serving/engines/onnx/counted_memory.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "tests/support/onnx_inference.hpp"
#include "tests/support/until.hpp"

namespace herald::test::onnx {
namespace {

using engines::byte_pool;
using engines::onnx::counted_memory;
using schemas::tensor;
using schemas::tensor_type;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t mebibyte = 1ull << 20;
constexpr std::uint64_t run_bytes = 64 * mebibyte;

#define HERALD_NEEDS_COUNTING() \
    HERALD_NEEDS_ONNX();        \
    if (!counted_memory::is_counting()) GTEST_SKIP() << "this build keeps the sanitizer's malloc"

/// The highest that this process had since the last reset.
std::uint64_t highest_memory_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "VmHWM:") {
            std::uint64_t kib = 0;
            status >> kib;
            return kib << 10;
        }
    return 0;
}
void reset_highest_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::shared_ptr<engines::tensor_model> load_bounded(const std::string& bytes,
                                                    std::shared_ptr<byte_pool> models = nullptr) {
    const auto engine =
        engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}, run_bytes, std::move(models)});
    EXPECT_TRUE(engine);
    auto loaded = load_with(**engine, bytes);
    EXPECT_TRUE(loaded) << loaded.error().message;
    return loaded ? loaded->tensors : nullptr;
}

tensor numbers(std::string name, const std::vector<std::int64_t>& of) {
    return values(std::move(name), tensor_type::int64, {static_cast<std::int64_t>(of.size())}, of);
}

/// What comes of `nodes` out of n, INT64[k], goes as "big" and comes back as its shape.
std::string sized_by(std::int64_t k, std::vector<std::string> nodes,
                     const std::vector<std::string>& weights) {
    nodes.push_back(node("Shape", {"big"}, {"y"}));
    return model(graph(nodes, {value("n", int64, {k})}, {value("y", int64, {-1})}, weights));
}

struct growing {
    std::string op;
    std::string model;
    std::vector<std::int64_t> modest;
    std::vector<std::int64_t> huge;
};

std::vector<growing> growing_models() {
    const std::string one = weight("one", float32, {1}, bytes_of({1.0F}));
    const std::string text_one = weight_head("one", text, {1}) + chunk(6, std::string(5'000, 'x'));
    const std::string axes = weight("axes", int64, {1}, bytes_of<std::int64_t>({0}));
    const std::string zero = weight("zero", int64, {}, bytes_of<std::int64_t>({0}));
    const std::string step = weight("step", int64, {}, bytes_of<std::int64_t>({1}));
    return {
        {"ConstantOfShape", sized_by(1, {node("ConstantOfShape", {"n"}, {"big"})}, {}), {1'000}, {1ll << 34}},
        {"Expand", sized_by(2, {node("Expand", {"one", "n"}, {"big"})}, {one}), {10, 10}, {1 << 20, 1 << 12}},
        {"Expand",
         sized_by(2, {node("Expand", {"one", "n"}, {"big"})}, {text_one}),
         {10, 10},
         {1 << 10, 1 << 9}},
        {"Tile", sized_by(1, {node("Tile", {"one", "n"}, {"big"})}, {one}), {10}, {1ll << 30}},
        {"Range",
         sized_by(1,
                  {node("Squeeze", {"n", "axes"}, {"end"}), node("Range", {"zero", "end", "step"}, {"big"})},
                  {axes, zero, step}),
         {10},
         {1ll << 30}},
        {"Pad", sized_by(2, {node("Pad", {"one", "n"}, {"big"})}, {one}), {1, 1}, {0, 1ll << 30}},
        {"NonZero",
         sized_by(1, {node("Expand", {"one", "n"}, {"ones"}), node("NonZero", {"ones"}, {"big"})}, {one}),
         {10},
         {15 << 20}},
    };
}

TEST(run_memory, a_run_that_would_grow_beyond_its_bound_is_refused_and_the_operator_named) {
    HERALD_NEEDS_COUNTING();
    for (const auto& each : growing_models()) {
        SCOPED_TRACE(each.op);
        const auto model = load_bounded(each.model);
        ASSERT_TRUE(model);
        const auto before = infer(*model, {numbers("n", each.modest)});
        ASSERT_TRUE(before) << before.error().message;
        reset_highest_memory();
        const std::uint64_t at_begin = highest_memory_bytes();
        for (int round = 0; round < 6; ++round) {
            const auto got = infer(*model, {numbers("n", each.huge)});
            ASSERT_FALSE(got);
            EXPECT_EQ(got.error().code, error_code::invalid_argument);
            EXPECT_THAT(got.error().message,
                        AllOf(HasSubstr("the model's operator " + each.op),
                              HasSubstr("64 MiB (--run-memory-mb)"), Not(HasSubstr("bad_alloc"))));
        }
        // One run at a time, and what another thread's has left that was not given back yet.
        EXPECT_LT(highest_memory_bytes(), at_begin + 2 * run_bytes + 32 * mebibyte);
        const auto after = infer(*model, {numbers("n", each.modest)});
        ASSERT_TRUE(after) << after.error().message;
        EXPECT_EQ(after->front().data, before->front().data);
    }
}

/// Fills `count` times four bytes, keeps them, and counts to `steps`.
std::string holding() {
    return model(graph(
        {node("ConstantOfShape", {"count"}, {"big"}),
         node("Loop", {"steps", "", "zero"}, {"looped"}, {inner("body", counting())}),
         node("Shape", {"big"}, {"size"})},
        {value("count", int64, {1}), value("steps", int64, {1})},
        {value("looped", float32, {1}), value("size", int64, {1}), value("big", float32, {-1})},
        {weight("zero", float32, {1}, std::string(4, '\0')), weight("one", float32, {1}, bytes_of({1.0F}))}));
}

TEST(run_memory, runs_together_have_a_bound_and_what_is_beyond_may_be_tried_again) {
    HERALD_NEEDS_COUNTING();
    const auto engine = engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}, run_bytes, nullptr});
    ASSERT_TRUE(engine);
    const auto load_one = [&](const std::string& bytes) { return load_with(**engine, bytes)->tensors; };
    const auto first = load_one(holding());
    const auto second = load_one(holding());
    const std::int64_t words = 60 * mebibyte / 4;
    std::vector<std::future<response>> held;
    for (const auto& each : {first, second}) {
        const auto promise = std::make_shared<std::promise<response>>();
        held.push_back(promise->get_future());
        const auto cancelled = std::make_shared<engines::cancellation>();
        each->infer({{numbers("count", {words}), numbers("steps", {1ll << 40})}, {}, in_ms(5'000), cancelled},
                    [promise](response given) { promise->set_value(std::move(given)); });
    }
    // Both hold their memory once a third one finds none.
    const auto small = load_one(holding());
    const auto is_refused = [&] {
        const auto got = infer(*small, {numbers("count", {words}), numbers("steps", {1})});
        if (got || got.error().code != error_code::unavailable) return false;
        EXPECT_THAT(got.error().message,
                    AllOf(HasSubstr("operator ConstantOfShape"), HasSubstr("try again")));
        return true;
    };
    EXPECT_TRUE(eventually(is_refused));
    EXPECT_TRUE(infer(*small, {numbers("count", {1'000}), numbers("steps", {1})})) << "small runs have room";
    for (auto& each : held) EXPECT_EQ(each.get().error().code, error_code::deadline_exceeded);
    const auto again = infer(*small, {{numbers("count", {1}), numbers("steps", {1})}});
    EXPECT_TRUE(again);
}

/// So many weights of 16 MB each, of which the file says one element, and that the others are zero.
std::string grows_when_loaded(int times) {
    std::vector<std::string> nodes;
    std::string weights;
    std::string last = "x";
    for (int at = 0; at < times; ++at) {
        const std::string name = "w" + std::to_string(at);
        const std::string sum = "s" + std::to_string(at);
        weights += chunk(15, chunk(1, weight(name, float32, {1}, bytes_of({1.0F}))) +
                                 chunk(2, weight("", int64, {1}, bytes_of<std::int64_t>({0}))) +
                                 number(3, 4'000'000));
        nodes.push_back(node("Add", {last, name}, {sum}));
        last = sum;
    }
    return model(graph(nodes, {value("x", float32, {-1})}, {value(last, float32, {-2})}) + weights);
}

TEST(run_memory, a_load_that_would_grow_beyond_what_models_may_take_is_refused) {
    HERALD_NEEDS_COUNTING();
    const auto models = std::make_shared<byte_pool>(256 * mebibyte);
    const auto engine = engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}, run_bytes, models});
    ASSERT_TRUE(engine);
    const auto refused = load_with(**engine, grows_when_loaded(40));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::invalid_argument);
    EXPECT_THAT(refused.error().message, HasSubstr("--models-memory-mb"));
    EXPECT_EQ(models->taken(), 0U);
    {
        const auto fits = load_with(**engine, grows_when_loaded(10));
        ASSERT_TRUE(fits) << fits.error().message;
        EXPECT_GT(models->taken(), 64 * mebibyte) << "what a load takes in any case is not counted";
        const auto beside = load_with(**engine, grows_when_loaded(15));
        ASSERT_FALSE(beside);
        EXPECT_EQ(beside.error().code, error_code::resource_exhausted) << beside.error().message;
    }
    EXPECT_TRUE(eventually([&] { return models->taken() == 0; })) << models->taken();
}

// ---- memory of runs that break off

/// Fills `count` times four bytes and keeps them; breaks off if `dropped` is all true (run_traps_test.cpp).
std::string holding_until_it_breaks_off() {
    return model(
        graph({node("ConstantOfShape", {"count"}, {"big"}), node("Shape", {"big"}, {"size"}),
               node("Greater", {"size", "minus"}, {"yes"}), node("And", {"dropped", "yes"}, {"gone"}),
               node("Not", {"gone"}, {"kept"}), node("Compress", {"x", "kept"}, {"some"}, {whole("axis", 2)}),
               node("Unique", {"some"}, {"y"}, {whole("axis", 1)})},
              {value("count", int64, {1}), value("x", float32, {2, 2, 2}), value("dropped", boolean, {-1})},
              {value("y", float32, {2, -1, -2}), value("big", float32, {-1})},
              {weight("minus", int64, {1}, bytes_of<std::int64_t>({-1}))}));
}

TEST(run_memory, what_runs_that_broke_off_hold_is_not_taken_from_other_models) {
    HERALD_NEEDS_COUNTING();
    const auto engine = engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}, run_bytes, nullptr});
    ASSERT_TRUE(engine);
    const auto lost = load_with(**engine, holding_until_it_breaks_off())->tensors;
    const auto other = load_with(**engine, holding())->tensors;
    for (int round = 0; round < 2; ++round) {
        const auto got = infer(
            *lost, {numbers("count", {60 * mebibyte / 4}),
                    values("x", tensor_type::float32, {2, 2, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
                    tensor{"dropped", tensor_type::boolean, {2}, std::string(2, '\1'), {}}});
        ASSERT_FALSE(got);
        EXPECT_THAT(got.error().message, AllOf(HasSubstr("ConstantOfShape"), HasSubstr("broke off")));
    }
    const auto got = infer(*other, {numbers("count", {28 * mebibyte / 4}), numbers("steps", {1})});
    EXPECT_TRUE(got) << got.error().message;
}

TEST(run_memory, what_is_lost_has_a_bound_of_its_own) {
    if (!counted_memory::is_counting()) GTEST_SKIP() << "this build keeps the sanitizer's malloc";
    byte_pool pool(64 * mebibyte);
    byte_pool lost(20 * mebibyte);
    counted_memory::bounds bounds;
    bounds.pools.front() = &pool;
    bounds.lost = &lost;
    for (const bool has_room : {true, false}) {
        counted_memory memory(bounds);
        memory.begin();
        void* volatile held = std::malloc(16 * mebibyte);
        const auto loss = counted_memory::lose();
        std::free(held);
        EXPECT_EQ(loss.has_room, has_room);
        EXPECT_GE(loss.bytes, 16 * mebibyte);
        EXPECT_EQ(pool.taken(), 0U);
        EXPECT_GE(lost.taken(), 16 * mebibyte);
        EXPECT_LT(lost.taken(), 17 * mebibyte);
    }
}

// ---- old memory

/// y = the kept columns of a times the kept rows of b. The runtime does not write it when none is kept.
std::string product_of_kept() {
    return model(graph({node("Compress", {"a", "kept"}, {"some_a"}, {whole("axis", 1)}),
                        node("Compress", {"b", "kept"}, {"some_b"}, {whole("axis", 0)}),
                        node("MatMulInteger", {"some_a", "some_b"}, {"y"})},
                       {value("a", uint8, {4, 2}), value("b", uint8, {2, 4}), value("kept", boolean, {2})},
                       {value("y", int32, {4, 4})}));
}

TEST(run_memory, an_output_that_is_not_written_does_not_show_the_last_callers) {
    HERALD_NEEDS_ONNX();
    const auto model = load(product_of_kept());
    ASSERT_TRUE(model);
    const auto product = [&model](char kept) {
        const std::vector<std::uint8_t> ones(8, 1);
        return infer(*model, {values("a", tensor_type::uint8, {4, 2}, ones),
                              values("b", tensor_type::uint8, {2, 4}, ones),
                              tensor{"kept", tensor_type::boolean, {2}, std::string(2, kept), {}}});
    };
    for (int round = 0; round < 3; ++round) {
        const auto all = product('\1');
        ASSERT_TRUE(all) << all.error().message;
        EXPECT_EQ(all->front().data.substr(0, 4), bytes_of<std::int32_t>({2}));
        const auto none = product('\0');
        ASSERT_TRUE(none) << none.error().message;
        EXPECT_EQ(none->front().data, std::string(64, '\0'));
    }
}

/// So that the next allocations of this size get memory that was used.
void leave_traces(std::size_t bytes) {
    std::array<volatile char*, 8> used{};
    for (auto& each : used) {
        each = static_cast<volatile char*>(std::malloc(bytes));
        for (std::size_t at = 0; at < bytes; ++at) each[at] = 'x';
    }
    for (auto* const each : used) std::free(const_cast<char*>(each));
}

TEST(run_memory, what_a_run_allocates_is_zero) {
    if (!counted_memory::is_counting()) GTEST_SKIP() << "this build keeps the sanitizer's malloc";
    for (const std::size_t bytes : {32UL, 256UL, 4'096UL, 32'768UL, 98'304UL, 1'048'576UL}) {
        counted_memory memory({});
        leave_traces(bytes);
        std::vector<char*> made;
        made.reserve(64);
        memory.begin();
        for (int round = 0; round < 6; ++round) {
            made.push_back(static_cast<char*>(std::malloc(bytes)));
            made.push_back(static_cast<char*>(std::aligned_alloc(64, bytes)));
            made.push_back(static_cast<char*>(std::calloc(1, bytes)));
            made.push_back(static_cast<char*>(std::realloc(std::malloc(bytes / 4), bytes)));
        }
        counted_memory::end();
        for (char* const each : made) {
            EXPECT_EQ(std::count(each, each + bytes, '\0'), static_cast<std::ptrdiff_t>(bytes)) << bytes;
            std::free(each);
        }
    }
}

// ---- counting itself

TEST(run_memory, allocations_of_every_kind_are_counted_and_bounded) {
    if (!counted_memory::is_counting()) GTEST_SKIP() << "this build keeps the sanitizer's malloc";
    byte_pool pool(32 * mebibyte);
    counted_memory::bounds bounds;
    bounds.bytes_max = 16 * mebibyte;
    bounds.pools.front() = &pool;
    {
        counted_memory memory(bounds);
        memory.begin();
        void* kept[6] = {
            std::malloc(mebibyte),    std::calloc(1, mebibyte),        std::aligned_alloc(64, mebibyte),
            ::operator new(mebibyte), std::realloc(nullptr, mebibyte), nullptr};
        const int aligned = ::posix_memalign(&kept[5], 64, mebibyte);
        const std::uint64_t after_all = memory.bytes();
        kept[4] = std::realloc(kept[4], 2 * mebibyte);
        const std::uint64_t after_realloc = memory.bytes();
        void* volatile too_large = std::malloc(16 * mebibyte);
        void* volatile too_many = std::calloc(SIZE_MAX / 2, 4);
        void* volatile not_grown = std::realloc(kept[4], 17 * mebibyte);
        for (void* each : kept) std::free(each);
        memory.end();
        EXPECT_EQ(aligned, 0);
        EXPECT_GE(after_all, 6 * mebibyte);
        EXPECT_LT(after_all, 7 * mebibyte);
        EXPECT_GE(after_realloc, after_all + mebibyte);
        EXPECT_EQ(too_large, nullptr);
        EXPECT_EQ(too_many, nullptr);
        EXPECT_EQ(not_grown, nullptr);
        EXPECT_EQ(memory.lacked(), counted_memory::lack::of_its_own);
        EXPECT_EQ(memory.bytes(), 0U);
        EXPECT_GE(pool.taken(), 7 * mebibyte);
    }
    EXPECT_EQ(pool.taken(), 0U);
}

TEST(run_memory, small_allocations_pass_the_bound_by_a_little_and_then_fail_too) {
    if (!counted_memory::is_counting()) GTEST_SKIP() << "this build keeps the sanitizer's malloc";
    int told = 0;
    counted_memory::bounds bounds;
    bounds.bytes_max = mebibyte;
    bounds.lacks = [](void* of) noexcept { ++*static_cast<int*>(of); };
    bounds.of = &told;
    counted_memory memory(bounds);
    struct link {
        link* next;
        char more[1'016];
    };
    link* last = nullptr;
    std::uint64_t count = 0;
    memory.begin();
    while (void* const made = std::malloc(sizeof(link))) {
        last = new (made) link{last, {}};
        if (++count == 1'000'000) break;
    }
    void* volatile to_tell_of_it = std::malloc(512);
    std::free(to_tell_of_it);
    while (last) std::free(std::exchange(last, last->next));
    memory.end();
    EXPECT_GT(count * sizeof(link), mebibyte);
    EXPECT_LT(count * sizeof(link), mebibyte + limits::onnx_lack_reserve_bytes + mebibyte);
    EXPECT_NE(to_tell_of_it, nullptr);
    EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace herald::test::onnx
