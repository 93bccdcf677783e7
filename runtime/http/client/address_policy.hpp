// Which network addresses a delivery may connect to (delivery.md §5). Pure: no sockets, no names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/error.hpp"

namespace herald::runtime::http::client {

/// An IPv4 or IPv6 address, without zone.
struct ip_address {
    enum class family : std::uint8_t { v4, v6 };
    family kind = family::v4;
    std::array<std::uint8_t, 16> bytes{};  // network order; v4: the first four bytes, the rest 0

    static ip_address v4(std::span<const std::uint8_t, 4> four);
    static ip_address v6(std::span<const std::uint8_t, 16> sixteen);
    /// Accepts the textual forms of RFC 4291 and dotted decimal without leading zeros; nothing else, so no
    /// octal, hex or zone.
    static std::optional<ip_address> parse(std::string_view text);
    std::string text() const;

    friend bool operator==(const ip_address&, const ip_address&) = default;
};

/// A block of addresses.
struct address_block {
    ip_address first;
    unsigned prefix_bits = 0;

    bool contains(const ip_address&) const noexcept;
    friend bool operator==(const address_block&, const address_block&) = default;
};

/// "10.0.0.0/8", "fd00::/8", or one address. Errors: invalid_argument, also when bits below the prefix are
/// set or when it is an IPv4 block written as IPv6 (it would never match: such addresses are judged as the
/// IPv4 address inside).
result<address_block> parse_address_block(std::string_view text);

/// An immutable value; usable on any thread. Refuses addresses that are not on the public internet, unless
/// the operator allowed their block.
class address_policy {
  public:
    struct verdict {
        bool allowed = true;
        std::string reason;  // when refused: what the address is, and how to allow it
    };

    /// Allows only the public internet.
    address_policy() = default;
    explicit address_policy(std::vector<address_block> allowed) : x_allowed(std::move(allowed)) {}
    /// The same addresses, allowed by another option: it is named to who is refused.
    address_policy named(std::string_view option) const {
        address_policy out = *this;
        out.x_option = option;
        return out;
    }
    /// A comma-separated list of blocks; may be empty. `option`: where the operator allows more, named to who
    /// is refused. Errors: invalid_argument.
    static result<address_policy> parse(std::string_view blocks,
                                        std::string_view option = "--allow-addresses");

    verdict judge(const ip_address&) const;
    /// All addresses must be allowed; an empty list is refused. Returns the verdict on the first refused
    /// address.
    verdict judge_all(std::span<const ip_address>) const;

  private:
    const char* why_refused(const ip_address&) const;  // nullptr: allowed

    std::vector<address_block> x_allowed;
    std::string x_option = "--allow-addresses";
};

}  // namespace herald::runtime::http::client
