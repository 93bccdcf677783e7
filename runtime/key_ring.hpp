// The key ring: a file of named 256-bit keys that seal secrets in the log and derive minted ones (design.md
// §5).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"
#include "runtime/random.hpp"

namespace herald::runtime {

/// File format: lines `name base64key`; the last line is the current key; `#` starts a comment. Mode 0600;
/// the group may read it, too, if the file belongs to root or this user, and its group is one of this
/// process's. Immutable after loading; any thread may read it. Every API node and worker of an installation
/// has the same.
class key_ring {
  public:
    /// Reads `file`. Errors: not_found when it does not exist; failed_precondition when it is not a key ring,
    /// cannot be read, or others may read it or write to it.
    static result<key_ring> load(const std::filesystem::path& file);
    /// As load, but creates the file with one new key when it does not exist.
    static result<key_ring> load_or_create(const std::filesystem::path& file, random_source&);
    /// A ring with one key, for tests and the simulation.
    static key_ring of(std::string name, std::string key);

    const std::string& current_name() const noexcept { return x_current; }
    /// A value that distinguishes rings without revealing them; stored in GENESIS. HMAC(oldest key, "herald
    /// key check").
    std::string check_value() const;

    /// The seed of the installation's ed25519 key (runtime/signing.hpp): HMAC(oldest key, "herald signing
    /// key"). The same on every node, and after a rotation of keys.
    std::string signing_seed() const;

    /// What signs deliveries with ed25519 (delivery.md §2).
    struct webhook_key {
        std::string name;  // of the ring's key that it is made of
        std::string seed;  // HMAC(that key, "webhook-signing-ed25519")
    };
    /// The current key's and, after a rotation, that of the key before it: both sign.
    std::vector<webhook_key> webhook_keys() const;

    /// Seals under the current key; `bound_to` names the row. The result starts with the key's name.
    std::string seal(std::string_view bound_to, std::string_view plain, random_source&) const;
    /// Errors: failed_precondition when the key is not on this ring; invalid_argument when the bytes do not
    /// open.
    result<std::string> unseal(std::string_view bound_to, std::string_view sealed) const;

    /// A minted secret: 43 characters, base64url of HMAC(key, command id ‖ purpose). Always the same for the
    /// same three arguments. Errors: failed_precondition when the key is not on this ring.
    result<std::string> mint(std::string_view key_name, std::string_view command_id,
                             std::string_view purpose) const;

    /// What only holders of this ring can make: 64 hexadecimal digits. A text that is signed for one purpose
    /// does not count for another. Errors: failed_precondition when the key is not on this ring.
    result<std::string> sign(std::string_view key_name, std::string_view purpose,
                             std::string_view text) const;

  private:
    std::map<std::string, std::string, std::less<>> x_keys;
    std::string x_current;
    std::string x_before;  // current before that; empty: none
    std::string x_oldest;
};

}  // namespace herald::runtime
