// One description of a type gives its bytes (binary.hpp), its JSON (json_codec.hpp) and its JSON Schema.
//
// A described type has
//
//     static constexpr void describe(auto& self, auto&& field) {
//         field(1, "id", self.id);
//         field(2, "name", self.name);
//         field(3, "environment", self.environment, shown::when_set);
//     }
//
// Numbers ascend and are frozen once released: a field may be added or left out, never renumbered. Names are
// those of the JSON contract (wire.md). A described type is an aggregate; if a member is not described, code
// that asks for the type's bytes or JSON does not compile.
//
// Most types show each member under its own name and number them from 1. They say so in one line, where a new
// member comes last:
//
//     HERALD_DESCRIBE(id, name);
//
// Others may begin so: HERALD_FIELDS(id, name); stands for the first calls of field().
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schemas/ids.hpp"

// clang-format off
/// field(1, "first", self.first); field(2, … of up to 16 members.
#define HERALD_FIELDS(...) HERALD_FIELD_1(__VA_ARGS__)
/// The description of a type with these members.
#define HERALD_DESCRIBE(...) \
    static constexpr void describe(auto& self, auto&& field) { HERALD_FIELDS(__VA_ARGS__) }
#define HERALD_FIELD_1(m, ...) field(1, #m, self.m); __VA_OPT__(HERALD_FIELD_2(__VA_ARGS__))
#define HERALD_FIELD_2(m, ...) field(2, #m, self.m); __VA_OPT__(HERALD_FIELD_3(__VA_ARGS__))
#define HERALD_FIELD_3(m, ...) field(3, #m, self.m); __VA_OPT__(HERALD_FIELD_4(__VA_ARGS__))
#define HERALD_FIELD_4(m, ...) field(4, #m, self.m); __VA_OPT__(HERALD_FIELD_5(__VA_ARGS__))
#define HERALD_FIELD_5(m, ...) field(5, #m, self.m); __VA_OPT__(HERALD_FIELD_6(__VA_ARGS__))
#define HERALD_FIELD_6(m, ...) field(6, #m, self.m); __VA_OPT__(HERALD_FIELD_7(__VA_ARGS__))
#define HERALD_FIELD_7(m, ...) field(7, #m, self.m); __VA_OPT__(HERALD_FIELD_8(__VA_ARGS__))
#define HERALD_FIELD_8(m, ...) field(8, #m, self.m); __VA_OPT__(HERALD_FIELD_9(__VA_ARGS__))
#define HERALD_FIELD_9(m, ...) field(9, #m, self.m); __VA_OPT__(HERALD_FIELD_10(__VA_ARGS__))
#define HERALD_FIELD_10(m, ...) field(10, #m, self.m); __VA_OPT__(HERALD_FIELD_11(__VA_ARGS__))
#define HERALD_FIELD_11(m, ...) field(11, #m, self.m); __VA_OPT__(HERALD_FIELD_12(__VA_ARGS__))
#define HERALD_FIELD_12(m, ...) field(12, #m, self.m); __VA_OPT__(HERALD_FIELD_13(__VA_ARGS__))
#define HERALD_FIELD_13(m, ...) field(13, #m, self.m); __VA_OPT__(HERALD_FIELD_14(__VA_ARGS__))
#define HERALD_FIELD_14(m, ...) field(14, #m, self.m); __VA_OPT__(HERALD_FIELD_15(__VA_ARGS__))
#define HERALD_FIELD_15(m, ...) field(15, #m, self.m); __VA_OPT__(HERALD_FIELD_16(__VA_ARGS__))
#define HERALD_FIELD_16(m) field(16, #m, self.m);
// clang-format on

