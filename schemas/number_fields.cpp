#include "schemas/number_fields.hpp"

#include "schemas/binary.hpp"

namespace herald::schemas {

std::optional<std::uint64_t> find_number(std::string_view bytes, unsigned field) noexcept {
    detail::decoder fields{bytes};
    fields.advance();
    if (!fields.is_next(field) || fields.kind_ahead != detail::field_kind::varint) return std::nullopt;
    return fields.varint_ahead;
}

}  // namespace herald::schemas
