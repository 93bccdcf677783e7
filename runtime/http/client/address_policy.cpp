// The refused ranges, in the order of delivery.md §5, and the IPv4 addresses embedded in IPv6 ones.
#include "runtime/http/client/address_policy.hpp"

#include <arpa/inet.h>

#include <algorithm>

#include "runtime/text.hpp"

namespace herald::runtime::http::client {

namespace {

using runtime::invalid_argument;

struct named_block {
    address_block block;
    const char* what;
};

constexpr address_block v4_block(std::array<std::uint8_t, 4> four, unsigned prefix_bits) {
    return {{ip_address::family::v4, {four[0], four[1], four[2], four[3]}}, prefix_bits};
}

/// A block from its first four 16-bit groups; no block here is longer than 64 bits, except the mapped ones.
constexpr address_block v6_block(std::array<std::uint16_t, 4> groups, unsigned prefix_bits) {
    address_block block{{ip_address::family::v6, {}}, prefix_bits};
    for (std::size_t i = 0; i < groups.size(); ++i) {
        block.first.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
        block.first.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
    }
    return block;
}

constexpr std::array refused_v4{
    named_block{v4_block({0, 0, 0, 0}, 8), "an address of \"this network\""},
    named_block{v4_block({10, 0, 0, 0}, 8), "a private address"},
    named_block{v4_block({100, 64, 0, 0}, 10), "a carrier's internal address"},
    named_block{v4_block({127, 0, 0, 0}, 8), "a loopback address"},
    named_block{v4_block({169, 254, 0, 0}, 16), "a link-local address, where cloud metadata is served"},
    named_block{v4_block({172, 16, 0, 0}, 12), "a private address"},
    named_block{v4_block({192, 0, 0, 0}, 24), "reserved for protocols"},
    named_block{v4_block({192, 0, 2, 0}, 24), "reserved for documentation"},
    named_block{v4_block({192, 88, 99, 0}, 24), "an address of a 6to4 relay"},
    named_block{v4_block({192, 168, 0, 0}, 16), "a private address"},
    named_block{v4_block({198, 18, 0, 0}, 15), "reserved for benchmarks"},
    named_block{v4_block({198, 51, 100, 0}, 24), "reserved for documentation"},
    named_block{v4_block({203, 0, 113, 0}, 24), "reserved for documentation"},
    named_block{v4_block({224, 0, 0, 0}, 4), "a multicast address"},
    named_block{v4_block({240, 0, 0, 0}, 4), "a reserved or broadcast address"},
    named_block{v4_block({168, 63, 129, 16}, 32), "a cloud's internal service address"},
};

constexpr address_block global_v6 = v6_block({0x2000, 0, 0, 0}, 3);
constexpr address_block teredo = v6_block({0x2001, 0, 0, 0}, 32);
constexpr address_block six_to_four = v6_block({0x2002, 0, 0, 0}, 16);
constexpr std::array refused_global_v6{
    named_block{teredo, "a Teredo address"},
    named_block{v6_block({0x2001, 0x10, 0, 0}, 28), "an ORCHID address"},
    named_block{v6_block({0x2001, 0x20, 0, 0}, 28), "an ORCHIDv2 address"},
    named_block{v6_block({0x2001, 0xdb8, 0, 0}, 32), "reserved for documentation"},
    named_block{six_to_four, "a 6to4 address"},
    named_block{v6_block({0x3fff, 0, 0, 0}, 20), "reserved for documentation"},
};

constexpr address_block mapped_v4{{ip_address::family::v6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}}, 96};
constexpr address_block nat64 = v6_block({0x64, 0xff9b, 0, 0}, 96);
constexpr address_block local_nat64 = v6_block({0x64, 0xff9b, 1, 0}, 48);

ip_address v4_at(const ip_address& outer, std::array<std::size_t, 4> places) {
    const auto& b = outer.bytes;
    return ip_address::v4(std::array{b[places[0]], b[places[1]], b[places[2]], b[places[3]]});
}

/// The IPv4 addresses to which `outer` may lead; none for an ordinary IPv6 address.
std::vector<ip_address> v4_inside(const ip_address& outer) {
    if (mapped_v4.contains(outer) || nat64.contains(outer)) return {v4_at(outer, {12, 13, 14, 15})};
    if (six_to_four.contains(outer)) return {v4_at(outer, {2, 3, 4, 5})};
    if (teredo.contains(outer)) {  // the client, with inverted bits, and the server
        ip_address client = v4_at(outer, {12, 13, 14, 15});
        for (std::size_t i = 0; i < 4; ++i) client.bytes[i] = static_cast<std::uint8_t>(~client.bytes[i]);
        return {client, v4_at(outer, {4, 5, 6, 7})};
    }
    if (local_nat64.contains(outer)) {
        // The network chooses the length of its prefix, and with it the place of the IPv4 address (RFC 6052
        // §2.2, RFC 8215): every reading is checked, so that a stranger cannot pick one that is not looked
        // at. Zeros, read as 0.0.0.0/8, lead nowhere and show that this reading is not the one in use.
        std::vector<ip_address> readings{v4_at(outer, {12, 13, 14, 15})};
        for (const auto places : {std::array<std::size_t, 4>{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}}) {
            const ip_address reading = v4_at(outer, places);
            if (reading.bytes[0] != 0) readings.push_back(reading);
        }
        return readings;
    }
    return {};
}

template <std::size_t n>
const char* found_in(const std::array<named_block, n>& blocks, const ip_address& address) {
    const auto found = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const named_block& one) { return one.block.contains(address); });
    return found == blocks.end() ? nullptr : found->what;
}

}  // namespace