namespace herald::schemas {

/// Whether a field is in the JSON form. The binary form has every field that is not at its default. What is
/// read_only is always shown, and known in a body, but not read from one: the server sets it.
enum class shown : std::uint8_t { always, when_set, never, read_only };

/// Text that is itself JSON, kept as it was sent (compact form); empty means absent.
struct json_text {
    std::string text;
    friend bool operator==(const json_text&, const json_text&) = default;
};

/// Bytes, shown as hexadecimal digits.
struct binary_text {
    std::string bytes;
    friend bool operator==(const binary_text&, const binary_text&) = default;
};

namespace detail {
struct any_field {
    template <class T>
    void operator()(unsigned, std::string_view, T&, shown = shown::always) const {}
};
template <class T>
inline constexpr bool is_id = false;
template <class Kind>
inline constexpr bool is_id<id<Kind>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_byte_array = false;
template <std::size_t N>
inline constexpr bool is_byte_array<std::array<std::uint8_t, N>> = true;
}  // namespace detail

template <class T>
concept described = requires(T& value, detail::any_field field) { T::describe(value, field); };
namespace detail {

/// Converts to a member of any type in an aggregate's initialiser. An optional would also take it as its
/// value, so any_optional is for those.
struct any_member {
    template <class T>
    operator T() const {
        std::terminate();  // never called; needs a body when a type is local to one file
    }
};
struct any_optional {
    template <class T>
    operator std::optional<T>() const {
        std::terminate();
    }
};

/// As many as T's initialiser accepts.
template <class T, class... Members>
consteval std::size_t members_of() {
    if constexpr (requires { T{std::declval<Members>()..., any_member{}}; })
        return members_of<T, Members..., any_member>();
    else if constexpr (requires { T{std::declval<Members>()..., any_optional{}}; })
        return members_of<T, Members..., any_optional>();
    else
        return sizeof...(Members);
}

/// Only for its members' names: no such T exists.
template <class T>
union unwritten {
    char none = 0;
    T value;
    constexpr unwritten() noexcept {}
    constexpr ~unwritten() {}
};
template <class T>
inline constexpr unwritten<T> no_value{};

template <class T>
consteval std::size_t described_members_of() {
    std::size_t count = 0;
    T::describe(no_value<T>.value, [&count](unsigned, std::string_view, const auto&, auto...) { ++count; });
    return count;
}

/// A T that shows the members of one of its members, or of its base, as its own declares
/// `using shown_inline = …`. A base may declare it for all that derive from it.
template <class T>
concept shows_another_inline =
    requires { typename T::shown_inline; } && !std::same_as<T, typename T::shown_inline>;

template <class T>
consteval std::size_t members_to_describe() {
    if constexpr (shows_another_inline<T>)
        return members_of<T>() - 1 + members_to_describe<typename T::shown_inline>();
    else
        return members_of<T>();
}

/// Otherwise its content would be lost on the way into the log or a database.
template <class T>
inline constexpr bool describes_every_member = members_to_describe<T>() == described_members_of<T>();

}  // namespace detail

template <class T>
concept numeric_id = detail::is_id<T>;
template <class T>
concept optional_field = detail::is_optional<T>;
template <class T>
concept vector_field = detail::is_vector<T>;
template <class T>
concept byte_array = detail::is_byte_array<T>;
template <class T>
concept signed_number = std::signed_integral<T>;
template <class T>
concept unsigned_number = std::unsigned_integral<T> && !std::same_as<T, bool>;

template <class E>
struct named {
    E value;
    std::string_view name;
};
/// Names of an enum's values; specialised beside the enum, as an array of named<E>.
template <class E>
inline constexpr std::nullptr_t enum_names = nullptr;
template <class E>
concept named_enum = std::is_enum_v<E> && !std::same_as<decltype(enum_names<E>), const std::nullptr_t>;

/// The names of an enum whose numbers are 0, 1, 2 …
template <class E>
consteval auto in_order(auto... names) {
    std::array<named<E>, sizeof...(names)> all{};
    std::size_t number = 0;
    ((all[number] = {static_cast<E>(number), names}, ++number), ...);
    return all;
}

/// "" for a number outside the enum.
template <named_enum E>
constexpr std::string_view name_of(E value) noexcept {
    for (const named<E>& candidate : enum_names<E>)
        if (candidate.value == value) return candidate.name;
    return "";
}

/// The base of a value, as const as the value is: its members' names may be hidden in the value's own type.
template <class Base, class Derived>
constexpr auto& base_of(Derived& value) {
    if constexpr (std::is_const_v<Derived>)
        return static_cast<const Base&>(value);
    else
        return static_cast<Base&>(value);
}

/// Visits each described member of two values of one type: visit(name, left's, right's).
template <described T, class Left>
    requires std::same_as<std::remove_const_t<Left>, T>
constexpr void each_of_both(Left& left, const T& right, auto&& visit) {
    T::describe(left, [&](unsigned number, std::string_view name, auto& mine, auto...) {
        T::describe(right, [&](unsigned other, std::string_view, const auto& sent, auto...) {
            if constexpr (std::same_as<std::remove_cvref_t<decltype(mine)>,
                                       std::remove_cvref_t<decltype(sent)>>)
                if (number == other) visit(name, mine, sent);
        });
    });
}

namespace detail {
struct names_checker {
    bool& good;

    template <class T>
    constexpr void operator()(unsigned, std::string_view, const T& value, shown = shown::always) const {
        if constexpr (named_enum<T>) {
            good = good && (value == T{} || !name_of(value).empty());
        } else if constexpr (described<T>) {
            T::describe(value, *this);
        } else if constexpr (optional_field<T>) {
            if (value) (*this)(0, "", *value);
        } else if constexpr (vector_field<T>) {
            for (const auto& element : value) (*this)(0, "", element);
        }
    }
};
}  // namespace detail

/// Whether each of its enums is at its default or has a name: bytes may hold any number.
template <described T>
constexpr bool has_only_named_values(const T& value) {
    bool good = true;
    T::describe(value, detail::names_checker{good});
    return good;
}

template <named_enum E>
constexpr std::optional<E> from_name(std::string_view name) noexcept {
    for (const named<E>& candidate : enum_names<E>)
        if (candidate.name == name) return candidate.value;
    return std::nullopt;
}
template <named_enum E>
constexpr std::optional<E> from_number(std::uint64_t number) noexcept {
    for (const named<E>& candidate : enum_names<E>)
        if (static_cast<std::uint64_t>(candidate.value) == number) return candidate.value;
    return std::nullopt;
}

}  // namespace herald::schemas
