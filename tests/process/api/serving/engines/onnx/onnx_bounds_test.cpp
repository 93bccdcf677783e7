// Protects: what a model gives has bounds, whatever its shape; a run that may take long is not made on the
// caller's thread; neither a caller nor a model ends the process or holds up other models.
#include <gmock/gmock.h>

#include <new>
#include <thread>

#include "api/serving/engines/onnx/limits.hpp"
#include "tests/support/onnx_inference.hpp"
#include "tests/support/sanitized.hpp"

namespace herald::test::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_type;
using testing::HasSubstr;
using testing::Not;

/// Its output has the shape that it is asked for.
std::string shaped(kind of, std::string_view fill) {
    return model(graph(
        {node("Expand", {"fill", "shape"}, {"y"})}, {value("shape", int64, {-1})}, {value("y", of, {-1, -2})},
        {of == text ? weight_head("fill", of, {1}) + chunk(6, fill) : weight("fill", of, {1}, fill)}));
}

std::vector<tensor> shape_of(const std::vector<std::int64_t>& dims) {
    return {values("shape", tensor_type::int64, {static_cast<std::int64_t>(dims.size())}, dims)};
}

/// x, FP32[N,1], times its transpose: N squared numbers out of N.
std::string squares() {
    return model(graph({node("Transpose", {"x"}, {"t"}), node("MatMul", {"x", "t"}, {"y"})},
                       {value("x", float32, {-1, 1})}, {value("y", float32, {-1, -1})}));
}

tensor floats(std::int64_t rows, std::int64_t columns) {
    return {"x",
            tensor_type::float32,
            {rows, columns},
            std::string(static_cast<std::size_t>(rows * columns) * 4, '\0'),
            {}};
}

bool is_answered_on_this_thread(engines::tensor_model& model, const std::vector<tensor>& inputs) {
    const auto thread = std::make_shared<std::promise<std::thread::id>>();
    model.infer({inputs, {}, 0, {}}, [thread](const response& given) {
        EXPECT_TRUE(given) << given.error().message;
        thread->set_value(std::this_thread::get_id());
    });
    return thread->get_future().get() == std::this_thread::get_id();
}

/// After a few requests, which say how long one takes.
bool becomes_quick(engines::tensor_model& model, const std::vector<tensor>& inputs) {
    for (int round = 0; round < 200; ++round)
        if (is_answered_on_this_thread(model, inputs)) return true;
    return false;
}

