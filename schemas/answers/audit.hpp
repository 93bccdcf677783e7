// Answers about the audit (wire.md §2).
#pragma once

#include "schemas/answers/answer.hpp"
#include "schemas/audit.hpp"

namespace herald::schemas::answers {

struct audit_entry {
    audit_row row;
    std::string outcome;  // "OK", or the name of the code

    using shown_inline = audit_row;
    static constexpr void describe(auto& self, auto&& field) {
        audit_row::describe(self.row, field);
        field(30, "outcome", self.outcome);
    }
};

struct audit_entries : page<"entries", audit_entry> {};

audit_entry of(audit_row);

/// What `herald audit verify` takes as --public-key.
struct signing_key {
    std::string algorithm;
    std::string public_key;  // hexadecimal digits
    std::string log_id;      // likewise; installations with one key ring have one key, but not one log

    HERALD_DESCRIBE(algorithm, public_key, log_id);
};

}  // namespace herald::schemas::answers
