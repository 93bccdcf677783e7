#include "api/serving/engines/onnx/declared_shapes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "api/serving/engines/protobuf_reader.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

// The numbers of onnx.proto.
constexpr std::uint64_t graph_of_model = 7;
constexpr std::uint64_t output_of_graph = 12;
constexpr std::uint64_t name_of_value = 1;
constexpr std::uint64_t type_of_value = 2;
constexpr std::uint64_t tensor_of_type = 1;
constexpr std::uint64_t shape_of_tensor = 2;

std::optional<std::string_view> part_of(std::string_view message, std::uint64_t number) {
    for (protobuf_reader reader(message); !reader.is_at_end();) {
        const auto field = reader.next();
        if (!field) break;
        if (field->number == number && field->type == protobuf_field::bytes_behind_length)
            return field->bytes;
    }
    return std::nullopt;
}

}  // namespace

std::set<std::string> outputs_without_shape(std::string_view model) {
    std::set<std::string> out;
    for (protobuf_reader graph(part_of(model, graph_of_model).value_or("")); !graph.is_at_end();) {
        const auto field = graph.next();
        if (!field) break;
        if (field->number != output_of_graph) continue;
        const auto type = part_of(field->bytes, type_of_value).value_or("");
        const auto tensor = part_of(type, tensor_of_type).value_or("");
        if (!part_of(tensor, shape_of_tensor)) out.emplace(part_of(field->bytes, name_of_value).value_or(""));
    }
    return out;
}

namespace {

std::set<std::string> outputs_without_shape_in(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    struct stat seen {};
    const bool is_seen = ::fstat(file, &seen) == 0 && seen.st_size > 0;
    const auto length = is_seen ? static_cast<std::size_t>(seen.st_size) : 0;
    void* const mapped = is_seen ? ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    ::close(file);
    if (mapped == MAP_FAILED) return {};
    auto out = outputs_without_shape({static_cast<const char*>(mapped), length});
    ::munmap(mapped, length);
    return out;
}

}  // namespace

void mark_unknown_ranks(std::vector<schemas::tensor_spec>& outputs, const std::filesystem::path& file) {
    const auto is_scalar = [](const schemas::tensor_spec& each) { return each.shape.empty(); };
    if (std::ranges::none_of(outputs, is_scalar)) return;
    const auto unsaid = outputs_without_shape_in(file);
    for (schemas::tensor_spec& each : outputs)
        if (is_scalar(each) && unsaid.contains(each.name)) each.shape = {schemas::unknown_rank};
}

}  // namespace herald::api::serving::engines::onnx
