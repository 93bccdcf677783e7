// How long a node that has just started waits for the models of its endpoints before it says that it is
// ready.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "api/serving/component.hpp"

namespace herald::api::serving {

/// Each model is awaited until it has been tried: it is loaded, or there is a reason why not, and its
/// predictions tell it. One that cannot be loaded is its endpoint's trouble, not the node's. Where nothing
/// more has been tried for limits::model_load_awaited_ms, the rest is not awaited either. On one thread.
class first_loads {
  public:
    /// `all`: the components that have a share of predictions now.
    bool are_over(const std::vector<std::shared_ptr<component>>& all, std::int64_t now_ms);

  private:
    std::optional<std::size_t> x_untried;
    std::int64_t x_since_ms = 0;  // it has been so many
};

}  // namespace herald::api::serving
