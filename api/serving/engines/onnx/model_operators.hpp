// Which operators of a kind a model has, as far as its file says.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace herald::api::serving::engines::onnx {

/// Those that divide integers, at which the processor may stop.
std::span<const std::string_view> dividing_operators() noexcept;
/// Those with which ONNX Runtime 1.31 ends the process when they get a tensor without elements.
std::span<const std::string_view> operators_without_empty_inputs() noexcept;

/// For people, of a whole ModelProto: `operator Div "ratio"`, or `one of its operators Div "a", Mod "b"`, at
/// most limits::onnx_operators_named of them. Empty when there is none, or it cannot be read.
std::string operators_of(std::string_view model, std::span<const std::string_view> kinds);

}  // namespace herald::api::serving::engines::onnx
