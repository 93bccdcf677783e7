#include "api/serving/batching/batch_trial.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/serving/batching/limits.hpp"
#include "api/serving/batching/merging.hpp"
#include "api/serving/engines/blocking_inference.hpp"
#include "runtime/clock.hpp"

namespace herald::api::serving::batching {
namespace {

using engines::tensor_model;
using engines::tensor_request;
using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// splitmix64: the same numbers everywhere, each time.
class number_source {
  public:
    std::uint64_t next() noexcept {
        std::uint64_t out = (x_state += 0x9E3779B97F4A7C15U);
        out = (out ^ (out >> 30U)) * 0xBF58476D1CE4E5B9U;
        out = (out ^ (out >> 27U)) * 0x94D049BB133111EBU;
        return out ^ (out >> 31U);
    }
    std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

  private:
    std::uint64_t x_state = 0;
};

/// What requests are tried: models differ in what they take.
struct value_range {
    std::int64_t free_dimension;  // of every dimension but the first
    std::uint64_t integers_below;
    // Beyond that a row may be extreme, in one of these ways:
    bool has_large = false;       // floats far from 1, and rows of zeros
    bool has_not_finite = false;  // NaN and infinities among the others
    bool has_integers = false;    // negative and large ones
    bool is_wide = false;         // as far as the type goes, not only to 2^batch_trial_narrow_scale_max
};
constexpr std::array<value_range, 6> value_ranges{{{3, 8}, {3, 2}, {1, 8}, {1, 2}, {16, 2}, {32, 2}}};

void append(std::string& to, std::uint64_t bits, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; ++at) to += static_cast<char>(bits >> (8 * at) & 0xFFU);
}

/// A number of either sign whose size is around 2 to the `scale`; one in sixteen is zero.
std::uint64_t float_bits(number_source& numbers, unsigned mantissa_bits, unsigned bias, unsigned bits,
                         std::int64_t scale) {
    if (numbers.below(16) == 0) return 0;
    const std::uint64_t sign = numbers.below(2) << (bits - 1);
    const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(bias) + scale -
                                                     static_cast<std::int64_t>(numbers.below(4)));
    return sign | exponent << mantissa_bits | numbers.below(std::uint64_t{1} << mantissa_bits);
}

/// How the elements of one row are chosen.
enum class row_kind : std::uint8_t { ordinary, large, small, zeros, not_finite };
struct row_choice {
    row_kind kind = row_kind::ordinary;
    std::int64_t scale = 0;
};

struct float_form {
    unsigned mantissa_bits;
    unsigned bias;
    unsigned bits;
};
std::optional<float_form> form_of(tensor_type type) {
    switch (type) {
        case tensor_type::float16:
            return float_form{10, 15, 16};
        case tensor_type::bfloat16:
            return float_form{7, 127, 16};
        case tensor_type::float32:
            return float_form{23, 127, 32};
        case tensor_type::float64:
            return float_form{52, 1023, 64};
        default:
            return std::nullopt;
    }
}

row_choice choose_row(tensor_type type, number_source& numbers, const value_range& range) {
    // Rows differ in size: a scale that they would share shows.
    row_choice out{row_kind::ordinary, static_cast<std::int64_t>(numbers.below(6)) - 2};
    if (!range.has_large && !range.has_not_finite && !range.has_integers) return out;
    const auto form = form_of(type);
    const std::uint64_t chosen = numbers.below(8);
    if (!form) {
        if (range.has_integers && chosen >= 4) out.kind = chosen == 7 ? row_kind::zeros : row_kind::large;
        return out;
    }
    const std::int64_t most =
        range.is_wide ? form->bias : std::min<std::int64_t>(form->bias, limits::batch_trial_narrow_scale_max);
    if (range.has_large && chosen >= 4) {
        out.kind = chosen == 7 ? row_kind::zeros : chosen == 6 ? row_kind::small : row_kind::large;
        out.scale =
            most / 2 + static_cast<std::int64_t>(numbers.below(static_cast<std::uint64_t>(most - most / 2)));
        if (out.kind == row_kind::small) out.scale = 4 - out.scale;
    }
    if (range.has_not_finite && chosen == 3) out.kind = row_kind::not_finite;
    return out;
}

