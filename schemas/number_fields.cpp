#include "schemas/number_fields.hpp"

#include "schemas/binary.hpp"

namespace herald::schemas {

namespace {

/// At the field, if it is there and of that kind.
std::optional<detail::decoder> at_field(std::string_view bytes, unsigned field, detail::field_kind kind) {
    detail::decoder fields{bytes};
    fields.advance();
    while (fields.have_head && fields.number_ahead < field) fields.advance();
    if (!fields.have_head || fields.number_ahead != field || fields.kind_ahead != kind) return std::nullopt;
    return fields;
}

}  // namespace

std::optional<std::uint64_t> find_number(std::string_view bytes, unsigned field) noexcept {
    const auto found = at_field(bytes, field, detail::field_kind::varint);
    if (!found) return std::nullopt;
    return found->varint_ahead;
}

std::optional<std::string_view> find_bytes(std::string_view bytes, unsigned field) noexcept {
    const auto found = at_field(bytes, field, detail::field_kind::bytes);
    if (!found) return std::nullopt;
    return found->bytes_ahead;
}

}  // namespace herald::schemas
