#include "api/predictions/json_dialect.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "api/predictions/elements.hpp"
#include "runtime/text.hpp"
#include "schemas/plain_tensors.hpp"

namespace herald::api::predictions {
namespace {

using schemas::json_array;
using schemas::json_member;
using schemas::json_object;
using schemas::json_value;
using schemas::model_signature;
using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

tensor begun(const tensor_spec& spec) {
    tensor made;
    made.name = spec.name;
    made.type = spec.type;
    return made;
}

/// The meaning of null among numbers that have NaN.
enum class missing_values : std::uint8_t { refused, are_nan };

bool has_nan(tensor_type type) {
    return type == tensor_type::float16 || type == tensor_type::bfloat16 || type == tensor_type::float32 ||
           type == tensor_type::float64;
}

/// Reads nested arrays depth first. The first of each depth says how long its siblings must be.
class nested_reader {
  public:
    /// `all_rows`: what the model declares, where `spec` is of one row.
    nested_reader(const tensor_spec& spec, tensor& to, missing_values missing = missing_values::refused,
                  const tensor_spec* all_rows = nullptr)
        : x_spec(spec),
          x_to(to),
          x_takes_null(missing == missing_values::are_nan && has_nan(spec.type)),
          x_all_rows(all_rows) {}

    result<void> read(const json_value& value, std::size_t depth) {
        if (depth == x_spec.shape.size()) {
            if (value.get_if<json_array>()) return too_deep();
            if (value.is_null() && x_takes_null)
                return append_element(x_to, json_value(std::numeric_limits<double>::quiet_NaN()));
            return append_element(x_to, value);
        }
        const json_array* const items = value.get_if<json_array>();
        if (!items)
            return runtime::invalid_argument({"input \"", x_spec.name, "\" must be ", expected(), ", arrays ",
                                              x_spec.shape.size(), " deep; found ", value.kind_text(),
                                              " at depth ", depth});
        if (const auto good = take_length(items->size(), depth); !good) return good;
        for (const json_value& each : *items)
            if (const auto good = read(each, depth + 1); !good) return good;
        return {};
    }

    /// At a depth without an element the declared shape gives the length; a free dimension is 0.
    std::vector<std::int64_t> shape() const {
        std::vector<std::int64_t> out = x_lengths;
        for (std::size_t i = out.size(); i < x_spec.shape.size(); ++i)
            out.push_back(std::max<std::int64_t>(x_spec.shape[i], 0));
        return out;
    }

  private:
    std::string expected() const {
        const std::string mine = text_of(x_spec.type, x_spec.shape);
        return x_all_rows ? text_of(x_all_rows->type, x_all_rows->shape) + ", a row of it " + mine : mine;
    }
    error too_deep() const {
        return runtime::invalid_argument(
            {"input \"", x_spec.name, "\" must be ", expected(), "; found arrays that are nested deeper"});
    }
    result<void> take_length(std::size_t length, std::size_t depth) {
        const auto size = static_cast<std::int64_t>(length);
        if (depth == x_lengths.size()) {
            x_lengths.push_back(size);
            return {};
        }
        if (x_lengths[depth] == size) return {};
        return runtime::invalid_argument({"input \"", x_spec.name, "\" has arrays of different lengths, ",
                                          x_lengths[depth], " and ", length, ", at depth ", depth,
                                          "; they must be equally long"});
    }