std::uint64_t float_of(const float_form& form, number_source& numbers, const row_choice& row) {
    if (row.kind == row_kind::zeros) return numbers.below(2) << (form.bits - 1);
    if (row.kind == row_kind::not_finite && numbers.below(2) == 0) {
        const std::uint64_t infinite = ((std::uint64_t{2} * form.bias) + 1) << form.mantissa_bits;
        const std::uint64_t sign = numbers.below(2) << (form.bits - 1);
        return infinite | (numbers.below(2) == 0 ? sign : std::uint64_t{1} << (form.mantissa_bits - 1));
    }
    return float_bits(numbers, form.mantissa_bits, form.bias, form.bits, row.scale);
}

/// The lower bits are those of the type.
std::uint64_t integer_of(tensor_type type, number_source& numbers, const value_range& range, row_kind kind) {
    if (kind == row_kind::zeros) return 0;
    if (kind != row_kind::large) return numbers.below(range.integers_below);
    const std::uint64_t bits = 8 * schemas::bytes_of(type);
    const std::uint64_t most =
        range.is_wide ? bits : std::min<std::uint64_t>(bits, limits::batch_trial_narrow_scale_max);
    // Near a power of two, above or below zero: those of the type's ends are among them.
    const std::uint64_t near = (std::uint64_t{1} << numbers.below(most)) - numbers.below(2);
    return numbers.below(2) == 0 ? near : ~near + 1;
}

void append_element(std::string& to, tensor_type type, number_source& numbers, const value_range& range,
                    const row_choice& row) {
    const std::size_t bytes = schemas::bytes_of(type);
    if (const auto form = form_of(type)) return append(to, float_of(*form, numbers, row), bytes);
    if (type == tensor_type::boolean) return append(to, numbers.below(2), bytes);
    append(to, integer_of(type, numbers, range, row.kind), bytes);
}

tensor random_tensor(const tensor_spec& spec, std::int64_t rows, number_source& numbers,
                     const value_range& range) {
    tensor out;
    out.name = spec.name;
    out.type = spec.type;
    out.shape = spec.shape;
    std::size_t elements = 1;
    for (std::size_t place = 1; place < out.shape.size(); ++place) {
        if (out.shape[place] < 0) out.shape[place] = range.free_dimension;
        elements *= static_cast<std::size_t>(out.shape[place]);
    }
    out.shape.front() = rows;
    for (std::int64_t row = 0; row < rows; ++row) {
        const row_choice chosen = choose_row(out.type, numbers, range);
        for (std::size_t at = 0; at < elements; ++at) {
            if (out.type != tensor_type::text) {
                append_element(out.data, out.type, numbers, range, chosen);
                continue;
            }
            const std::uint64_t length = numbers.below(4);
            out.texts.emplace_back(length, static_cast<char>('a' + numbers.below(26)));
        }
    }
    return out;
}

/// Whether two elements of a float type are NaN, of whatever bits.
bool are_nan(const float_form& form, std::string_view left, std::string_view right) {
    const auto is_nan = [&form](std::string_view bytes) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data(), bytes.size());
        const std::uint64_t infinite = ((std::uint64_t{2} * form.bias) + 1) << form.mantissa_bits;
        return (bits & ((std::uint64_t{1} << (form.bits - 1)) - 1)) > infinite;
    };
    return is_nan(left) && is_nan(right);
}

/// Bit for bit, but that NaN is NaN: which one depends on the instructions that made it.
bool are_same(const tensor& left, const tensor& right) {
    if (left == right) return true;
    const auto form = form_of(left.type);
    if (!form || left.type != right.type || left.shape != right.shape ||
        left.data.size() != right.data.size())
        return false;
    const std::size_t width = schemas::bytes_of(left.type);
    for (std::size_t at = 0; at < left.data.size(); at += width) {
        const auto mine = std::string_view(left.data).substr(at, width);
        const auto other = std::string_view(right.data).substr(at, width);
        if (mine != other && !are_nan(*form, mine, other)) return false;
    }
    return true;
}

class trial {
  public:
    trial(tensor_model& of, std::uint32_t size_max, std::shared_ptr<engines::cancellation> cancelled)
        : x_model(of),
          x_cancelled(std::move(cancelled)),
          x_size_max(size_max),
          x_deadline_ms(runtime::system_clock().steady_ms() + limits::batch_trial_ms_max) {}

