// Positions as text.
#include "workers/event_position.hpp"

#include <limits>

#include "runtime/text.hpp"

namespace herald::workers {

std::string to_text(const event_position& position) {
    return std::to_string(position.generation) + ":" + std::to_string(position.sequence);
}

event_position position_from_text(std::string_view text) noexcept {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return {};
    const auto generation = runtime::parse_decimal(text.substr(0, colon));
    const auto sequence = runtime::parse_decimal(text.substr(colon + 1));
    if (!generation || !sequence || *generation > std::numeric_limits<std::uint32_t>::max()) return {};
    return {static_cast<std::uint32_t>(*generation), *sequence};
}

}  // namespace herald::workers
