// Divisions of the processor, which traps at a divisor of zero and at a quotient that has no room.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace herald::api::serving::engines::onnx {

struct division {
    std::size_t length = 0;         // of the instruction; 0: not a division
    std::size_t operand_bytes = 0;  // 1, 2, 4 or 8
};
/// The instruction of x86-64 that begins there: DIV or IDIV, or none. Pure.
division division_at(std::span<const std::uint8_t, 15> code);

/// For a handler of SIGFPE: the quotient and the remainder become zero, and the thread goes on behind the
/// division. False, and nothing is changed, when it did not stop at one. Elsewhere than on x86-64 divisions
/// do not trap.
bool skip_division(ucontext_t&) noexcept;

}  // namespace herald::api::serving::engines::onnx
