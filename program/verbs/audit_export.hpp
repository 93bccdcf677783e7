// Verifies an export of the audit, without the installation that made it.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "schemas/audit.hpp"

namespace herald::program {

struct verified_export {
    schemas::audit_seal seal;
    std::uint64_t rows = 0;
    std::int64_t last_row_ms = 0;  // the time of the newest command; 0: there is no row
};

/// Hexadecimal digits.
std::string log_id_text(const schemas::audit_seal&);

/// Reads the lines of an export (GET /api/v1/uac-proxy/audit/export). Errors: failed_precondition, which says
/// of the first line that is not as it was exported what was done to it: changed, missing, twice, at another
/// place, added; or that the end is missing, signed by another key, or of another log than this (16 bytes;
/// empty: of any).
result<verified_export> verify_audit_export(std::istream&, std::string_view public_key,
                                            std::string_view log_id);

}  // namespace herald::program
