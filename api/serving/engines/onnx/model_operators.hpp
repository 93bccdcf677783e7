// Which operators of a kind a model has, as far as its file says.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace herald::api::serving::engines::onnx {

struct operator_kind {
    std::string_view name;
    /// An operator with a constant at one of these places among its operands is not of the kind. -1: none.
    std::array<int, 2> unless_constant{-1, -1};
};

/// Those that divide integers, at which the processor may stop.
std::span<const operator_kind> dividing_operators() noexcept;
/// Those with which ONNX Runtime 1.31 ends the process, does not end itself, or leaves its output as it was
/// when they get a tensor without elements. Most of them do so only if the weights are such a tensor.
std::span<const operator_kind> operators_without_empty_inputs() noexcept;

/// For people, of a whole ModelProto: `operator Div "ratio"`, or `one of its operators Div "a", Mod "b"`, at
/// most limits::onnx_operators_named of them. Empty when there is none, or it cannot be read. Without kinds:
/// of any.
std::string operators_of(std::string_view model, std::span<const operator_kind> kinds);

}  // namespace herald::api::serving::engines::onnx
