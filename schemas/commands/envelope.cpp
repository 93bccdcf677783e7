#include "schemas/commands/envelope.hpp"

#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"

namespace herald::schemas::commands {
namespace {

constexpr std::string_view magic = "HRC1";
constexpr std::size_t checksum_bytes = 8;

std::string_view checksum(const runtime::sha256_digest& digest) {
    return runtime::as_bytes(digest).substr(0, checksum_bytes);
}

}  // namespace

std::string seal_envelope(const command_envelope& envelope) {
    const std::string rest = encode(envelope);
    const runtime::sha256_digest digest = runtime::sha256(rest);
    std::string out;
    out.reserve(magic.size() + checksum_bytes + rest.size());
    out += magic;
    out += checksum(digest);
    out += rest;
    return out;
}

result<command_envelope> open_envelope(std::string_view record_value) {
    if (!record_value.starts_with(magic) || record_value.size() < magic.size() + checksum_bytes)
        return runtime::invalid_argument("this record is not a command: it does not start with HRC1");
    const std::string_view rest = record_value.substr(magic.size() + checksum_bytes);
    const runtime::sha256_digest digest = runtime::sha256(rest);
    if (record_value.substr(magic.size(), checksum_bytes) != checksum(digest))
        return runtime::invalid_argument("this command's checksum does not match its bytes");
    return decode<command_envelope>(rest);
}

}  // namespace herald::schemas::commands
