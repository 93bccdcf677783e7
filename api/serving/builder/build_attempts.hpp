// Which builds this node has begun: a model whose loading ends the process must not end it for ever.
#pragma once

#include <filesystem>

#include "runtime/error.hpp"
#include "schemas/ids.hpp"

namespace herald::api::serving::builder {

/// One small file for each build that was begun and has not ended, in a folder of the node's data. Thread-safe
/// for different builds; waits for the disk.
class build_attempts {
  public:
    explicit build_attempts(std::filesystem::path folder) : x_folder(std::move(folder)) {}

    /// How often it was begun before and did not end; from now on it counts once more, also after a loss of
    /// power. Errors: unavailable and internal of the disk.
    result<int> begin(schemas::build_id);
    /// It ended, whatever came of it.
    void end(schemas::build_id) noexcept;

  private:
    std::filesystem::path file_of(schemas::build_id) const;
    const std::filesystem::path x_folder;
};

}  // namespace herald::api::serving::builder
