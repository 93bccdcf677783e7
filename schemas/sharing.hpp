// How a record is shared, and three-valued flags (wire.md §1): enums of requests and answers. Rows keep the
// JSON as it was sent.
#pragma once

#include "schemas/describe.hpp"

namespace herald::schemas {

enum class visibility : std::uint8_t { private_, public_, org_scoped_public, org_default };
enum class collaborator_type : std::uint8_t { read_only, read_write };
/// JSON's true and false are accepted, too.
enum class ternary : std::uint8_t { unknown, true_, false_ };

template <>
inline constexpr auto enum_names<visibility> =
    in_order<visibility>("PRIVATE", "PUBLIC", "ORG_SCOPED_PUBLIC", "ORG_DEFAULT");
template <>
inline constexpr auto enum_names<collaborator_type> = in_order<collaborator_type>("READ_ONLY", "READ_WRITE");
template <>
inline constexpr auto enum_names<ternary> = in_order<ternary>("UNKNOWN", "TRUE", "FALSE");

struct custom_permission {
    schemas::collaborator_type collaborator_type = schemas::collaborator_type::read_only;
    ternary can_deploy = ternary::unknown;
    ternary can_predict = ternary::unknown;

    friend bool operator==(const custom_permission&, const custom_permission&) = default;
    HERALD_DESCRIBE(collaborator_type, can_deploy, can_predict);
};

}  // namespace herald::schemas
