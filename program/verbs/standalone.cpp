// herald standalone: an API node and a worker over the embedded log, in one process.
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "program/options/limits.hpp"
#include "program/parts/api_node.hpp"
#include "program/parts/doors.hpp"
#include "program/parts/installation.hpp"
#include "program/parts/open_log.hpp"
#include "program/parts/own_url.hpp"
#include "program/parts/stop_signal.hpp"
#include "program/parts/worker_node.hpp"
#include "runtime/clock.hpp"
#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "storage/node/genesis.hpp"
#include "storage/rocks/rocks_state.hpp"

namespace herald::program {
namespace {

/// What this machine has applied before; empty when there is no state database.
result<std::shared_ptr<const storage::registry::state::state_view>> state_before(
    const std::filesystem::path& folder) {
    if (!std::filesystem::exists(folder)) return storage::registry::state::make_memory_state()->view();
    const auto opened = storage::rocks::open_rocks_state(folder);
    if (!opened) return opened.error();
    return opened->store->view();
}

/// True when nothing exists: neither a log nor the state of one that was lost.
result<bool> is_new(const std::filesystem::path& folder, events::log::partitioned_log& log) {
    if (std::filesystem::exists(folder / "state")) return false;
    const auto begun = storage::node::has_begun(log);
    if (!begun) return begun.error();
    return !*begun;
}

/// Begins an empty log; returns how the log begins. A key that Herald generates is stored in a file, and
/// nowhere else.
result<schemas::commands::genesis> begin(const settings& chosen, const std::filesystem::path& folder,
                                         events::log::partitioned_log& log, const runtime::key_ring& keys) {
    const std::filesystem::path key_file = folder / "admin-key";
    const std::filesystem::path new_key_file = folder / "admin-key.new";
    std::error_code ignored;
    schemas::commands::genesis beginning;
    auto existing = storage::node::read_genesis(log, keys);
    if (!existing && existing.error().code != error_code::not_found) return existing.error();
    if (!existing) {
        const storage::node::genesis_options options = with_admin_key(chosen.installation);
        const auto before = state_before(folder / "state");
        if (!before) return before.error();
        // Before GENESIS: a crash in between leaves a key that belongs to nobody yet, never an installation
        // without one. Under another name, since the log may be refused.
        if (chosen.installation.admin_key.empty())
            if (const auto kept = write_key_file(new_key_file, options.admin_email, options.admin_key); !kept)
                return kept.error();
        auto begun = storage::node::begin_log(log, keys, options, **before, runtime::system_random(),
                                              runtime::system_clock());
        if (!begun) {
            std::filesystem::remove(new_key_file, ignored);
            return begun.error();
        }
        if (chosen.installation.admin_key.empty())
            runtime::log(runtime::log_level::info, runtime::log_events::administrator_made,
                         {{"email", options.admin_email}, {"key_file", key_file.native()}});
        beginning = std::move(begun->genesis);
    }
    // Also after a crash, but never over the key of a log that existed before.
    if (!existing || !std::filesystem::exists(key_file))
        std::filesystem::rename(new_key_file, key_file, ignored);
    return existing ? *std::move(existing) : beginning;
}

/// To an operator at a terminal in words, before the log begins; otherwise in the log.
void say_where_the_console_is(const settings& chosen, const std::filesystem::path& folder) {
    if (chosen.listen->port == 0) return;  // the line `serving` says it
    const std::string url = url_of_browsers(chosen) + "/";
    const std::filesystem::path key_file = folder / "admin-key";
    const bool has_key = std::filesystem::exists(key_file);
    std::string sign_in;
    if (has_key && chosen.server.tls_certificate_file.empty())
        sign_in = "herald sign-in-link --data " + chosen.data.string() + " --listen " + own_place(chosen);
    if (::isatty(STDERR_FILENO) == 0) {
        runtime::log(runtime::log_level::info, runtime::log_events::console,
                     {{"url", url}, {"sign_in", sign_in}});
        return;
    }
    std::cerr << "The console is at " << url << "\n";
    if (has_key) std::cerr << "The administrator's e-mail and key are in " << key_file.string() << "\n";
    if (!sign_in.empty()) std::cerr << "A link that signs you in: " << sign_in << "\n";
}

}  // namespace

process_end run_standalone(const settings& given) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    settings chosen = given;
    chosen.embedded_log.open_files_max = descriptors.database_files;
    runtime::event_loops jobs_of_node(one_loop);
    runtime::event_loops jobs_of_worker(one_loop);
    runtime::event_loops attempts(one_loop);
    start_report report("api");
    const auto doors = api_doors::open(chosen, descriptors.clients, jobs_of_node, report);
    if (!doors) return failed(doors.error());
    const auto made = make_folder(chosen);
    if (!made) return failed(made.error());
    const std::filesystem::path& folder = *made;
    if (std::filesystem::exists(folder / "restoring") && !std::filesystem::exists(folder / "log"))
        return failed(runtime::failed_precondition(
            {"a restore into ", folder.string(), " was cut off: run `herald restore` again"}));
    report.say("it opens the log");
    const auto log = open_log(chosen);
    if (!log) return failed(log.error());
    if (const auto created = (*log)->create_topics(); !created) return failed(created.error());
    const auto keys = ring_of(key_ring_file(chosen), [&] { return is_new(folder, **log); });
    if (!keys) return failed(keys.error());
    const auto begun = begin(chosen, folder, **log, *keys);
    if (!begun) return failed(begun.error());
    say_where_the_console_is(chosen, folder);

    auto worker =
        make_worker_node(chosen, {**log, *keys, descriptors, jobs_of_worker}, stop.requester(), nullptr);
    if (!worker) return failed(worker.error());
    auto node = make_api_node(
        chosen, {{**log, *keys, descriptors, jobs_of_node}, attempts, *begun, **doors}, stop.requester(),
        [&delivers = **worker] { return delivers.trouble(); }, report);
    if (!node) return failed(node.error());
    (*worker)->announce();
    const process_end end = stop.wait();
    // The worker delivers until then: callers may wait for a test.
    const std::int64_t told_ms = runtime::system_clock().steady_ms();
    (*node)->drain();
    const std::int64_t left_ms = limits::drain_ms_max - (runtime::system_clock().steady_ms() - told_ms);
    (*worker)->drain(std::max(left_ms, limits::drain_worker_ms_min));
    stop.drained();
    return end;
}

}  // namespace herald::program