    const tensor_spec& x_spec;
    tensor& x_to;
    const bool x_takes_null;
    const tensor_spec* const x_all_rows;
    std::vector<std::int64_t> x_lengths;
};

error missing_input(const tensor_spec& spec) {
    return runtime::invalid_argument(
        {"the input \"", spec.name, "\", ", text_of(spec.type, spec.shape), ", is missing"});
}

bool has_input(const model_signature& signature, std::string_view name) {
    return std::ranges::find(signature.inputs, name, &tensor_spec::name) != signature.inputs.end();
}

result<tensors> inputs_by_name(const json_value& body, const json_object& members,
                               const model_signature& signature) {
    for (const json_member& each : members)
        if (!has_input(signature, each.first)) return unknown_input(each.first, signature);
    tensors inputs;
    for (const tensor_spec& spec : signature.inputs) {
        const json_value* const value = body.find(spec.name);
        if (!value) return missing_input(spec);
        auto input = tensor_of_nested(*value, spec);
        if (!input) return input.error();
        inputs.push_back(*std::move(input));
    }
    return inputs;
}

/// The input without its first dimension, which counts the rows. A single value in a row may be bare: `first`
/// is that of the first row, or null.
result<tensor_spec> row_spec_of(const tensor_spec& spec, const json_value* first) {
    if (spec.shape.empty())
        return runtime::invalid_argument({"the input \"", spec.name, "\" is a scalar, so it has no rows"});
    tensor_spec row = spec;
    row.shape.erase(row.shape.begin());
    const bool is_bare = first && !first->get_if<json_array>();
    if (is_bare && row.shape.size() == 1 && (row.shape[0] == 1 || row.shape[0] == -1)) row.shape.clear();
    return row;
}

struct rows_to_read {
    std::size_t count = 0;
    missing_values missing = missing_values::refused;
};

/// Puts the rows' values one after another. `value_of(row)`: the value there, or null.
template <class ValueOf>
result<tensor> input_of_rows(const tensor_spec& spec, rows_to_read read, const ValueOf& value_of) {
    const std::size_t rows = read.count;
    const auto row_spec = row_spec_of(spec, rows > 0 ? value_of(0) : nullptr);
    if (!row_spec) return row_spec.error();
    tensor made = begun(spec);
    for (std::size_t row = 0; row < rows; ++row) {
        const json_value* const value = value_of(row);
        if (!value) return runtime::invalid_argument({"row ", row, " lacks the input \"", spec.name, "\""});
        nested_reader reader(*row_spec, made, read.missing, &spec);
        if (const auto good = reader.read(*value, 0); !good) return good.error();
        std::vector<std::int64_t> shape = reader.shape();
        if (shape.size() + 1 < spec.shape.size()) shape.push_back(1);
        shape.insert(shape.begin(), static_cast<std::int64_t>(rows));
        if (row == 0) made.shape = shape;
        if (made.shape != shape)
            return runtime::invalid_argument({"input \"", spec.name, "\", ", text_of(spec.type, spec.shape),
                                              ", differs in shape between rows 0 and ", row,
                                              "; all rows must have the same"});
    }
    if (rows == 0) {
        made.shape = spec.shape;
        made.shape[0] = 0;
        for (std::int64_t& each : made.shape) each = std::max<std::int64_t>(each, 0);
    }
    if (!fits(made.shape, spec.shape)) return wrong_shape(spec, made.shape);
    return made;
}

result<tensors> inputs_of_row_objects(const json_array& rows, const model_signature& signature) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const json_object* const members = rows[i].get_if<json_object>();
        if (!members)
            return runtime::invalid_argument(
                {"row ", i, " is ", rows[i].kind_text(), "; all rows must be objects, as the first is"});
        for (const json_member& each : *members)
            if (!has_input(signature, each.first)) return unknown_input(each.first, signature);
    }
    tensors inputs;
    for (const tensor_spec& spec : signature.inputs) {
        auto input =
            input_of_rows(spec, {rows.size()}, [&](std::size_t row) { return rows[row].find(spec.name); });
        if (!input) return input.error();
        inputs.push_back(*std::move(input));
    }
    return inputs;
}

result<void> append_nested_from(std::string& out, const tensor& from, std::size_t depth, std::size_t& place,
                                not_finite how) {
    if (from.shape.empty()) return append_elements_json(out, from, place, 1, how);
    if (depth + 1 == from.shape.size()) {
        const auto length = static_cast<std::size_t>(from.shape[depth]);
        out += '[';
        const auto written = append_elements_json(out, from, place, length, how);
        out += ']';
        place += length;
        return written;
    }
    out += '[';
    for (std::int64_t i = 0; i < from.shape[depth]; ++i) {
        if (i > 0) out += ',';
        if (const auto good = append_nested_from(out, from, depth + 1, place, how); !good) return good;
        // Arrays without elements are bytes, too.
        if (const auto good = check_answer_bytes(out.size()); !good) return good;
    }
    out += ']';
    return {};
}

// ---- split

struct split_table {
    std::vector<std::string> columns;
    const json_array* rows = nullptr;
    json_value index;
};

error wrong_split(std::string_view why) {
    return runtime::invalid_argument(
        {"the body must be a table as pandas writes it with orient=\"split\": ", why});
}

