// How far a log that continues another one has taken over its rows (design.md §1 "GENESIS").
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

/// One row of the state, as it was in the parent's.
struct carried_row {
    std::string key;
    std::string value;

    HERALD_DESCRIBE(key, value);
};

/// A row that exists only in a log with a parent.
struct restoring_row {
    std::uint64_t pieces = 0;  // taken over so far
    std::string digest;        // over them: SHA-256(digest before ‖ the piece's rows, encoded)
    bool is_done = false;      // from here on the log is like any other
    bool is_paused = false;    // nothing is published, and so nothing delivered

    HERALD_DESCRIBE(pieces, digest, is_done, is_paused);
};

}  // namespace herald::schemas
