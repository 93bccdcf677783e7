#include "api/serving/builder/model_inspection.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/serving/builder/limits.hpp"
#include "api/serving/engines/protobuf_reader.hpp"
#include "storage/artifacts/arriving_file.hpp"

namespace herald::api::serving::builder {
namespace {

using engines::protobuf_reader;
constexpr unsigned varint_type = engines::protobuf_field::varint;
constexpr unsigned bytes_type = engines::protobuf_field::bytes_behind_length;

error damaged(std::string_view where) {
    return runtime::invalid_argument(
        {"the model is damaged: its ", where, " cannot be read; upload it again as a whole"});
}

error another_kind() {
    return runtime::invalid_argument(
        "the file is not an ONNX model (it does not parse as a ModelProto); a model of another kind is "
        "served by a server of its own: create the build with external_location, its image, and "
        "upstream_url, where it "
        "runs");
}

/// Printable ASCII of what the model says.
std::string shown(std::string_view name) {
    std::string out(name.substr(0, limits::model_name_bytes_shown_max));
    for (char& each : out)
        if (each < ' ' || each > '~') each = '?';
    return "\"" + out + "\"";
}

// What messages hold that may lead to a tensor; the numbers are those of onnx.proto.
enum class message : std::uint8_t {
    model,
    graph,
    node,
    attribute,
    tensor,
    sparse_tensor,
    function,
    training
};

std::optional<message> message_in(message outer, std::uint64_t field) {
    switch (outer) {
        case message::model:
            if (field == 7) return message::graph;
            if (field == 20) return message::training;
            if (field == 25) return message::function;
            break;
        case message::graph:
            if (field == 1) return message::node;
            if (field == 5) return message::tensor;
            if (field == 15) return message::sparse_tensor;
            break;
        case message::node:
            if (field == 5) return message::attribute;
            break;
        case message::attribute:
            if (field == 5 || field == 10) return message::tensor;
            if (field == 6 || field == 11) return message::graph;
            if (field == 22 || field == 23) return message::sparse_tensor;
            break;
        case message::sparse_tensor:
            if (field == 1 || field == 2) return message::tensor;
            break;
        case message::function:
            if (field == 7) return message::node;
            if (field == 11) return message::attribute;
            break;
        case message::training:
            if (field == 1 || field == 2) return message::graph;
            break;
        case message::tensor:
            break;
    }
    return std::nullopt;
}

std::string_view name_of(message which) {
    constexpr std::string_view names[]{"ModelProto", "graph",         "node",     "attribute",
                                       "tensor",     "sparse tensor", "function", "training part"};
    return names[static_cast<std::size_t>(which)];
}

result<void> look_at_tensor(std::string_view bytes) {
    std::string_view name;
    bool is_external = false;
    for (protobuf_reader reader(bytes); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return damaged("tensor " + shown(name));
        if (field->number == 8 && field->type == bytes_type) name = field->bytes;
        if (field->number == 13) is_external = true;
        if (field->number == 14 && field->type == varint_type && field->value == 1) is_external = true;
    }
    if (!is_external) return {};
    return runtime::invalid_argument({"the model's tensor ", shown(name),
                                      " has its values in another file; save the model with all values in "
                                      "one file (without external data)"});
}

result<void> look_at(message which, std::string_view bytes, int depth) {
    if (which == message::tensor) return look_at_tensor(bytes);
    if (depth > limits::model_depth_max)
        return runtime::invalid_argument(
            {"the model's graphs are nested more than ", limits::model_depth_max, " levels deep"});
    for (protobuf_reader reader(bytes); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return damaged(name_of(which));
        const auto inner = message_in(which, field->number);
        if (!inner) continue;
        if (field->type != bytes_type) return damaged(name_of(*inner));
        if (const auto good = look_at(*inner, field->bytes, depth + 1); !good) return good;
    }
    return {};
}

/// The bytes of the first such field; none when there is none.
std::optional<std::string_view> part_of(std::string_view message, std::uint64_t number) {
    for (protobuf_reader reader(message); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == number && field->type == bytes_type) return field->bytes;
    }
    return std::nullopt;
}

/// A tensor whose number of dimensions is not said; an empty shape is one.
bool has_unknown_rank(std::string_view value_info) {
    const auto type = part_of(value_info, 2);
    const auto tensor = type ? part_of(*type, 1) : std::nullopt;
    return tensor && !part_of(*tensor, 2);
}

/// The runtime would take them for scalars. Weights may be among a graph's inputs; these say their shape
/// elsewhere.
result<void> look_at_inputs(std::string_view graph) {
    std::set<std::string_view> weights;
    std::vector<std::string_view> unknown;
    for (protobuf_reader reader(graph); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field || field->type != bytes_type) continue;
        if (field->number == 5) weights.insert(part_of(field->bytes, 8).value_or(""));
        if (field->number == 11 && has_unknown_rank(field->bytes))
            unknown.push_back(part_of(field->bytes, 1).value_or(""));
    }
    for (const std::string_view name : unknown)
        if (!weights.contains(name))
            return runtime::invalid_argument(
                {"the model does not say how many dimensions its input ", shown(name),
                 " has, so no question can be checked; export it with a shape, with free dimensions "
                 "where they differ, as [\"N\",4]"});
    return {};
}

}  // namespace

result<void> inspect_model(std::string_view bytes) {
    // Every writer of ONNX begins with the version of the form; nothing else that is common does.
    const auto first = protobuf_reader(bytes).next();
    const bool begins_as_model = first && first->number == 1 && first->type == varint_type &&
                                 first->value >= 1 && first->value <= 1'000;
    bool has_graph = false;
    bool has_version = false;
    for (protobuf_reader reader(bytes); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) return begins_as_model ? damaged("ModelProto") : another_kind();
        if (field->number == 7 && field->type == bytes_type) has_graph = true;
        if (field->number == 1 && field->type == varint_type) has_version = true;
    }
    if (!has_version || !has_graph) return another_kind();
    if (const auto good = look_at(message::model, bytes, 0); !good) return good;
    return look_at_inputs(part_of(bytes, 7).value_or(""));
}

result<void> inspect_model_file(const std::filesystem::path& path) {
    using storage::artifacts::failed;
    const storage::artifacts::descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return failed("open", path, errno);
    struct stat seen {};
    if (::fstat(file.get(), &seen) != 0) return failed("look at", path, errno);
    const auto length = static_cast<std::size_t>(seen.st_size);
    if (length == 0) return inspect_model("");
    void* const mapped = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (mapped == MAP_FAILED) return failed("map", path, errno);
    auto out = inspect_model({static_cast<const char*>(mapped), length});
    ::munmap(mapped, length);
    return out;
}

}  // namespace herald::api::serving::builder
