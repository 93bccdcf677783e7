#include "program/parts/own_url.hpp"

namespace herald::program {

std::string own_place(const settings& chosen) {
    std::string address = chosen.listen->address;
    if (address == "0.0.0.0") address = "127.0.0.1";
    if (address == "::") address = "::1";
    if (address.find(':') != address.npos) address = "[" + address + "]";
    return address + ":" + std::to_string(chosen.listen->port);
}

std::string own_url(const settings& chosen) {
    return (chosen.server.tls_certificate_file.empty() ? "http://" : "https://") + own_place(chosen);
}

std::string url_of_browsers(const settings& chosen) {
    return chosen.public_url.empty() ? own_url(chosen) : chosen.public_url;
}

}  // namespace herald::program
