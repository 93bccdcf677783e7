#include "api/serving/engines/onnx/division.hpp"

#include <algorithm>
#include <array>

namespace herald::api::serving::engines::onnx {
namespace {

constexpr std::uint8_t operand_size_prefix = 0x66;
/// LOCK, REPNE and REP, segments, operand size, address size.
constexpr std::array<std::uint8_t, 11> prefixes{0xF0, 0xF2, 0xF3, 0x2E, 0x36, 0x3E,
                                                0x26, 0x64, 0x65, 0x66, 0x67};

/// Of the bytes behind ModRM: SIB and displacement.
std::size_t length_behind(std::uint8_t modrm, std::uint8_t sib) {
    const unsigned mod = modrm >> 6U;
    const unsigned rm = modrm & 7U;
    if (mod == 3) return 0;
    const bool has_sib = rm == 4;
    std::size_t out = has_sib ? 1 : 0;
    if (mod == 1) return out + 1;
    if (mod == 2) return out + 4;
    return out + ((has_sib ? sib & 7U : rm) == 5 ? 4 : 0);
}

}  // namespace

division division_at(std::span<const std::uint8_t, 15> code) {
    std::size_t at = 0;
    bool is_short = false;
    // Four prefixes and REX leave room for the rest.
    for (; at < 4 && std::ranges::find(prefixes, code[at]) != prefixes.end(); ++at)
        is_short = is_short || code[at] == operand_size_prefix;
    bool is_wide = false;
    if ((code[at] & 0xF0U) == 0x40) is_wide = (code[at++] & 8U) != 0;
    const std::uint8_t opcode = code[at];
    const std::uint8_t modrm = code[at + 1];
    // F6 and F7 with 6 in the middle of ModRM are DIV, with 7 IDIV.
    if ((opcode != 0xF6 && opcode != 0xF7) || (modrm >> 3U & 7U) < 6) return {};
    division out;
    out.length = at + 2 + length_behind(modrm, code[at + 2]);
    out.operand_bytes = opcode == 0xF6 ? 1 : is_wide ? 8 : is_short ? 2 : 4;
    return out;
}

bool skip_division(ucontext_t& of) noexcept {
#ifdef __x86_64__
    greg_t* const registers = of.uc_mcontext.gregs;
    const auto* const code = reinterpret_cast<const std::uint8_t*>(registers[REG_RIP]);
    // Byte by byte as far as the instruction goes: what is behind it may not be readable.
    std::array<std::uint8_t, 15> bytes{};
    division found;
    for (std::size_t known = 0; known < bytes.size() && (found.length == 0 || found.length > known);) {
        bytes[known] = code[known];
        ++known;
        found = division_at(bytes);
    }
    if (found.length == 0) return false;
    // A byte is divided out of AX, into AL and AH. Writing 32 bits clears the upper ones.
    const greg_t kept = found.operand_bytes <= 2 ? ~greg_t{0xFFFF} : greg_t{0};
    registers[REG_RAX] &= kept;
    if (found.operand_bytes != 1) registers[REG_RDX] &= kept;
    registers[REG_RIP] += static_cast<greg_t>(found.length);
    return true;
#else
    static_cast<void>(of);
    return false;
#endif
}

}  // namespace herald::api::serving::engines::onnx
