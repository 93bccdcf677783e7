// Protects: integers that the processor cannot divide refuse one request, with the operator's name; they end
// neither the process nor other requests. A model that does it again and again is out of service, with the
// reason; one whose run ends the process leaves a mark.
#include <gmock/gmock.h>

#include <csignal>
#include <future>
#include <limits>

#include "api/serving/engines/onnx/division.hpp"
#include "api/serving/engines/onnx/model_operators.hpp"
#include "api/serving/engines/onnx/run_traps.hpp"
#include "tests/support/onnx_inference.hpp"
#include "tests/support/sanitized.hpp"

namespace herald::test::onnx {
namespace {

using engines::onnx::division_at;
using engines::onnx::watched_run;
using schemas::tensor;
using schemas::tensor_type;
using testing::AllOf;
using testing::HasSubstr;

std::string named_node(std::string_view op, const std::vector<std::string>& inputs, std::string_view name) {
    return node(op, inputs, {"y"}) + chunk(3, name);
}

std::string division_of(std::string_view op, kind type, std::string_view name = "ratio") {
    return model(graph({named_node(op, {"a", "b"}, name)}, {value("a", type, {-1}), value("b", type, {-1})},
                       {value("y", type, {-1})}));
}

template <class T>
std::vector<tensor> pair_of(tensor_type type, const std::vector<T>& a, const std::vector<T>& b) {
    const auto count = static_cast<std::int64_t>(a.size());
    return {values("a", type, {count}, a), values("b", type, {count}, b)};
}

error refusal(engines::tensor_model& of, const std::vector<tensor>& inputs) {
    const auto got = infer(of, inputs);
    EXPECT_FALSE(got) << "it was answered";
    return got ? error{error_code::internal, "answered"} : got.error();
}

/// Divides what the processor cannot, twice, and something that it can between and after.
template <class T>
void expect_contained(std::string_view op, kind theirs, tensor_type ours) {
    SCOPED_TRACE(op);
    const auto model = load(division_of(op, theirs));
    ASSERT_TRUE(model);
    const T lowest = std::numeric_limits<T>::lowest();
    const auto overflow = pair_of<T>(ours, {lowest, 7}, {static_cast<T>(-1), 2});
    const auto sound = pair_of<T>(ours, {9, 8}, {3, 2});
    const error why = refusal(*model, overflow);
    EXPECT_EQ(why.code, error_code::invalid_argument);
    EXPECT_THAT(why.message,
                AllOf(HasSubstr("operator " + std::string(op) + " \"ratio\""), HasSubstr("too large")));
    const auto good = infer(*model, sound);
    ASSERT_TRUE(good) << good.error().message;
    const T first = op == "Div" ? T{3} : T{0};
    EXPECT_EQ(good->front().data.substr(0, sizeof(T)), bytes_of<T>({first}));
    EXPECT_EQ(refusal(*model, overflow).code, error_code::invalid_argument);
    const error out = refusal(*model, sound);
    EXPECT_EQ(out.code, error_code::unavailable);
    EXPECT_THAT(out.message, AllOf(HasSubstr("out of service"), HasSubstr("2 requests")));
    EXPECT_FALSE(model->in_service());
}

TEST(run_traps, a_division_that_the_processor_refuses_is_the_requests_fault_alone) {
    HERALD_NEEDS_ONNX();
    for (const std::string_view op : {"Div", "Mod"}) {
        expect_contained<std::int32_t>(op, int32, tensor_type::int32);
        expect_contained<std::int64_t>(op, int64, tensor_type::int64);
    }
}

TEST(run_traps, a_divisor_of_zero_is_refused_as_often_as_it_comes) {
    HERALD_NEEDS_ONNX();
    for (const std::string_view op : {"Div", "Mod"}) {
        const auto model = load(division_of(op, int64));
        ASSERT_TRUE(model);
        for (int round = 0; round < 5; ++round)
            EXPECT_EQ(refusal(*model, pair_of<std::int64_t>(tensor_type::int64, {7}, {0})).code,
                      error_code::invalid_argument);
        EXPECT_TRUE(model->in_service());
    }
}

TEST(run_traps, a_constant_divisor_is_no_protection) {
    HERALD_NEEDS_ONNX();
    const auto model = load(test::onnx::model(
        graph({named_node("Div", {"a", "minus"}, "")}, {value("a", int64, {-1})}, {value("y", int64, {-1})},
              {weight("minus", int64, {}, bytes_of<std::int64_t>({-1}))})));
    ASSERT_TRUE(model);
    const std::vector<tensor> lowest{values(
        "a", tensor_type::int64, {1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()})};
    EXPECT_THAT(refusal(*model, lowest).message, HasSubstr("the model's operator Div divides"));
}

TEST(run_traps, a_try_of_heralds_own_is_no_fault_of_a_request) {
    HERALD_NEEDS_ONNX();
    const auto model = load(division_of("Div", int32));
    ASSERT_TRUE(model);
    engines::tensor_request request;
    request.inputs =
        pair_of<std::int32_t>(tensor_type::int32, {std::numeric_limits<std::int32_t>::min()}, {-1});
    request.is_a_try = true;
    for (int round = 0; round < 5; ++round) {
        std::promise<response> given;
        model->infer(request, [&given](response got) { given.set_value(std::move(got)); });
        EXPECT_FALSE(given.get_future().get());
    }
    EXPECT_TRUE(infer(*model, pair_of<std::int32_t>(tensor_type::int32, {4}, {2})));
}

TEST(run_traps, after_many_traps_at_once_the_thread_goes_on) {
    HERALD_NEEDS_ONNX();
    const auto model = load(division_of("Mod", int64));
    ASSERT_TRUE(model);
    const std::vector<std::int64_t> lowest(20'000, std::numeric_limits<std::int64_t>::min());
    const std::vector<std::int64_t> minus_ones(20'000, -1);
    EXPECT_EQ(refusal(*model, pair_of<std::int64_t>(tensor_type::int64, lowest, minus_ones)).code,
              error_code::invalid_argument);
    EXPECT_TRUE(infer(*model, pair_of<std::int64_t>(tensor_type::int64, {4}, {2})));
}

TEST(run_traps, operators_are_named_from_the_models_file) {
    const std::string div = named_node("Div", {"a", "b"}, "d");
    const std::string mod = named_node("Mod", {"a", "b"}, "");
    const auto named = [](std::string_view bytes) {
        return engines::onnx::operators_of(bytes, engines::onnx::dividing_operators());
    };
    const auto names = [&](const std::vector<std::string>& nodes) {
        return named(model(graph(nodes, {}, {})));
    };
    EXPECT_EQ(names({div}), "operator Div \"d\"");
    EXPECT_EQ(names({mod, node("Add", {"a", "b"}, {"c"}), div}), "one of its operators Mod, Div \"d\"");
    EXPECT_EQ(names({mod, mod, mod, div}), "one of its operators Mod, Mod, Mod, …");
    EXPECT_EQ(names({node("If", {"c"}, {"y"}, {inner("then_branch", graph({div}, {}, {}))})}),
              "operator Div \"d\"");
    EXPECT_EQ(names({}), "");
    EXPECT_EQ(named("\xff\xff no model"), "");
}

engines::onnx::division read(std::initializer_list<std::uint8_t> code) {
    std::array<std::uint8_t, 15> padded{};
    std::ranges::copy(code, padded.begin());
    return division_at(padded);
}

TEST(run_traps, divisions_of_all_forms_are_read) {
    const auto expect = [](std::initializer_list<std::uint8_t> code, std::size_t operand_bytes) {
        EXPECT_EQ(read(code).length, code.size());
        EXPECT_EQ(read(code).operand_bytes, operand_bytes);
    };
    expect({0xF7, 0xF9}, 4);                                      // idiv ecx
    expect({0xF7, 0xF1}, 4);                                      // div ecx
    expect({0x48, 0xF7, 0xF9}, 8);                                // idiv rcx
    expect({0x49, 0xF7, 0xFF}, 8);                                // idiv r15
    expect({0x66, 0xF7, 0xF9}, 2);                                // idiv cx
    expect({0xF6, 0xF9}, 1);                                      // idiv cl
    expect({0x41, 0xF6, 0xF0}, 1);                                // div r8b
    expect({0xF7, 0x3E}, 4);                                      // idiv [rsi]
    expect({0x48, 0xF7, 0x7E, 0x08}, 8);                          // idiv [rsi+8]
    expect({0xF7, 0x3C, 0x8E}, 4);                                // idiv [rsi+rcx*4]
    expect({0x43, 0xF7, 0x7C, 0x95, 0x10}, 4);                    // idiv [r13+r10*4+16]
    expect({0xF7, 0xBE, 0x00, 0x01, 0x00, 0x00}, 4);              // idiv [rsi+256]
    expect({0xF7, 0x3D, 0x00, 0x01, 0x00, 0x00}, 4);              // idiv [rip+256]
    expect({0x48, 0xF7, 0x3C, 0xCD, 0x00, 0x01, 0x00, 0x00}, 8);  // idiv [rcx*8+256]
    expect({0x67, 0x66, 0xF7, 0x3C, 0x8E}, 2);                    // idiv [esi+ecx*4]
    EXPECT_EQ(read({0xF7, 0xD9}).length, 0U) << "neg ecx";
    EXPECT_EQ(read({0xF7, 0xE1}).length, 0U) << "mul ecx";
    EXPECT_EQ(read({0x0F, 0x0B}).length, 0U) << "ud2";
}

// ---- runs that break off

/// The runtime breaks off at the unique rows of [2,2,0], which is what is left of x when all is dropped; not
/// with the zeros that warm a model up.
std::string unique_of_kept() {
    return model(graph(
        {node("Not", {"dropped"}, {"kept"}), node("Compress", {"x", "kept"}, {"some"}, {whole("axis", 2)}),
         node("Unique", {"some"}, {"y"}, {whole("axis", 1)})},
        {value("x", float32, {2, 2, 2}), value("dropped", boolean, {-1})},
        {value("y", float32, {2, -1, -2})}));
}

std::vector<tensor> all_dropped(bool is_dropped) {
    return {values("x", tensor_type::float32, {2, 2, 2}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}),
            tensor{"dropped", tensor_type::boolean, {2}, std::string(2, is_dropped ? '\1' : '\0'), {}}};
}

TEST(run_traps, a_run_that_breaks_off_refuses_its_request_and_another_thread_takes_its_place) {
    HERALD_NEEDS_ONNX();
    if (is_sanitized) GTEST_SKIP() << "the thread that is lost would be a leak";
    const auto model = load(unique_of_kept());
    const auto neighbour = load(tiny());
    ASSERT_TRUE(model);
    ASSERT_TRUE(infer(*model, all_dropped(false)));
    const error why = refusal(*model, all_dropped(true));
    EXPECT_EQ(why.code, error_code::invalid_argument);
    EXPECT_THAT(why.message, HasSubstr("broke off"));
    EXPECT_TRUE(infer(*model, all_dropped(false))) << "another thread has taken its place";
    EXPECT_EQ(refusal(*model, all_dropped(true)).code, error_code::invalid_argument);
    EXPECT_THAT(refusal(*model, all_dropped(false)).message, HasSubstr("out of service"));
}

TEST(run_traps, an_operator_that_takes_nothing_empty_gets_nothing_empty) {
    HERALD_NEEDS_ONNX();
    const auto model =
        load(test::onnx::model(graph({node("Unique", {"x"}, {"y"}, {whole("axis", 0)}) + chunk(3, "once")},
                                     {value("x", float32, {-1, 2})}, {value("y", float32, {-1, -2})})));
    ASSERT_TRUE(model);
    const error why = refusal(*model, {values("x", tensor_type::float32, {0, 2}, std::vector<float>{})});
    EXPECT_EQ(why.code, error_code::invalid_argument);
    EXPECT_THAT(why.message,
                HasSubstr("input \"x\" has no elements, which the model's operator Unique \"once\""));
}

// ---- what still ends the process

/// For the compiler not to know.
int divided(int value, int by) {
    volatile int hidden_value = value;
    volatile int hidden_by = by;
    return hidden_value / hidden_by;
}

class run_traps_at_the_end : public testing::Test {
  protected:
    void SetUp() override {
        if (is_sanitized) GTEST_SKIP() << "a sanitizer has its own handlers";
        GTEST_FLAG_SET(death_test_style, "fast");  // with the mark's folder of this process
    }
};

TEST_F(run_traps_at_the_end, a_division_outside_of_runs_ends_the_process_as_before) {
    EXPECT_EXIT(
        {
            watched_run run({});
            run.begin();
            watched_run::end();
            std::exit(divided(1, 0));
        },
        testing::KilledBySignal(SIGFPE), "");
}

TEST_F(run_traps_at_the_end, a_fault_in_a_run_ends_the_process_and_leaves_a_mark) {
    const temporary_folder place;
    const std::string mark = place.path() / "mark";
    for (const int number : {SIGSEGV, SIGABRT})
        EXPECT_EXIT(
            {
                watched_run run({mark.c_str()});
                run.begin();
                if (number == SIGABRT) std::abort();
                volatile int* nothing = nullptr;
                *nothing = 1;
            },
            testing::KilledBySignal(number), "");
    EXPECT_EQ(std::filesystem::file_size(mark), 2U);
    EXPECT_EXIT(
        {
            watched_run run({mark.c_str()});
            run.begin();
            watched_run::end();
            std::abort();
        },
        testing::KilledBySignal(SIGABRT), "");
    EXPECT_EQ(std::filesystem::file_size(mark), 2U) << "the run was over";
}

/// Deep enough for any stack.
int deeper(int at) {
    volatile char here[4'096] = {};
    here[at % 4'096] = 1;
    return at == 0 ? 0 : deeper(at - 1) + here[0];
}

TEST_F(run_traps_at_the_end, a_stack_that_is_used_up_leaves_a_mark_too) {
    const temporary_folder place;
    const std::string mark = place.path() / "mark";
    EXPECT_EXIT(
        {
            watched_run run({mark.c_str()});
            run.begin();
            std::exit(deeper(1'000'000));
        },
        testing::KilledBySignal(SIGSEGV), "");
    EXPECT_EQ(std::filesystem::file_size(mark), 1U);
}

}  // namespace
}  // namespace herald::test::onnx
