// The owner of a store of artifacts. Two logs must not share one: each would erase what only the other refers
// to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/error.hpp"

namespace herald::storage::artifacts {

/// A log, by its id in the text form, and its generation.
struct store_owner {
    std::string log_id;
    std::uint32_t generation = 0;
    friend bool operator==(const store_owner&, const store_owner&) = default;
};

/// The operator's decision about a store that is not this log's yet (--accept-artifacts).
enum class store_taking : std::uint8_t { refused, accepted };

enum class owner_step : std::uint8_t {
    use,   // it is this log's
    mark,  // it becomes this log's
};
/// What a log may do with the store that has this mark. `has_blobs`: the log has bytes that must be there.
/// Errors: failed_precondition, with what the operator can do.
result<owner_step> judge_store(const std::optional<store_owner>& found, const store_owner& mine,
                               bool has_blobs, store_taking);

/// Whether a store that was this log's still is, for who is about to store something. Another log may have
/// taken it, or its disk is gone, and with it the mark. Errors: failed_precondition for another log;
/// unavailable without a mark.
result<void> check_still(const std::optional<store_owner>& found, const store_owner& mine);

/// The mark as text, for stores to keep.
std::string text_of(const store_owner&);
/// Errors: internal when it is not a mark.
result<store_owner> read_owner(std::string_view text);

}  // namespace herald::storage::artifacts
