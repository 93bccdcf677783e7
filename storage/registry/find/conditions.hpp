// The conditions that a find call sets on rows (wire.md §3 "Find predicates").
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/find.hpp"
#include "schemas/registry.hpp"
#include "schemas/whole_or_fraction.hpp"

namespace herald::storage::registry::find {

using schemas::whole_or_fraction;

/// The part of a row that a condition looks at.
struct property;
enum class json_kind : std::uint8_t;

/// The members of a row that an index has.
struct glimpse {
    std::uint64_t id = 0;
    std::optional<std::int64_t> time_updated;
    std::uint64_t model = 0;  // of a version; 0: not told
    std::optional<std::string_view> name;
};

/// A range of whole numbers, both ends included; empty if first > last.
struct number_range {
    std::uint64_t first = 0;
    std::uint64_t last = UINT64_MAX;

    bool is_empty() const noexcept { return first > last; }
    bool holds(std::uint64_t number) const noexcept { return first <= number && number <= last; }
    void narrow(const number_range& other) noexcept {
        first = std::max(first, other.first);
        last = std::min(last, other.last);
    }
};

/// Made from a predicate once and tried on every row. Fits only the kind of row that it was made for.
class condition {
  public:
    bool holds(const schemas::registered_model&) const;
    bool holds(const schemas::model_version&) const;
    /// Only when the index has the key's value.
    bool holds(const glimpse&) const;

    std::string_view key() const noexcept { return x_key; }
    /// Whether the key's value must be one of a list: EQ or IN.
    bool is_listed() const noexcept {
        return x_operator == schemas::find_operator::eq || x_operator == schemas::find_operator::in;
    }
    /// The texts, or the whole numbers, of that list, sorted, each once. Numbers with a fraction are left
    /// out: no row has them.
    std::vector<std::string> texts() const;
    std::vector<std::uint64_t> numbers() const;
    /// The whole numbers for which it holds, if they are a range: EQ and the operators of order.
    std::optional<number_range> range() const;

  private:
    friend struct condition_maker;
    struct operand {
        std::string text;
        std::optional<whole_or_fraction> number;
        json_kind kind{};
    };

    bool holds_for(const property&) const;
    bool compare(const property&, schemas::find_operator) const;
    bool contains(const property&, const std::string& part) const;
    bool is_in(const property&) const;

    std::string x_key;
    schemas::find_operator x_operator = schemas::find_operator::eq;
    std::vector<operand> x_wanted;  // one value, or the list of IN and NOT_IN, by their text
};

/// Errors: invalid_argument, listing what is allowed, for an unknown key, an operator that the key does not
/// take, a value that it cannot have, and for more than limits::find_values_max values.
result<std::vector<condition>> conditions_on_models(const schemas::find_request&);
result<std::vector<condition>> conditions_on_versions(const schemas::find_request&);

}  // namespace herald::storage::registry::find
