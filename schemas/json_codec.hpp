// The JSON form of described types (wire.md §1).
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <span>

#include "runtime/crypto.hpp"
#include "runtime/text.hpp"
#include "schemas/describe.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"

namespace herald::schemas {

/// How 64-bit integers are written: as strings in the registry dialect, as numbers in the deployment dialect.
/// Both forms are read.
enum class integers : std::uint8_t { as_strings, as_numbers };

/// The style that a type declares; as_strings for one that declares none.
template <described T>
consteval integers style_of() {
    if constexpr (requires { T::style; })
        return T::style;
    else
        return integers::as_strings;
}

template <described T>
void append_json_object(std::string& out, const T& value, integers style);
template <described T>
std::string to_json_object(const T& value, integers style) {
    std::string out;
    out.reserve(512);
    append_json_object(out, value, style);
    return out;
}
/// A member that its object's type does not have.
struct unknown_member {
    std::string path;
    std::string nearest;  // of the existing names; empty when none is near
};

/// Which unknown members are told of: clients send defaults for what they do not use.
enum class unknown_told : std::uint8_t { not_at_default, all };
struct unknown_members {
    unknown_told which = unknown_told::not_at_default;
    std::vector<unknown_member> found;  // at most limits::unknown_members_max
};

/// Reads what is present: null and absent members keep their defaults. Ignores unknown members (`unknown`
/// says which are told of), members that are never shown and those that are read-only. Integers may be
/// numbers or strings (ids also ""), enums names or numbers (one with TRUE also true and false). Errors:
/// invalid_argument naming the member, what it holds and what it should hold.
template <described T>
result<T> from_json(const json_value& value, unknown_members* unknown = nullptr);

/// invalid_argument "<path> is <what it holds>; it must be <expected>".
error wrong_member(std::string_view path, const json_value& found, std::string_view expected);
/// What clients send for "nothing": null, false, 0, "", an empty list or object.
bool is_default(const json_value&) noexcept;
/// Of a number or its decimal text; empty for anything else, also for a negative number or one that is too
/// large.
std::optional<std::uint64_t> unsigned_of(const json_value&) noexcept;

namespace detail {

struct json_writer {
    std::string& out;
    integers style;
    bool first = true;

    template <class T>
    void operator()(unsigned, std::string_view name, const T& value, shown mode = shown::always) {
        if (mode == shown::never) return;
        if constexpr (optional_field<T>) {
            if (value) member(name, *value);
        } else {
            if (mode == shown::when_set && is_unset(value)) return;
            member(name, value);
        }
    }

    template <class T>
    static bool is_unset(const T& value) {
        if constexpr (vector_field<T>) {
            return value.empty();
        } else if constexpr (std::equality_comparable<T>) {
            return value == T{};
        } else {
            return false;
        }
    }

    template <class T>
    void member(std::string_view name, const T& value) {
        if (!first) out += ',';
        first = false;
        append_plain(name);
        out += ':';
        write(value);
    }

    /// One of our own names, which needs no escaping.
    void append_plain(std::string_view name) {
        out += '"';
        out += name;
        out += '"';
    }

    template <std::integral T>
    void append_digits(T value) {
        std::array<char, 24> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        out.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
    }

    template <class T>
    void write(const T& value) {
        if constexpr (std::same_as<T, bool>) {
            out += value ? "true" : "false";
        } else if constexpr (named_enum<T>) {
            append_plain(name_of(value));
        } else if constexpr (numeric_id<T>) {
            write(value.value);
        } else if constexpr (std::integral<T>) {
            const bool quoted = style == integers::as_strings && sizeof(T) == 8;
            if (quoted) out += '"';
            append_digits(value);
            if (quoted) out += '"';
        } else if constexpr (std::same_as<T, double>) {
            append_json_number(out, value);
        } else if constexpr (std::same_as<T, std::string>) {
            runtime::append_json_string(out, value);
        } else if constexpr (std::same_as<T, json_text>) {
            out += value.text.empty() ? std::string_view("null") : std::string_view(value.text);
        } else if constexpr (std::same_as<T, binary_text>) {
            runtime::append_json_string(out, runtime::to_hex(value.bytes));
        } else if constexpr (byte_array<T>) {
            runtime::append_json_string(out, runtime::to_hex(runtime::as_bytes(value)));
        } else if constexpr (vector_field<T>) {
            out += '[';
            bool first_element = true;
            for (const auto& element : value) {
                if (!first_element) out += ',';
                first_element = false;
                write(element);
            }
            out += ']';
        } else {
            static_assert(described<T>, "this type has no JSON form");
            append_json_object(out, value, style);
        }
    }
};

/// The error for an integer that is too large or too small names the range.
error wrong_integer(std::string_view path, const json_value& found, std::int64_t least, std::uint64_t most);
/// invalid_argument: more than limits::json_list_elements_max.
error too_many_elements(std::string_view path, std::size_t count);
std::optional<std::int64_t> signed_of(const json_value&) noexcept;
/// False for a text with zeros in front, as "007": the same number has only one text.
bool is_plain(const json_value&) noexcept;
std::string member_path(std::string_view object, std::string_view name);
/// Adds the members that are not among `known`.
void add_unknown(const json_value& object, std::string_view path, std::span<const std::string_view> known,
                 unknown_members& out);

struct name_reader {
    std::vector<std::string_view>& names;
    template <class T>
    void operator()(unsigned, std::string_view name, const T&, shown mode = shown::always) {
        if (mode != shown::never) names.push_back(name);
    }
};

struct json_reader {
    const json_value& object;
    std::string_view path;
    unknown_members* unknown = nullptr;
    std::optional<error> failure;
    std::size_t found_members = 0;

