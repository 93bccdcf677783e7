// What an installation has on this machine's disk: its folder, its key ring, the administrator's key.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "program/settings.hpp"
#include "runtime/error.hpp"
#include "runtime/key_ring.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {

/// What a new installation is made of. A key that was not given is made: 64 hexadecimal digits.
storage::node::genesis_options with_admin_key(storage::node::genesis_options);

/// The key ring of an installation; made when it is not there and `is_new` says that nothing has begun.
/// Asking may block. Errors: failed_precondition when it is missing and something has; those of the key ring
/// and of `is_new`.
result<runtime::key_ring> ring_of(const std::filesystem::path&, const std::function<result<bool>()>& is_new);

/// Makes DIR/herald, for its owner's eyes only; existing ones become so.
result<std::filesystem::path> make_folder(const settings&);
/// Writes an administrator's e-mail and key for the owner's eyes only; what was there is replaced.
result<void> write_key_file(const std::filesystem::path&, const std::string& email, const std::string& key);

}  // namespace herald::program
