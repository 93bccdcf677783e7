#include "api/console/sign_in_codes.hpp"

#include <algorithm>

#include "api/console/limits.hpp"
#include "runtime/crypto.hpp"

namespace herald::api::console {
namespace {

constexpr std::size_t code_bytes = 32;

std::string hash_of(const std::string& code) { return std::string(runtime::as_bytes(runtime::sha256(code))); }

}  // namespace

sign_in_codes::code sign_in_codes::make(holder whose) {
    code made{runtime::to_hex(x_random.bytes(code_bytes)), x_clock.wall_ms() + limits::sign_in_code_ms_max};
    const runtime::lock_guard lock(x_mutex);
    drop_old();
    if (x_codes.size() >= limits::sign_in_codes_max)
        x_codes.erase(std::min_element(
            x_codes.begin(), x_codes.end(),
            [](const auto& left, const auto& right) { return left.second.made_ms < right.second.made_ms; }));
    x_codes.insert_or_assign(hash_of(made.text), kept{std::move(whose), x_clock.steady_ms()});
    return made;
}

std::optional<sign_in_codes::holder> sign_in_codes::take(const std::string& text) {
    const runtime::lock_guard lock(x_mutex);
    drop_old();
    const auto found = x_codes.extract(hash_of(text));
    if (found.empty()) return std::nullopt;
    return found.mapped().whose;
}

void sign_in_codes::drop_old() {
    const std::int64_t oldest_ms = x_clock.steady_ms() - limits::sign_in_code_ms_max;
    std::erase_if(x_codes, [&](const auto& each) { return each.second.made_ms <= oldest_ms; });
}

}  // namespace herald::api::console
