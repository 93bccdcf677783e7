// What tests of the handlers share: a node that takes requests, and the paths of its areas.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {

inline constexpr std::string_view models = "/api/v1/registry/workspaces/Default/registered_models";
inline const std::string registry_path = "/api/v1/registry";
inline const std::string proxy = "/api/v1/uac-proxy";
inline const std::string deployment = "/api/v1/deployment";

struct handlers : ::testing::Test {
    std::string versions_of(const std::string& model) const {
        return registry_path + "/registered_models/" + model + "/model_versions";
    }
    std::string hook(const std::string& location = "https://example.org/hook") {
        return R"({"name":"w","location":")" + location +
               R"(","event_types":["PROMOTE"],"mutual_secret":"whsec_)" + std::string(43, 'A') +
               R"(=","all_events":false})";
    }
    static void expect_refused(const reply& got, int status, error_code code, const std::string& text) {
        EXPECT_EQ(got.status(), status) << got.body();
        EXPECT_EQ(got.at("code"), std::to_string(static_cast<int>(code)));
        EXPECT_THAT(got.at("message"), ::testing::HasSubstr(text));
    }

    node_without_sockets node;
};

}  // namespace herald::test