result<split_table> table_of(const json_value& body) {
    const json_value* const columns = body.find("columns");
    const json_value* const data = body.find("data");
    const json_array* const names = columns ? columns->get_if<json_array>() : nullptr;
    split_table table;
    table.rows = data ? data->get_if<json_array>() : nullptr;
    if (!names || !table.rows) return wrong_split("columns and data must be arrays");
    for (const json_value& each : *names) {
        const std::string* const name = each.get_if<std::string>();
        table.columns.push_back(name ? *name : schemas::to_json_text(each));
    }
    for (std::size_t i = 0; i < table.rows->size(); ++i) {
        const json_array* const row = (*table.rows)[i].get_if<json_array>();
        if (!row || row->size() != table.columns.size())
            return wrong_split("row " + std::to_string(i) + " of data must be an array of " +
                               std::to_string(table.columns.size()) + ", one for each column");
    }
    if (const json_value* const index = body.find("index"); index && !index->is_null()) {
        const json_array* const labels = index->get_if<json_array>();
        if (!labels || labels->size() != table.rows->size())
            return wrong_split("index must be an array of " + std::to_string(table.rows->size()) +
                               ", one for each row");
        const auto is_nested = [](const json_value& label) {
            return label.get_if<json_array>() || label.get_if<json_object>();
        };
        if (std::ranges::any_of(*labels, is_nested))
            return wrong_split("index must hold numbers, texts, true, false or null, no arrays or objects");
        table.index = *index;
    }
    return table;
}

/// All columns are the second dimension of the model's only input.
bool is_matrix_of(const model_signature& signature, const split_table& table) {
    if (signature.inputs.size() != 1 || signature.inputs[0].shape.size() != 2) return false;
    return table.columns.size() != 1 || table.columns[0] != signature.inputs[0].name;
}

result<tensors> inputs_of_columns(const split_table& table, const model_signature& signature) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        if (!has_input(signature, table.columns[i])) return unknown_input(table.columns[i], signature);
        if (std::ranges::count(table.columns, table.columns[i]) > 1)
            return wrong_split("the column \"" + table.columns[i] + "\" is there twice");
    }
    tensors inputs;
    for (const tensor_spec& spec : signature.inputs) {
        const auto column = std::ranges::find(table.columns, spec.name);
        if (column == table.columns.end()) return missing_input(spec);
        const auto at = static_cast<std::size_t>(column - table.columns.begin());
        const rows_to_read read{table.rows->size(), missing_values::are_nan};
        auto input = input_of_rows(
            spec, read, [&](std::size_t row) { return &(*(*table.rows)[row].get_if<json_array>())[at]; });
        if (!input) return input.error();
        inputs.push_back(*std::move(input));
    }
    return inputs;
}

error no_table(std::string_view name, tensor_type type, const std::vector<std::int64_t>& shape) {
    return runtime::failed_precondition(
        {"the outputs of the model are no table: \"", name, "\" is ", text_of(type, shape),
         "; all outputs must have as many rows; ask the model at /api/v1/predict instead"});
}

/// Errors: failed_precondition when no answer of the model can be a table.
result<void> check_outputs(const model_signature& signature) {
    std::int64_t rows = -1;
    for (const tensor_spec& each : signature.outputs) {
        if (each.shape.empty()) return no_table(each.name, each.type, each.shape);
        if (each.shape[0] < 0) continue;
        if (rows >= 0 && each.shape[0] != rows) return no_table(each.name, each.type, each.shape);
        rows = each.shape[0];
    }
    return {};
}

result<tensor> read_nested(const json_value& value, const tensor_spec& spec, missing_values missing) {
    tensor made = begun(spec);
    nested_reader reader(spec, made, missing);
    if (const auto good = reader.read(value, 0); !good) return good.error();
    made.shape = reader.shape();
    if (!fits(made.shape, spec.shape)) return wrong_shape(spec, made.shape);
    return made;
}

std::size_t values_in_a_row(const tensor& of, std::int64_t rows) {
    return rows == 0 ? 1 : elements_of(of.shape) / static_cast<std::size_t>(rows);
}

/// "a","b_0","b_1".
result<std::string> columns_of(const tensors& outputs, std::int64_t rows) {
    std::string columns;
    for (const tensor& each : outputs) {
        if (each.shape.empty() || each.shape[0] != rows) return no_table(each.name, each.type, each.shape);
        const std::size_t width = values_in_a_row(each, rows);
        for (std::size_t i = 0; i < width; ++i) {
            if (!columns.empty()) columns += ',';
            runtime::append_json_string(columns,
                                        width == 1 ? each.name : each.name + "_" + std::to_string(i));
            if (const auto good = check_answer_bytes(columns.size()); !good) return good.error();
        }
    }
    return columns;
}

/// 0,1,2 where the request had no labels.
result<void> append_index(std::string& out, std::int64_t rows, const json_value& index) {
    const json_array* const labels = index.get_if<json_array>();
    for (std::int64_t row = 0; row < rows; ++row) {
        if (row > 0) out += ',';
        if (labels && static_cast<std::size_t>(row) < labels->size())
            schemas::append_json(out, (*labels)[static_cast<std::size_t>(row)]);
        else
            out += std::to_string(row);
        if (const auto good = check_answer_bytes(out.size()); !good) return good;
    }
    return {};
}

