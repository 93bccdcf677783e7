// What all request bodies have in common. A request is a described type. It has no members that the server
// owns, so no caller can set those. It may declare, by name,
//
//     static constexpr std::array required{"name"};               // without it: 400
//     static constexpr std::array server_owned{owned{"id"}, …};   // known, and ignored
//     static constexpr bool strict = true;                        // unknown members, also at a default: 400
//     static constexpr std::string_view example = R"({…})";       // for the OpenAPI document
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/json_codec.hpp"

namespace herald::schemas::requests {

/// A member that the record has but a request cannot set.
struct owned {
    std::string_view name;
    std::string_view why = "is set by Herald itself";
};

/// Whether a T is refused for members that it does not know, whatever the caller prefers.
template <class T>
inline constexpr bool refuses_unknown = requires { T::strict; };

/// The names of members without which a T is refused.
template <class T>
constexpr std::span<const std::string_view> required_of() {
    if constexpr (requires { T::required; })
        return T::required;
    else
        return {};
}
template <class T>
constexpr std::span<const owned> server_owned_of() {
    if constexpr (requires { T::server_owned; })
        return T::server_owned;
    else
        return {};
}

/// The names of a T's members, in the order of description.
template <described T>
std::vector<std::string_view> members_of() {
    std::vector<std::string_view> names;
    const T none{};
    T::describe(none,
                [&names](unsigned, std::string_view name, const auto&, auto...) { names.push_back(name); });
    return names;
}

/// Which top-level members a PATCH …/full_body replaces.
struct update_mask {
    std::vector<std::string> paths;

    HERALD_DESCRIBE(paths);
};

/// The members of `body` that the server owns, if they are set to something.
json_object server_owned_in(const json_value& body, std::span<const owned>);

/// Errors: invalid_argument "<path> is missing; it must be …" for the first required member, at any depth,
/// that is absent, null, or at the default that clients send for nothing.
template <described T>
result<void> check_required(const T& request, std::string_view path = {});

namespace detail {

/// The names of an enum that may be sent. `zero` is no_value for a member that is missing when it is 0;
/// otherwise 0 is a value unless its name means unknown.
enum class zero_of_enum : std::uint8_t { no_value, a_value };
std::string names_of_enum(std::span<const numbered_name>, zero_of_enum);

/// What a member of type T must be: "an id", "a text".
template <class T>
std::string expected() {
    if constexpr (optional_field<T>) {
        if constexpr (named_enum<typename T::value_type>)
            return names_of_enum(numbered_names<typename T::value_type>, zero_of_enum::a_value);
        else
            return expected<typename T::value_type>();
    } else if constexpr (vector_field<T>) {
        return "an array that is not empty";
    } else if constexpr (numeric_id<T>) {
        return "an id";
    } else if constexpr (std::same_as<T, bool>) {
        return "true or false";
    } else if constexpr (named_enum<T>) {
        return names_of_enum(numbered_names<T>, zero_of_enum::no_value);
    } else if constexpr (described<T>) {
        std::string out = "an object";
        for (const std::string_view name : required_of<T>()) out += " with " + std::string(name);
        return out;
    } else if constexpr (std::integral<T>) {
        return "a number";
    } else if constexpr (std::same_as<T, json_text>) {
        return "a JSON value";
    } else {
        return "a text that is not empty";
    }
}

/// Only what depends on a member's type is a template.
struct required_checker {
    std::string_view path;
    std::span<const std::string_view> required;
    std::optional<error> failure{};

    template <class T>
    void operator()(unsigned, std::string_view name, const T& value, shown = shown::always) {
        if (failure) return;
        if (is_required(name) && is_missing(value)) return fail(name, expected<T>());
        if constexpr (described<T>) look_into(name, value);
        if constexpr (optional_field<T>) {
            if constexpr (described<typename T::value_type>)
                if (value) look_into(name, *value);
        } else if constexpr (vector_field<T>) {
            if constexpr (described<typename T::value_type>)
                for (std::size_t i = 0; i < value.size() && !failure; ++i)
                    look_into(runtime::concat({name, "[", i, "]"}), value[i]);
        }
    }

    bool is_required(std::string_view name) const;
    void fail(std::string_view name, const std::string& expected);

    template <class T>
    static bool is_missing(const T& value) {
        if constexpr (optional_field<T>)
            return !value.has_value();
        else
            return schemas::detail::json_writer::is_unset(value);
    }

    template <class T>
    void look_into(std::string_view name, const T& value) {
        const std::string where = schemas::detail::member_path(path, name);
        if (auto good = check_required(value, where); !good) failure = good.error();
    }
};

/// Reports which of `names` differ between the row and `sent`.
struct difference_finder {
    const json_object& sent;
    std::vector<std::string_view>& differing;

    template <class T>
    void operator()(unsigned, std::string_view name, const T& kept, shown = shown::always) {
        for (const auto& [member, value] : sent)
            if (member == name && !is_same(value, kept)) differing.push_back(name);
    }

    template <class T>
    static bool is_same(const json_value& sent, const T& kept) {
        if constexpr (optional_field<T>) {
            return kept && is_same(sent, *kept);
        } else if constexpr (std::equality_comparable<T>) {
            T value{};
            schemas::detail::json_reader reader{sent, {}};
            reader.read(sent, value);
            return !reader.failure && value == kept;
        } else {
            return true;
        }
    }
};

}  // namespace detail

template <described T>
result<void> check_required(const T& request, std::string_view path) {
    detail::required_checker checker{path, required_of<T>()};
    T::describe(request, checker);
    if (checker.failure) return *std::move(checker.failure);
    return {};
}

/// The names in `sent` (from server_owned_in) whose values differ in Row.
template <described Row>
std::vector<std::string_view> differing(const json_object& sent, const Row& kept) {
    std::vector<std::string_view> names;
    detail::difference_finder finder{sent, names};
    if (!sent.empty()) Row::describe(kept, finder);
    return names;
}

}  // namespace herald::schemas::requests
