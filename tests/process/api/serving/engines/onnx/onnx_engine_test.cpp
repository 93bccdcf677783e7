// Protects: what an ONNX model gives is what it computes, whatever the types; a bad request, a bad model or
// a run without end harms only itself.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "api/serving/engines/onnx/limits.hpp"
#include "tests/support/onnx_inference.hpp"

namespace herald::test::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_type;
using testing::HasSubstr;
using testing::Not;

struct type_case {
    tensor_type ours;
    kind theirs;
};
constexpr std::array<type_case, 13> number_types{{{tensor_type::boolean, boolean},
                                                  {tensor_type::uint8, uint8},
                                                  {tensor_type::uint16, uint16},
                                                  {tensor_type::uint32, uint32},
                                                  {tensor_type::uint64, uint64},
                                                  {tensor_type::int8, int8},
                                                  {tensor_type::int16, int16},
                                                  {tensor_type::int32, int32},
                                                  {tensor_type::int64, int64},
                                                  {tensor_type::float16, float16},
                                                  {tensor_type::bfloat16, bfloat16},
                                                  {tensor_type::float32, float32},
                                                  {tensor_type::float64, float64}}};

std::vector<tensor> two_rows(int first) {
    std::vector<std::int32_t> x;
    for (int at = 0; at < 16; ++at) x.push_back(first + at);
    return {values("x", tensor_type::int32, {1, 16}, x),
            values("y", tensor_type::int32, {1, 16}, std::vector<std::int32_t>(16, 2))};
}

std::string refusal_of(const std::string& model) {
    const auto loaded = load_with(*engine_or_null(), model);
    if (loaded) return "loaded";
    EXPECT_EQ(loaded.error().code, error_code::invalid_argument);
    return loaded.error().message;
}

TEST(onnx_engine, sum_and_difference_are_computed) {
    HERALD_NEEDS_ONNX();
    const auto model = load(tiny());
    for (int round = 0; round < 20; ++round) {  // kept tensors are used again
        const auto got = infer(*model, two_rows(round));
        ASSERT_TRUE(got) << got.error().message;
        ASSERT_EQ(got->size(), 2U);
        std::array<std::int32_t, 16> sum{};
        std::memcpy(sum.data(), (*got)[0].data.data(), sizeof sum);
        EXPECT_EQ((*got)[0].name, "sum");
        EXPECT_EQ(sum[0], round + 2);
        EXPECT_EQ(sum[15], round + 17);
    }
}

TEST(onnx_engine, signature_names_types_and_free_dimensions) {
    HERALD_NEEDS_ONNX();
    const auto model = load(mlp());
    const schemas::model_signature expected{{{"x", tensor_type::float32, {-1, mlp_width}}},
                                            {{"probabilities", tensor_type::float32, {-1, 16}}}};
    EXPECT_EQ(model->signature(), expected);
}

TEST(onnx_engine, an_output_of_unknown_rank_is_told_from_a_scalar_and_given_as_it_comes) {
    HERALD_NEEDS_ONNX();
    const auto y = chunk(1, "y") + chunk(2, chunk(1, number(1, float32)));  // without a shape
    const auto reshaped = load(model(graph({node("Reshape", {"x", "shape"}, {"y"})},
                                           {value("x", float32, {4}), value("shape", int64, {-1})}, {y})));
    ASSERT_TRUE(reshaped);
    EXPECT_EQ(reshaped->signature().outputs[0].shape, std::vector{schemas::unknown_rank});
    const auto got =
        infer(*reshaped, {values("x", tensor_type::float32, {4}, std::vector{1.0F, 2.0F, 3.0F, 4.0F}),
                          values("shape", tensor_type::int64, {2}, std::vector<std::int64_t>{2, 2})});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ((*got)[0].shape, (std::vector<std::int64_t>{2, 2}));
    EXPECT_EQ(load(model(graph({node("Neg", {"x"}, {"y"})}, {value("x", float32, {4})}, {y})))
                  ->signature()
                  .outputs[0]
                  .shape,
              std::vector<std::int64_t>{4});
    EXPECT_EQ(load(identity(float32, {}))->signature().outputs[0].shape, std::vector<std::int64_t>{});
}

TEST(onnx_engine, inspection_says_the_same_without_keeping_the_model) {
    HERALD_NEEDS_ONNX();
    const temporary_folder place;
    write_model(place / "m", tiny());
    const auto found = engine_or_null()->inspect(place / "m");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, load(tiny())->signature());
}