ip_address ip_address::v4(std::span<const std::uint8_t, 4> four) {
    ip_address address{family::v4, {}};
    std::copy(four.begin(), four.end(), address.bytes.begin());
    return address;
}

ip_address ip_address::v6(std::span<const std::uint8_t, 16> sixteen) {
    ip_address address{family::v6, {}};
    std::copy(sixteen.begin(), sixteen.end(), address.bytes.begin());
    return address;
}

std::optional<ip_address> ip_address::parse(std::string_view text) {
    const std::string terminated(text);
    if (terminated.find('\0') != std::string::npos) return std::nullopt;
    ip_address address;
    if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return address;
    address.kind = family::v6;
    if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
    return std::nullopt;
}

std::string ip_address::text() const {
    std::array<char, INET6_ADDRSTRLEN> out{};
    inet_ntop(kind == family::v4 ? AF_INET : AF_INET6, bytes.data(), out.data(), out.size());
    return out.data();
}

bool address_block::contains(const ip_address& address) const noexcept {
    if (address.kind != first.kind) return false;
    for (unsigned bit = 0; bit < prefix_bits; bit += 8) {
        const unsigned bits = std::min(prefix_bits - bit, 8u);
        const auto mask = static_cast<std::uint8_t>(0xff00u >> bits);
        if (((address.bytes[bit / 8] ^ first.bytes[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

result<address_block> parse_address_block(std::string_view text) {
    const std::string shown = "'" + std::string(text) + "'";
    const auto slash = text.find('/');
    const auto first = ip_address::parse(text.substr(0, slash));
    if (!first)
        return invalid_argument({shown, " is not a block of addresses; write 10.1.0.0/16 or fd00::/8"});
    const unsigned bits_max = first->kind == ip_address::family::v4 ? 32 : 128;
    address_block block{*first, bits_max};
    if (slash != std::string_view::npos) {
        const auto bits = runtime::parse_decimal(text.substr(slash + 1));
        if (!bits || *bits > bits_max) {
            return invalid_argument({shown, ": after the slash comes a number from 0 to ", bits_max});
        }
        block.prefix_bits = static_cast<unsigned>(*bits);
    }
    address_block whole = block;
    for (unsigned bit = block.prefix_bits; bit < bits_max; ++bit) {
        whole.first.bytes[bit / 8] &= static_cast<std::uint8_t>(~(0x80u >> (bit % 8)));
    }
    if (!(whole == block)) {
        return invalid_argument({shown, " sets bits after its prefix; the block is ", whole.first.text(), "/",
                                 block.prefix_bits});
    }
    const bool clothed = block.prefix_bits >= 96 && (mapped_v4.contains(*first) || nat64.contains(*first));
    if (clothed) return invalid_argument({shown, " holds IPv4 addresses; write the block as IPv4"});
    return block;
}

result<address_policy> address_policy::parse(std::string_view blocks, std::string_view option) {
    std::vector<address_block> allowed;
    while (!blocks.empty()) {
        const auto comma = std::min(blocks.find(','), blocks.size());
        const auto block = parse_address_block(blocks.substr(0, comma));
        if (!block) return block.error();
        allowed.push_back(*block);
        blocks.remove_prefix(std::min(comma + 1, blocks.size()));
    }
    address_policy policy(std::move(allowed));
    policy.x_option = option;
    return policy;
}

const char* address_policy::why_refused(const ip_address& address) const {
    const bool allowed = std::any_of(x_allowed.begin(), x_allowed.end(),
                                     [&](const address_block& block) { return block.contains(address); });
    if (address.kind == ip_address::family::v6) {
        // Whatever the outer address is, the connection reaches the IPv4 host inside.
        const auto inside = v4_inside(address);
        for (const ip_address& v4 : inside) {
            if (const char* why = why_refused(v4)) return why;
        }
        const bool only_a_wrapper = !inside.empty() && !global_v6.contains(address);
        if (allowed || only_a_wrapper) return nullptr;
        if (!global_v6.contains(address)) return "outside of the public IPv6 internet (2000::/3)";
        return found_in(refused_global_v6, address);
    }
    return allowed ? nullptr : found_in(refused_v4, address);
}

address_policy::verdict address_policy::judge(const ip_address& address) const {
    const char* why = why_refused(address);
    if (why == nullptr) return {};
    return {false,
            address.text() + " is not allowed: " + why + "; the operator can allow it with " + x_option};
}

address_policy::verdict address_policy::judge_all(std::span<const ip_address> addresses) const {
    if (addresses.empty()) return {false, "there is no address"};
    for (const ip_address& address : addresses) {
        if (auto one = judge(address); !one.allowed) return one;
    }
    return {};
}

}  // namespace herald::runtime::http::client
