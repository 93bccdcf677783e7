// Protects: every case of the ONNX project (Debian's libonnx-testdata) that ONNX Runtime loads gives through
// the engine what was published, but for those that tests/process/program/onnx_skipped.txt names with a
// reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "tests/support/onnx_inference.hpp"

namespace herald::test::onnx {
namespace {

using schemas::tensor;
using schemas::tensor_type;
namespace fs = std::filesystem;

constexpr const char* cases_folder = "/usr/share/libonnx-testdata/data";
constexpr std::size_t tried_each = 5;  // in the short form

std::string content_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// ---- TensorProto

struct proto_field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
};

class proto_reader {
  public:
    explicit proto_reader(std::string_view from) : x_left(from) {}
    std::uint64_t varint() {
        std::uint64_t out = 0;
        for (unsigned shift = 0; !x_left.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(x_left.front());
            x_left.remove_prefix(1);
            out |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) break;
        }
        return out;
    }
    std::optional<proto_field> next() {
        if (x_left.empty()) return std::nullopt;
        const auto tag = varint();
        proto_field out{tag >> 3U, 0, {}};
        std::size_t size = 0;
        switch (tag & 7U) {
            case 0:
                out.value = varint();
                return out;
            case 1:
                size = 8;
                break;
            case 2:
                size = varint();
                break;
            case 5:
                size = 4;
                break;
            default:
                return std::nullopt;
        }
        out.bytes = x_left.substr(0, size);
        x_left.remove_prefix(std::min(size, x_left.size()));
        return out;
    }
    bool is_done() const { return x_left.empty(); }

  private:
    std::string_view x_left;
};

std::optional<tensor_type> type_of(std::uint64_t theirs) {
    static const std::map<std::uint64_t, tensor_type> types{
        {float32, tensor_type::float32}, {uint8, tensor_type::uint8},      {int8, tensor_type::int8},
        {uint16, tensor_type::uint16},   {int16, tensor_type::int16},      {int32, tensor_type::int32},
        {int64, tensor_type::int64},     {text, tensor_type::text},        {boolean, tensor_type::boolean},
        {float16, tensor_type::float16}, {float64, tensor_type::float64},  {uint32, tensor_type::uint32},
        {uint64, tensor_type::uint64},   {bfloat16, tensor_type::bfloat16}};
    const auto found = types.find(theirs);
    if (found == types.end()) return std::nullopt;
    return found->second;
}

/// Numbers may stand in fields of their own, wider than they are.
tensor read_tensor(std::string_view bytes) {
    tensor out;
    std::vector<std::uint64_t> numbers;
    std::string data;
    proto_reader reader(bytes);
    while (const auto field = reader.next()) {
        const auto each_number = [&](auto take) {
            if (field->bytes.data() == nullptr) return take(field->value);
            for (proto_reader packed(field->bytes); !packed.is_done();) take(packed.varint());
        };
        switch (field->number) {
            case 1:
                each_number([&](std::uint64_t dim) { out.shape.push_back(static_cast<std::int64_t>(dim)); });
                break;
            case 2:
                out.type = type_of(field->value).value();
                break;
            case 4:
            case 9:
            case 10:
                data += field->bytes;
                break;
            case 5:
            case 7:
            case 11:
                each_number([&](std::uint64_t number) { numbers.push_back(number); });
                break;
            case 6:
                out.texts.emplace_back(field->bytes);
                break;
            case 8:
                out.name = field->bytes;
                break;
            default:
                break;
        }
    }
    out.data = data;
    for (const auto number : numbers)
        for (std::size_t at = 0; at < schemas::bytes_of(out.type); ++at)
            out.data += static_cast<char>(number >> (8 * at) & 0xFFU);
    return out;
}

// ---- comparing

double half(std::uint16_t bits) {
    const int exponent = bits >> 10U & 0x1FU;
    const double mantissa = bits & 0x3FFU;
    const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
    if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
    return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}

template <class T>
T element(const tensor& from, std::size_t at) {
    T out;
    std::memcpy(&out, from.data.data() + at * sizeof(T), sizeof(T));
    return out;
}

std::optional<double> as_float(const tensor& from, std::size_t at) {
    switch (from.type) {
        case tensor_type::float16:
            return half(element<std::uint16_t>(from, at));
        case tensor_type::bfloat16:
            return std::bit_cast<float>(std::uint32_t{element<std::uint16_t>(from, at)} << 16U);
        case tensor_type::float32:
            return element<float>(from, at);
        case tensor_type::float64:
            return element<double>(from, at);
        default:
            return std::nullopt;
    }
}

