// The secrets of webhooks: as they come from callers, and as they go into the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/calls/call.hpp"
#include "schemas/webhooks.hpp"

namespace herald::api::webhooks {

/// Errors: invalid_argument for a secret that is too long, and for one that begins with whsec_ and is not of
/// that form. The text never contains the secret.
result<void> check_secret(std::string_view field, const std::string& secret);
/// A receiver cannot tell who sent a delivery without a signature, or with one of a secret that can be
/// guessed.
void warn_of_weak(calls::writing_call&, std::string_view field, const std::string& secret);
/// whsec_ and the base64 of 32 random bytes.
std::string new_secret(calls::writing_call&);

/// A secret on its way into the log; both texts are empty when it is.
struct sealed {
    std::string bytes;
    std::string binding;
};
sealed seal(calls::writing_call&, const std::string& secret);
/// Errors: failed_precondition when it does not open with this node's keys.
result<std::string> secret_of_row(calls::writing_call&, const schemas::webhook&);

/// {name: value}, and null for a name to remove.
struct header_changes {
    std::vector<schemas::webhook_header> added;
    std::vector<std::string> removed;
};
/// Errors: invalid_argument, which never contains a value.
result<header_changes> headers_in(calls::writing_call&, const schemas::json_text&);

}  // namespace herald::api::webhooks
