// Values for tests of frozen bytes: every member of a described type is set, so none is forgotten. Texts and
// lists must be empty before, as reading relies on that (schemas/describe.hpp).
#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "schemas/describe.hpp"

namespace herald::test {

/// Gives every member of a described value a value other than its default, derived only from number and name.
struct filler {
    template <class T>
    void operator()(unsigned number, std::string_view name, T& value,
                    schemas::shown = schemas::shown::always) const {
        if constexpr (schemas::optional_field<T>) {
            EXPECT_FALSE(value) << name;
            (*this)(number, name, value.emplace());
        } else if constexpr (schemas::vector_field<T>) {
            EXPECT_TRUE(value.empty()) << name;
            value.resize(2);
            (*this)(number, name, value[0]);
            (*this)(number + 1, name, value[1]);
        } else if constexpr (schemas::described<T>) {
            T::describe(value, *this);
        } else if constexpr (std::same_as<T, std::string>) {
            EXPECT_EQ(value, "") << name;
            value = name;
        } else if constexpr (std::same_as<T, schemas::json_text>) {
            EXPECT_EQ(value.text, "") << name;
            value.text = "{\"" + std::string(name) + "\":1}";
        } else if constexpr (std::same_as<T, schemas::binary_text>) {
            EXPECT_EQ(value.bytes, "") << name;
            value.bytes = name;
        } else if constexpr (schemas::byte_array<T>) {
            value.fill(static_cast<std::uint8_t>(number));
        } else if constexpr (schemas::numeric_id<T>) {
            value.value = 300 + number;
        } else if constexpr (schemas::signed_number<T>) {
            value = static_cast<T>(-100 - static_cast<int>(number));
        } else if constexpr (std::is_enum_v<T> || std::same_as<T, bool>) {
            value = static_cast<T>(1);
        } else {
            value = static_cast<T>(100 + number);
        }
    }
};

template <schemas::described T>
T filled() {
    T value{};
    T::describe(value, filler{});
    return value;
}

}  // namespace herald::test
