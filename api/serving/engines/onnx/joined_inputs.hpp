// Which inputs a model joins into one tensor, as far as its file says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/serving/engines/engine.hpp"

namespace herald::api::serving::engines::onnx {

/// ONNX Runtime joins tensors (Concat, ConcatFromSequence) without a look at the dimensions of those that
/// have no elements: 3 rows beside 0 rows become 3 rows, of which a part was never written. Such inputs are
/// refused here. Those that fit are not: the empty past of a model of language, [1,8,0,64], beside
/// [1,8,5,64].
///
/// It follows an input through operators that keep its shape, or its rows. Of dimensions that the file gives
/// the same symbol, not one may be 0 and another not, if the model joins anything. What becomes empty, or
/// other rows, inside a model is not seen.
///
/// Pure; owns what it keeps.
class joined_inputs {
  public:
    joined_inputs() = default;
    /// Of a whole ModelProto; what cannot be read joins nothing.
    joined_inputs(std::string_view model, const schemas::model_signature&);

    /// Of a request that has all inputs. Errors: invalid_argument, which names two inputs.
    result<void> check(const std::vector<schemas::tensor>& inputs) const;

  private:
    struct part {
        std::size_t input = 0;
        bool has_its_shape = false;  // else only its rows
    };
    struct join {
        std::vector<part> parts;
        std::int64_t axis = 0;
        bool is_stack = false;  // along a new axis
        std::string shown;      // the operator, for people
    };
    struct dimension {
        std::size_t input = 0;
        std::size_t place = 0;
    };
    struct same_dimensions {
        std::string symbol;
        std::vector<dimension> places;
    };
    class reader;

    static bool fit(const join&, const part&, const part&, const std::vector<schemas::tensor>&);

    std::vector<join> x_joins;
    std::vector<same_dimensions> x_symbols;
};

}  // namespace herald::api::serving::engines::onnx
