// Where a node is found on its own machine.
#pragma once

#include <string>

#include "program/options/settings.hpp"

namespace herald::program {

/// Address and port of --listen as another process here reaches them: "127.0.0.1:8080", "[::1]:8080".
std::string own_place(const settings&);
/// "http://" or "https://" before it.
std::string own_url(const settings&);
/// Where browsers find the node: --public-url, or else own_url().
std::string url_of_browsers(const settings&);

}  // namespace herald::program
