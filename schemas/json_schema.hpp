// JSON Schema of described types, for the OpenAPI document: each described type is a component, named as in
// the program.
#pragma once

#include <algorithm>
#include <map>
#include <stdexcept>

#include "schemas/glossary.hpp"
#include "schemas/json_codec.hpp"
#include "schemas/limits.hpp"

namespace herald::schemas {

enum class direction : std::uint8_t { in, out };

/// The components requested so far.
class schema_set {
  public:
    /// The schema itself, or a reference to the component made for T. Throws std::logic_error when another
    /// type has that name.
    template <class T, direction Direction, integers Style>
    std::string of();

    /// A reference to the component of that name, which is added. Throws as of().
    std::string refer_to(const std::string& name, const std::string& schema);

    const std::map<std::string, std::string>& components() const noexcept { return x_components; }

  private:
    template <described T, direction Direction, integers Style>
    std::string object_of();
    template <class T, direction Direction, integers Style>
    static std::string number_of();
    template <class Kind>
    std::string id_of(integers style);
    template <class Kind>
    std::string id_input_of();

    std::map<std::string, std::string> x_components;
};

/// The schema function for T: the form in which a row of the route table refers to a type.
using schema_maker = std::string (*)(schema_set&);
template <class T>
std::string request_schema(schema_set& into) {
    return into.of<T, direction::in, integers::as_strings>();
}
template <class T>
std::string answer_schema(schema_set& into) {
    return into.of<T, direction::out, style_of<T>()>();
}
/// An id where it is a part of a path or a query: of the type that the answers about the thing itself have.
template <numeric_id Id>
std::string id_schema(schema_set& into);
/// The same, of what a UUID identifies.
struct endpoint_kind;
template <class Kind>
std::string uuid_schema(schema_set& into);

/// Whether answers about the thing itself write its id as a JSON number. In those of the registry, ids are
/// texts (wire.md §1).
template <class Kind>
inline constexpr bool is_number_in_json = false;
template <>
inline constexpr bool is_number_in_json<build_kind> = true;
template <>
inline constexpr bool is_number_in_json<scan_kind> = true;
template <>
inline constexpr bool is_number_in_json<webhook_kind> = true;
template <>
inline constexpr bool is_number_in_json<struct endpoint_stage_kind> = true;
template <>
inline constexpr bool is_number_in_json<struct access_token_kind> = true;
template <>
inline constexpr bool is_number_in_json<struct update_kind> = true;

/// What a member holds, where its type in the program says only that it is a text or any JSON. An answer may
/// declare `static constexpr std::array forms{…}`.
struct member_form {
    std::string_view name;
    schema_maker schema;
};

namespace detail {

/// "herald::schemas::requests::create_model", as the compiler writes it.
template <class T>
constexpr std::string_view full_name_of() {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    return text.substr(0, text.find_first_of(";]"));
}

/// Unique in the document: create_model_request, registered_model, artifact, artifact_input.
template <class T>
std::string component_name(direction which) {
    const std::string_view full = full_name_of<T>();
    std::string name(full.substr(full.rfind(':') + 1));
    if (full.find("::requests::") != full.npos) return name + "_request";
    return which == direction::in ? name + "_input" : name;
}

/// "version" of version_kind.
template <class Kind>
std::string kind_name() {
    const std::string_view full = full_name_of<Kind>();
    std::string name(full.substr(full.rfind(':') + 1));
    name.resize(name.rfind("_kind"));
    return name;
}
template <class T>
struct kind_of;
template <class Kind>
struct kind_of<id<Kind>> {
    using type = Kind;
};

/// "Identifies one endpoint stage. <rest>"
inline std::string id_meaning(std::string kind, std::string_view rest) {
    std::replace(kind.begin(), kind.end(), '_', ' ');
    return "Identifies one " + kind + ". " + std::string(rest);
}

inline std::string quoted_list(const std::vector<std::string>& texts) {
    return json_list(texts, [](const std::string& text) { return "\"" + text + "\""; });
}

/// Whether "" is one of the names, as it is where an enum says that there is none.
template <named_enum E>
constexpr bool has_name_of_nothing() {
    for (const named<E>& each : enum_names<E>)
        if (each.name.empty()) return true;
    return false;
}

/// A member of a body may be null, which says as little as its absence.
inline std::string or_null(const std::string& schema) {
    constexpr std::string_view kinds = R"({"oneOf":[)";
    if (schema == "{}") return schema;
    const std::string all =
        schema.starts_with(kinds) ? schema.substr(kinds.size(), schema.size() - kinds.size() - 2) : schema;
    return std::string(kinds) + all + R"(,{"type":"null"}]})";
}

template <class T>
concept text_field = std::same_as<T, std::string> || std::same_as<T, std::optional<std::string>>;

/// A member that only one type has may be explained there, by `static constexpr std::array meanings{…}`; all
/// others are in the glossary. Null for a name that has no meaning, an exception for one that has two.
template <class Owner>
const meaning* meaning_in(std::string_view name) {
    const meaning* known = meaning_of(name);
    if constexpr (requires { Owner::meanings; })
        for (const meaning& own : Owner::meanings)
            if (own.name == name) {
                if (known) throw std::logic_error("the glossary explains " + std::string(name) + ", too");
                return &own;
            }
    if constexpr (shows_another_inline<Owner>)
        return meaning_in<typename Owner::shown_inline>(name);
    else
        return known;
}

template <class Owner, direction Direction, integers Style>
struct schema_writer {
    schema_set& components;
    object_writer properties{};
    std::vector<std::string> required{};

