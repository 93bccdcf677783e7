// herald sign-in-link: on the machine of a running standalone, a link that signs a browser in as its first
// administrator, once.
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <iostream>

#include "program/options/settings.hpp"
#include "program/parts/own_url.hpp"
#include "program/parts/process_end.hpp"
#include "runtime/http/client/client.hpp"
#include "schemas/json.hpp"

namespace herald::program {
namespace {

namespace client = runtime::http::client;

struct key_file {
    std::string email, key;
};

/// As write_key_file left it. Errors: not_found.
result<key_file> read_key_file(const std::filesystem::path& file) {
    key_file out;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("email ")) out.email = line.substr(6);
        if (line.starts_with("key ")) out.key = line.substr(4);
    }
    if (!out.email.empty() && !out.key.empty()) return out;
    return runtime::not_found(
        {"no administrator's key is in ", file.string(),
         ": --data must be the folder of a standalone that made its own key. With another key, "
         "sign in at the console's page"});
}

client::answer post(std::string location, const key_file& who) {
    boost::asio::io_context io;
    client::client_options options;
    options.http = client::plain_http::allowed;
    options.policy = *client::address_policy::parse("0.0.0.0/0,::/0");
    const auto sender = client::make_client(io, std::move(options));
    client::request request;
    request.method = runtime::http::http_method::post;
    request.location = std::move(location);
    request.headers = {{"grpc-metadata-email", who.email},
                       {"grpc-metadata-developer_key", who.key},
                       {"content-type", "application/json"}};
    request.body = std::make_shared<const std::string>("{}");
    client::answer answer;
    const auto running = sender->start(std::move(request), [&](client::answer came) {
        answer = std::move(came);
        io.stop();
    });
    io.run();
    return answer;
}

std::string text_at(const std::string& body, std::string_view name) {
    const auto value = schemas::parse_json(body);
    const auto* const member = value ? value->find(name) : nullptr;
    const auto* const text = member ? member->get_if<std::string>() : nullptr;
    return text ? *text : std::string();
}

/// Errors: failed_precondition; unavailable when nothing answers; what the node says.
result<std::string> code_for(const settings& chosen, const key_file& who) {
    if (!chosen.server.tls_certificate_file.empty())
        return runtime::failed_precondition(
            {"this standalone serves HTTPS, for which there are no links; sign in at the console's page with "
             "the e-mail and key in ",
             (folder_of(chosen) / "admin-key").string()});
    const std::string url = own_url(chosen);
    const client::answer answer = post(url + "/api/v1/console/session/code", who);
    if (!answer.status)
        return runtime::unavailable({url, " does not answer (", answer.message,
                                     "); start the standalone, or say with --listen where it listens"});
    const std::string code = text_at(answer.body, "code");
    if (*answer.status == 200 && !code.empty()) return code;
    return runtime::failed_precondition(
        {url, " answered ", *answer.status, ": ", text_at(answer.body, "message")});
}

}  // namespace

process_end run_sign_in_link(const settings& chosen) {
    const auto who = read_key_file(folder_of(chosen) / "admin-key");
    if (!who) return failed(who.error());
    const auto code = code_for(chosen, *who);
    if (!code) return failed(code.error());
    // Browsers send no server what stands behind the #, so the code is in no log.
    std::cout << url_of_browsers(chosen) << "/sign-in#" << *code << "\n";
    std::cerr << "herald: signs in as " << who->email << ", once, within 10 minutes\n";
    return process_end::done;
}

}  // namespace herald::program
