// How a log that continues another one (a GENESIS with a parent) gets the parent's rows, after GENESIS and
// before anything else. Numbers 90 to 99.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/restoring.hpp"

namespace herald::schemas::commands {

/// A piece of the parent's rows: as many as one record can hold, in order of key. Pieces are numbered from 0;
/// one that is there already changes nothing, so that a restore that was cut off can begin again. → nothing
struct restore_rows {
    static constexpr command_type type{90};
    static constexpr command_traits traits{.from = sender::operator_};

    std::uint64_t piece = 0;
    std::vector<carried_row> rows;

    HERALD_DESCRIBE(piece, rows);
};

/// All pieces are there: their digest must be the one that GENESIS names. → nothing
struct end_restore {
    static constexpr command_type type{91};
    static constexpr command_traits traits{.from = sender::operator_};

    std::uint64_t pieces = 0;
    bool paused = false;

    HERALD_DESCRIBE(pieces, paused);
};

/// Lets deliver what a restore with `paused` has held back (`herald resume`). → nothing
struct resume_deliveries {
    static constexpr command_type type{92};
    static constexpr command_traits traits{.from = sender::operator_, .passes_full_disk = true};

    static constexpr void describe(auto&, auto&&) {}
};

using restoring_commands = command_list<restore_rows, end_restore, resume_deliveries>;

}  // namespace herald::schemas::commands
