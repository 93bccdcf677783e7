// The Open Inference Protocol, version 2, with its extension for binary tensors (wire.md §6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/predictions/json_dialect.hpp"

namespace herald::api::predictions {

struct v2_request {
    std::string id;                      // echoed; may be empty
    tensors inputs;                      // in the signature's order
    std::vector<std::uint32_t> outputs;  // places in the signature, in the order of the answer
    std::vector<bool> is_binary;         // of each of these
};

/// `header_bytes`: the length of the JSON part, from Inference-Header-Content-Length; empty: all of it is.
/// Errors: invalid_argument naming the tensor, what is expected and what was found; those of `take`, which is
/// asked for the memory that reading takes.
result<v2_request> request_of_v2(std::string_view body, std::optional<std::size_t> header_bytes,
                                 const schemas::model_signature&, const memory_taker& take = {});

struct v2_response {
    std::string body;
    std::optional<std::size_t> header_bytes;  // of its JSON part, when tensors follow it in binary
};
/// Errors: as append_elements_json.
result<v2_response> v2_of_outputs(std::string_view model, std::string_view version, const v2_request&,
                                  const tensors& outputs);

std::string v2_metadata(std::string_view model, std::string_view version, const schemas::model_signature&,
                        std::string_view platform);
std::string v2_server_metadata(std::string_view version);

}  // namespace herald::api::predictions
