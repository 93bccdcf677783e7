// herald audit verify EXPORT --public-key KEY: whether an export of the audit is as the installation made it.
// Needs neither the installation nor its data.
#include <fstream>
#include <iostream>

#include "program/options/settings.hpp"
#include "program/parts/process_end.hpp"
#include "program/verbs/audit_export.hpp"
#include "runtime/crypto.hpp"
#include "runtime/text.hpp"

namespace herald::program {

process_end run_audit(const settings& chosen) {
    const std::string& file = chosen.operands.back();
    std::ifstream lines(file);
    if (!lines) return failed(runtime::not_found({"the export ", file, " cannot be read"}));
    const auto verified = verify_audit_export(lines, chosen.public_key, chosen.log_id);
    if (!verified) {
        std::cerr << "herald: the export was changed: " << verified.error().message << "\n";
        return process_end::failure;
    }
    std::cout << "good: " << verified->rows << " rows, up to row " << verified->seal.head.last
              << (verified->rows == 0 ? "" : " of " + runtime::iso8601_ms(verified->last_row_ms))
              << ", as of offset " << verified->seal.generation << "-" << verified->seal.offset
              << " of the log " << log_id_text(verified->seal) << "\n";
    return process_end::done;
}

}  // namespace herald::program
