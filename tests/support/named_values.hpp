// The values that an enumeration has names for, for tests that must forget none.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace herald::test {

template <class Enum>
struct named_value {
    Enum value;
    std::string_view name;
};

/// Empty when the enumeration has no name for the value.
template <auto Value>
consteval std::string_view value_name() {
    constexpr std::string_view text = __PRETTY_FUNCTION__;  // "…Value = herald::…::table::user]" or "…)65]"
    constexpr std::size_t begin = text.find("Value = ");
    constexpr std::string_view value = text.substr(begin, text.find_first_of("];", begin) - begin);
    return value.find(')') == value.npos ? value.substr(value.rfind(':') + 1) : std::string_view();
}

template <class Enum, std::size_t... Numbers>
std::vector<named_value<Enum>> named_values(std::index_sequence<Numbers...>) {
    std::vector<named_value<Enum>> all;
    const auto add = [&all](Enum value, std::string_view name) {
        if (!name.empty()) all.push_back({value, name});
    };
    (add(static_cast<Enum>(Numbers), value_name<static_cast<Enum>(Numbers)>()), ...);
    return all;
}

/// Those from 0 to 127.
template <class Enum>
std::vector<named_value<Enum>> named_values() {
    return named_values<Enum>(std::make_index_sequence<128>());
}

}  // namespace herald::test
