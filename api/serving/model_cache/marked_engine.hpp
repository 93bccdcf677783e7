// An engine whose loads cannot end the process again and again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/serving/engines/engine.hpp"
#include "api/serving/model_cache/limits.hpp"
#include "api/serving/model_cache/load_marks.hpp"

namespace herald::api::serving::model_cache {

/// The name of the load of this source: a file in the folder of marks.
std::string mark_of(const engines::model_source&);

/// The file that marks runs which ended the process, beside the marks of loads. The engine appends a byte for
/// each such run, batched or not (engines::model_source::end_mark).
std::string mark_of_runs(const engines::model_source&);

/// Loads by `inner`, with a mark on the disk meanwhile. A model during whose load the process ended once is
/// loaded by itself, at most `alone_ms_max` long, so that another one that was only loading beside it is not
/// taken for it. After limits::load_ends_max such ends, or as many that its runs were, it is refused
/// (invalid_argument) until somebody takes its mark away. Without room on the disk for a mark models are
/// loaded all the same.
std::shared_ptr<engines::engine> make_marked_engine(std::shared_ptr<engines::engine> inner,
                                                    std::shared_ptr<load_marks> marks,
                                                    std::int64_t alone_ms_max = limits::load_alone_ms_max);

}  // namespace herald::api::serving::model_cache
