#include "tests/simulation/serving/serving_run.hpp"

#include <algorithm>

#include "api/deployment/confirmations.hpp"
#include "api/deployment/limits.hpp"
#include "events/log/topics.hpp"
#include "runtime/crypto.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/builds.hpp"
#include "tests/support/commands.hpp"

namespace herald::test::serving {
namespace {

constexpr std::string_view workspace = "simulated";
constexpr std::int64_t peace_ms = 60'000;
constexpr std::size_t builds_of_a_run = 7;
constexpr std::size_t endpoints_of_a_run = 4;
constexpr std::size_t replacements_of_a_run = 3;
constexpr std::int64_t again_ms = 3'000;
constexpr std::int64_t quick_answer_ms = 100;

void require(bool holds, const std::string& sentence) {
    if (!holds) throw rule_broken{sentence};
}

std::string text_of(schemas::build_id id) { return "build " + std::to_string(id.value); }

template <class Command>
request request_of(const Command& command) {
    request what;
    what.type = Command::type;
    what.body = schemas::encode(command);
    what.user = admin;
    what.credential_hash = admin_key_hash();
    return what;
}

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
    make_endpoints();
    for (std::size_t index = 0; index + 1 < x_builds.size(); ++index) {
        const schemas::build_id build = x_builds[index];
        ask(update_to(build, x_world.chance.pick(x_endpoints)));
        trouble(x_world.chance.between(1'000, 20'000));
        if (x_world.chance.one_in(4))
            ask(update_to(x_world.chance.pick(x_builds), x_world.chance.pick(x_endpoints)));
        if (x_world.chance.one_in(4)) delete_endpoint();
        if (x_world.chance.one_in(3))
            if (serving_node* const node = any_that_serves()) node->drain();
        report_unsafe(build);
        trouble(x_world.chance.between(1'000, 60'000));
    }
    make_peace();
    check_quick_answer();
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

serving_node& run::start_node(const std::string& name) {
    x_nodes.push_back(std::make_unique<serving_node>(
        x_world, name, x_kind, x_broker, x_setup.time(), x_broken,
        [this](const std::string& node, schemas::build_id build) { check_byte(node, build); },
        [this](serving_node& node) { end_later(node); }));
    x_nodes.back()->start();
    return *x_nodes.back();
}

void run::start_nodes() {
    const bool is_alone = x_kind == storage::node::node_kind::standalone;
    const std::int64_t nodes = is_alone ? 1 : x_world.chance.between(2, 4);
    for (std::int64_t number = 1; number <= nodes; ++number) start_node("node-" + std::to_string(number));
    const auto serves = [](const auto& node) { return node->serves(); };
    for (int waits = 0; !std::ranges::all_of(x_nodes, serves); ++waits) {
        require(waits < 600, "the nodes do not become ready");
        run_for(500);
    }
}

template <class Command>
schemas::commands::outcome run::done(const Command& command) {
    request what = request_of(command);
    std::string refusal;
    for (int attempts = 0; attempts < 200; ++attempts) {
        std::optional<reply> heard;
        what.idempotency_key =
            "set-up " +
            std::to_string(x_broker.records({std::string(events::log::topic::commands), 0}).size());
        x_nodes.front()->machine().send(what, [&heard](const reply& said) { heard = said; });
        for (int waits = 0; !heard && waits < 400; ++waits) run_for(100);
        require(heard.has_value(), "a node did not answer in the set-up");
        if (heard->what == reply::kind::answered && heard->outcome.code == 0) return heard->outcome;
        refusal = heard->outcome.message;
        run_for(500);
    }
    throw rule_broken{"the set-up was refused: " + refusal};
}

template <class Command>
void run::ask(const Command& command, reply_handler handler) {
    if (serving_node* const node = any_that_serves())
        node->machine().send(request_of(command), std::move(handler));
}

serving_node* run::any_that_serves() {
    std::vector<serving_node*> serving;
    for (const auto& node : x_nodes)
        if (node->serves()) serving.push_back(node.get());
    return serving.empty() ? nullptr : x_world.chance.pick(serving);
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
    build.upstream_url = "http://image.example";
    while (x_builds.size() < builds_of_a_run)
        x_builds.push_back(decoded<schemas::build>(done(build).body).id);
}

/// Each with a stage that serves, and all with the same token.
void run::make_endpoints() {
    while (x_endpoints.size() < endpoints_of_a_run) {
        schemas::commands::create_endpoint made;
        made.id = x_world.chance.source().uuid();
        made.workspace_name = workspace;
        made.path = "/endpoint-" + std::to_string(x_endpoints.size());
        made.creator_request.text = "{}";
        done(made);
        schemas::commands::create_endpoint_stage stage;
        stage.endpoint_id = made.id;
        stage.workspace_name = workspace;
        stage.name = "stage";
        stage.token.hash = runtime::as_bytes(runtime::sha256(access_token));
        stage.token.sealed_value = "sealed";
        stage.creator_request.text = "{}";
        const auto row = decoded<schemas::endpoint_stage>(done(stage).body);
        x_endpoints.push_back({made.id, made.path, row.id});
        done(update_to(x_builds[x_endpoints.size()], x_endpoints.back()));
    }
}

schemas::commands::update_endpoint_stage run::update_to(schemas::build_id build, const endpoint& to) {
    schemas::commands::update_endpoint_stage update;
    update.endpoint_id = to.id;
    update.workspace_name = workspace;
    update.stage_id = to.stage;
    update.build_id = build;
    update.update_request.text = "{}";
    if (x_world.chance.one_in(4)) {
        update.strategy = schemas::update_strategy::canary;
        update.progress_interval_seconds = 10;
        update.progress_step = "0.5";
        update.rules = {{1007, "1"}};
    }
    return update;
}

void run::delete_endpoint() {
    if (x_endpoints.size() == 1) return;
    schemas::commands::delete_endpoint gone;
    gone.id = x_endpoints.back().id;
    gone.workspace_name = workspace;
    ask(gone);
    x_endpoints.pop_back();
}

void run::run_for(std::int64_t ms) { x_world.time.run_until(x_world.time.now_ms() + ms); }

void run::trouble(std::int64_t ms) {
    const std::int64_t end = x_world.time.now_ms() + ms;
    while (x_world.time.now_ms() < end) {
        run_for(x_world.chance.between(1, 200));
        for (const auto& node : x_nodes)
            if (node->running() && x_world.chance.one_in(2))
                node->predict(x_world.chance.pick(x_endpoints).path);
        if (!x_reports.empty() && x_world.chance.one_in(10)) look_at_scan(*x_world.chance.pick(x_reports));
        if (x_world.chance.one_in(120 / x_nodes.size())) disturb();
    }
}

void run::disturb() {
    dice& chance = x_world.chance;
    serving_node& node = *chance.pick(x_nodes);
    if (!node.running()) return;
    switch (chance.between(0, 7)) {
        case 0:
            node.crash(static_cast<std::size_t>(chance.between(0, 4)));
            if (chance.one_in(2)) node.machine().wipe_state();
            return x_setup.run_at(x_world.time.now_ms() + chance.between(0, 15'000),
                                  [this, &node] { restart(node); });
        case 1:
            return node.pause_log(chance.between(100, 40'000));
        case 2:
            return node.pause_serving(chance.between(100, 40'000));
        case 3:
            return node.stop(chance.between(1'000, 90'000));
        case 4:
            return node.drain();
        case 5:
            return replace(node);
        default:
            return node.cut_off_for(chance.between(1'000, 90'000));
    }
}

/// Another process takes the node's name, on another machine, while this one goes on.
void run::replace(serving_node& node) {
    if (x_kind == storage::node::node_kind::standalone || x_replaced.size() == replacements_of_a_run) return;
    if (x_replaced.insert(&node).second) start_node(node.name());
}

/// A process that wants to end takes its time over it.
void run::end_later(serving_node& node) {
    x_setup.run_at(x_world.time.now_ms() + x_world.chance.between(0, 15'000), [this, &node] {
        if (node.running()) node.crash(0);
        restart(node);
    });
}

/// Callers are there before it is.
void run::restart(serving_node& node) {
    if (node.running() || x_replaced.contains(&node)) return;
    node.start();
    for (int each = 0; each < 20; ++each) node.predict(x_world.chance.pick(x_endpoints).path);
}

/// In the end every report is answered.
void run::make_peace() {
    for (const auto& node : x_nodes) node->heal();
    run_for(peace_ms + 90'000);
    for (const auto& node : x_nodes) restart(*node);
    run_for(peace_ms);
}

/// When all is well a report waits for nothing, and names nobody.
void run::check_quick_answer() {
    const report* const told = report_unsafe(x_builds.back());
    require(told != nullptr, "no node serves although all is well (invariant 12)");
    run_for(quick_answer_ms);
    require(told->answered_ms.has_value(), "a report waits although all is well (design.md §4)");
    require(told->serves_until_ms.empty(), "a report names nodes although all is well (design.md §4)");
}

// ---- reports

report* run::report_unsafe(schemas::build_id build) {
    serving_node* const node = any_that_serves();
    if (!node) return nullptr;
    report& told = *x_reports.emplace_back(std::make_unique<report>(report{build, *node}));
    schemas::commands::report_scan command;
    command.workspace_name = workspace;
    command.build_id = build;
    command.scan_status = schemas::scan_status::scanned;
    command.safety_status = schemas::safety_status::unsafe;
    node->machine().send(request_of(command), [this, &told](const reply& heard) {
        if (heard.what != reply::kind::answered)
            return x_setup.run_at(x_world.time.now_ms() + again_ms, [this, &told] {
                if (!is_answered(told.build)) report_unsafe(told.build);
            });
        told.offset = heard.outcome.offset;
        told.asked.machine().thread().post([this, &told] { wait_until_confirmed(told); });
    });
    return &told;
}

void run::wait_until_confirmed(report& told) {
    if (x_broken.answers_at_once) return answer(told);
    const auto read = [this, &told] {
        auto now = told.asked.machine().node().read_now(storage::node::freshness::applied);
        if (!now) return now;
        look(told, now->view);
        now->view = changed_view(now->view, x_broken.rows_of_answers);
        return now;
    };
    const auto own_threads = [&told](std::function<void()> done) { told.asked.quiesce(std::move(done)); };
    const auto next_heartbeat = [&told](std::function<void()> heard) {
        told.asked.machine().node().after_next_heartbeat(std::move(heard));
    };
    api::deployment::confirmation_sources asked{read, next_heartbeat, own_threads,
                                                told.asked.machine().thread(),
                                                x_kind == storage::node::node_kind::cluster};
    if (x_broken.awaits_no_own_threads) asked.quiesce = nullptr;
    api::deployment::when_confirmed(asked, told.offset, [this, &told] {
        if (x_broken.answers_never_late && told.is_anybody_awaited) return wait_until_confirmed(told);
        answer(told);
    });
}

run::unconfirmed run::unconfirmed_at(std::uint64_t offset, const view& state, row_change change) const {
    if (x_kind == storage::node::node_kind::standalone) return {};
    return storage::registry::find::unconfirmed_nodes(*changed_view(state, change), offset);
}

bool run::is_answered(schemas::build_id build) const {
    return std::ranges::any_of(
        x_reports, [&](const auto& told) { return told->build == build && told->answered_ms.has_value(); });
}

bool run::is_late(const report& told) const {
    return told.first_look_ms && x_world.time.now_ms() >= *told.first_look_ms + limits::confirmation_ms_max;
}

/// The product looks whether it has to wait.
void run::look(report& told, const view& state) {
    if (!told.first_look_ms) told.first_look_ms = x_world.time.now_ms();
    require(told.is_anybody_awaited, "a report waits although nobody is in contact (design.md §4)");
    require(!is_late(told), "a report still waits after 5 s (design.md §4)");
    const auto nodes = storage::registry::find::unconfirmed_nodes(*state, told.offset);
    told.is_anybody_awaited = std::ranges::any_of(nodes, [](const auto& each) { return each.is_in_contact; });
}

void run::answer(report& told) {
    const auto now = told.asked.machine().node().read_now(storage::node::freshness::applied);
    if (!now) return;  // it is answered 503
    for (const auto& each : unconfirmed_at(told.offset, now->view, nullptr))
        require(is_late(told) || !each.is_in_contact,
                "a report was answered early although " + each.node + " is in contact (invariant 8)");
    if (!x_broken.names_nobody)
        for (const auto& each : unconfirmed_at(told.offset, now->view, x_broken.rows_of_answers))
            told.serves_until_ms[each.node] = each.serves_until_ms;
    told.answered_ms = x_world.time.now_ms();
}

/// Who is not in the list any more has said that it knows, or its time is over.
void run::look_at_scan(report& told) {
    serving_node* const node = any_that_serves();
    if (!node || !told.answered_ms) return;
    node->machine().read([this, &told](const result<storage::node::registry_node::reading>& now) {
        if (!now || now->stale) return;
        const auto build = storage::registry::tables::builds::find(*now->view, told.build);
        require(build && build->unsafe_scan_id, "a node answers of a report that it has not applied");
        const auto left = unconfirmed_at(build->unsafe_offset, now->view, x_broken.rows_of_scans);
        std::erase_if(told.serves_until_ms, [&](const auto& named) {
            return std::ranges::find(left, named.first, &storage::registry::find::unconfirmed_node::node) ==
                   left.end();
        });
    });
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
    for (const named_mutation& each : all_mutations()) names.emplace_back(each.name, each.what);
    return names;
}

std::optional<std::string> simulate(std::uint64_t seed, std::string_view mutation) {
    run one(seed, std::ranges::find(all_mutations(), mutation, &named_mutation::name)->broken);
    try {
        one.play();
    } catch (const rule_broken& wrong) {
        return wrong.what;
    }
    if (one.sent() == 0) return "no prediction was answered: the run tries nothing";
    return std::nullopt;
}

}  // namespace herald::test::serving
