// The conditions that a find call sets on rows (wire.md §3 "Find predicates").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/find.hpp"
#include "schemas/registry.hpp"

namespace herald::storage::registry::find {

/// The part of a row that a condition looks at.
struct property;

/// Made from a predicate once and tried on every row. Fits only the kind of row that it was made for.
class condition {
  public:
    bool holds(const schemas::registered_model&) const;
    bool holds(const schemas::model_version&) const;
    /// The row name that this condition asks for, if it allows exactly one.
    std::optional<std::string> exact_name() const;

  private:
    friend struct condition_maker;
    struct operand {
        std::string text;
        std::optional<double> number;
    };

    bool holds_for(const property&) const;
    bool compare(const property&, schemas::find_operator) const;
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
