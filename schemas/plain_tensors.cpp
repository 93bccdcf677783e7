#include "schemas/plain_tensors.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "schemas/json_numbers.hpp"
#include "schemas/parser_room.hpp"

namespace herald::schemas {
namespace {

namespace ondemand = simdjson::ondemand;

bool read_double(ondemand::value& value, double& out) {
    static constexpr std::size_t exact_bytes_max = 19;  // of longer ones simdjson 3.0.1 makes others
    std::string_view token = value.raw_json_token();
    if (value.get_double().get(out) != simdjson::SUCCESS) return false;
    if (token.size() > exact_bytes_max) {
        token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
        if (std::from_chars(token.data(), token.data() + token.size(), out).ec != std::errc{}) return false;
    }
    out = beside_integer(token, out);
    return true;
}

/// Depth first, as the arrays are nested. Each step returns whether it went well.
class plain_reader {
  public:
    plain_reader(const tensor_spec& spec, tensor& to) : x_spec(spec), x_to(to) {}

    template <class Number>
    bool read(ondemand::array items, std::size_t depth) {
        std::int64_t length = 0;
        const bool is_innermost = depth + 1 == x_spec.shape.size();
        for (auto item : items) {
            ++length;
            ondemand::value value;
            if (item.get(value) != simdjson::SUCCESS) return false;
            if (is_innermost) {
                if (!append<Number>(value)) return false;
                continue;
            }
            ondemand::array nested;
            if (value.get_array().get(nested) != simdjson::SUCCESS || !read<Number>(nested, depth + 1))
                return false;
        }
        return take_length(length, depth);
    }

  private:
    /// JSON does not show the shape of an empty array.
    bool take_length(std::int64_t length, std::size_t depth) {
        if (length == 0) return false;
        std::int64_t& kept = x_to.shape[depth];
        if (kept == unknown) kept = length;
        return kept == length && (x_spec.shape[depth] < 0 || x_spec.shape[depth] == length);
    }

    template <class Number>
    bool append(ondemand::value& value) {
        if constexpr (std::is_same_v<Number, std::string>)
            return append_text(value);
        else
            return append_number<Number>(value);
    }

    /// simdjson takes half of a surrogate pair, which UTF-8 cannot hold.
    bool append_text(ondemand::value& value) {
        std::string_view text;
        if (value.get_string().get(text) != simdjson::SUCCESS) return false;
        if (text.find('\xED') != std::string_view::npos && !simdjson::validate_utf8(text.data(), text.size()))
            return false;
        x_to.texts.emplace_back(text);
        return true;
    }

    template <class Number>
    bool append_number(ondemand::value& value) {
        Number number{};
        if constexpr (std::is_floating_point_v<Number>) {
            double wide = 0;
            if (!read_double(value, wide)) return false;
            number = static_cast<Number>(wide);
            // -0 is an integer there, and a value too large for the type is reported.
            if (!std::isfinite(number) || (wide == 0 && std::signbit(wide))) return false;
        } else if constexpr (std::is_same_v<Number, std::uint64_t>) {
            if (value.get_uint64().get(number) != simdjson::SUCCESS) return false;
        } else {
            std::int64_t wide = 0;
            if (value.get_int64().get(wide) != simdjson::SUCCESS || !std::in_range<Number>(wide))
                return false;
            number = static_cast<Number>(wide);
        }
        x_to.data.append(reinterpret_cast<const char*>(&number), sizeof number);
        return true;
    }

  public:
    static constexpr std::int64_t unknown = -1;

