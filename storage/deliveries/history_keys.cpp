#include "storage/deliveries/history_keys.hpp"

#include "runtime/crypto.hpp"

namespace herald::storage::deliveries {
namespace {

constexpr std::size_t digest_bytes = 16;

int digit_of(char letter) noexcept {
    if (letter >= '0' && letter <= '9') return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

std::int64_t time_at(std::string_view bytes, std::size_t place) noexcept {
    return bytes.size() < place + 8
               ? INT64_MAX
               : static_cast<std::int64_t>(schemas::read_big_endian(bytes.substr(place)));
}

std::int64_t newest_first_at(std::string_view bytes, std::size_t place) noexcept {
    return bytes.size() < place + 8
               ? INT64_MAX
               : static_cast<std::int64_t>(~schemas::read_big_endian(bytes.substr(place)));
}

std::uint32_t short_at(std::string_view bytes, std::size_t place) noexcept {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[place + i]);
    return value;
}

bool waits(char state) noexcept {
    return static_cast<schemas::delivery_state>(state) == schemas::delivery_state::waiting;
}

std::size_t behind_text(std::string_view key, std::size_t from) noexcept {
    const std::size_t end = key.find('\0', from);
    return end == key.npos ? key.size() : end + 1;
}

}  // namespace

history_key of_workspace(char kind, schemas::workspace_id workspace) {
    return history_key(kind).number(workspace.value);
}

history_key of_webhook(char kind, schemas::workspace_id workspace, schemas::webhook_id webhook) {
    return of_workspace(kind, workspace).number(webhook.value);
}

std::string delivery_key(std::string_view id) {
    if (id.size() != 2 * digest_bytes) return std::string(id);
    std::string bytes;
    for (std::size_t i = 0; i < id.size(); i += 2) {
        const int high = digit_of(id[i]);
        const int low = digit_of(id[i + 1]);
        if (high < 0 || low < 0) return std::string(id);
        bytes += static_cast<char>(high << 4 | low);
    }
    return bytes;
}

std::string id_of_key(std::string_view key) {
    return key.size() == digest_bytes ? runtime::to_hex(key) : std::string(key);
}

std::string bytes_of(const delivery_facts& facts) {
    return {static_cast<char>(facts.event_type), static_cast<char>(facts.state),
            static_cast<char>(facts.error), static_cast<char>(facts.status >> 8),
            static_cast<char>(facts.status & 0xff)};
}

delivery_facts facts_in(std::string_view bytes) noexcept {
    const auto at = [&](std::size_t place) { return static_cast<std::uint8_t>(bytes[place]); };
    return {static_cast<schemas::event_type>(at(0)), static_cast<schemas::delivery_state>(at(1)),
            static_cast<schemas::delivery_error>(at(2)), static_cast<std::uint16_t>(at(3) << 8 | at(4))};
}

delivery_facts facts_of(const schemas::delivery_row& row) noexcept {
    return {row.event_type, row.state, row.last_error, row.last_status};
}

bool has_expired(std::string_view key, std::string_view value, std::int64_t newest_ms,
                 std::int64_t kept_ms) noexcept {
    const std::int64_t oldest_ms = newest_ms - kept_ms;
    const std::int64_t oldest_way_ms = oldest_ms - kept_ms;
    const char kind = key.empty() ? '\0' : key.front();
    // Behind the workspace, or behind the webhook.
    const std::size_t facts_at = kind == 'P' || kind == 'm' ? 17 : 9;
    switch (kind) {
        case 'd':
            return time_at(value, 0) < oldest_ms && value.size() > 8 && !waits(value[8]);
        case 'O':
        case 'P':
            return newest_first_at(key, facts_at + facts_bytes) < oldest_ms && !waits(key[facts_at + 1]);
        case 'R':
            return newest_first_at(key, behind_text(key, 10)) < oldest_way_ms;
        case 'E':
        case 'y':
            return time_at(value, 0) < oldest_way_ms;
        case 'a':
            return time_at(key, behind_text(key, 1)) < oldest_way_ms;
        case 'n':
        case 'm': {
            if (key.size() < facts_at + 5) return false;
            const auto unit = static_cast<count_unit>(key[facts_at]);
            return (std::int64_t{short_at(key, facts_at + 1)} + 1) * ms_of(unit) < oldest_ms;
        }
        case 'l':
            return key.size() >= 13 &&
                   (std::int64_t{short_at(key, 9)} + 1) * ms_of(count_unit::hour) < oldest_ms;
        default:
            return false;
    }
}

}  // namespace herald::storage::deliveries
