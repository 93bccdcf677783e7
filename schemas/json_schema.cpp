#include "schemas/json_schema.hpp"

#include <algorithm>
#include <stdexcept>

#include "schemas/limits.hpp"

namespace herald::schemas {
namespace detail {
namespace {

std::string last_part(std::string_view full_name) {
    return std::string(full_name.substr(full_name.rfind(':') + 1));
}

/// Unique in the document: create_model_request, registered_model, artifact, artifact_input.
std::string component_name(std::string_view full_name, direction which) {
    const std::string name = last_part(full_name);
    if (full_name.find("::requests::") != full_name.npos) return name + "_request";
    return which == direction::in ? name + "_input" : name;
}

/// "Identifies one endpoint stage. <rest>"
std::string id_meaning(std::string kind, std::string_view rest) {
    std::replace(kind.begin(), kind.end(), '_', ' ');
    return "Identifies one " + kind + ". " + std::string(rest);
}

std::string quoted_list(const std::vector<std::string_view>& texts) {
    return json_list(texts, [](std::string_view text) { return "\"" + std::string(text) + "\""; });
}

/// A member of a body may be null, which says as little as its absence.
std::string or_null(const std::string& schema) {
    constexpr std::string_view kinds = R"({"oneOf":[)";
    if (schema == "{}") return schema;
    const std::string all =
        schema.starts_with(kinds) ? schema.substr(kinds.size(), schema.size() - kinds.size() - 2) : schema;
    return std::string(kinds) + all + R"(,{"type":"null"}]})";
}

/// Null for a name that has no meaning, an exception for one that has two.
const meaning* meaning_in(const described_type& owner, std::string_view name) {
    const meaning* known = meaning_of(name);
    for (const meaning& own : owner.meanings)
        if (own.name == name) {
            if (known) throw std::logic_error("the glossary explains " + std::string(name) + ", too");
            return &own;
        }
    return known;
}

/// What a caller may send: texts have a bound, unless they are only compared; null is for what may be
/// absent. maxLength counts characters, each of which takes one byte or more.
std::string with_bound(const described_type& owner, const described_member& member, std::string schema) {
    const meaning* known = meaning_in(owner, member.name);
    if (member.is_text && !owner.is_only_compared && known && known->bytes_max > 0)
        schema = object_writer().members_of(schema).number("maxLength", known->bytes_max).finish();
    const bool is_required =
        std::find(owner.required.begin(), owner.required.end(), member.name) != owner.required.end();
    return is_required ? schema : or_null(schema);
}

/// A reference to an object stands alone: its target has a meaning of its own. That of an id says which
/// one it is.
std::string with_meaning(const described_type& owner, const described_member& member, std::string schema) {
    const meaning* known = meaning_in(owner, member.name);
    const bool is_alone = schema.starts_with(R"({"$ref")") && !member.is_id;
    if (!known || is_alone) return schema;
    return object_writer().members_of(schema).text("description", known->text).finish();
}

std::string schema_of(const described_type& owner, const described_member& member, schema_set& components,
                      schema_form form) {
    for (const member_form& each : owner.forms)
        if (each.name == member.name) return each.schema(components);
    return (components.*member.schema)(form);
}

}  // namespace

std::string kind_name(std::string_view full_name) {
    std::string name = last_part(full_name);
    name.resize(name.rfind("_kind"));
    return name;
}

std::string list_schema(const std::string& element, schema_form form) {
    object_writer out;
    out.text("type", "array").raw("items", element);
    if (form.which == direction::in) out.number("maxItems", limits::json_list_elements_max);
    return out.finish();
}

std::string enum_schema(std::span<const numbered_name> all, bool has_flag, schema_form form) {
    std::vector<std::string_view> names;
    for (const numbered_name& each : all)
        if (!each.name.empty()) names.push_back(each.name);
    const std::string by_name =
        object_writer().text("type", "string").raw("enum", quoted_list(names)).finish();
    if (form.which == direction::out) return by_name;
    // Numbers are accepted, too, and their decimal texts; one with TRUE is also a flag. "" is one of the
    // names where an enum says that there is none.
    std::string kinds = "[" + by_name + R"(,{"type":"integer"},{"type":"string","pattern":"^[0-9])";
    kinds += names.size() < all.size() ? R"(*$"})" : R"(+$"})";
    if (has_flag) kinds += R"(,{"type":"boolean"})";
    return object_writer().raw("oneOf", kinds + "]").finish();
}

