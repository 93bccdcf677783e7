#include "tests/simulation/serving/serving_run.hpp"

#include <algorithm>
#include <array>

#include "api/deployment/limits.hpp"
#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/builds.hpp"
#include "tests/support/commands.hpp"

namespace herald::test::serving {
namespace {

constexpr std::string_view workspace = "simulated";
constexpr std::int64_t peace_ms = 60'000;
constexpr std::size_t builds_of_a_run = 6;

struct named_mutation {
    std::string_view name;
    std::string_view what;
    bool broken_rules::*rule = nullptr;
};
constexpr std::array<named_mutation, 11> all_mutations{
    {{"", "nothing is broken"},
     {"second-look-left-out", "a prediction that has been routed is sent whatever is known by then",
      &broken_rules::has_no_second_look},
     {"lease-ignored", "a node that does not hear of the log serves on", &broken_rules::has_no_lease},
     {"lease-begins-when-heard", "the lease is counted from when the heartbeat was applied, not sent",
      &broken_rules::lease_begins_when_heard},
     {"clock-stops-with-the-process", "the time for which the process was stopped does not count",
      &broken_rules::clock_stops_with_the_process},
     {"quiescence-not-awaited", "a node says what it has applied while a thread is about to send",
      &broken_rules::speaks_before_quiescence},
     {"unsafe-shown-late", "the threads that serve hear of a report later than the node says",
      &broken_rules::shows_late},
     {"lease-longer-than-told", "a node serves for longer than it told the others",
      &broken_rules::serves_longer_than_told},
     {"nobody-named", "the answer does not name the nodes out of contact", &broken_rules::names_nobody},
     {"offset-not-compared", "any heartbeat counts as one that knows of the report",
      &broken_rules::offset_not_compared},
     {"answered-at-once", "the report is answered before the nodes in contact have said that they know",
      &broken_rules::answers_at_once}}};

void require(bool holds, const std::string& sentence) {
    if (!holds) throw rule_broken{sentence};
}

std::string text_of(schemas::build_id id) { return "build " + std::to_string(id.value); }

}  // namespace

run::run(std::uint64_t seed, const broken_rules& broken)
    : x_world(seed), x_broken(broken), x_setup(x_world.time.start_thread()), x_broker(x_setup.time()) {
    if (x_world.chance.one_in(5)) x_kind = storage::node::node_kind::standalone;
    x_log = std::make_unique<events::log::memory::memory_log>(
        x_broker, [this](std::function<void()> task) { x_setup.post(std::move(task)); });
}

void run::play() {
    found_installation();
    start_nodes();
    make_builds();
    for (const schemas::build_id build : x_builds) {
        trouble(x_world.chance.between(1'000, 20'000));
        report_unsafe(build);
        trouble(x_world.chance.between(1'000, 60'000));
    }
    make_peace();
}

void run::found_installation() {
    require(x_log->create_topics().has_value(), "the topics cannot be created");
    schemas::commands::genesis first;
    x_world.chance.source().fill(first.log_id.data(), first.log_id.size());
    first.event_partitions = 1;
    first.organization_name = workspace;
    first.admin_uuid = some_uuid;
    first.admin_email = admin_email;
    first.admin_key_hash = admin_key_hash();
    first.level = schemas::commands::serving_level;
    schemas::commands::command_envelope envelope;
    envelope.log_id = first.log_id;
    envelope.generation = first.generation;
    envelope.sender_clock_ms = x_setup.time().wall_ms();
    envelope.not_after_ms = INT64_MAX;
    envelope.type = schemas::commands::genesis::type;
    envelope.body = schemas::encode(first);
    const auto producer = x_log->open_producer(events::log::producer_kind::ordinary);
    (void)producer->append({std::string(events::log::topic::commands), 0}, "",
                           schemas::commands::seal_envelope(envelope), [](const auto&) {});
    run_for(10);
}

void run::start_nodes() {
    const bool is_alone = x_kind == storage::node::node_kind::standalone;
    const std::int64_t nodes = is_alone ? 1 : x_world.chance.between(2, 4);
    for (std::int64_t number = 1; number <= nodes; ++number) {
        x_nodes.push_back(std::make_unique<serving_node>(
            x_world, "node-" + std::to_string(number), x_kind, x_broker, x_setup.time(), x_broken,
            [this](const std::string& node, schemas::build_id build) { check_byte(node, build); }));
        x_nodes.back()->start();
    }
    const auto is_prepared = [](const auto& node) { return node->serves() && node->is_of_serving_level(); };
    for (int waits = 0; !std::ranges::all_of(x_nodes, is_prepared); ++waits) {
        require(waits < 600, "the nodes do not reach the level of serving");
        run_for(500);
    }
}

template <class Command>
schemas::commands::outcome run::done(const Command& command) {
    request what;
    what.type = Command::type;
    what.body = schemas::encode(command);
    what.user = admin;
    what.credential_hash = admin_key_hash();
    for (int attempts = 0; attempts < 200; ++attempts) {
        std::optional<reply> heard;
        what.idempotency_key =
            "set-up " +
            std::to_string(x_broker.records({std::string(events::log::topic::commands), 0}).size());
        x_nodes.front()->machine().send(what, [&heard](const reply& said) { heard = said; });
        for (int waits = 0; !heard && waits < 400; ++waits) run_for(100);
        require(heard.has_value(), "a node did not answer in the set-up");
        if (heard->what == reply::kind::answered && heard->outcome.code == 0) return heard->outcome;
        run_for(500);
    }
    throw rule_broken{"the set-up was refused"};
}

void run::make_builds() {
    schemas::commands::create_model model;
    model.workspace_name = workspace;
    model.model.name = "model";
    schemas::commands::create_version version;
    version.registered_model_id = decoded<schemas::registered_model>(done(model).body).id;
    version.version.version = "v1";
    schemas::commands::create_build build;
    build.workspace_name = workspace;
    build.model_version_id = decoded<schemas::model_version>(done(version).body).id;
    build.external_location = "registry.example/image";
    while (x_builds.size() < builds_of_a_run)
        x_builds.push_back(decoded<schemas::build>(done(build).body).id);
}

void run::run_for(std::int64_t ms) { x_world.time.run_until(x_world.time.now_ms() + ms); }

void run::trouble(std::int64_t ms) {
    const std::int64_t end = x_world.time.now_ms() + ms;
    while (x_world.time.now_ms() < end) {
        run_for(x_world.chance.between(1, 200));
        for (const auto& node : x_nodes)
            if (node->running()) node->predict(x_world.chance.pick(x_builds));
        if (x_world.chance.one_in(30)) disturb();
    }
}

void run::disturb() {
    dice& chance = x_world.chance;
    serving_node& node = *chance.pick(x_nodes);
    if (!node.running()) return;
    switch (chance.between(0, 5)) {
        case 0:
            node.crash(static_cast<std::size_t>(chance.between(0, 4)));
            return x_setup.run_at(x_world.time.now_ms() + chance.between(0, 15'000), [&node] {
                if (!node.running()) node.start();
            });
        case 1:
            return node.pause_log(chance.between(100, 40'000));
        case 2:
            return node.pause_serving(chance.between(100, 40'000));
        case 3:
            return node.stop(chance.between(1'000, 90'000));
        default:
            return node.cut_off_for(chance.between(1'000, 90'000));
    }
}

/// In the end every report is answered.
void run::make_peace() {
    for (const auto& node : x_nodes) node->heal();
    run_for(peace_ms + 90'000);
    for (const auto& node : x_nodes)
        if (!node->running()) node->start();
    run_for(peace_ms);
}

// ---- reports

void run::report_unsafe(schemas::build_id build) {
    std::vector<serving_node*> serving;
    for (const auto& node : x_nodes)
        if (node->running() && node->serves()) serving.push_back(node.get());
    if (serving.empty()) return;
    serving_node& asked = *x_world.chance.pick(serving);
    x_reports.push_back(std::make_unique<report>());
    const std::size_t index = x_reports.size() - 1;
    x_reports[index]->build = build;
    schemas::commands::report_scan command;
    command.workspace_name = workspace;
    command.build_id = build;
    command.scan_status = schemas::scan_status::scanned;
    command.safety_status = schemas::safety_status::unsafe;
    request what;
    what.type = schemas::commands::report_scan::type;
    what.body = schemas::encode(command);
    what.user = admin;
    what.credential_hash = admin_key_hash();
    asked.machine().send(what, [this, &asked, index](const reply& heard) {
        if (heard.what != reply::kind::answered || heard.outcome.code != 0) return;
        asked.quiesce([this, &asked, index] {
            process_thread& thread = asked.machine().thread();
            thread.post(
                [this, &asked, index, until_ms = thread.time().steady_ms() + limits::report_heard_ms_max] {
                    wait_until_heard(asked, index, until_ms);
                });
        });
    });
}

std::vector<storage::registry::find::unconfirmed_node> run::unconfirmed(serving_node& node,
                                                                        schemas::build_id id) {
    if (x_kind == storage::node::node_kind::standalone) return {};
    const auto now = node.machine().node().read_applied();
    require(now.has_value(), "a node answers that is not ready");
    auto build = storage::registry::tables::builds::find(*now->view, id);
    require(build && build->unsafe_scan_id, "a node answers a report that it has not applied");
    if (x_broken.offset_not_compared) build->unsafe_offset = 0;
    return storage::registry::find::unconfirmed_nodes(*now->view, *build);
}

void run::wait_until_heard(serving_node& node, std::size_t index, std::int64_t until_ms) {
    if (!node.machine().node().read_applied()) return;  // it is answered 503
    report& told = *x_reports[index];
    process_thread& thread = node.machine().thread();
    const auto nodes = unconfirmed(node, told.build);
    const bool is_awaited = std::ranges::any_of(nodes, [](const auto& each) { return each.is_in_contact; });
    const bool is_late = thread.time().steady_ms() >= until_ms;
    if (!is_awaited || is_late || x_broken.answers_at_once) return answer(node, told, !is_late);
    thread.run_at(thread.time().steady_ms() + limits::report_heard_look_ms,
                  [this, &node, index, until_ms] { wait_until_heard(node, index, until_ms); });
}

void run::answer(serving_node& node, report& told, bool is_in_time) {
    for (const auto& each : unconfirmed(node, told.build)) {
        require(!is_in_time || !each.is_in_contact,
                "a report was answered early although " + each.node + " is in contact (invariant 8)");
        if (!x_broken.names_nobody) told.serves_until_ms[each.node] = each.serves_until_ms;
    }
    told.answered_ms = x_world.time.now_ms();
    ++x_answered;
}

void run::check_byte(const std::string& node, schemas::build_id build) {
    ++x_sent;
    for (const auto& told : x_reports) {
        if (told->build != build || !told->answered_ms) continue;
        const auto named = told->serves_until_ms.find(node);
        require(named != told->serves_until_ms.end(),
                node + " answered from " + text_of(build) +
                    " after its report was answered, which did not name it (invariant 8)");
        require(x_setup.time().wall_ms() <= named->second,
                node + " answered from " + text_of(build) +
                    " after the time by which it should have stopped (invariant 8)");
    }
}

// ---- the runs

std::vector<std::pair<std::string_view, std::string_view>> mutations() {
    std::vector<std::pair<std::string_view, std::string_view>> names;
    for (const named_mutation& each : all_mutations) names.emplace_back(each.name, each.what);
    return names;
}

std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation) {
    broken_rules broken;
    const auto* const chosen = std::ranges::find(all_mutations, mutation, &named_mutation::name);
    if (chosen != all_mutations.end() && chosen->rule != nullptr) broken.*(chosen->rule) = true;
    run one(seed, broken);
    try {
        one.play();
    } catch (const rule_broken& wrong) {
        return wrong.what;
    }
    if (one.sent() == 0) return "no prediction was answered: the run tries nothing";
    return std::nullopt;
}

}  // namespace herald::test::serving
