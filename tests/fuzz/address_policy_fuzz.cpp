// Feeds arbitrary bytes to the location parser and the address policy: nothing may crash, and whatever is
// accepted as a location must be unambiguous and allowed.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/assert.hpp"
#include "runtime/http/client/location.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace herald::runtime::http::client;
    using namespace herald::runtime::http::client;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const address_policy public_internet;
    if (const auto taken = parse_location(text, plain_http::allowed, public_internet)) {
        HERALD_ASSERT(!taken->literal || public_internet.judge(*taken->literal).allowed);
        // What is sent must be parsed as the same place again.
        const std::string said = (taken->tls ? "https://" : "http://") + taken->authority() + taken->target;
        const auto again = parse_location(said, plain_http::allowed, public_internet);
        HERALD_ASSERT(again ||
                      said.size() > text.size());  // "?x" becomes "/?x", which may be a byte too long
        if (again) {
            HERALD_ASSERT(again->host == taken->host && again->port == taken->port &&
                          again->target == taken->target && again->literal == taken->literal);
        }
    }
    if (const auto policy = address_policy::parse(text)) {
        // An operator's blocks only add to the allowed addresses.
        for (std::size_t at = 0; at + 16 <= size; at += 16) {
            const auto address = ip_address::v6(std::span<const std::uint8_t, 16>(data + at, 16));
            HERALD_ASSERT(!public_internet.judge(address).allowed || policy->judge(address).allowed);
            HERALD_ASSERT(ip_address::parse(address.text()) == address);
        }
    }
    if (size == 16) {
        const auto address = ip_address::v6(std::span<const std::uint8_t, 16>(data, 16));
        HERALD_ASSERT(ip_address::parse(address.text()) == address);
        (void)public_internet.judge(address);
    }
    return 0;
}
