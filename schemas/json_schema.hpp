// JSON Schema of described types, for the OpenAPI document.
#pragma once

#include "schemas/describe.hpp"
#include "schemas/json.hpp"

namespace herald::schemas {

template <described T>
std::string json_schema_of();

namespace detail {

template <class T>
std::string member_schema() {
    if constexpr (optional_field<T>) {
        return member_schema<typename T::value_type>();
    } else if constexpr (vector_field<T>) {
        return object_writer()
            .text("type", "array")
            .raw("items", member_schema<typename T::value_type>())
            .finish();
    } else if constexpr (std::same_as<T, bool>) {
        return "{\"type\":\"boolean\"}";
    } else if constexpr (named_enum<T>) {
        const std::string names = json_list(
            enum_names<T>::all, [](const named<T>& one) { return "\"" + std::string(one.name) + "\""; });
        return object_writer().text("type", "string").raw("enum", names).finish();
    } else if constexpr (numeric_id<T> || std::integral<T>) {
        return "{\"type\":[\"integer\",\"string\"]}";
    } else if constexpr (std::same_as<T, double>) {
        return "{\"type\":\"number\"}";
    } else if constexpr (std::same_as<T, json_text>) {
        return "{}";
    } else if constexpr (described<T>) {
        return json_schema_of<T>();
    } else {
        return "{\"type\":\"string\"}";
    }
}

struct schema_writer {
    object_writer properties;

    template <class T>
    void operator()(unsigned, std::string_view name, const T&, shown mode = shown::always) {
        if (mode != shown::never) properties.raw(name, member_schema<T>());
    }
};

}  // namespace detail

template <described T>
std::string json_schema_of() {
    detail::schema_writer writer;
    const T example{};
    T::describe(example, writer);
    return object_writer().text("type", "object").raw("properties", writer.properties.finish()).finish();
}

}  // namespace herald::schemas