    result<void> run() {
        if (const auto good = check_shapes(); !good) return good;
        if (const auto good = check_bytes(1); !good) return good;
        if (const auto good = choose_range(); !good) return good;
        if (const auto good = check_bytes(x_range.free_dimension); !good) return good;
        if (const auto good = choose_extremes(); !good) return good;
        for (int round = 0; round < limits::batch_trial_extreme_pairs; ++round)
            if (const auto good = try_extremes(2, 2); !good) return good;
        std::size_t before = 1;
        for (std::size_t size = 2; size <= x_size_max; ++size) {
            if (size_class(size, x_size_max) != size) continue;
            for (int round = 0; round < (size <= 64 ? 2 : 1); ++round)
                if (const auto good = try_size(size, before + 1); !good) return good;
            if (const auto good = try_extremes(size, before + 1); !good) return good;
            before = size;
        }
        return {};
    }

  private:
    static error refused(const std::string& why) {
        return runtime::invalid_argument({"batching cannot be used with this model: ", why});
    }

    result<void> check_shapes() const {
        const auto& signature = x_model.signature();
        if (signature.inputs.empty()) return refused("it has no inputs");
        for (const auto* specs : {&signature.inputs, &signature.outputs})
            for (const tensor_spec& each : *specs)
                if (each.shape.empty() || each.shape.front() != -1)
                    return refused(std::string(specs == &signature.inputs ? "input \"" : "output \"") +
                                   each.name + "\" has no free first dimension");
        return {};
    }

