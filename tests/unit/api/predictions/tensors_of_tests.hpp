// What tests of the dialects share: tensors from their elements, and what an error must say.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "schemas/json.hpp"
#include "schemas/tensors.hpp"

namespace herald::test {

using schemas::tensor;
using schemas::tensor_spec;
using schemas::tensor_type;

/// Fails unless it is an error of this code whose message holds all of the texts.
template <class T>
void expect_refused(const result<T>& got, error_code code, const std::vector<std::string>& texts,
                    const std::string& where = {}) {
    ASSERT_FALSE(got) << where << " was taken";
    EXPECT_EQ(got.error().code, code) << where;
    for (const std::string& text : texts)
        EXPECT_THAT(got.error().message, ::testing::HasSubstr(text)) << where;
}

/// The elements one after the other, as they lie in memory.
template <class Number>
std::string bytes_of_all(const std::vector<Number>& numbers) {
    std::string out;
    for (const Number& each : numbers) out.append(reinterpret_cast<const char*>(&each), sizeof each);
    return out;
}

template <class Number>
tensor tensor_of(std::string name, tensor_type type, std::vector<std::int64_t> shape,
                 const std::vector<Number>& numbers) {
    return {std::move(name), type, std::move(shape), bytes_of_all(numbers), {}};
}

inline tensor texts_of(std::string name, std::vector<std::int64_t> shape, std::vector<std::string> texts) {
    return {std::move(name), tensor_type::text, std::move(shape), {}, std::move(texts)};
}

}  // namespace herald::test
