#include "runtime/random.hpp"

#include "runtime/text.hpp"

#include <sys/random.h>

#include <cstring>

#include "runtime/assert.hpp"

namespace herald::runtime {
namespace {

void from_kernel(std::uint8_t* out, std::size_t bytes) noexcept {
    while (bytes > 0) {
        const ssize_t got = ::getrandom(out, bytes, 0);
        if (got < 0) continue;  // EINTR is the only possible error here
        out += got;
        bytes -= static_cast<std::size_t>(got);
    }
}

class machine_random final : public random_source {
  public:
    void fill(void* out, std::size_t bytes) noexcept override {
        thread_local std::array<std::uint8_t, 4096> pool;
        thread_local std::size_t used = pool.size();
        auto* target = static_cast<std::uint8_t*>(out);
        if (bytes > pool.size() / 4) return from_kernel(target, bytes);
        if (used + bytes > pool.size()) {
            from_kernel(pool.data(), pool.size());
            used = 0;
        }
        std::memcpy(target, pool.data() + used, bytes);
        std::memset(pool.data() + used, 0, bytes);  // a secret must not remain here after it was returned
        used += bytes;
    }
};

}  // namespace

std::uint64_t random_source::number() noexcept {
    std::uint64_t value = 0;
    fill(&value, sizeof value);
    return value;
}

std::uint64_t random_source::below(std::uint64_t limit) noexcept {
    HERALD_ASSERT(limit > 0);
    const std::uint64_t uneven = (0 - limit) % limit;  // lower values would favour small results
    for (;;) {
        const std::uint64_t value = number();
        if (value >= uneven) return value % limit;
    }
}

std::string random_source::bytes(std::size_t count) {
    std::string out(count, '\0');
    fill(out.data(), count);
    return out;
}

std::array<std::uint8_t, 16> random_source::uuid() noexcept {
    std::array<std::uint8_t, 16> id{};
    fill(id.data(), id.size());
    id[6] = static_cast<std::uint8_t>((id[6] & 0x0F) | 0x40);
    id[8] = static_cast<std::uint8_t>((id[8] & 0x3F) | 0x80);
    return id;
}

random_source& system_random() noexcept {
    static machine_random the_source;
    return the_source;
}

std::string uuid_text(const std::array<std::uint8_t, 16>& id) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(36);
    for (std::size_t i = 0; i < id.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        out += digits[id[i] >> 4];
        out += digits[id[i] & 15];
    }
    return out;
}

std::optional<std::array<std::uint8_t, 16>> parse_uuid(std::string_view text) noexcept {
    if (text.size() != 36) return std::nullopt;
    std::array<std::uint8_t, 16> id{};
    std::size_t at = 0;
    for (std::size_t i = 0; i < id.size(); ++i) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && text[at++] != '-') return std::nullopt;
        const int high = hex_digit(text[at++]);
        const int low = hex_digit(text[at++]);
        if (high < 0 || low < 0) return std::nullopt;
        id[i] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return id;
}

}  // namespace herald::runtime