/// As the ONNX project compares: floats by a relative 1e-3, all else exactly.
std::string difference(const tensor& got, const tensor& wanted) {
    if (got.type != wanted.type) return "another type";
    if (got.shape != wanted.shape) return "another shape";
    if (got.texts != wanted.texts) return "other texts";
    if (got.data.size() != wanted.data.size()) return "another size";
    if (!as_float(wanted, 0) || wanted.data.empty()) return got.data == wanted.data ? "" : "other values";
    for (std::size_t at = 0; at < wanted.data.size() / schemas::bytes_of(wanted.type); ++at) {
        const double is = *as_float(got, at);
        const double should = *as_float(wanted, at);
        const bool is_same = is == should || (std::isnan(is) && std::isnan(should)) ||
                             std::abs(is - should) <= 1e-5 + 1e-3 * std::abs(should);
        if (!is_same) return std::to_string(is) + " in place of " + std::to_string(should);
    }
    return "";
}

// ---- cases

std::vector<fs::path> all_cases() {
    std::vector<fs::path> out;
    std::error_code failed;
    for (const auto& entry : fs::recursive_directory_iterator(cases_folder, failed))
        if (entry.path().filename() == "model.onnx") out.push_back(entry.path().parent_path());
    std::ranges::sort(out);
    return out;
}

std::map<std::string, std::string> skipped_cases() {
    std::map<std::string, std::string> out;
    std::ifstream in(HERALD_ONNX_SKIPPED);
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        const auto space = line.find(' ');
        out[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
    }
    return out;
}

enum class outcome { equal, not_loaded, different };

std::pair<outcome, std::string> run_case(const fs::path& folder) {
    engines::model_source source;
    source.file = folder / "model.onnx";
    std::promise<result<engines::loaded_model>> promise;
    engine_or_null()->load(source,
                           [&](result<engines::loaded_model> model) { promise.set_value(std::move(model)); });
    const auto loaded = promise.get_future().get();
    if (!loaded) {
        const bool is_runtimes = loaded.error().message.find("cannot load the model") != std::string::npos;
        return {is_runtimes ? outcome::not_loaded : outcome::different, loaded.error().message};
    }
    const auto& signature = loaded->tensors->signature();
    for (const auto& set : fs::directory_iterator(folder)) {
        if (!set.is_directory()) continue;
        std::vector<tensor> inputs;
        for (std::size_t at = 0; at < signature.inputs.size(); ++at) {
            inputs.push_back(read_tensor(content_of(set.path() / ("input_" + std::to_string(at) + ".pb"))));
            inputs.back().name = signature.inputs[at].name;
        }
        const auto got = infer(*loaded->tensors, std::move(inputs), in_ms(60'000));
        if (!got) return {outcome::different, got.error().message};
        for (std::size_t at = 0; at < got->size(); ++at) {
            const auto wanted =
                read_tensor(content_of(set.path() / ("output_" + std::to_string(at) + ".pb")));
            const auto why = difference((*got)[at], wanted);
            if (!why.empty()) return {outcome::different, "output " + std::to_string(at) + ": " + why};
        }
    }
    return {outcome::equal, ""};
}

TEST(onnx_cases, published_cases_give_what_was_published) {
    HERALD_NEEDS_ONNX();
    const auto all = all_cases();
    if (all.empty()) GTEST_SKIP() << "there is no " << cases_folder << " (libonnx-testdata)";
    const bool is_long = std::getenv("HERALD_TEST_LONG") != nullptr;
    const auto skipped = skipped_cases();
    std::size_t equal = 0;
    std::size_t not_loaded = 0;
    for (std::size_t at = 0; at < all.size(); at += is_long ? 1 : tried_each) {
        const auto name = fs::relative(all[at], cases_folder).string();
        const auto [how, why] = run_case(all[at]);
        const auto skip = skipped.find(name);
        if (how == outcome::equal) ++equal;
        if (how == outcome::not_loaded) ++not_loaded;
        if (skip == skipped.end()) {
            EXPECT_NE(how, outcome::different) << name << ": " << why;
        } else {
            EXPECT_FALSE(skip->second.empty()) << name << " is skipped without a reason";
        }
    }
    RecordProperty("equal", std::to_string(equal));
    RecordProperty("not_loaded", std::to_string(not_loaded));
    // A folder that is almost empty, or a runtime that loads next to nothing, is no pass.
    EXPECT_GE(equal, is_long ? 800U : 160U) << not_loaded << " not loaded";
}

}  // namespace
}  // namespace herald::test::onnx