    /// Reads the whole object.
    template <described T>
    void read_members(T& value) {
        T::describe(value, *this);
        const json_object* members = object.get_if<json_object>();
        if (failure || !unknown || found_members == members->size()) return;
        std::vector<std::string_view> names;
        T::describe(value, name_reader{names});
        if constexpr (requires { T::server_owned; })  // known, although it cannot be set
            for (const auto& owned : T::server_owned) names.push_back(owned.name);
        add_unknown(object, path, names, *unknown);
    }

    template <class T>
    void operator()(unsigned, std::string_view name, T& value, shown mode = shown::always) {
        if (failure || mode == shown::never) return;
        const json_value* found = object.find(name);
        if (!found) return;
        ++found_members;
        if (found->is_null() || mode == shown::read_only) return;
        const std::string where = member_path(path, name);
        if constexpr (optional_field<T>) {
            read(*found, where, value.emplace());
        } else {
            read(*found, where, value);
        }
    }

    template <class T>
    void read(const json_value& found, const std::string& where, T& value) {
        if constexpr (std::same_as<T, bool>) {
            if (const bool* flag = found.get_if<bool>())
                value = *flag;
            else
                failure = wrong_member(where, found, "true or false");
        } else if constexpr (named_enum<T>) {
            read_enum(found, where, value);
        } else if constexpr (numeric_id<T>) {
            // Clients that keep an id as text send "" for none.
            const std::string* text = found.get_if<std::string>();
            if (!text || !text->empty()) read(found, where, value.value);
        } else if constexpr (signed_number<T>) {
            const auto number = signed_of(found);
            if (number && is_plain(found) && *number >= std::numeric_limits<T>::min() &&
                *number <= std::numeric_limits<T>::max())
                value = static_cast<T>(*number);
            else
                failure = wrong_integer(where, found, std::numeric_limits<T>::min(),
                                        static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
        } else if constexpr (unsigned_number<T>) {
            // The OpenAPI document says int64: no client need know a larger one.
            constexpr auto most = std::min<std::uint64_t>(std::numeric_limits<T>::max(),
                                                          std::numeric_limits<std::int64_t>::max());
            const auto number = unsigned_of(found);
            if (number && is_plain(found) && *number <= most)
                value = static_cast<T>(*number);
            else
                failure = wrong_integer(where, found, 0, most);
        } else if constexpr (std::same_as<T, double>) {
            if (const double* fraction = found.get_if<double>())
                value = *fraction;
            else if (const auto number = signed_of(found))
                value = static_cast<double>(*number);
            else
                failure = wrong_member(where, found, "a number");
        } else if constexpr (std::same_as<T, std::string>) {
            if (const std::string* text = found.get_if<std::string>())
                value = *text;
            else
                failure = wrong_member(where, found, "a string");
        } else if constexpr (std::same_as<T, json_text>) {
            value.text = to_json_text(found);
        } else if constexpr (vector_field<T>) {
            const json_array* items = found.get_if<json_array>();
            if (!items) {
                failure = wrong_member(where, found, "an array");
                return;
            }
            if (items->size() > limits::json_list_elements_max) {
                failure = too_many_elements(where, items->size());
                return;
            }
            for (std::size_t i = 0; i < items->size() && !failure; ++i)
                read_element((*items)[i], where + "[" + std::to_string(i) + "]", value.emplace_back());
        } else if constexpr (described<T>) {
            if (!found.get_if<json_object>()) {
                failure = wrong_member(where, found, "an object");
                return;
            }
            json_reader nested{found, where, unknown, {}};
            nested.read_members(value);
            failure = std::move(nested.failure);
        } else {
            failure = wrong_member(where, found, "left out: it cannot be set");
        }
    }

    /// An id in a list names something: 0 and "" do not mean "none" there.
    template <class T>
    void read_element(const json_value& found, const std::string& where, T& value) {
        read(found, where, value);
        if constexpr (numeric_id<T>)
            if (!failure && !value) failure = wrong_member(where, found, "an id; ids begin at 1");
    }

    template <named_enum E>
    void read_enum(const json_value& found, const std::string& where, E& value) {
        std::optional<E> known;
        if (const std::string* text = found.get_if<std::string>()) known = from_name<E>(*text);
        if (const auto number = unsigned_of(found); !known && number) known = from_number<E>(*number);
        if constexpr (requires { E::true_; })
            if (const bool* flag = found.get_if<bool>()) known = *flag ? E::true_ : E::false_;
        if (known) {
            value = *known;
            return;
        }
        std::string expected = "one of";
        for (const named<E>& candidate : enum_names<E>)
            if (!candidate.name.empty()) expected += " " + std::string(candidate.name);
        failure = wrong_member(where, found, expected);
    }
};

}  // namespace detail

template <described T>
void append_json_object(std::string& out, const T& value, integers style) {
    static_assert(detail::describes_every_member<T>, "a member of this type is not described");
    out += '{';
    T::describe(value, detail::json_writer{out, style});
    out += '}';
}

template <described T>
result<T> from_json(const json_value& value, unknown_members* unknown) {
    if (!value.get_if<json_object>()) return wrong_member("the body", value, "a JSON object");
    static_assert(detail::describes_every_member<T>, "a member of this type is not described");
    T out{};
    detail::json_reader reader{value, {}, unknown, {}};
    reader.read_members(out);
    if (reader.failure) return *std::move(reader.failure);
    return out;
}

}  // namespace herald::schemas
