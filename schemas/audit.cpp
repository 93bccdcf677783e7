#include "schemas/audit.hpp"

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"

namespace herald::schemas {

std::string hash_of(std::string_view previous, audit_row row) {
    row.hash.bytes.clear();
    std::string bytes(previous);
    append_encoded(bytes, row);
    return std::string(runtime::as_bytes(runtime::sha256(bytes)));
}

std::string signed_text(audit_seal seal) {
    seal.signature.bytes.clear();
    return "herald audit export\n" + encode(seal);
}

}  // namespace herald::schemas