  private:
    const tensor_spec& x_spec;
    tensor& x_to;
};

bool read_as(tensor_type type, plain_reader& reader, ondemand::array items) {
    switch (type) {
        case tensor_type::uint8:
            return reader.read<std::uint8_t>(items, 0);
        case tensor_type::uint16:
            return reader.read<std::uint16_t>(items, 0);
        case tensor_type::uint32:
            return reader.read<std::uint32_t>(items, 0);
        case tensor_type::uint64:
            return reader.read<std::uint64_t>(items, 0);
        case tensor_type::int8:
            return reader.read<std::int8_t>(items, 0);
        case tensor_type::int16:
            return reader.read<std::int16_t>(items, 0);
        case tensor_type::int32:
            return reader.read<std::int32_t>(items, 0);
        case tensor_type::int64:
            return reader.read<std::int64_t>(items, 0);
        case tensor_type::float32:
            return reader.read<float>(items, 0);
        case tensor_type::float64:
            return reader.read<double>(items, 0);
        case tensor_type::text:
            return reader.read<std::string>(items, 0);
        case tensor_type::boolean:
        case tensor_type::float16:
        case tensor_type::bfloat16:
            break;
    }
    return false;
}

/// What is known of a text before it is read.
struct extent {
    std::size_t bytes = 0;
    std::size_t elements_max = 0;  // of the model's only input; 0: not known
};

bool read_tensor(ondemand::array items, const tensor_spec& spec, const extent& of, tensor& to) {
    if (spec.shape.empty()) return false;
    to.name = spec.name;
    to.type = spec.type;
    to.shape.assign(spec.shape.size(), plain_reader::unknown);
    std::size_t expected = bytes_of(spec.type);
    for (const std::int64_t each : spec.shape)
        if (each > 0 && std::cmp_less_equal(each, of.bytes)) expected *= static_cast<std::size_t>(each);
    to.data.reserve(of.elements_max > 0 ? of.elements_max * bytes_of(spec.type)
                                        : std::min(expected, of.bytes));
    if (spec.type == tensor_type::text) to.texts.reserve(of.elements_max);
    plain_reader reader(spec, to);
    return read_as(spec.type, reader, items);
}

/// Looks first where the input is that follows the one before.
std::size_t place_of(std::string_view name, const model_signature& signature, std::size_t likely) {
    if (likely < signature.inputs.size() && signature.inputs[likely].name == name) return likely;
    const auto found = std::ranges::find(signature.inputs, name, &tensor_spec::name);
    return static_cast<std::size_t>(found - signature.inputs.begin());
}

bool read_members(ondemand::object members, const model_signature& signature, const extent& of,
                  std::vector<tensor>& inputs) {
    std::size_t read = 0;
    for (auto member : members) {
        std::string_view name;
        if (member.unescaped_key().get(name) != simdjson::SUCCESS) return false;
        const std::size_t place = place_of(name, signature, read);
        if (place == inputs.size() || !inputs[place].shape.empty()) return false;  // unknown, or there twice
        ondemand::array items;
        if (member.value().get_array().get(items) != simdjson::SUCCESS) return false;
        if (!read_tensor(items, signature.inputs[place], of, inputs[place])) return false;
        ++read;
    }
    return read == inputs.size();
}

bool read_root(ondemand::document& document, const model_signature& signature, const extent& of,
               std::vector<tensor>& inputs) {
    ondemand::json_type type{};
    if (document.type().get(type) != simdjson::SUCCESS) return false;
    if (type == ondemand::json_type::object) {
        ondemand::object members;
        return document.get_object().get(members) == simdjson::SUCCESS &&
               read_members(members, signature, of, inputs);
    }
    ondemand::array items;
    return type == ondemand::json_type::array && inputs.size() == 1 &&
           document.get_array().get(items) == simdjson::SUCCESS &&
           read_tensor(items, signature.inputs[0], of, inputs[0]);
}

/// What a thread keeps from one text to the next.
struct plain_workroom {
    ondemand::parser parser;
    std::string text;
};

}  // namespace

std::optional<std::vector<tensor>> read_plain_tensors(std::string_view json, const model_signature& signature,
                                                      std::size_t elements_max) {
    thread_local plain_workroom room;
    room.text.assign(json);
    room.text.append(simdjson::SIMDJSON_PADDING, ' ');
    std::vector<tensor> inputs(signature.inputs.size());
    const extent of{json.size(), inputs.size() == 1 ? elements_max : 0};
    ondemand::document document;
    const bool is_read =
        (room.parser.capacity() >= json.size() ||
         room.parser.allocate(parser_bytes_for(json.size()), room.parser.max_depth()) == simdjson::SUCCESS) &&
        room.parser.iterate(room.text.data(), json.size(), room.text.size()).get(document) ==
            simdjson::SUCCESS &&
        read_root(document, signature, of, inputs) &&
        document.current_location().error() == simdjson::OUT_OF_BOUNDS;  // nothing follows
    if (!is_parser_kept(room.parser.capacity())) room = plain_workroom();
    if (!is_read) return std::nullopt;
    return inputs;
}

}  // namespace herald::schemas
