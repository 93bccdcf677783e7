// Protects: what is run together gives each caller, bit for bit, what it would have got alone; what cannot is
// refused when it is loaded; nobody waits beyond delay or deadline for others.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "api/serving/batching/batched_model.hpp"
#include "api/serving/batching/batching_engine.hpp"
#include "api/serving/batching/limits.hpp"
#include "api/serving/batching/merging.hpp"
#include "tests/support/onnx_inference.hpp"

namespace herald::test::onnx {
namespace {

namespace batching = api::serving::batching;
using engines::tensor_request;
using schemas::tensor;
using schemas::tensor_type;
using std::chrono::milliseconds;
using testing::HasSubstr;

result<engines::loaded_model> load_batched(const std::string& bytes, std::uint32_t size_max,
                                           std::uint32_t delay_ms = 5) {
    const auto engine = batching::make_batching_engine(engine_or_null());
    return load_with(*engine, bytes, {size_max, delay_ms});
}

std::shared_ptr<engines::tensor_model> batched(const std::string& bytes, std::uint32_t size_max,
                                               std::uint32_t delay_ms = 5) {
    auto loaded = load_batched(bytes, size_max, delay_ms);
    if (loaded) return loaded->tensors;
    ADD_FAILURE() << loaded.error().message;
    return nullptr;
}

std::string refusal_of(const std::string& bytes, std::uint32_t size_max = 8) {
    const auto loaded = load_batched(bytes, size_max);
    return loaded ? "loaded" : loaded.error().message;
}

tensor rows_of_floats(std::int64_t rows, std::int64_t width, std::uint32_t seed) {
    return {"x",
            tensor_type::float32,
            {rows, width},
            pseudo_random_floats(static_cast<std::size_t>(rows * width), seed),
            {}};
}

std::string weights(std::string_view name, const shape& dims) {
    std::size_t count = 1;
    for (const auto dim : dims) count *= static_cast<std::size_t>(dim);
    return weight(name, float32, dims, pseudo_random_floats(count, 11));
}

/// Models whose rows have nothing to do with each other.
std::vector<std::pair<std::string, std::string>> rowwise_models() {
    const auto over_image = [](const std::vector<std::string>& nodes, const std::vector<std::string>& more) {
        return model(graph(nodes, {value("x", float32, {-1, 3, 8, 8})},
                           {value("y", float32, {-1, -2, -2, -2})}, more));
    };
    std::vector<std::pair<std::string, std::string>> out;
    out.emplace_back("mlp", mlp());
    out.emplace_back("MatMul", rows_of_four({node("MatMul", {"x", "w"}, {"y"})}, {weights("w", {4, 4})}));
    out.emplace_back("Softmax", rows_of_four({node("Softmax", {"x"}, {"y"}, {whole("axis", 1)})}));
    out.emplace_back("Erf", rows_of_four({node("Erf", {"x"}, {"y"})}));
    out.emplace_back("Tanh of Sigmoid",
                     rows_of_four({node("Sigmoid", {"x"}, {"s"}), node("Tanh", {"s"}, {"y"})}));
    out.emplace_back("Exp and Log", rows_of_four({node("Exp", {"x"}, {"e"}), node("Log", {"e"}, {"y"})}));
    out.emplace_back("CumSum along a row",
                     rows_of_four({node("CumSum", {"x", "axis"}, {"y"})},
                                  {weight("axis", int64, {}, bytes_of<std::int64_t>({1}))}));
    out.emplace_back("LayerNormalization",
                     rows_of_four({node("LayerNormalization", {"x", "w", "b"}, {"y"}, {whole("axis", 1)})},
                                  {weights("w", {4}), weights("b", {4})}));
    out.emplace_back("Conv", over_image({node("Conv", {"x", "w"}, {"y"})}, {weights("w", {5, 3, 3, 3})}));
    out.emplace_back("Conv, Relu, GlobalAveragePool",
                     over_image({node("Conv", {"x", "w"}, {"c"}), node("Relu", {"c"}, {"r"}),
                                 node("GlobalAveragePool", {"r"}, {"y"})},
                                {weights("w", {5, 3, 3, 3})}));
    out.emplace_back("Sqrt and Pow",
                     rows_of_four({node("Sqrt", {"x"}, {"s"}), node("Pow", {"s", "x"}, {"y"})}));
    out.emplace_back("Sin", rows_of_four({node("Sin", {"x"}, {"y"})}));
    out.emplace_back(
        "ReduceMax of a row",
        rows_of_four({node("ReduceMax", {"x"}, {"m"}, {chunk(1, "axes") + number(8, 1) + number(20, 7)}),
                      node("Sub", {"x", "m"}, {"y"})}));
    out.emplace_back("Gather", gather());
    out.emplace_back("texts", identity(text, {-1}));
    for (const kind each :
         {boolean, uint8, int8, uint16, int16, int32, int64, uint32, uint64, float16, float64, bfloat16})
        out.emplace_back("identity " + std::to_string(static_cast<unsigned>(each)), identity(each, {-1, 3}));
    return out;
}

TEST(batching, rowwise_models_pass_and_others_are_refused) {
    HERALD_NEEDS_ONNX();
    for (const auto& [name, bytes] : rowwise_models()) {
        const auto loaded = load_batched(bytes, 40);
        EXPECT_TRUE(loaded) << name << ": " << loaded.error().message;
    }
    EXPECT_THAT(refusal_of(cumulative_sum()), HasSubstr("bit for bit"));
    EXPECT_THAT(refusal_of(quantized()), HasSubstr("bit for bit"));
    EXPECT_THAT(refusal_of(rows_of_four({node("Softmax", {"x"}, {"y"}, {whole("axis", 0)})})),
                HasSubstr("bit for bit"));
    EXPECT_THAT(refusal_of(tiny()), HasSubstr("no free first dimension"));
    EXPECT_THAT(refusal_of(identity(float32, {})), HasSubstr("no free first dimension"));
    EXPECT_THAT(refusal_of(model(graph({node("Concat", {"x", "x"}, {"y"}, {whole("axis", 0)})},
                                       {value("x", float32, {-1, 4})}, {value("y", float32, {-2, 4})}))),
                HasSubstr("rows"));
}

/// y is x, but -x where the largest (or smallest) element of all rows passes a limit.
std::string watching(const std::string& reduction, const std::string& comparison, float limit) {
    return rows_of_four(
        {node(reduction, {"x"}, {"m"}, {whole("keepdims", 0)}), node(comparison, {"m", "limit"}, {"is"}),
         node("Neg", {"x"}, {"n"}), node("Where", {"is", "n", "x"}, {"y"})},
        {weight("limit", float32, {}, bytes_of({limit}))});
}

TEST(batching, models_that_mix_rows_only_for_extreme_values_are_refused) {
    HERALD_NEEDS_ONNX();
    for (const std::uint32_t size_max : {2U, 16U}) {
        EXPECT_THAT(refusal_of(watching("ReduceMax", "Greater", 1'000), size_max), HasSubstr("bit for bit"));
        EXPECT_THAT(refusal_of(watching("ReduceMax", "Greater", 1e15F), size_max), HasSubstr("bit for bit"));
        EXPECT_THAT(refusal_of(watching("ReduceMin", "Less", -1'000), size_max), HasSubstr("bit for bit"));
        EXPECT_THAT(refusal_of(rows_of_four({node("ReduceSum", {"x"}, {"m"}, {whole("keepdims", 0)}),
                                             node("IsNaN", {"m"}, {"is"}), node("Neg", {"x"}, {"n"}),
                                             node("Where", {"is", "n", "x"}, {"y"})}),
                               size_max),
                    HasSubstr("bit for bit"));
    }
    const auto integers = model(graph(
        {node("ReduceMax", {"x"}, {"m"}, {whole("keepdims", 0)}), node("Greater", {"m", "limit"}, {"is"}),
         node("Neg", {"x"}, {"n"}), node("Where", {"is", "n", "x"}, {"y"})},
        {value("x", int64, {-1, 4})}, {value("y", int64, {-1, 4})},
        {weight("limit", int64, {}, bytes_of<std::int64_t>({1'000'000'000}))}));
    EXPECT_THAT(refusal_of(integers), HasSubstr("bit for bit"));
}

TEST(batching, batches_that_take_much_memory_are_refused_with_the_size_that_fits) {
    HERALD_NEEDS_ONNX();
    const auto images = identity(float32, {-1, 3, 224, 224});
    EXPECT_THAT(refusal_of(images, 1'024), HasSubstr("a size_max of at most 55 fits"));
    EXPECT_THAT(refusal_of(identity(float32, {-1, 64, 1'024, 1'024}), 2),
                HasSubstr("as any batch of it does"));
    EXPECT_TRUE(load_batched(images, 4));
}

/// Rows of floats that come back, where the next request may find no memory.
class exhausted_model final : public engines::tensor_model {
  public:
    const schemas::model_signature& signature() const noexcept override { return x_signature; }
    void infer(tensor_request request, response_handler handler) override {
        if (is_exhausted) throw std::bad_alloc();
        handler(std::move(request.inputs));
    }
    std::uint64_t memory_bytes() const noexcept override { return 0; }
    std::atomic<bool> is_exhausted{false};

  private:
    const schemas::model_signature x_signature{{{"x", tensor_type::float32, {-1, 4}}},
                                               {{"x", tensor_type::float32, {-1, 4}}}};
};

TEST(batching, a_batch_for_which_there_is_no_memory_is_answered_so_and_the_next_one_runs) {
    const auto inner = std::make_shared<exhausted_model>();
    batching::batched_model model(inner, schemas::build_id{1}, {8, 5});
    inner->is_exhausted = true;
    std::vector<std::future<response>> all;
    for (std::uint32_t seed = 0; seed < 4; ++seed)
        all.push_back(begin_inference(model, {rows_of_floats(1, 4, seed)}, in_ms(60'000)));
    for (auto& each : all) {
        const auto got = each.get();
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, error_code::resource_exhausted) << got.error().message;
    }
    inner->is_exhausted = false;
    EXPECT_TRUE(infer(model, {rows_of_floats(1, 4, 1)}, in_ms(60'000)));
}

TEST(batching, what_a_handler_throws_harms_no_other_of_its_batch) {
    const auto inner = std::make_shared<exhausted_model>();
    batching::batched_model model(inner, schemas::build_id{1}, {8, 5});
    model.infer({{rows_of_floats(1, 4, 1)}, {}, in_ms(60'000), {}},
                [](const response&) { throw std::bad_alloc(); });
    EXPECT_TRUE(infer(model, {rows_of_floats(1, 4, 2)}, in_ms(60'000)));
}

TEST(batching, two_rows_are_tried_too) {
    HERALD_NEEDS_ONNX();
    EXPECT_THAT(refusal_of(cumulative_sum(), 2), HasSubstr("bit for bit"));
}

TEST(batching, a_size_of_one_is_none) {
    HERALD_NEEDS_ONNX();
    EXPECT_TRUE(load_batched(tiny(), 1));
    EXPECT_TRUE(load_batched(cumulative_sum(), 0));
}

TEST(batching, batched_answers_equal_single_ones_under_random_merging_and_cancelling) {
    HERALD_NEEDS_ONNX();
    for (const std::uint32_t size_max : {3U, 24U}) {
        const auto alone = load(mlp());
        const auto model = batched(mlp(), size_max, 2);
        ASSERT_TRUE(model);
        std::vector<std::pair<tensor, response>> expected;
        for (std::uint32_t seed = 0; seed < 32; ++seed) {
            auto x = rows_of_floats(1 + seed % 3, mlp_width, seed);
            auto given = infer(*alone, {x});
            ASSERT_TRUE(given);
            expected.emplace_back(std::move(x), std::move(given));
        }
        std::atomic<int> wrong{0};
        std::atomic<int> answered{0};
        std::vector<std::thread> callers;
        for (std::uint32_t caller = 0; caller < 16; ++caller)
            callers.emplace_back([&, caller] {
                for (std::uint32_t round = 0; round < 40; ++round) {
                    const auto& [x, right] = expected[(caller * 7 + round * 5) % expected.size()];
                    const bool is_impatient = (caller + round) % 5 == 0;
                    const auto got = infer(*model, {x}, is_impatient ? in_ms(1) : in_ms(60'000));
                    if (got)
                        ++answered;
                    else if (!is_impatient || got.error().code != error_code::deadline_exceeded)
                        ++wrong;
                    if (got && *got != *right) ++wrong;
                }
            });
        for (auto& caller : callers) caller.join();
        EXPECT_EQ(wrong, 0);
        EXPECT_GE(answered, 16 * 32);
    }
}

TEST(batching, requests_of_different_shapes_wait_together_and_run_apart) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(identity(float32, {-1, -2}), 8, 20);
    ASSERT_TRUE(model);
    std::vector<std::future<response>> responses;
    for (std::uint32_t at = 0; at < 12; ++at)
        responses.push_back(begin_inference(*model, {rows_of_floats(1, 1 + at % 3, at)}));
    for (std::uint32_t at = 0; at < 12; ++at) {
        const auto got = responses[at].get();
        ASSERT_TRUE(got) << got.error().message;
        EXPECT_EQ((*got)[0].data, rows_of_floats(1, 1 + at % 3, at).data);
        EXPECT_EQ((*got)[0].shape, (std::vector<std::int64_t>{1, 1 + at % 3}));
    }
}

TEST(batching, texts_are_cut_where_they_were_joined) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(identity(text, {-1}), 8, 20);
    ASSERT_TRUE(model);
    auto first = begin_inference(*model, {{"x", tensor_type::text, {2}, {}, {"a", ""}}});
    auto second = begin_inference(*model, {{"x", tensor_type::text, {1}, {}, {"b"}}});
    EXPECT_EQ(first.get()->front().texts, (std::vector<std::string>{"a", ""}));
    EXPECT_EQ(second.get()->front().texts, std::vector<std::string>{"b"});
}

TEST(batching, a_refused_value_harms_only_its_own_request) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(gather(), 8, 50);
    ASSERT_TRUE(model);
    const auto index = [](std::int64_t at) {
        return std::vector{values("i", tensor_type::int64, {1}, std::vector{at})};
    };
    auto good = begin_inference(*model, index(7));
    auto bad = begin_inference(*model, index(8));
    auto also_good = begin_inference(*model, index(0));
    EXPECT_TRUE(good.get());
    EXPECT_TRUE(also_good.get());
    const auto refused = bad.get();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::invalid_argument);
}

TEST(batching, a_full_batch_does_not_wait_and_a_lone_request_waits_no_longer_than_the_delay) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(mlp(), 4, 3'000);
    ASSERT_TRUE(model);
    auto begin = std::chrono::steady_clock::now();
    std::vector<std::future<response>> responses;
    for (std::uint32_t at = 0; at < 4; ++at)
        responses.push_back(begin_inference(*model, {rows_of_floats(1, mlp_width, at)}));
    for (auto& each : responses) EXPECT_TRUE(each.get());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2'000));
    // As large as a batch by itself, or no batch at all: at once.
    EXPECT_TRUE(infer(*model, {rows_of_floats(4, mlp_width, 1)}));
    EXPECT_TRUE(infer(*model, {rows_of_floats(9, mlp_width, 1)}));
    EXPECT_TRUE(infer(*model, {rows_of_floats(0, mlp_width, 1)}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2'000));
    begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(infer(*model, {rows_of_floats(1, mlp_width, 1)}));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(2'900));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5'000));
}

TEST(batching, deadlines_are_kept_while_waiting_and_the_others_are_answered) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(mlp(), 4, 1'000);
    ASSERT_TRUE(model);
    const auto begin = std::chrono::steady_clock::now();
    auto patient = begin_inference(*model, {rows_of_floats(1, mlp_width, 1)}, in_ms(60'000));
    auto hasty = begin_inference(*model, {rows_of_floats(1, mlp_width, 2)}, in_ms(50));
    const auto late = hasty.get();
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, error_code::deadline_exceeded);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(800));
    EXPECT_TRUE(patient.get());
}

TEST(batching, too_many_waiting_requests_are_refused) {
    HERALD_NEEDS_ONNX();
    const auto model = batched(identity(float32, {-1, 1}), 1'024, 500);
    ASSERT_TRUE(model);
    // Every other one has two columns and refuses itself: nothing is merged, all wait for their turn.
    std::vector<std::future<response>> responses;
    for (std::size_t at = 0; at < limits::batch_requests_waiting_max + 50; ++at)
        responses.push_back(
            begin_inference(*model, {rows_of_floats(1, 1 + static_cast<std::int64_t>(at % 2), 1)}));
    std::size_t exhausted = 0;
    std::size_t answered = 0;
    for (auto& each : responses) {
        const auto got = each.get();
        if (got) ++answered;
        if (!got && got.error().code == error_code::resource_exhausted) ++exhausted;
    }
    EXPECT_LE(exhausted, 50U);
    EXPECT_GE(answered, limits::batch_requests_waiting_max / 2 - 50);
}

TEST(batching, a_model_that_goes_answers_what_waits) {
    HERALD_NEEDS_ONNX();
    auto model = batched(mlp(), 8, 60'000);
    ASSERT_TRUE(model);
    auto first = begin_inference(*model, {rows_of_floats(1, mlp_width, 1)});
    auto second = begin_inference(*model, {rows_of_floats(1, mlp_width, 2)});
    model.reset();
    EXPECT_TRUE(first.get());
    EXPECT_TRUE(second.get());
}

TEST(batching, sizes_are_few_and_none_is_smaller_than_its_rows) {
    std::vector<std::size_t> classes;
    for (std::size_t rows = 1; rows <= 1'000; ++rows) {
        const std::size_t size = batching::size_class(rows, 1'000);
        EXPECT_GE(size, rows);
        EXPECT_LE(size, std::max<std::size_t>(rows + rows / 4, 16));
        EXPECT_EQ(batching::size_class(size, 1'000), size);
        if (classes.empty() || classes.back() != size) classes.push_back(size);
    }
    EXPECT_LE(classes.size(), 16U + 6U * 4U);
    EXPECT_TRUE(std::ranges::is_sorted(classes));
    EXPECT_EQ(classes.back(), 1'000U);
}

TEST(batching, batches_at_64_callers_are_at_least_twice_as_fast_as_single_runs) {
    HERALD_NEEDS_ONNX();
    const auto seconds_with = [](engines::tensor_model& model) {
        const auto begin = std::chrono::steady_clock::now();
        for (int round = 0; round < 20; ++round) {
            std::vector<std::future<response>> responses;
            for (std::uint32_t at = 0; at < 64; ++at)
                responses.push_back(begin_inference(model, {rows_of_floats(1, mlp_width, at)}));
            for (auto& each : responses) EXPECT_TRUE(each.get());
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    const auto alone = load(mlp());
    const auto together = batched(mlp(), 64, 5);
    ASSERT_TRUE(together);
    double best = 0;
    for (int attempt = 0; attempt < 5 && best < 2; ++attempt)
        best = std::max(best, seconds_with(*alone) / seconds_with(*together));
    RecordProperty("times_as_fast", std::to_string(best));
    EXPECT_GE(best, 2);
}

}  // namespace
}  // namespace herald::test::onnx
