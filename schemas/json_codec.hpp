// The JSON form of described types (wire.md §1).
#pragma once

#include <limits>
#include <span>

#include "runtime/crypto.hpp"
#include "schemas/describe.hpp"
#include "schemas/json.hpp"

namespace herald::schemas {

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
            if (!value) return;
            begin_member(name);
            write(*value);
        } else {
            if (mode == shown::when_set && is_unset(value)) return;
            begin_member(name);
            write(value);
        }
    }

    template <class T>
    static bool is_unset(const T& value) {
        if constexpr (vector_field<T> || std::same_as<T, std::string>) {
            return value.empty();
        } else if constexpr (std::equality_comparable<T>) {
            return value == T{};
        } else {
            return false;
        }
    }

    /// `name` is one of our own and needs no escaping.
    void begin_member(std::string_view name);

    void write(bool);
    void write(double);
    void write(const std::string&);
    void write(const json_text&);
    void write_name(std::string_view name);  // of an enum
    void write_signed(std::int64_t, bool is_long);
    void write_unsigned(std::uint64_t, bool is_long);
    void write_bytes(std::string_view);

    template <class T>
    void write(const T& value) {
        if constexpr (named_enum<T>) {
            write_name(name_of(value));
        } else if constexpr (numeric_id<T>) {
            write_unsigned(value.value, true);
        } else if constexpr (signed_number<T>) {
            write_signed(value, sizeof(T) == 8);
        } else if constexpr (unsigned_number<T>) {
            write_unsigned(value, sizeof(T) == 8);
        } else if constexpr (std::same_as<T, binary_text>) {
            write_bytes(value.bytes);
        } else if constexpr (byte_array<T>) {
            write_bytes(runtime::as_bytes(value));
        } else if constexpr (vector_field<T>) {
            out += '[';
            for (const auto& element : value) {
                if (&element != value.data()) out += ',';
                write(element);
            }
            out += ']';
        } else {
            static_assert(described<T>, "this type has no JSON form");
            append_json_object(out, value, style);
        }
    }
};

std::optional<std::int64_t> signed_of(const json_value&) noexcept;
std::string member_path(std::string_view object, std::string_view name);

/// Reads one object. Only what depends on a member's type is a template.
struct json_reader {
    const json_value& object;
    std::string_view path;
    unknown_members* unknown = nullptr;
    std::optional<error> failure{};
    std::string where{};  // the path of what is read now
    std::size_t found_members = 0;
    std::vector<std::string_view> known_names{};  // while somebody asks for unknown ones

    /// Reads the whole object.
    template <described T>
    void read_members(T& value) {
        T::describe(value, *this);
        if constexpr (requires { T::server_owned; })  // known, although it cannot be set
            for (const auto& owned : T::server_owned) known_names.push_back(owned.name);
        add_unknown();
    }

    template <class T>
    void operator()(unsigned, std::string_view name, T& value, shown mode = shown::always) {
        const json_value* found = member(name, mode);
        if (!found) return;
        if constexpr (optional_field<T>) {
            read(*found, value.emplace());
        } else {
            read(*found, value);
        }
    }

    /// Null for a member that is absent or null, or is not read, and after a failure.
    const json_value* member(std::string_view name, shown mode);
    void add_unknown();
    void fail(const json_value& found, std::string_view expected);

    void read(const json_value& found, bool&);
    void read(const json_value& found, double&);
    void read(const json_value& found, std::string&);
    void read(const json_value& found, json_text&);
    std::optional<std::int64_t> read_signed(const json_value& found, std::int64_t least, std::int64_t most);
    std::optional<std::uint64_t> read_unsigned(const json_value& found, std::uint64_t most);
    /// A value of an enum.
    std::optional<std::uint64_t> read_name(const json_value& found, std::span<const numbered_name> all);
    /// Null when it is not an array, or too long.
    const json_array* read_list(const json_value& found);

    template <class T>
    void read(const json_value& found, T& value) {
        if constexpr (named_enum<T>) {
            if constexpr (requires { T::true_; })
                if (const bool* flag = found.get_if<bool>()) {
                    value = *flag ? T::true_ : T::false_;
                    return;
                }
            if (const auto number = read_name(found, numbered_names<T>)) value = static_cast<T>(*number);
        } else if constexpr (numeric_id<T>) {
            // Clients that keep an id as text send "" for none.
            const std::string* text = found.get_if<std::string>();
            if (!text || !text->empty()) read(found, value.value);
        } else if constexpr (signed_number<T>) {
            using range = std::numeric_limits<T>;
            if (const auto number = read_signed(found, range::min(), range::max()))
                value = static_cast<T>(*number);
        } else if constexpr (unsigned_number<T>) {
            if (const auto number = read_unsigned(found, std::numeric_limits<T>::max()))
                value = static_cast<T>(*number);
        } else if constexpr (vector_field<T>) {
            const json_array* items = read_list(found);
            if (!items) return;
            const std::string list = where;
            for (std::size_t i = 0; i < items->size() && !failure; ++i) {
                where = list + "[" + std::to_string(i) + "]";
                read_element((*items)[i], value.emplace_back());
            }
        } else if constexpr (described<T>) {
            if (!found.get_if<json_object>()) return fail(found, "an object");
            json_reader nested{found, where, unknown};
            nested.read_members(value);
            failure = std::move(nested.failure);
        } else {
            fail(found, "left out: it cannot be set");
        }
    }

    /// An id in a list names something: 0 and "" do not mean "none" there.
    template <class T>
    void read_element(const json_value& found, T& value) {
        read(found, value);
        if constexpr (numeric_id<T>)
            if (!failure && !value) fail(found, "an id; ids begin at 1");
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
    result<T> out;
    detail::json_reader reader{value, {}, unknown};
    reader.read_members(*out);
    if (reader.failure) out = *std::move(reader.failure);
    return out;
}

}  // namespace herald::schemas