result<void> append_rows(std::string& out, const tensors& outputs, std::int64_t rows, not_finite how) {
    for (std::int64_t row = 0; row < rows; ++row) {
        out += row > 0 ? ",[" : "[";
        bool is_first = true;
        for (const tensor& each : outputs) {
            const std::size_t width = values_in_a_row(each, rows);
            if (width == 0) continue;
            if (!std::exchange(is_first, false)) out += ',';
            const std::size_t place = static_cast<std::size_t>(row) * width;
            if (const auto good = append_elements_json(out, each, place, width, how); !good) return good;
        }
        out += ']';
        if (const auto good = check_answer_bytes(out.size()); !good) return good;
    }
    return {};
}

}  // namespace

result<tensor> tensor_of_nested(const json_value& value, const tensor_spec& spec) {
    return read_nested(value, spec, missing_values::refused);
}

result<void> append_nested(std::string& out, const tensor& from, not_finite how) {
    std::size_t place = 0;
    return append_nested_from(out, from, 0, place, how);
}

result<tensors> inputs_of_json(std::string_view text, const model_signature& signature,
                               const memory_taker& take) {
    const reading_memory memory(text, signature, take);
    if (const auto good = memory.take_for_plain(); !good) return good.error();
    if (auto plain = schemas::read_plain_tensors(text, signature, memory.elements_max()))
        return *std::move(plain);
    if (const auto good = memory.take_for_tree(); !good) return good.error();
    const auto body = schemas::parse_prediction_json(text);
    if (!body) return body.error();
    if (const json_object* const members = body->get_if<json_object>())
        return inputs_by_name(*body, *members, signature);
    const json_array* const items = body->get_if<json_array>();
    if (items && !items->empty() && items->front().get_if<json_object>())
        return inputs_of_row_objects(*items, signature);
    if (signature.inputs.empty())
        return runtime::invalid_argument("the model takes no inputs; the body must be {}");
    if (signature.inputs.size() != 1)
        return runtime::invalid_argument(
            {"the model has ", signature.inputs.size(), " inputs; the body must be an object with ",
             names_of(signature.inputs), ", or a list of such objects, a row each"});
    auto only = tensor_of_nested(*body, signature.inputs[0]);
    if (!only) return only.error();
    tensors inputs;
    inputs.push_back(*std::move(only));
    return inputs;
}

result<std::string> json_of_outputs(const tensors& outputs, not_finite how) {
    std::string out;
    out.reserve(std::min(2 * schemas::bytes_of(outputs) + 64, std::size_t{16} * 1024));
    if (outputs.size() == 1) {
        if (const auto good = append_nested(out, outputs[0], how); !good) return good.error();
        return out;
    }
    out += '{';
    for (const tensor& each : outputs) {
        if (out.size() > 1) out += ',';
        runtime::append_json_string(out, each.name);
        out += ':';
        if (const auto good = append_nested(out, each, how); !good) return good.error();
    }
    out += '}';
    return out;
}

result<split_request> inputs_of_split(std::string_view text, const model_signature& signature,
                                      const memory_taker& take) {
    if (const auto good = check_outputs(signature); !good) return good.error();
    if (const auto good = reading_memory(text, signature, take).take_for_tree(); !good) return good.error();
    const auto body = schemas::parse_prediction_json(text);
    if (!body) return body.error();
    auto table = table_of(*body);
    if (!table) return table.error();
    split_request request;
    request.index = std::move(table->index);
    if (is_matrix_of(signature, *table)) {
        auto matrix = read_nested(*body->find("data"), signature.inputs[0], missing_values::are_nan);
        if (!matrix) return matrix.error();
        request.inputs.push_back(*std::move(matrix));
        return request;
    }
    auto inputs = inputs_of_columns(*table, signature);
    if (!inputs) return inputs.error();
    request.inputs = *std::move(inputs);
    return request;
}

result<std::string> split_of_outputs(const tensors& outputs, const json_value& index, not_finite how) {
    const std::int64_t rows = outputs.empty() || outputs[0].shape.empty() ? -1 : outputs[0].shape[0];
    const auto columns = columns_of(outputs, rows);
    if (!columns) return columns.error();
    std::string out = "{\"index\":[";
    if (const auto good = append_index(out, rows, index); !good) return good.error();
    out += "],\"columns\":[" + *columns + "],\"data\":[";
    if (const auto good = append_rows(out, outputs, rows, how); !good) return good.error();
    out += "]}";
    if (const auto good = check_answer_bytes(out.size()); !good) return good.error();
    return out;
}

}  // namespace herald::api::predictions