    template <class T>
    void operator()(unsigned, std::string_view name, const T&, shown mode = shown::always) {
        if (mode == shown::never || (Direction == direction::in && mode == shown::read_only)) return;
        properties.raw(name, with_meaning<T>(name, with_bound<T>(name, schema_of<T>(name))));
        if (Direction == direction::out && mode != shown::when_set && !optional_field<T>)
            required.emplace_back(name);
    }

    template <class T>
    std::string schema_of(std::string_view name) {
        if constexpr (requires { Owner::forms; })
            for (const member_form& each : Owner::forms)
                if (each.name == name) return each.schema(components);
        return components.of<T, Direction, Style>();
    }

    static constexpr bool is_required(std::string_view name) {
        if constexpr (requires { Owner::required; })
            return std::find(Owner::required.begin(), Owner::required.end(), name) != Owner::required.end();
        else
            return false;
    }

    /// What a caller may send: texts have a bound, unless they are only compared; null is for what may be
    /// absent. maxLength counts characters, each of which takes one byte or more.
    template <class T>
    static std::string with_bound(std::string_view name, std::string schema) {
        if constexpr (Direction == direction::in) {
            const meaning* known = meaning_in<Owner>(name);
            if constexpr (text_field<T> && !requires { Owner::only_compared; })
                if (known && known->bytes_max > 0)
                    schema =
                        object_writer().members_of(schema).number("maxLength", known->bytes_max).finish();
            return is_required(name) ? schema : or_null(schema);
        } else {
            return schema;
        }
    }