TEST(onnx_bounds, an_output_of_no_elements_and_a_million_million_lists_is_refused) {
    HERALD_NEEDS_ONNX();
    const auto model = load(shaped(int8, "x"));
    for (const std::int64_t rows : {std::int64_t{1'000'000'000'000}, std::int64_t{1} << 62}) {
        const auto got = infer(*model, shape_of({rows, 0}));
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, error_code::invalid_argument);
        EXPECT_THAT(got.error().message, HasSubstr("empty lists"));
    }
    EXPECT_FALSE(infer(*model, shape_of({2'000, 2'000, 0, 5})));
    EXPECT_TRUE(infer(*model, shape_of({0, 1'000'000'000})));
    const auto few = infer(*model, shape_of({1'000, 0}));
    ASSERT_TRUE(few) << few.error().message;
    EXPECT_EQ((*few)[0].shape, (std::vector<std::int64_t>{1'000, 0}));
}

TEST(onnx_bounds, a_response_that_is_too_large_is_refused_with_its_bound) {
    HERALD_NEEDS_ONNX();
    const auto model = load(shaped(int8, "x"));
    const std::int64_t most = limits::onnx_response_bytes_max;
    EXPECT_TRUE(infer(*model, shape_of({most, 1})));
    const auto got = infer(*model, shape_of({most + 1, 1}));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().message,
              "the answer would be larger than 33554432 bytes; ask for fewer rows or outputs");
}

TEST(onnx_bounds, texts_without_letters_take_memory_too) {
    HERALD_NEEDS_ONNX();
    const auto model = load(shaped(text, ""));
    EXPECT_TRUE(infer(*model, shape_of({1'000, 1})));
    const auto got = infer(*model, shape_of({2'000'000, 1}));
    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().message, HasSubstr("fewer rows or outputs"));
}

TEST(onnx_bounds, responses_that_nobody_has_let_go_leave_no_room_for_others) {
    HERALD_NEEDS_ONNX();
    const auto model = load(shaped(int8, "x"));
    const std::int64_t large = limits::onnx_response_bytes_max;
    std::vector<response> kept;
    for (std::size_t bytes = 0; bytes < limits::onnx_responses_bytes_max;
         bytes += limits::onnx_response_bytes_max) {
        kept.push_back(infer(*model, shape_of({large, 1})));
        ASSERT_TRUE(kept.back()) << kept.back().error().message;
    }
    const auto refused = infer(*model, shape_of({large, 1}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::resource_exhausted);
    EXPECT_THAT(refused.error().message, HasSubstr("try again"));
    EXPECT_TRUE(infer(*model, shape_of({1'000, 1}))) << "small ones are always given";
    kept.pop_back();
    EXPECT_TRUE(infer(*model, shape_of({large, 1})));
}

TEST(onnx_bounds, a_model_whose_runs_do_not_end_is_loaded_after_seconds_and_is_not_quick) {
    HERALD_NEEDS_ONNX();
    const auto begin = std::chrono::steady_clock::now();
    const auto model = load(slow_to_load());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    ASSERT_TRUE(model);
    EXPECT_FALSE(model->is_quick());
    const auto got = infer(*model, {floats(1, 1)}, in_ms(100));
    ASSERT_FALSE(got);
}

TEST(onnx_bounds, a_load_that_nobody_wants_any_more_ends_soon) {
    HERALD_NEEDS_ONNX();
    const temporary_folder place;
    engines::model_source source;
    source.file = place.path() / "model";
    source.cancelled = std::make_shared<engines::cancellation>();
    source.batching.size_max = 8;
    write_model(source.file, slow_to_load());
    const auto begin = std::chrono::steady_clock::now();
    std::thread cancelling([&source] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        source.cancelled->cancel();
    });
    engine_or_null()->load(source, [](const result<engines::loaded_model>&) {});
    cancelling.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin,
              std::chrono::milliseconds(limits::onnx_warm_up_ms_max));
}

TEST(onnx_bounds, small_models_run_on_the_callers_thread) {
    HERALD_NEEDS_ONNX();
    const auto of = [](std::string_view name) {
        return values(std::string(name), tensor_type::int32, {1, 16}, std::vector<std::int32_t>(16, 1));
    };
    EXPECT_TRUE(becomes_quick(*load(tiny()), {of("x"), of("y")}));
    const auto linear = load(model(graph({node("MatMul", {"x", "w"}, {"y"})}, {value("x", float32, {-1, 4})},
                                         {value("y", float32, {-1, 4})},
                                         {weight("w", float32, {4, 4}, pseudo_random_floats(16, 3))})));
    for (const std::int64_t rows : {1, 7, 63}) EXPECT_TRUE(becomes_quick(*linear, {floats(rows, 4)})) << rows;
}

TEST(onnx_bounds, a_small_request_with_a_large_response_does_not_run_on_the_callers_thread) {
    HERALD_NEEDS_ONNX();
    const auto model = load(squares());
    EXPECT_TRUE(becomes_quick(*model, {floats(1, 1)}));
    for (int round = 0; round < 20; ++round)
        ASSERT_FALSE(is_answered_on_this_thread(*model, {floats(2'000, 1)}));
}

/// It is written there, too.
TEST(onnx_bounds, a_long_response_that_is_quick_to_compute_is_not_given_on_the_callers_thread) {
    HERALD_NEEDS_ONNX();
    const auto widening = [](std::int64_t columns) {
        return load(model(graph({node("MatMul", {"x", "w"}, {"y"})}, {value("x", float32, {-1, 1})},
                                {value("y", float32, {-1, columns})},
                                {weight("w", float32, {1, columns},
                                        pseudo_random_floats(static_cast<std::size_t>(columns), 3))})));
    };
    EXPECT_TRUE(becomes_quick(*widening(10'000), {floats(1, 1)}));
    EXPECT_FALSE(becomes_quick(*widening(20'000), {floats(1, 1)})) << "80,000 bytes";
}

TEST(onnx_bounds, rows_of_which_no_run_was_seen_do_not_run_on_the_callers_thread) {
    HERALD_NEEDS_ONNX();
    const auto model = load(squares());
    EXPECT_TRUE(becomes_quick(*model, {floats(1, 1)}));
    EXPECT_FALSE(is_answered_on_this_thread(*model, {floats(2, 1)}));
}

TEST(onnx_bounds, what_a_handler_throws_ends_neither_the_thread_nor_the_process) {
    HERALD_NEEDS_ONNX();
    const auto model = load(slow());
    const auto steps = std::vector{values("steps", tensor_type::int64, {1}, std::vector<std::int64_t>{3})};
    for (int round = 0; round < 10; ++round) {
        model->infer({steps, {}, 0, {}}, [](const response&) { throw std::bad_alloc(); });
        EXPECT_TRUE(infer(*model, steps));
    }
}

TEST(onnx_bounds, a_run_that_asks_for_more_memory_than_there_can_be_is_refused_for_good) {
    HERALD_NEEDS_ONNX();
    if (is_sanitized) GTEST_SKIP() << "a sanitizer ends the process there";
    const auto got =
        infer(*load(shaped(float64, std::string(8, '\0'))), shape_of({std::int64_t{1} << 50, 1}));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, error_code::invalid_argument) << got.error().message;
    EXPECT_THAT(got.error().message, HasSubstr("more memory with these inputs"));
    EXPECT_THAT(got.error().message, Not(HasSubstr("try again")));
}

TEST(onnx_bounds, a_file_that_cannot_be_opened_is_not_the_models_fault) {
    HERALD_NEEDS_ONNX();
    const auto missing = engine_or_null()->inspect("/nowhere/model");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, error_code::unavailable) << missing.error().message;
}

}  // namespace
}  // namespace herald::test::onnx