TEST(onnx_engine, every_type_of_number_goes_through_fixed_and_free_shapes) {
    HERALD_NEEDS_ONNX();
    for (const auto& [ours, theirs] : number_types)
        for (const std::int64_t first : {3, -1}) {
            const auto model = load(identity(theirs, {first, 2}));
            ASSERT_TRUE(model) << schemas::bytes_of(ours);
            tensor x{"x", ours, {3, 2}, {}, {}};
            for (std::size_t at = 0; at < 6 * schemas::bytes_of(ours); ++at)
                x.data += static_cast<char>(ours == tensor_type::boolean ? at % 2 : at + 1);
            const auto got = infer(*model, {x});
            ASSERT_TRUE(got) << got.error().message;
            EXPECT_EQ((*got)[0].data, x.data) << schemas::bytes_of(ours);
            EXPECT_EQ((*got)[0].type, ours);
            EXPECT_EQ((*got)[0].shape, x.shape);
        }
}

/// y, z, c and whatever else: models that pass on what they have in all ways that there are.
std::vector<std::string> passing_models() {
    const auto f = [](const char* name) { return value(name, float32, {2}); };
    const auto w = [](const char* name) { return weight(name, float32, {2}, bytes_of({3.0F, 4.0F})); };
    const std::string neg = node("Neg", {"x"}, {"y"});
    const std::string constant =
        node("Constant", {}, {"c"}, {chunk(1, "value") + chunk(5, w("t")) + number(20, 4)});
    const std::vector<std::string> x{f("x")};
    return {
        model(graph({}, x, {f("x")})),
        model(graph({neg}, x, {f("x"), f("y")})),
        model(graph({node("Neg", {"v"}, {"y"})}, {f("x"), f("v")}, {f("v"), f("x"), f("y")})),
        model(graph({neg}, x, {f("y"), f("y")})),
        model(graph({node("Identity", {"x"}, {"y"})}, x, {f("y")})),
        model(graph({node("Identity", {"x"}, {"y"}), node("Identity", {"x"}, {"z"})}, x, {f("y"), f("z")})),
        model(graph({node("Identity", {"x"}, {"y"})}, x, {f("x"), f("y")})),
        model(graph({neg, node("Identity", {"y"}, {"z"})}, x, {f("y"), f("z")})),
        model(graph({neg, node("Neg", {"x"}, {"z"})}, x, {f("y"), f("z")})),
        model(graph({node("Dropout", {"x"}, {"y"})}, x, {f("y")})),
        model(graph({node("Cast", {"x"}, {"y"}, {whole("to", float32)})}, x, {f("y")})),
        model(graph({neg}, x, {f("w"), f("y")}, {w("w")})),
        model(graph({node("Add", {"x", "w"}, {"y"})}, {f("x"), f("w")}, {f("w"), f("y")}, {w("w")})),
        model(graph({node("Identity", {"w"}, {"c"}), neg}, x, {f("c"), f("w"), f("y")}, {w("w")})),
        model(graph({node("Add", {"w", "w"}, {"c"}), neg}, x, {f("c"), f("y")}, {w("w")})),
        model(graph({constant, neg}, x, {f("c"), f("y")}))};
}

TEST(onnx_engine, what_is_passed_on_or_constant_is_given_as_it_is_by_kept_tensors_too) {
    HERALD_NEEDS_ONNX();
    for (const auto& bytes : passing_models()) {
        const auto model = load(bytes);
        ASSERT_TRUE(model);
        for (const float first : {1.5F, -7.0F}) {  // kept tensors are used again
            std::vector<tensor> inputs;
            for (const auto& each : model->signature().inputs)
                inputs.push_back(values(each.name, each.type, each.shape, std::vector{first, first + 1}));
            const auto got = infer(*model, inputs);
            ASSERT_TRUE(got) << got.error().message;
            for (std::uint32_t at = 0; at < got->size(); ++at) {
                std::promise<response> alone;  // outputs that are chosen are never in kept tensors
                model->infer({inputs, {at}, 0, {}},
                             [&](response given) { alone.set_value(std::move(given)); });
                const auto expected = alone.get_future().get();
                ASSERT_TRUE(expected) << expected.error().message;
                EXPECT_EQ((*got)[at], (*expected)[0]);
                EXPECT_NE((*got)[at].data, std::string(8, '\0'));
            }
        }
    }
}