    /// A reference to an object stands alone: its target has a meaning of its own. That of an id says which
    /// one it is.
    template <class T>
    static std::string with_meaning(std::string_view name, std::string schema) {
        const meaning* known = meaning_in<Owner>(name);
        const bool is_alone = schema.starts_with(R"({"$ref")") && !numeric_id<T>;
        if (!known || is_alone) return schema;
        return object_writer().members_of(schema).text("description", known->text).finish();
    }
};

}  // namespace detail

inline std::string schema_set::refer_to(const std::string& name, const std::string& schema) {
    const auto [place, is_new] = x_components.emplace(name, schema);
    if (!is_new && place->second != schema)
        throw std::logic_error("two types of the OpenAPI document are named " + name);
    return object_writer().text("$ref", "#/components/schemas/" + name).finish();
}

template <class Kind>
std::string schema_set::id_of(integers style) {
    const std::string kind = detail::kind_name<Kind>();
    const bool is_number = style == integers::as_numbers;
    std::string name = kind + "_id";
    if (is_number != is_number_in_json<Kind>) name += is_number ? "_number" : "_text";
    object_writer out;
    if (is_number)
        out.text("type", "integer").text("format", "int64").number("minimum", 0);
    else
        out.text("type", "string").text("pattern", "^(0|[1-9][0-9]*)$");
    out.text("description",
             detail::id_meaning(kind, is_number ? "A number; 0: none" : "Decimal digits; 0: none"));
    return refer_to(name, out.finish());
}

/// Both forms are read, and clients that keep an id as a text send "" for none.
template <class Kind>
std::string schema_set::id_input_of() {
    const std::string kind = detail::kind_name<Kind>();
    const std::string forms = "[" + id_of<Kind>(integers::as_strings) + "," +
                              id_of<Kind>(integers::as_numbers) + R"(,{"type":"string","pattern":"^$"}])";
    return refer_to(kind + "_id_input",
                    object_writer()
                        .raw("oneOf", forms)
                        .text("description", detail::id_meaning(kind, "A text or a number; \"\" or 0: none"))
                        .finish());
}

template <numeric_id Id>
std::string id_schema(schema_set& into) {
    constexpr bool is_number = is_number_in_json<typename detail::kind_of<Id>::type>;
    return into.of < Id, direction::out, is_number ? integers::as_numbers : integers::as_strings > ();
}

template <class Kind>
std::string uuid_schema(schema_set& into) {
    const std::string kind = detail::kind_name<Kind>();
    return into.refer_to(kind + "_id", object_writer()
                                           .text("type", "string")
                                           .text("format", "uuid")
                                           .text("description", detail::id_meaning(kind, "A UUID"))
                                           .finish());
}

template <class T, direction Direction, integers Style>
std::string schema_set::number_of() {
    if constexpr (Direction == direction::in)
        return R"({"oneOf":[{"type":"integer"},{"type":"string","pattern":"^(0|-?[1-9][0-9]*)?$"}]})";
    else if constexpr (sizeof(T) == 8 && Style == integers::as_strings)
        return R"({"type":"string","pattern":"^-?[0-9]+$"})";
    else
        return R"({"type":"integer"})";
}

template <described T, direction Direction, integers Style>
std::string schema_set::object_of() {
    detail::schema_writer<T, Direction, Style> writer{*this};
    const T sample{};
    T::describe(sample, writer);
    if constexpr (Direction == direction::in && requires { T::required; })
        for (const std::string_view name : T::required) writer.required.emplace_back(name);
    if constexpr (requires { T::server_owned; })
        for (const auto& owned : T::server_owned)
            writer.properties.raw(
                owned.name, object_writer().flag("readOnly", true).text("description", owned.why).finish());
    object_writer out;
    out.text("type", "object").raw("properties", writer.properties.finish());
    if (!writer.required.empty()) out.raw("required", detail::quoted_list(writer.required));
    if constexpr (requires { T::example; }) out.raw("example", T::example);
    return refer_to(detail::component_name<T>(Direction), out.finish());
}

template <class T, direction Direction, integers Style>
std::string schema_set::of() {
    if constexpr (optional_field<T>) {
        return of<typename T::value_type, Direction, Style>();
    } else if constexpr (vector_field<T>) {
        object_writer out;
        out.text("type", "array").raw("items", of<typename T::value_type, Direction, Style>());
        if (Direction == direction::in) out.number("maxItems", limits::json_list_elements_max);
        return out.finish();
    } else if constexpr (std::same_as<T, bool>) {
        return R"({"type":"boolean"})";
    } else if constexpr (named_enum<T>) {
        std::vector<std::string> names;
        for (const named<T>& each : enum_names<T>)
            if (!each.name.empty()) names.emplace_back(each.name);
        const std::string by_name =
            object_writer().text("type", "string").raw("enum", detail::quoted_list(names)).finish();
        if (Direction == direction::out) return by_name;
        // Numbers are accepted, too, and their decimal texts; one with TRUE is also a flag.
        std::string kinds = "[" + by_name + R"(,{"type":"integer"},{"type":"string","pattern":"^[0-9])";
        kinds += detail::has_name_of_nothing<T>() ? R"(*$"})" : R"(+$"})";
        if constexpr (requires { T::true_; }) kinds += R"(,{"type":"boolean"})";
        return object_writer().raw("oneOf", kinds + "]").finish();
    } else if constexpr (numeric_id<T>) {
        using kind = typename detail::kind_of<T>::type;
        return Direction == direction::in ? id_input_of<kind>() : id_of<kind>(Style);
    } else if constexpr (std::integral<T>) {
        return number_of<T, Direction, Style>();
    } else if constexpr (std::same_as<T, double>) {
        return Direction == direction::in
                   ? R"({"oneOf":[{"type":"number"},{"type":"string","pattern":"^-?[0-9]+$"}]})"
                   : R"({"type":"number"})";
    } else if constexpr (std::same_as<T, json_text>) {
        return "{}";  // any JSON
    } else if constexpr (described<T>) {
        return object_of<T, Direction, Style>();
    } else {
        return R"({"type":"string"})";
    }
}

}  // namespace herald::schemas
