#include "program/parts/registry_part.hpp"

#include <fstream>
#include <iostream>
#include <utility>

#include "program/parts/doors.hpp"
#include "program/parts/open_artifacts.hpp"
#include "runtime/random.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/snapshots/snapshot_files.hpp"
#include "storage/snapshots/snapshot_job.hpp"

namespace herald::program {
namespace {

using storage::node::node_failure;
using storage::snapshots::snapshot_job;

process_end end_for(node_failure::kind what) {
    switch (what) {
        case node_failure::kind::log_mismatch:
        case node_failure::kind::log_mixed:
        case node_failure::kind::level_too_low:
            return process_end::mismatch;
        case node_failure::kind::state_unreadable:
            return process_end::reopen;
        default:
            return process_end::failure;
    }
}

/// The node's name: as given, or random and stored with the data, so that a restart is the same node.
std::string node_name(const settings& chosen, const std::filesystem::path& folder) {
    if (!chosen.node.name.empty()) return chosen.node.name;
    const std::filesystem::path file = folder / "node-id";
    std::string name;
    std::ifstream(file) >> name;
    if (name.empty()) {
        name = runtime::uuid_text(runtime::system_random().uuid());
        std::ofstream(file) << name << "\n";
    }
    return name;
}

/// Beside the artifacts, if they are in a folder, so that in a cluster a new node begins with what another
/// has taken.
std::filesystem::path snapshots_folder(const settings& chosen) {
    if (is_on_kafka(chosen) && !are_in_a_bucket(chosen)) return artifacts_folder(chosen) / "snapshots";
    return folder_of(chosen) / "snapshots";
}

}  // namespace

registry_part::registry_part(const settings& chosen, const api_node_parts& with, end_request end)
    : x_chosen(chosen),
      x_with(with),
      x_end(std::move(end)),
      x_folder(folder_of(chosen)),
      x_disk(x_folder, chosen.free_disk_bytes_min),
      x_snapshots(storage::snapshots::make_snapshot_folder(snapshots_folder(chosen),
                                                           x_folder / "snapshot.unfinished")) {}

result<void> registry_part::open_state(start_report& report) {
    auto opened = storage::rocks::open_rocks_state(x_folder / "state", x_with.descriptors.database_files);
    if (!opened) return opened.error();
    x_state = std::move(opened->store);
    if (!storage::registry::tables::positions::find(*x_state->view()) && !std::exchange(x_has_looked, true)) {
        const auto loaded = load_snapshot(report);
        if (!loaded) return loaded.error();
        return open_state(report);
    }
    if (!x_chosen.verify) return {};
    try {
        x_state->verify();
    } catch (const storage::registry::state::state_corrupt&) {
        x_state.reset();
        return open_state(report);  // the state is marked: this open starts empty
    }
    return {};
}

result<void> registry_part::load_snapshot(start_report& report) {
    report.say("it looks for a snapshot to begin with, and copies it");
    x_state.reset();
    std::error_code failure;
    std::filesystem::remove_all(x_folder / "state", failure);
    const auto loaded = storage::snapshots::load_newest(*x_snapshots, x_with.beginning.log_id,
                                                        x_with.beginning.generation, x_folder / "state");
    if (!loaded) return loaded.error();
    return {};
}

void registry_part::make_node(const std::function<void(storage::node::registry_node::options&)>& complete) {
    storage::node::registry_node::options options = x_chosen.node;
    options.name = node_name(x_chosen, x_folder);
    options.kind =
        is_on_kafka(x_chosen) ? storage::node::node_kind::cluster : storage::node::node_kind::standalone;
    options.disk = &x_disk;
    options.on_failure = [this](const node_failure& failure) { failed(failure); };
    complete(options);
    x_state->on_unreadable([this](storage::rocks::unreadable how) {
        x_end(how == storage::rocks::unreadable::corrupt ? process_end::restart : process_end::reopen);
    });
    x_state->on_reopening([this] { x_end(process_end::restart); });
    x_node =
        storage::node::make_node(options, {x_with.log, *x_state, x_with.jobs[0], runtime::system_random()});
    const auto is_low = [this] { return is_disk_low(); };
    x_taker = std::make_unique<storage::snapshots::snapshot_taker>(*x_state, *x_snapshots, is_low);
    const snapshot_job::parts copied{*x_state, *x_snapshots, *x_taker, x_with.jobs[0]};
    x_node->add_job(schemas::job::snapshot, std::make_shared<snapshot_job>(copied, is_low));
}

void registry_part::failed(const node_failure& failure) {
    std::cerr << "herald: " << failure.message << "\n";
    if (failure.what == node_failure::kind::diverged) {
        x_state->mark_for_rebuilding(failure.message);
        x_taker->forbid();
        storage::snapshots::drop_all(*x_snapshots);  // copies of a state that the other nodes may not have
    }
    if (failure.what == node_failure::kind::log_mixed) x_state->mark_as_refused(failure.message);
    x_end(end_for(failure.what));
}

void registry_part::end() {
    x_node.reset();
    x_taker.reset();
}

}  // namespace herald::program