TEST(onnx_engine, texts_keep_every_byte) {
    HERALD_NEEDS_ONNX();
    const auto model = load(identity(text, {-1}));
    const std::vector<std::string> texts{"", std::string("a\0b", 3), "\xff\xfe", std::string(100'000, 'x')};
    const auto got = infer(*model, {{"x", tensor_type::text, {4}, {}, texts}});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ((*got)[0].texts, texts);
    const auto none = infer(*model, {{"x", tensor_type::text, {0}, {}, {}}});
    ASSERT_TRUE(none) << none.error().message;
    EXPECT_EQ((*none)[0].shape, std::vector<std::int64_t>{0});
}

TEST(onnx_engine, scalars_and_empty_tensors_go_through) {
    HERALD_NEEDS_ONNX();
    const auto scalar =
        infer(*load(identity(float64, {})), {values("x", tensor_type::float64, {}, std::vector{1.5})});
    ASSERT_TRUE(scalar) << scalar.error().message;
    EXPECT_EQ((*scalar)[0].data, bytes_of({1.5}));
    const auto empty =
        infer(*load(identity(float32, {-1, 4})), {{"x", tensor_type::float32, {0, 4}, {}, {}}});
    ASSERT_TRUE(empty) << empty.error().message;
    EXPECT_EQ((*empty)[0].data, "");
    EXPECT_EQ((*empty)[0].shape, (std::vector<std::int64_t>{0, 4}));
}

TEST(onnx_engine, only_the_wanted_outputs_are_given) {
    HERALD_NEEDS_ONNX();
    const auto model = load(tiny());
    std::promise<response> got;
    model->infer({two_rows(5), {1}, 0, {}}, [&got](response given) { got.set_value(std::move(given)); });
    const auto response = got.get_future().get();
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(response->size(), 1U);
    EXPECT_EQ(response->front().name, "difference");
}

TEST(onnx_engine, bad_requests_are_refused_and_the_next_is_answered) {
    HERALD_NEEDS_ONNX();
    const auto model = load(tiny());
    auto wrong_size = two_rows(1);
    wrong_size[0].data.pop_back();
    auto wrong_type = two_rows(1);
    wrong_type[1].type = tensor_type::uint32;
    auto wrong_shape = two_rows(1);
    wrong_shape[0].shape = {16, 1};
    auto too_few = two_rows(1);
    too_few.pop_back();
    auto huge = two_rows(1);
    huge[0].shape = {std::int64_t{1} << 62, 16};
    auto negative = two_rows(1);
    negative[0].shape = {-1, -16};
    for (const auto& bad : {wrong_size, wrong_type, wrong_shape, too_few, huge, negative}) {
        const auto got = infer(*model, bad);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, error_code::invalid_argument) << got.error().message;
        EXPECT_TRUE(infer(*model, two_rows(1)));
    }
    const auto two = infer(*load(identity(boolean, {-1})), {{"x", tensor_type::boolean, {1}, "\x02", {}}});
    ASSERT_FALSE(two);
    EXPECT_THAT(two.error().message, HasSubstr("neither 0 nor 1"));
}

TEST(onnx_engine, what_a_model_refuses_comes_with_its_own_words) {
    HERALD_NEEDS_ONNX();
    const auto model = load(gather());
    const auto got = infer(*model, {values("i", tensor_type::int64, {1}, std::vector<std::int64_t>{8})});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, error_code::invalid_argument);
    EXPECT_THAT(got.error().message, HasSubstr("indices"));
    EXPECT_TRUE(infer(*model, {values("i", tensor_type::int64, {1}, std::vector<std::int64_t>{7})}));
}

