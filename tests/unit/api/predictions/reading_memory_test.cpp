// Protects a node's memory: reading a body never takes more than what was asked for before, whatever the body
// is made of.
#include "api/predictions/reading_memory.hpp"

#include <gmock/gmock.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "api/predictions/json_dialect.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "tests/support/sanitized.hpp"

namespace herald::test {
namespace {

using api::predictions::memory_taker;
using schemas::model_signature;
using schemas::tensor_type;

constexpr std::size_t body_bytes = 4u << 20;

/// Of this process, from the kernel: VmRSS, or the most it ever was, VmHWM.
std::size_t bytes_of_process(std::string_view name) {
    std::ifstream lines("/proc/self/status");
    std::string word;
    while (lines >> word)
        if (word == std::string(name) + ":") {
            std::size_t kib = 0;
            lines >> kib;
            return kib * 1024;
        }
    return 0;
}

using reading = std::function<bool(const std::string& body, const memory_taker&)>;

struct outcome {
    bool is_read = false;
    std::size_t counted = 0;
    std::size_t taken = 0;
};
outcome outcome_of(const std::string& body, const reading& read, bool is_granted) {
    outcome out;
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << 5 << std::flush;  // VmHWM begins anew
    const std::size_t before = bytes_of_process("VmRSS");
    out.is_read = read(body, [&](std::size_t bytes) -> result<void> {
        out.counted = std::max(out.counted, bytes);
        if (is_granted) return {};
        return runtime::resource_exhausted("no room");
    });
    const std::size_t most = bytes_of_process("VmHWM");
    out.taken = most > before ? most - before : 0;
    return out;
}

std::string filled(const std::string& begin, const std::string& item, const std::string& end) {
    std::string out = begin;
    while (out.size() + item.size() < body_bytes) out += item + ",";
    return out + item + end;
}

model_signature one(tensor_type type, std::vector<std::int64_t> shape) {
    return {{{"x", type, std::move(shape)}}, {{"y", type, {-1}}}};
}
reading as_json(const model_signature& of) {
    return [of](const std::string& body, const memory_taker& take) {
        return api::predictions::inputs_of_json(body, of, take).has_value();
    };
}
reading as_table(const model_signature& of) {
    return [of](const std::string& body, const memory_taker& take) {
        return api::predictions::inputs_of_split(body, of, take).has_value();
    };
}
reading as_v2(const model_signature& of, std::optional<std::size_t> header_bytes = {}) {
    return [of, header_bytes](const std::string& body, const memory_taker& take) {
        return api::predictions::request_of_v2(body, header_bytes, of, take).has_value();
    };
}

void expect_counted(const std::string& body, const reading& read, bool is_right) {
    SCOPED_TRACE(body.substr(0, 60));
    const outcome refused = outcome_of(body, read, false);
    EXPECT_FALSE(refused.is_read);
    EXPECT_LT(refused.taken, body_bytes / 2) << "it asks before it takes";
    const outcome granted = outcome_of(body, read, true);
    EXPECT_EQ(granted.is_read, is_right);
    EXPECT_LE(granted.taken, granted.counted + body_bytes / 4);
}

TEST(reading_memory, is_counted_before_it_is_taken_for_every_kind_of_body) {
    if (is_sanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
    const auto texts = one(tensor_type::text, {-1});
    const auto numbers = one(tensor_type::float64, {-1});
    expect_counted(filled(R"({"x":[)", R"("")", "]}"), as_json(texts), true);
    expect_counted(filled(R"({"x":[)", R"("sixteen letters.")", "]}"), as_json(texts), true);
    expect_counted(filled(R"({"x":[)", R"("")", ",1]}"), as_json(texts), false);
    expect_counted(filled(R"({"x":[)", "1", "]}"), as_json(numbers), true);
    expect_counted(filled(R"({"x":[)", "1", "]}"), as_json(one(tensor_type::float16, {-1})), true);
    expect_counted(filled(R"({"x":[)", "[1]", "]}"), as_json(one(tensor_type::boolean, {-1, 1})), false);
    expect_counted(filled("[", R"({"x":1})", "]"), as_json(numbers), true);
    expect_counted(filled("[", "{}", "]"), as_json(numbers), false);
    expect_counted(filled("[", "[]", "]"), as_json(numbers), false);
    expect_counted(filled("{", R"("a":0)", "}"), as_json(numbers), false);
    expect_counted(filled(R"({"columns":["x"],"data":[)", R"([""])", "]}"), as_table(texts), true);
    const std::string elements = std::to_string(body_bytes);
    expect_counted(
        filled(R"({"inputs":[{"name":"x","datatype":"BYTES","shape":[1],"data":[)", R"("")", "]}]}"),
        as_v2(texts), false);
    const std::string count = std::to_string(body_bytes / 4);
    const std::string head = R"({"inputs":[{"name":"x","datatype":"BYTES","shape":[)" + count +
                             R"(],"parameters":{"binary_data_size":)" + elements + "}}]}";
    expect_counted(head + std::string(body_bytes, '\0'), as_v2(texts, head.size()), true);
}

TEST(reading_memory, of_short_elements_is_a_few_times_their_body) {
    // So that a body as long as an endpoint takes by default is read on a small node.
    const std::string numbers = filled(R"({"x":[)", "0.12345678", "]}");
    EXPECT_LT(outcome_of(numbers, as_json(one(tensor_type::float32, {-1})), true).counted,
              8 * numbers.size());
    const std::string texts = filled(R"({"x":[)", R"("sixteen letters.")", "]}");
    EXPECT_LT(outcome_of(texts, as_json(one(tensor_type::text, {-1})), true).counted, 12 * texts.size());
    std::string commas = R"({"x":[")" + std::string(body_bytes, ',') + R"("]})";
    EXPECT_LT(outcome_of(commas, as_json(one(tensor_type::text, {-1})), true).counted, 12 * commas.size());
}

TEST(reading_memory, is_not_counted_for_bodies_that_are_read_on_the_loop) {
    EXPECT_EQ(outcome_of("[1]", as_json(one(tensor_type::float32, {-1})), false).counted, 0u);
}

}  // namespace
}  // namespace herald::test