    /// Of one row of all inputs and outputs, as they are tried.
    std::size_t row_bytes(std::int64_t free_dimension) const {
        std::size_t out = 0;
        for (const auto* specs : {&x_model.signature().inputs, &x_model.signature().outputs})
            for (const tensor_spec& each : *specs) {
                std::size_t bytes =
                    each.type == tensor_type::text ? sizeof(std::string) : schemas::bytes_of(each.type);
                for (std::size_t place = 1; place < each.shape.size(); ++place) {
                    const auto dim = each.shape[place] < 0 ? free_dimension : each.shape[place];
                    if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(dim), &bytes)) return SIZE_MAX;
                }
                if (__builtin_add_overflow(out, bytes, &out)) return SIZE_MAX;
            }
        return out;
    }

    result<void> check_bytes(std::int64_t free_dimension) const {
        const std::size_t row = std::max<std::size_t>(row_bytes(free_dimension), 1);
        const std::size_t most = limits::batch_trial_bytes_max / row;
        if (x_size_max <= most) return {};
        const std::string why = "a batch of " + std::to_string(x_size_max) + " rows of " +
                                std::to_string(row) + " bytes takes more than " +
                                std::to_string(limits::batch_trial_bytes_max);
        if (most < 2) return refused(why + ", as any batch of it does");
        return refused(why + "; a size_max of at most " + std::to_string(most) + " fits");
    }

    /// The first of the ranges with which it runs a few times.
    result<void> choose_range() {
        std::string why;
        for (const auto& range : value_ranges) {
            x_range = range;
            bool is_good = true;
            for (int time = 0; time < 3 && is_good; ++time) {
                const auto response =
                    infer(random_request(1 + static_cast<std::int64_t>(x_numbers.below(3)), x_range));
                is_good = response.has_value();
                if (!is_good && has_no_time_for(response.error())) return not_answered(1, response.error());
                if (!is_good && why.empty()) why = response.error().message;
            }
            if (is_good) return {};
        }
        return refused("it rejected every input of the trial: " + why);
    }

    /// Which extreme values the model takes: an index, for one, has bounds. What a model makes of sizes that
    /// it is told would take memory and time, so only quick ones, whose work follows from shapes, are told
    /// any.
    result<void> choose_extremes() {
        x_extremes = x_range;
        x_extremes.is_wide = x_model.is_quick();
        for (bool value_range::*each :
             {&value_range::has_large, &value_range::has_not_finite, &value_range::has_integers}) {
            value_range tried = x_range;
            tried.is_wide = x_extremes.is_wide;
            tried.*each = true;
            bool is_good = true;
            for (int time = 0; time < 3 && is_good; ++time) {
                const auto response = infer(random_request(4, tried));
                is_good = response.has_value();
                if (!is_good && has_no_time_for(response.error())) return not_answered(4, response.error());
            }
            x_extremes.*each = is_good;
        }
        return {};
    }

    struct parts {
        std::vector<tensor_request> requests;
        std::vector<std::size_t> rows;
    };
    parts random_parts(std::size_t size, std::size_t rows_min, const value_range& range) {
        parts out;
        // In a class of several sizes the last rows may be filled up, and are so here.
        std::size_t left = rows_min + x_numbers.below(size - rows_min + 1);
        while (left != 0) {
            out.rows.push_back(1 + x_numbers.below(std::min<std::uint64_t>(
                                       left == size ? left - 1 : left, limits::batch_trial_part_rows_max)));
            out.requests.push_back(random_request(static_cast<std::int64_t>(out.rows.back()), range));
            left -= out.rows.back();
        }
        return out;
    }

    result<std::vector<tensor>> infer_together(const parts& all, std::size_t size) {
        std::vector<const tensor_request*> places;
        for (const auto& each : all.requests) places.push_back(&each);
        return infer(merged(places, size));
    }

    static error differs(std::size_t size, const std::string& output, const char* what) {
        return refused("in a batch of " + std::to_string(size) + " rows the output \"" + output +
                       "\" is not " + what + " what the rows give when run alone");
    }

    result<void> try_size(std::size_t size, std::size_t rows_min) {
        auto all = random_parts(size, rows_min, x_range);
        auto together = infer_together(all, size);
        if (!together) return not_answered(size, together.error());
        const auto cut = split(*together, all.rows, size);
        if (!cut) return refused(cut.error().message);
        for (std::size_t part = 0; part < all.rows.size(); ++part) {
            const auto alone = infer(std::move(all.requests[part]));
            if (!alone) return not_answered(all.rows[part], alone.error());
            for (std::size_t output = 0; output < alone->size(); ++output)
                if ((*alone)[output] != (*cut)[part][output])
                    return differs(size, (*alone)[output].name, "bit for bit");
        }
        return {};
    }

    /// Rows of very different sizes together. What the model does not take alone or together says nothing: a
    /// batch that it refuses runs again one by one.
    result<void> try_extremes(std::size_t size, std::size_t rows_min) {
        if (size > limits::batch_trial_extreme_rows_max) return {};
        auto all = random_parts(size, rows_min, x_extremes);
        auto together = infer_together(all, size);
        if (!together) {
            if (has_no_time_for(together.error())) return not_answered(size, together.error());
            return {};
        }
        const auto cut = split(*together, all.rows, size);
        if (!cut) return refused(cut.error().message);
        for (std::size_t part = 0; part < all.rows.size(); ++part) {
            const auto alone = infer(std::move(all.requests[part]));
            if (!alone && has_no_time_for(alone.error())) return not_answered(all.rows[part], alone.error());
            if (!alone) continue;
            for (std::size_t output = 0; output < alone->size(); ++output)
                if (!are_same((*alone)[output], (*cut)[part][output]))
                    return differs(size, (*alone)[output].name, "bit for bit (with extreme values)");
        }
        return {};
    }

    static bool has_no_time_for(const error& why) {
        return why.code == error_code::deadline_exceeded || why.code == error_code::cancelled;
    }

    error not_answered(std::size_t rows, const error& why) const {
        if (why.code == error_code::deadline_exceeded)
            return refused("the trial took more than " + std::to_string(limits::batch_trial_ms_max / 1'000) +
                           " s");
        if (why.code != error_code::invalid_argument) return why;
        return refused("it rejected a batch of " + std::to_string(rows) + " rows: " + why.message);
    }

    tensor_request random_request(std::int64_t rows, const value_range& range) {
        tensor_request out;
        for (const auto& spec : x_model.signature().inputs)
            out.inputs.push_back(random_tensor(spec, rows, x_numbers, range));
        return out;
    }

    result<std::vector<tensor>> infer(tensor_request request) {
        request.deadline_ms = x_deadline_ms;
        request.cancelled = x_cancelled;
        request.is_a_try = true;
        return engines::infer_and_wait(x_model, std::move(request));
    }

    tensor_model& x_model;
    const std::shared_ptr<engines::cancellation> x_cancelled;
    const std::size_t x_size_max;
    const std::int64_t x_deadline_ms;
    number_source x_numbers;
    value_range x_range = value_ranges.front();
    value_range x_extremes = value_ranges.front();
};

}  // namespace

result<void> try_batching(tensor_model& model, std::uint32_t size_max,
                          std::shared_ptr<engines::cancellation> cancelled) {
    return trial(model, size_max, std::move(cancelled)).run();
}

}  // namespace herald::api::serving::batching
