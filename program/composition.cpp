#include "program/composition.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "runtime/crypto.hpp"
#include "runtime/log.hpp"

namespace herald {

process_end failed(const error& why) {
    std::cerr << "herald: " << why.message << "\n";
    return why.code == error_code::failed_precondition ? process_end::mismatch : process_end::failure;
}

storage::genesis_options genesis_options_of(const settings& chosen) {
    storage::genesis_options options;
    options.organization_name = chosen.organization;
    options.admin_email = chosen.admin_email;
    options.admin_key =
        chosen.admin_key.empty() ? runtime::to_hex(runtime::system_random().bytes(32)) : chosen.admin_key;
    options.require_approval_for = chosen.require_approval_for;
    return options;
}

result<std::unique_ptr<events::kafka::kafka_log>> open_kafka(const settings& chosen) {
    events::kafka::kafka_options options;
    options.bootstrap_servers = chosen.kafka;
    options.topic_prefix = chosen.topic_prefix;
    options.replicas = chosen.replication;
    options.properties = chosen.kafka_options;
    return events::kafka::make_kafka_log(std::move(options));
}

result<runtime::key_ring> ring_of(const std::filesystem::path& file,
                                  const std::function<result<bool>()>& is_new) {
    auto there = runtime::key_ring::load(file);
    if (there || there.error().code != error_code::not_found) return there;
    const auto may_be_made = is_new();
    if (!may_be_made) return may_be_made.error();
    // A new one would stand where the right one belongs, and open nothing.
    if (!*may_be_made)
        return runtime::failed_precondition("the key ring " + file.string() +
                                            " is missing, but the installation was begun with one: bring the "
                                            "file back, or say with --key-ring where it is");
    return runtime::key_ring::load_or_create(file, runtime::system_random());
}

result<std::filesystem::path> make_folder(const settings& chosen) {
    const std::filesystem::path folder = chosen.data / "herald";
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    if (!wrong) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, wrong);
    if (wrong) return runtime::unavailable("cannot make " + folder.string() + ": " + wrong.message());
    return folder;
}

result<void> write_key_file(const std::filesystem::path& file, const std::string& email,
                            const std::string& key) {
    ::unlink(file.c_str());  // whose mode may be another
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const std::string text = "email " + email + "\nkey " + key + "\n";
    const bool written =
        descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (descriptor >= 0) ::close(descriptor);
    if (!written) return runtime::unavailable("cannot write " + file.string());
    return {};
}

void say_that_it_runs(std::string_view event, const settings& chosen, const std::string& where) {
    const bool http = chosen.http_locations == workers::plain_http::allowed;
    const std::string addresses =
        chosen.addresses_text.empty() ? "public" : "public," + chosen.addresses_text;
    runtime::log(runtime::log_level::info, event,
                 {{"version", std::string_view(HERALD_VERSION)},
                  {"address", where},
                  {"webhook_addresses", addresses},
                  {"webhook_http", http}});
}

}  // namespace herald
