#include "tests/simulation/serving/broken_rules.hpp"

#include <array>
#include <utility>

#include "schemas/deployment.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/nodes.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test::serving {
namespace {

using storage::registry::state::state_view;
using storage::registry::tables::table;

bool is_of(table rows, std::string_view key) { return key.starts_with(static_cast<char>(rows)); }

template <class Row, class Change>
bool with_row(table rows, std::string_view key, std::string& row, const Change& change) {
    if (!is_of(rows, key)) return true;
    auto value = decoded<Row>(row);
    change(value);
    row = schemas::encode(value);
    return true;
}

/// Builds say so, and the stages that serve them.
bool nothing_is_unsafe(std::string_view key, std::string& row) {
    with_row<schemas::endpoint_stage>(table::endpoint_stage, key, row, [](auto& stage) {
        for (auto& each : stage.components) each.status = schemas::component_status::active;
    });
    return with_row<schemas::build>(table::build, key, row, [](auto& build) { build.unsafe_scan_id = {}; });
}
bool every_node_knows(std::string_view key, std::string& row) {
    return with_row<schemas::node_row>(table::node, key, row,
                                       [](auto& node) { node.applied_offset = UINT64_MAX; });
}
bool all_have_the_least_grace(std::string_view key, std::string& row) {
    return with_row<schemas::node_row>(table::node, key, row,
                                       [](auto& node) { node.isolation_grace_ms = 15'000; });
}
/// As heard, and as long served after that, as it makes contact of `by_ms` more than 15 s.
void lengthen_contact(schemas::node_row& node, std::int64_t by_ms) {
    node.last_heartbeat_ms += by_ms;
    node.isolation_grace_ms -= by_ms;
}
bool contact_is_five_seconds(std::string_view key, std::string& row) {
    return with_row<schemas::node_row>(table::node, key, row,
                                       [](auto& node) { lengthen_contact(node, -10'000); });
}
bool contact_is_thirty_seconds(std::string_view key, std::string& row) {
    return with_row<schemas::node_row>(table::node, key, row,
                                       [](auto& node) { lengthen_contact(node, 15'000); });
}
bool nobody_is_replaced(std::string_view key, std::string&) { return !is_of(table::replaced_processes, key); }

class changed_rows final : public state_view {
  public:
    changed_rows(std::shared_ptr<const state_view> of, row_change change)
        : x_of(std::move(of)), x_change(change) {}

    bool read(std::string_view key, const storage::registry::state::row_reader& reader) const override {
        auto row = x_of->get(key);
        if (!row || !x_change(key, *row)) return false;
        reader(*row);
        return true;
    }
    void scan(std::string_view prefix, std::string_view from,
              const storage::registry::state::row_visitor& visit) const override {
        x_of->scan(prefix, from, [&](std::string_view key, std::string_view value) {
            std::string row(value);
            return !x_change(key, row) || visit(key, row);
        });
    }

  private:
    const std::shared_ptr<const state_view> x_of;
    const row_change x_change;
};

constexpr std::array mutations{
    named_mutation{"", "nothing is broken", {}},
    named_mutation{"second-look-left-out",
                   "a prediction that has been routed is sent whatever is known by then",
                   {.has_no_second_look = true}},
    named_mutation{"snapshot-remembered",
                   "a prediction under way knows of its build what was known when it was routed",
                   {.looks_at_its_snapshot = true}},
    named_mutation{
        "lease-ignored", "a node that does not hear of the log serves on", {.lease = gate_time::never_late}},
    named_mutation{"lease-longer-than-told",
                   "a node serves for longer than it told the others",
                   {.lease = gate_time::behind}},
    named_mutation{"clock-stops-with-the-process",
                   "the time for which the process was stopped does not count",
                   {.lease = gate_time::stops_with_the_process}},
    named_mutation{"lease-begins-when-heard",
                   "the lease is counted from when the heartbeat was applied, not sent",
                   {.lease = gate_time::from_when_it_was_heard}},
    named_mutation{"lease-of-what-is-sent",
                   "the lease is counted from a heartbeat that this node has sent, but not applied",
                   {.lease = gate_time::from_the_newest_that_is_sent}},
    named_mutation{"served-before-the-end-of-the-log",
                   "a node serves what it knows while it is still reading the log",
                   {.serves_before_the_end_of_the_log = true}},
    named_mutation{"unsafe-before-the-start-forgotten",
                   "a process does not look at what was reported before it began",
                   {.rows_at_start = nothing_is_unsafe}},
    named_mutation{"gate-told-of-routes-only",
                   "predictions under way of a build that no route has any more are not told",
                   {.tells_the_gate_of_routes_only = true}},
    named_mutation{"unsafe-shown-late",
                   "the threads that serve hear of a report later than the node says",
                   {.shows_late = true}},
    named_mutation{"quiescence-not-awaited",
                   "a node says what it has applied while a thread is about to send",
                   {.tells_before_quiescence = true}},
    named_mutation{"told-at-the-next-turn",
                   "a node says that it has applied a report only when its next heartbeat is due",
                   {.tells_at_its_next_turn = true}},
    named_mutation{"serving-not-told",
                   "a node that serves does not say so in its heartbeats",
                   {.tells_of_no_serving = true}},
    named_mutation{"farewell-before-closing",
                   "a node says farewell and closes its gate when it ends",
                   {.says_farewell_before_closing = true}},
    named_mutation{"farewell-before-quiescence",
                   "a node says farewell while a thread is about to send",
                   {.says_farewell_before_quiescence = true}},
    named_mutation{
        "nobody-named", "the answer does not name the nodes out of contact", {.names_nobody = true}},
    named_mutation{"offset-not-compared",
                   "any heartbeat counts as one that knows of the report",
                   {.rows_of_answers = every_node_knows}},
    named_mutation{"grace-not-its-own",
                   "a node is named until the least grace is over, whatever its own is",
                   {.rows_of_answers = all_have_the_least_grace}},
    named_mutation{"replaced-process-forgotten",
                   "a process is not named any more once another has taken its node's name",
                   {.rows_of_answers = nobody_is_replaced}},
    named_mutation{"contact-too-short",
                   "a node that was silent for 5 s is not waited for",
                   {.rows_of_answers = contact_is_five_seconds}},
    named_mutation{"contact-too-long",
                   "a node that has been silent for 30 s is still waited for",
                   {.rows_of_answers = contact_is_thirty_seconds}},
    named_mutation{"answered-at-once",
                   "the report is answered before the nodes in contact have said that they know",
                   {.answers_at_once = true}},
    named_mutation{"answered-never-late",
                   "the report waits longer than 5 s for nodes in contact",
                   {.answers_never_late = true}},
    named_mutation{"own-threads-not-awaited",
                   "a node alone answers the report while one of its threads is about to send",
                   {.awaits_no_own_threads = true}},
    named_mutation{"list-shrinks-too-early",
                   "the scan's list loses a node before that has said that it knows",
                   {.rows_of_scans = every_node_knows}},
};

}  // namespace

std::span<const named_mutation> all_mutations() { return mutations; }

std::shared_ptr<const state_view> changed_view(std::shared_ptr<const state_view> of, row_change change) {
    if (!change) return of;
    return std::make_shared<changed_rows>(std::move(of), change);
}

}  // namespace herald::test::serving
