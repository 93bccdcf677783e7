// An installation's files on this machine: its folder, its key ring, the administrator's key.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "program/options/settings.hpp"
#include "runtime/error.hpp"
#include "runtime/key_ring.hpp"
#include "storage/node/genesis.hpp"

namespace herald::program {

/// What a new installation starts with. If no key was given, one is generated: 64 hexadecimal digits.
storage::node::genesis_options with_admin_key(storage::node::genesis_options);

/// The key ring of an installation; created when it does not exist and `is_new` says that nothing has begun
/// yet. `is_new` may block. Errors: failed_precondition when the key ring is missing although the
/// installation has begun; those of the key ring and of `is_new`.
result<runtime::key_ring> ring_of(const std::filesystem::path&, const std::function<result<bool>()>& is_new);

/// Creates DIR/herald, accessible only to its owner; an existing folder becomes so.
result<std::filesystem::path> make_folder(const settings&);
/// Writes an administrator's e-mail and key to a file readable only by its owner; replaces an existing one.
result<void> write_key_file(const std::filesystem::path&, const std::string& email, const std::string& key);

}  // namespace herald::program