std::string integer_schema(std::size_t bytes, schema_form form) {
    if (form.which == direction::in)
        return R"({"oneOf":[{"type":"integer"},{"type":"string","pattern":"^(0|-?[1-9][0-9]*)?$"}]})";
    if (bytes == 8 && form.style == integers::as_strings)
        return R"({"type":"string","pattern":"^-?[0-9]+$"})";
    return R"({"type":"integer"})";
}

std::string fraction_schema(schema_form form) {
    return form.which == direction::in
               ? R"({"oneOf":[{"type":"number"},{"type":"string","pattern":"^-?[0-9]+$"}]})"
               : R"({"type":"number"})";
}

std::string uuid_schema_of(const std::string& kind, schema_set& into) {
    return into.refer_to(kind + "_id", object_writer()
                                           .text("type", "string")
                                           .text("format", "uuid")
                                           .text("description", id_meaning(kind, "A UUID"))
                                           .finish());
}

}  // namespace detail

std::string schema_set::refer_to(const std::string& name, const std::string& schema) {
    const auto [place, is_new] = x_components.emplace(name, schema);
    if (!is_new && place->second != schema)
        throw std::logic_error("two types of the OpenAPI document are named " + name);
    return object_writer().text("$ref", "#/components/schemas/" + name).finish();
}

std::string schema_set::id_of(const std::string& kind, bool is_usually_number, schema_form form) {
    std::string name = kind + "_id";
    std::string what = "Decimal digits; 0: none";
    object_writer out;
    if (form.which == direction::in) {
        // Both forms are read, and clients that keep an id as a text send "" for none.
        const std::string as_text = id_of(kind, is_usually_number, {direction::out, integers::as_strings});
        const std::string as_number = id_of(kind, is_usually_number, {direction::out, integers::as_numbers});
        out.raw("oneOf", "[" + as_text + "," + as_number + R"(,{"type":"string","pattern":"^$"}])");
        name += "_input";
        what = "A text or a number; \"\" or 0: none";
    } else {
        const bool is_number = form.style == integers::as_numbers;
        if (is_number != is_usually_number) name += is_number ? "_number" : "_text";
        if (is_number) {
            out.text("type", "integer").text("format", "int64").number("minimum", 0);
            what = "A number; 0: none";
        } else {
            out.text("type", "string").text("pattern", "^(0|[1-9][0-9]*)$");
        }
    }
    return refer_to(name, out.text("description", detail::id_meaning(kind, what)).finish());
}

std::string schema_set::object_of(const detail::described_type& type, schema_form form) {
    const bool is_in = form.which == direction::in;
    object_writer properties;
    std::vector<std::string_view> required;
    for (const detail::described_member& each : type.members) {
        if (each.mode == shown::never || (is_in && each.mode == shown::read_only)) continue;
        std::string schema = detail::schema_of(type, each, *this, form);
        if (is_in) schema = detail::with_bound(type, each, std::move(schema));
        properties.raw(each.name, detail::with_meaning(type, each, std::move(schema)));
        if (!is_in && each.mode != shown::when_set && !each.is_optional) required.push_back(each.name);
    }
    if (is_in) required.insert(required.end(), type.required.begin(), type.required.end());
    for (const meaning& owned : type.server_owned)
        properties.raw(owned.name,
                       object_writer().flag("readOnly", true).text("description", owned.text).finish());
    object_writer out;
    out.text("type", "object").raw("properties", properties.finish());
    if (!required.empty()) out.raw("required", detail::quoted_list(required));
    if (!type.example.empty()) out.raw("example", type.example);
    return refer_to(detail::component_name(type.full_name, form.which), out.finish());
}

}  // namespace herald::schemas
