// JSON Schema of described types, for the OpenAPI document: each described type is a component, named as in
// the program.
#pragma once

#include <map>
#include <span>

#include "schemas/describe.hpp"
#include "schemas/glossary.hpp"
#include "schemas/json.hpp"

namespace herald::schemas {

enum class direction : std::uint8_t { in, out };

/// Whether it is a schema of what is sent or of what is answered, and how answers write 64-bit integers.
struct schema_form {
    direction which = direction::out;
    integers style = integers::as_strings;
};

namespace detail {
struct described_type;
}

/// The components requested so far.
class schema_set {
  public:
    /// The schema itself, or a reference to the component made for T. Throws std::logic_error when another
    /// type has that name.
    template <class T>
    std::string of(schema_form);

    /// A reference to the component of that name, which is added. Throws as of().
    std::string refer_to(const std::string& name, const std::string& schema);

    const std::map<std::string, std::string>& components() const noexcept { return x_components; }

  private:
    std::string object_of(const detail::described_type&, schema_form);
    std::string id_of(const std::string& kind, bool is_usually_number, schema_form);

    std::map<std::string, std::string> x_components;
};

/// The schema function for T: the form in which a row of the route table refers to a type.
using schema_maker = std::string (*)(schema_set&);
template <class T>
std::string request_schema(schema_set& into) {
    return into.of<T>({direction::in, integers::as_strings});
}
template <class T>
std::string answer_schema(schema_set& into) {
    return into.of<T>({direction::out, style_of<T>()});
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
/// "version" of "herald::schemas::version_kind".
std::string kind_name(std::string_view full_name);
template <class T>
struct kind_of;
template <class Kind>
struct kind_of<id<Kind>> {
    using type = Kind;
};

/// A member, without its C++ type.
struct described_member {
    std::string_view name;
    shown mode;
    bool is_optional;
    bool is_text;
    bool is_id;
    std::string (schema_set::*schema)(schema_form);
};

/// A described type, with what it declares by name.
struct described_type {
    std::string_view full_name;
    std::vector<described_member> members{};
    std::span<const member_form> forms{};
    std::vector<meaning> meanings{};  // of its own and of what is shown inline
    std::span<const std::string_view> required{};
    std::vector<meaning> server_owned{};
    std::string_view example{};
    bool is_only_compared = false;
};

/// A member that only one type has may be explained there, by `static constexpr std::array meanings{…}`; all
/// others are in the glossary.
template <class T>
void add_meanings(std::vector<meaning>& out) {
    if constexpr (requires { T::meanings; }) out.insert(out.end(), T::meanings.begin(), T::meanings.end());
    if constexpr (shows_another_inline<T>) add_meanings<typename T::shown_inline>(out);
}

template <described T>
described_type description_of() {
    described_type out{full_name_of<T>()};
    const T sample{};
    T::describe(sample, [&out]<class Member>(unsigned, std::string_view name, const Member&,
                                             shown mode = shown::always) {
        constexpr bool is_text =
            std::same_as<Member, std::string> || std::same_as<Member, std::optional<std::string>>;
        out.members.push_back(
            {name, mode, optional_field<Member>, is_text, numeric_id<Member>, &schema_set::of<Member>});
    });
    if constexpr (requires { T::forms; }) out.forms = T::forms;
    if constexpr (requires { T::required; }) out.required = T::required;
    if constexpr (requires { T::server_owned; })
        for (const auto& owned : T::server_owned) out.server_owned.push_back({owned.name, owned.why});
    if constexpr (requires { T::example; }) out.example = T::example;
    out.is_only_compared = requires { T::only_compared; };
    add_meanings<T>(out.meanings);
    return out;
}

std::string list_schema(const std::string& element, schema_form);
/// `has_flag`: its values are also true and false.
std::string enum_schema(std::span<const numbered_name> names, bool has_flag, schema_form);
std::string integer_schema(std::size_t bytes, schema_form);
std::string fraction_schema(schema_form);
std::string uuid_schema_of(const std::string& kind, schema_set& into);

}  // namespace detail

template <numeric_id Id>
std::string id_schema(schema_set& into) {
    constexpr bool is_number = is_number_in_json<typename detail::kind_of<Id>::type>;
    return into.of<Id>({direction::out, is_number ? integers::as_numbers : integers::as_strings});
}

template <class Kind>
std::string uuid_schema(schema_set& into) {
    return detail::uuid_schema_of(detail::kind_name(detail::full_name_of<Kind>()), into);
}

template <class T>
std::string schema_set::of(schema_form form) {
    if constexpr (optional_field<T>) {
        return of<typename T::value_type>(form);
    } else if constexpr (vector_field<T>) {
        return detail::list_schema(of<typename T::value_type>(form), form);
    } else if constexpr (std::same_as<T, bool>) {
        return R"({"type":"boolean"})";
    } else if constexpr (named_enum<T>) {
        return detail::enum_schema(
            numbered_names<T>, requires { T::true_; }, form);
    } else if constexpr (numeric_id<T>) {
        using kind = typename detail::kind_of<T>::type;
        return id_of(detail::kind_name(detail::full_name_of<kind>()), is_number_in_json<kind>, form);
    } else if constexpr (std::integral<T>) {
        return detail::integer_schema(sizeof(T), form);
    } else if constexpr (std::same_as<T, double>) {
        return detail::fraction_schema(form);
    } else if constexpr (std::same_as<T, json_text>) {
        return "{}";  // any JSON
    } else if constexpr (described<T>) {
        return object_of(detail::description_of<T>(), form);
    } else {
        return R"({"type":"string"})";
    }
}

}  // namespace herald::schemas
