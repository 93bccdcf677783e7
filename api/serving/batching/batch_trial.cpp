#include "api/serving/batching/batch_trial.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/serving/batching/limits.hpp"
#include "api/serving/batching/merging.hpp"
#include "api/serving/engines/asking.hpp"
#include "runtime/clock.hpp"

namespace herald::api::serving::batching {
namespace {

using engines::tensor_model;
using engines::tensor_question;
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

/// What questions are tried: models differ in what they take.
struct value_range {
    std::int64_t free_dimension;  // of every dimension but the first
    std::uint64_t integers_below;
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

void append_element(std::string& to, tensor_type type, number_source& numbers, const value_range& range,
                    std::int64_t scale) {
    const std::size_t bytes = schemas::bytes_of(type);
    switch (type) {
        case tensor_type::float16:
            return append(to, float_bits(numbers, 10, 15, 16, scale), bytes);
        case tensor_type::bfloat16:
            return append(to, float_bits(numbers, 7, 127, 16, scale), bytes);
        case tensor_type::float32:
            return append(to, float_bits(numbers, 23, 127, 32, scale), bytes);
        case tensor_type::float64:
            return append(to, float_bits(numbers, 52, 1023, 64, scale), bytes);
        case tensor_type::boolean:
            return append(to, numbers.below(2), bytes);
        default:
            return append(to, numbers.below(range.integers_below), bytes);
    }
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
        // Rows differ in size: a scale that they would share shows.
        const std::int64_t scale = static_cast<std::int64_t>(numbers.below(6)) - 2;
        for (std::size_t at = 0; at < elements; ++at) {
            if (out.type != tensor_type::text) {
                append_element(out.data, out.type, numbers, range, scale);
                continue;
            }
            const std::uint64_t length = numbers.below(4);
            out.texts.emplace_back(length, static_cast<char>('a' + numbers.below(26)));
        }
    }
    return out;
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
        std::size_t before = 1;
        for (std::size_t size = 2; size <= x_size_max; ++size) {
            if (size_class(size, x_size_max) != size) continue;
            for (int round = 0; round < (size <= 64 ? 2 : 1); ++round)
                if (const auto good = try_size(size, before + 1); !good) return good;
            before = size;
        }
        return {};
    }

  private:
    static error refused(const std::string& why) {
        return runtime::invalid_argument("batching cannot be used with this model: " + why);
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
                const auto answer = ask(random_question(1 + static_cast<std::int64_t>(x_numbers.below(3))));
                is_good = answer.has_value();
                if (!is_good && has_no_time_for(answer.error())) return not_answered(1, answer.error());
                if (!is_good && why.empty()) why = answer.error().message;
            }
            if (is_good) return {};
        }
        return refused("it rejected every input of the trial: " + why);
    }

    result<void> try_size(std::size_t size, std::size_t rows_min) {
        std::vector<tensor_question> parts;
        std::vector<std::size_t> rows;
        // In a class of several sizes the last rows may be filled up, and are so here.
        std::size_t left = rows_min + x_numbers.below(size - rows_min + 1);
        while (left != 0) {
            rows.push_back(1 + x_numbers.below(std::min<std::uint64_t>(left == size ? left - 1 : left,
                                                                       limits::batch_trial_part_rows_max)));
            parts.push_back(random_question(static_cast<std::int64_t>(rows.back())));
            left -= rows.back();
        }
        std::vector<const tensor_question*> places;
        for (const auto& each : parts) places.push_back(&each);
        auto together = ask(merged(places, size));
        if (!together) return not_answered(size, together.error());
        const auto cut = split(*together, rows, size);
        if (!cut) return refused(cut.error().message);
        for (std::size_t part = 0; part < parts.size(); ++part) {
            const auto alone = ask(std::move(parts[part]));
            if (!alone) return not_answered(rows[part], alone.error());
            for (std::size_t output = 0; output < alone->size(); ++output)
                if ((*alone)[output] != (*cut)[part][output])
                    return refused("in a batch of " + std::to_string(size) + " rows the output \"" +
                                   (*alone)[output].name +
                                   "\" is not bit for bit what the rows give when run alone");
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

    tensor_question random_question(std::int64_t rows) {
        tensor_question out;
        for (const auto& spec : x_model.signature().inputs)
            out.inputs.push_back(random_tensor(spec, rows, x_numbers, x_range));
        return out;
    }

    result<std::vector<tensor>> ask(tensor_question question) {
        question.deadline_ms = x_deadline_ms;
        question.cancelled = x_cancelled;
        return engines::asked(x_model, std::move(question));
    }

    tensor_model& x_model;
    const std::shared_ptr<engines::cancellation> x_cancelled;
    const std::size_t x_size_max;
    const std::int64_t x_deadline_ms;
    number_source x_numbers;
    value_range x_range = value_ranges.front();
};

}  // namespace

result<void> try_batching(tensor_model& model, std::uint32_t size_max,
                          std::shared_ptr<engines::cancellation> cancelled) {
    return trial(model, size_max, std::move(cancelled)).run();
}

}  // namespace herald::api::serving::batching
