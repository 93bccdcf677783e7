// The public keys that receivers check ed25519 signatures of deliveries with (delivery.md §2).
#pragma once

#include <string>

#include "runtime/key_ring.hpp"

namespace herald::api {

/// A JSON Web Key Set (RFC 7517, RFC 8037): the current key first.
std::string key_set_of(const runtime::key_ring&);

}  // namespace herald::api
