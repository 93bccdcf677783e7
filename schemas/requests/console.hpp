// The bodies of the console's own calls (api/console/).
#pragma once

#include "schemas/requests/request.hpp"

namespace herald::schemas::requests {

/// A browser has one session: a sign-in ends the one before.
struct console_sign_in {
    std::string browser;

    static constexpr std::string_view example = R"({"browser":"3f9c"})";
    HERALD_DESCRIBE(browser);
};

struct console_redemption {
    std::string code;
    std::string browser;

    static constexpr std::array<std::string_view, 1> required{"code"};
    static constexpr std::string_view example = R"({"code":"7c1d","browser":"3f9c"})";
    HERALD_DESCRIBE(code, browser);
};

}  // namespace herald::schemas::requests
