// herald standalone: an API node and a worker over the embedded log, in one process.
#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "composition.hpp"
#include "runtime/clock.hpp"
#include "stop_signal.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/node/genesis.hpp"
#include "storage/rocks_state.hpp"

namespace herald {
namespace {

/// Keeps the first administrator's key where only the owner of the data can read it.
result<void> write_key_file(const std::filesystem::path& file, const storage::genesis_options& admin) {
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const std::string text = "email " + admin.admin_email + "\nkey " + admin.admin_key + "\n";
    const bool written =
        descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (descriptor >= 0) ::close(descriptor);
    if (!written) return runtime::unavailable("cannot write " + file.string());
    return {};
}

/// What this machine has applied before; nothing where there is no state database.
result<std::shared_ptr<const storage::state_view>> state_before(const std::filesystem::path& folder) {
    if (!std::filesystem::exists(folder)) return storage::make_memory_state()->view();
    const auto opened = storage::open_rocks_state(folder);
    if (!opened) return opened.error();
    return opened->store->view();
}

/// Begins an empty log. A key that Herald made itself is printed once and kept in a file.
result<void> begin(const settings& chosen, const std::filesystem::path& folder, events::log& log,
                   const runtime::key_ring& keys) {
    const auto existing = storage::read_genesis(log, keys);
    if (existing) return {};
    if (existing.error().code != error_code::not_found) return existing.error();
    storage::genesis_options options = genesis_options_of(chosen);
    if (options.admin_email.empty()) options.admin_email = "admin@localhost";
    const auto before = state_before(folder / "state");
    if (!before) return before.error();
    // Before GENESIS: a crash in between leaves a key that is not yet anybody's, never an installation
    // without one.
    const std::filesystem::path key_file = folder / "admin-key";
    if (const auto written = write_key_file(key_file, options); !written) return written;
    const auto begun =
        storage::begin_log(log, keys, options, **before, runtime::system_random(), runtime::system_clock());
    if (!begun) return begun.error();
    if (chosen.admin_key.empty())
        std::cout << "The first administrator is " << options.admin_email << ", with the developer key\n  "
                  << options.admin_key << "\nwhich is also in " << key_file.string() << "\n";
    return {};
}

void greet(const settings& chosen, std::uint16_t port) {
    const std::string address = chosen.listen.value_or(endpoint{"127.0.0.1", 8080}).address;
    std::cout << "herald " HERALD_VERSION " serves on " << (chosen.tls_certificate.empty() ? "http" : "https")
              << "://" << address << ":" << port << "\n";
    if (chosen.http_locations == workers::plain_http::allowed)
        std::cout
            << "Webhooks may use http and this machine's loopback addresses (the default of standalone; see "
               "--allow-addresses).\n";
    std::cout.flush();
}

/// On one machine receivers are often on the same: http and loopback are allowed unless addresses were named.
settings with_local_receivers(settings chosen) {
    chosen.http_locations = workers::plain_http::allowed;
    if (!chosen.addresses_named) chosen.addresses = *workers::address_policy::parse("127.0.0.0/8,::1/128");
    return chosen;
}

}  // namespace

process_end run_standalone(const settings& given) {
    stop_signal stop;
    const settings chosen = with_local_receivers(given);
    const std::filesystem::path folder = chosen.data / "herald";
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const auto keys = runtime::key_ring::load_or_create(
        chosen.key_ring.empty() ? folder / "key-ring" : chosen.key_ring, runtime::system_random());
    if (!keys) return failed(keys.error());
    const auto log = storage::make_embedded_log(folder / "log", {}, runtime::system_clock());
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    if (const auto begun = begin(chosen, folder, **log, *keys); !begun) return failed(begun.error());

    const node_ground ground{**log, *keys};
    auto worker = make_worker_node(chosen, ground, stop.requester());
    if (!worker) return failed(worker.error());
    auto node = make_api_node(chosen, ground, stop.requester(),
                              [&delivers = **worker] { return delivers.trouble(); });
    if (!node) return failed(node.error());
    greet(chosen, (*node)->port());
    const process_end end = stop.wait();
    (*node)->drain();
    (*worker)->drain();
    return end;
}

}  // namespace herald
