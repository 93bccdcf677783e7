#include "program/verbs/verbs.hpp"

#include <algorithm>

#include "runtime/assert.hpp"

namespace herald::program {

// Each is in the file of its name.
process_end run_admin_key(const settings&);
process_end run_audit(const settings&);
process_end run_api(const settings&);
process_end run_backup(const settings&);
process_end run_groups(const settings&);
process_end run_init(const settings&);
process_end run_raise_level(const settings&);
process_end run_republish(const settings&);
process_end run_restore(const settings&);
process_end run_resume(const settings&);
process_end run_standalone(const settings&);
process_end run_state_hash(const settings&);
process_end run_version(const settings&);
process_end run_worker(const settings&);

namespace {

using group = option_group;

std::vector<verb> make_table() {
    return {
        {.name = "standalone",
         .help = "everything in one process, without Kafka",
         .run = run_standalone,
         .is_stopped = true,
         .groups = {group::file, group::http, group::data, group::key_ring, group::node, group::artifacts,
                    group::clock, group::webhooks, group::deliveries, group::predictions,
                    group::administrator, group::installation},
         .needs = {},
         // On one machine the receivers are often local, too.
         .defaults = {{"allow-addresses", "127.0.0.0/8,::1/128"},
                      {"allow-http", "true"},
                      {"admin-email", "admin@localhost"}}},
        {.name = "api",
         .help = "an API node on Kafka",
         .run = run_api,
         .is_stopped = true,
         .groups = {group::file, group::http, group::kafka, group::data, group::key_ring, group::node,
                    group::artifacts, group::cluster_node, group::webhooks, group::predictions},
         .needs = {"kafka", "key-ring", "artifacts"},
         .defaults = {}},
        {.name = "worker",
         .help = "a delivery worker on Kafka",
         .run = run_worker,
         .is_stopped = true,
         .groups = {group::file, group::http, group::kafka, group::cluster_worker, group::key_ring,
                    group::webhooks, group::deliveries},
         .needs = {"kafka", "key-ring"},
         .defaults = {{"listen", ""}}},
        {.name = "init",
         .help = "makes topics, GENESIS and the first administrator on Kafka",
         .run = run_init,
         .groups = {group::file, group::kafka, group::topics, group::key_ring, group::administrator,
                    group::installation, group::restoring, group::from_backup, group::artifacts},
         .needs = {"kafka", "key-ring"},
         .defaults = {}},
        {.name = "admin-key",
         .help = "makes a new key for an administrator; standalone must be stopped",
         .run = run_admin_key,
         .groups = {group::file, group::kafka, group::data, group::key_ring, group::administrator},
         .needs = {},
         .defaults = {}},
        {.name = "raise-level",
         .help =
             "after an upgrade of all nodes: lets the new version begin at once; standalone must be stopped",
         .run = run_raise_level,
         .groups = {group::file, group::kafka, group::data, group::key_ring},
         .needs = {},
         .defaults = {}},
        {.name = "state-hash",
         .help = "prints the hash of the state that the log gives, to compare with /readyz; standalone must "
                 "be stopped",
         .run = run_state_hash,
         .groups = {group::file, group::kafka, group::data, group::key_ring, group::state_hash},
         .needs = {},
         .defaults = {}},
        {.name = "backup",
         .help = "create FILE: writes all that is registered and not yet delivered into one file (standalone "
                 "must be stopped); verify FILE: checks that it is whole",
         .run = run_backup,
         .operands = {"ACTION", "FILE"},
         .groups = {group::file, group::kafka, group::data, group::key_ring, group::artifacts},
         .needs = {},
         .defaults = {}},
        {.name = "restore",
         .help = "begins a standalone with a backup, in a folder without an installation",
         .run = run_restore,
         .operands = {"BACKUP"},
         .groups = {group::file, group::data, group::key_ring, group::restoring, group::artifacts},
         .needs = {},
         .defaults = {}},
        {.name = "republish",
         .help = "appends the events of the last 30 days again, after a topic of events was lost; standalone "
                 "and all API nodes must be stopped",
         .run = run_republish,
         .groups = {group::file, group::kafka, group::data, group::key_ring},
         .needs = {},
         .defaults = {}},
        {.name = "resume",
         .help = "after a restore with --paused: lets deliveries begin; standalone must be stopped",
         .run = run_resume,
         .groups = {group::file, group::kafka, group::data, group::key_ring},
         .needs = {},
         .defaults = {}},
        {.name = "groups",
         .help = "shows where consumer groups have lost their place in Kafka",
         .run = run_groups,
         .groups = {group::file, group::kafka, group::key_ring, group::groups},
         .needs = {"kafka"},
         .defaults = {}},
        {.name = "audit",
         .help = "verify EXPORT: checks that an export of the audit is as the installation made it",
         .run = run_audit,
         .operands = {"verify", "EXPORT"},
         .groups = {group::audit},
         .needs = {"public-key"},
         .defaults = {}},
        {.name = "version",
         .help = "prints the version",
         .run = run_version,
         .groups = {},
         .needs = {},
         .defaults = {}},
    };
}

/// Every option that a row names must be one that the verb takes.
std::vector<verb> checked(std::vector<verb> table) {
    const auto takes = [](const verb& which, const std::string& name) {
        return std::any_of(all_options().begin(), all_options().end(),
                           [&](const option& one) { return one.name == name && which.takes(one); });
    };
    for (const verb& each : table) {
        for (const std::string& name : each.needs) HERALD_ASSERT(takes(each, name));
        for (const auto& [name, value] : each.defaults) HERALD_ASSERT(takes(each, name));
    }
    return table;
}

}  // namespace

bool verb::takes(const option& one) const {
    return std::find(groups.begin(), groups.end(), one.group) != groups.end();
}

const std::string& verb::default_of(const option& one) const {
    const auto own = std::find_if(defaults.begin(), defaults.end(),
                                  [&](const auto& each) { return each.first == one.name; });
    return own == defaults.end() ? one.default_text : own->second;
}

const std::vector<verb>& all_verbs() {
    static const std::vector<verb> table = checked(make_table());
    return table;
}

}  // namespace herald::program