TEST(onnx_engine, models_that_cannot_be_served_are_refused_with_a_reason) {
    HERALD_NEEDS_ONNX();
    EXPECT_THAT(refusal_of(wrong_shapes()), HasSubstr("MatMul"));
    EXPECT_THAT(refusal_of(unknown_operator()), HasSubstr("org.example"));
    EXPECT_THAT(refusal_of(external_data()), HasSubstr("weights.bin"));
    EXPECT_THAT(refusal_of("no model"), HasSubstr("cannot load the model"));
    EXPECT_THAT(refusal_of(""), HasSubstr("cannot load the model"));
    EXPECT_THAT(refusal_of(mlp().substr(0, 100'000)), HasSubstr("cannot load the model"));
    const auto sequence = chunk(2, chunk(4, chunk(1, chunk(1, number(1, float32)))));
    EXPECT_THAT(refusal_of(model(graph({node("SequenceConstruct", {"x"}, {"y"})}, {value("x", float32, {1})},
                                       {chunk(1, "y") + sequence}))),
                HasSubstr(R"("y" is a sequence)"));
    EXPECT_THAT(refusal_of(identity(static_cast<kind>(14), {1})), HasSubstr("complex64"));
}

TEST(onnx_engine, refusals_name_neither_folders_of_the_node_nor_sources_of_the_runtime) {
    HERALD_NEEDS_ONNX();
    const std::string same =
        graph({node("Identity", {"x"}, {"y"})}, {value("x", float32, {1})}, {value("y", float32, {1})});
    const std::string opset = number(1, 8) + chunk(7, same);
    const std::string ensemble = model(graph({node("TreeEnsembleRegressor", {"x"}, {"y"}, {}, "ai.onnx.ml")},
                                             {value("x", float32, {1, 2})}, {value("y", float32, {1, 1})}),
                                       {}, "ai.onnx.ml");
    const std::vector<std::pair<std::string, std::string>> cases{
        {wrong_shapes(), "MatMul"},
        {unknown_operator(), "model: Fatal error: org.example"},
        {external_data(), "External data path"},
        {"no model", "model: Protobuf parsing failed"},
        {opset + chunk(8, number(2, 99)), "model: ONNX Runtime only *guarantees* support"},
        {number(1, 99) + chunk(7, same) + chunk(8, number(2, 17)), "model: Unsupported model IR version: 99"},
        {opset, "model: Missing opset in the model"},
        {ensemble, "Exception during initialization: n_targets_or_classes > 0 was false"},
        {model(graph({node("Add", {"x", "w"}, {"y"})}, {value("x", float32, {1})}, {value("y", float32, {1})},
                     {weight("w", float32, {100}, "abc")})),
         "model: Initializer 'w': raw_data size (3 bytes)"}};
    for (const auto& [bytes, text] : cases) {
        const std::string got = refusal_of(bytes);
        EXPECT_THAT(got, HasSubstr(text));
        for (const char* own : {"/tmp", "onnxruntime_src", ".cc:", ".h:", "onnxruntime::", "Load model from"})
            EXPECT_THAT(got, Not(HasSubstr(own)));
    }
}

TEST(onnx_engine, the_files_check_is_asked_before_the_model_is_loaded) {
    HERALD_NEEDS_ONNX();
    const auto engine = engines::onnx::make_onnx_engine(
        {HERALD_ONNXRUNTIME, [](const std::filesystem::path&) -> result<void> {
             return runtime::invalid_argument("not this one");
         }});
    ASSERT_TRUE(engine) << engine.error().message;
    const auto loaded = load_with(**engine, tiny());
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().message, "not this one");
}

TEST(onnx_engine, a_run_without_end_is_ended_at_its_deadline) {
    HERALD_NEEDS_ONNX();
    const auto model = load(slow());
    const auto steps = [](std::int64_t count) {
        return std::vector{values("steps", tensor_type::int64, {1}, std::vector{count})};
    };
    const auto begin = std::chrono::steady_clock::now();
    auto endless = begin_inference(*model, steps(std::int64_t{1} << 40), in_ms(300));
    // It does not run on the thread that asks.
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
    const auto brief = infer(*model, steps(10), in_ms(60'000));  // meanwhile
    ASSERT_TRUE(brief) << brief.error().message;
    EXPECT_EQ((*brief)[0].data, bytes_of({10.0F}));
    const auto got = endless.get();
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, error_code::deadline_exceeded);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(299));
    // Nothing of it is left for those that follow.
    for (int round = 0; round < 5; ++round) EXPECT_TRUE(infer(*model, steps(1'000), in_ms(60'000)));
}

TEST(onnx_engine, a_deadline_that_has_passed_is_not_run) {
    HERALD_NEEDS_ONNX();
    const auto got = infer(*load(tiny()), two_rows(1), in_ms(-1));
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, error_code::deadline_exceeded);
}

TEST(onnx_engine, endless_runs_of_one_model_do_not_hold_up_another) {
    HERALD_NEEDS_ONNX();
    const auto bad = load(slow());
    const auto good = load(slow());
    std::vector<std::future<response>> endless;
    for (int at = 0; at < 100; ++at)
        endless.push_back(begin_inference(
            *bad, {values("steps", tensor_type::int64, {1}, std::vector{std::int64_t{1} << 40})},
            in_ms(1'500)));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(infer(*good, {values("steps", tensor_type::int64, {1}, std::vector<std::int64_t>{10})}));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1'000));
    for (auto& each : endless) EXPECT_FALSE(each.get());
}

TEST(onnx_engine, too_many_waiting_requests_are_refused) {
    HERALD_NEEDS_ONNX();
    const auto model = load(slow());
    std::vector<std::future<response>> all;
    for (std::size_t at = 0; at < limits::onnx_requests_waiting_max + 100; ++at)
        all.push_back(begin_inference(
            *model, {values("steps", tensor_type::int64, {1}, std::vector{std::int64_t{1} << 40})},
            in_ms(1'000)));
    std::size_t refused = 0;
    for (auto& each : all) {
        const auto got = each.get();
        ASSERT_FALSE(got);
        if (got.error().code == error_code::resource_exhausted) ++refused;
    }
    EXPECT_GE(refused, 50U);
    EXPECT_LE(refused, 100U);
}

TEST(onnx_engine, many_threads_get_each_their_own_answer) {
    HERALD_NEEDS_ONNX();
    const auto small = load(tiny());
    const auto large = load(mlp());
    const auto row = [](int seed) {
        return tensor{
            "x",
            tensor_type::float32,
            {1, mlp_width},
            pseudo_random_floats(static_cast<std::size_t>(mlp_width), static_cast<std::uint32_t>(seed)),
            {}};
    };
    std::vector<response> expected;
    for (int seed = 0; seed < 8; ++seed) expected.push_back(infer(*large, {row(seed)}));
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 8; ++thread)
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 200; ++round) {
                const auto sums = infer(*small, two_rows(thread * 1'000 + round), in_ms(60'000));
                std::int32_t first = 0;
                if (sums) std::memcpy(&first, (*sums)[0].data.data(), sizeof first);
                if (first != thread * 1'000 + round + 2) ++wrong;
                const auto got = infer(*large, {row(thread)}, in_ms(60'000));
                if (!got || *got != *expected[static_cast<std::size_t>(thread)]) ++wrong;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(onnx_engine, a_model_may_go_while_its_last_request_is_answered) {
    HERALD_NEEDS_ONNX();
    auto model = load(slow());
    auto last = begin_inference(
        *model, {values("steps", tensor_type::int64, {1}, std::vector<std::int64_t>{20'000})});
    model.reset();
    const auto got = last.get();
    ASSERT_TRUE(got) << got.error().message;
}

TEST(onnx_engine, an_engine_may_go_before_its_models) {
    HERALD_NEEDS_ONNX();
    auto engine = engines::onnx::make_onnx_engine({HERALD_ONNXRUNTIME, {}});
    ASSERT_TRUE(engine) << engine.error().message;
    auto loaded = load_with(**engine, slow());
    ASSERT_TRUE(loaded) << loaded.error().message;
    engine->reset();
    EXPECT_TRUE(
        infer(*loaded->tensors, {values("steps", tensor_type::int64, {1}, std::vector<std::int64_t>{5})}));
}

TEST(onnx_engine, a_thousand_models_one_after_another_take_no_more_memory) {
    HERALD_NEEDS_ONNX();
    const auto resident_bytes = [] {
        std::ifstream in("/proc/self/statm");
        std::size_t all = 0;
        std::size_t resident = 0;
        in >> all >> resident;
        return resident * 4'096;
    };
    std::size_t after_warm_up = 0;
    std::shared_ptr<engines::tensor_model> serving;
    for (unsigned round = 0; round < 1'000; ++round) {
        auto next = load(round % 10 == 0 ? mlp() : tiny(round));
        ASSERT_TRUE(next);
        serving = std::move(next);
        if (round == 100) after_warm_up = resident_bytes();
    }
    EXPECT_LE(resident_bytes(), after_warm_up + after_warm_up / 20);
}

TEST(onnx_engine, a_missing_library_is_said_and_how_to_get_it) {
    for (const std::string place : {"/nowhere/libonnxruntime.so.1", "/lib/x86_64-linux-gnu/libm.so.6"}) {
        const auto engine = engines::onnx::make_onnx_engine({place, {}});
        ASSERT_FALSE(engine);
        EXPECT_EQ(engine.error().code, error_code::unavailable);
        EXPECT_THAT(engine.error().message, HasSubstr("deploy/onnxruntime"));
    }
}

}  // namespace
}  // namespace herald::test::onnx
