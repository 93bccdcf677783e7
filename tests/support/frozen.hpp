// Bytes that never change, in files beside the tests: a line has a name, ": ", and the bytes in hexadecimal
// digits.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/crypto.hpp"

namespace herald::test {

inline std::string frozen_line(std::string_view name, std::string_view bytes) {
    return std::string(name) + ": " + runtime::to_hex(bytes);
}

/// With this variable set, tests write frozen bytes anew in place of a comparison.
inline constexpr const char* renews_frozen_bytes = "HERALD_RENEW_FROZEN_BYTES";

/// Checks that the file has these lines and no others, in this order. Lines that begin with # are comments.
inline void expect_frozen(const std::vector<std::string>& lines, const std::string& file) {
    std::vector<std::string> frozen, comments;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
        (line.starts_with('#') ? comments : frozen).push_back(line);
    if (std::getenv(renews_frozen_bytes)) {
        std::ofstream out(file);
        for (const auto& part : {comments, lines})
            for (const auto& line : part) out << line << '\n';
        return;
    }
    for (std::size_t i = 0; i < lines.size(); ++i)
        EXPECT_EQ(lines[i], i < frozen.size() ? frozen[i] : "(no line yet)") << "in " << file;
    EXPECT_LE(frozen.size(), lines.size()) << file << " has the bytes of something that is gone";
}

}  // namespace herald::test
