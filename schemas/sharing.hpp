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
struct enum_names<visibility> {
    static constexpr std::array<named<visibility>, 4> all{
        {{visibility::private_, "PRIVATE"},
         {visibility::public_, "PUBLIC"},
         {visibility::org_scoped_public, "ORG_SCOPED_PUBLIC"},
         {visibility::org_default, "ORG_DEFAULT"}}};
};
template <>
struct enum_names<collaborator_type> {
    static constexpr std::array<named<collaborator_type>, 2> all{
        {{collaborator_type::read_only, "READ_ONLY"}, {collaborator_type::read_write, "READ_WRITE"}}};
};
template <>
struct enum_names<ternary> {
    static constexpr std::array<named<ternary>, 3> all{
        {{ternary::unknown, "UNKNOWN"}, {ternary::true_, "TRUE"}, {ternary::false_, "FALSE"}}};
};

struct custom_permission {
    schemas::collaborator_type collaborator_type = schemas::collaborator_type::read_only;
    ternary can_deploy = ternary::unknown;
    ternary can_predict = ternary::unknown;

    friend bool operator==(const custom_permission&, const custom_permission&) = default;
    HERALD_DESCRIBE(collaborator_type, can_deploy, can_predict);
};

}  // namespace herald::schemas
