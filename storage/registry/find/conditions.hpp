// The conditions that a find call puts on rows (wire.md §3 "Find predicates").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/error.hpp"
#include "schemas/find.hpp"
#include "schemas/registry.hpp"

namespace herald::storage::registry::find {

/// What a condition looks at in a row.
struct property;

/// Made of a predicate once, tried on every row. The predicate fits the kind of row that it was made for.
class condition {
  public:
    bool holds(const schemas::registered_model&) const;
    bool holds(const schemas::model_version&) const;
    /// The name of the row that this asks for, and no other.
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
    std::vector<operand> x_wanted;  // one, or the list of IN and NOT_IN, by text
};

/// Errors: invalid_argument, saying what there is, for an unknown key, an operator that it does not take, a
/// value that it cannot have, and for more than limits::find_values_max values.
result<std::vector<condition>> conditions_on_models(const schemas::find_request&);
result<std::vector<condition>> conditions_on_versions(const schemas::find_request&);

}  // namespace herald::storage::registry::find
