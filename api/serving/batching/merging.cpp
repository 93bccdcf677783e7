#include "api/serving/batching/merging.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace herald::api::serving::batching {
namespace {

using engines::tensor_request;
using schemas::tensor;
using schemas::tensor_type;

/// Elements of one row.
std::size_t row_elements(const tensor& of) {
    std::size_t out = 1;
    for (std::size_t place = 1; place < of.shape.size(); ++place)
        out *= static_cast<std::size_t>(of.shape[place]);
    return out;
}

}  // namespace

std::optional<std::size_t> rows_of(const tensor_request& request) {
    std::optional<std::size_t> out;
    for (const tensor& each : request.inputs) {
        if (each.shape.empty()) return std::nullopt;
        const auto rows = static_cast<std::size_t>(each.shape.front());
        if (out && *out != rows) return std::nullopt;
        out = rows;
    }
    return out;
}

bool can_merge(const tensor_request& left, const tensor_request& right) {
    const auto are_alike = [](const tensor& one, const tensor& other) {
        return one.type == other.type && std::ranges::equal(one.shape.begin() + 1, one.shape.end(),
                                                            other.shape.begin() + 1, other.shape.end());
    };
    return left.outputs == right.outputs && std::ranges::equal(left.inputs, right.inputs, are_alike);
}

std::size_t size_class(std::size_t rows, std::size_t size_max) {
    std::size_t step = 1;
    while (step * 16 < rows) step *= 2;
    // Of 17 to 32: every fourth; of 33 to 64: every eighth.
    if (step > 1) step *= 2;
    return std::min((rows + step - 1) / step * step, size_max);
}

tensor_request merged(std::span<const tensor_request* const> all, std::size_t rows) {
    tensor_request out;
    out.outputs = all.front()->outputs;
    out.inputs.resize(all.front()->inputs.size());
    for (std::size_t place = 0; place < out.inputs.size(); ++place) {
        tensor& into = out.inputs[place];
        const tensor& first = all.front()->inputs[place];
        into.name = first.name;
        into.type = first.type;
        into.shape = first.shape;
        into.shape.front() = static_cast<std::int64_t>(rows);
        const std::size_t elements = rows * row_elements(first);
        if (into.type == tensor_type::text) {
            into.texts.reserve(elements);
            for (const auto* each : all)
                into.texts.insert(into.texts.end(), each->inputs[place].texts.begin(),
                                  each->inputs[place].texts.end());
            into.texts.resize(elements);
            continue;
        }
        const std::size_t bytes = elements * schemas::bytes_of(into.type);
        into.data.reserve(bytes);
        for (const auto* each : all) into.data += each->inputs[place].data;
        into.data.resize(bytes, '\0');
    }
    bool has_deadline = true;
    for (const auto* each : all) {
        has_deadline = has_deadline && each->deadline_ms != 0;
        out.deadline_ms = std::max(out.deadline_ms, each->deadline_ms);
    }
    if (!has_deadline) out.deadline_ms = 0;
    return out;
}

result<std::vector<std::vector<tensor>>> split(const std::vector<tensor>& all,
                                               std::span<const std::size_t> rows, std::size_t total) {
    std::vector<std::vector<tensor>> out(rows.size());
    for (const tensor& each : all) {
        if (each.shape.empty() || each.shape.front() != static_cast<std::int64_t>(total))
            return runtime::internal(
                {"output \"", each.name, "\" does not have the ", total, " rows of the inputs"});
        const std::size_t elements = row_elements(each);
        const std::size_t bytes = elements * schemas::bytes_of(each.type);
        std::size_t begin = 0;
        for (std::size_t part = 0; part < rows.size(); ++part) {
            tensor mine{each.name, each.type, each.shape, {}, {}, each.memory};
            mine.shape.front() = static_cast<std::int64_t>(rows[part]);
            if (each.type == tensor_type::text) {
                const auto from = each.texts.begin() + static_cast<std::ptrdiff_t>(begin * elements);
                mine.texts.assign(from, from + static_cast<std::ptrdiff_t>(rows[part] * elements));
            } else {
                mine.data.assign(each.data, begin * bytes, rows[part] * bytes);
            }
            begin += rows[part];
            out[part].push_back(std::move(mine));
        }
    }
    return out;
}

}  // namespace herald::api::serving::batching
