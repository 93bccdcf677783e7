#include "tests/simulation/client.hpp"

#include "schemas/binary.hpp"

namespace herald::simulation {
namespace {

constexpr std::string_view second_admin_key_hash = "other administrator's key hashed";
/// Longer than a node waits for an outcome: the node died.
constexpr std::int64_t answer_wait_ms = 35'000;
constexpr std::int64_t repeat_after_ms = 300;

}  // namespace

template <class Command>
void client::ask(const Command& command, repeat how, learner learn, std::uint64_t user) {
    operation wish;
    wish.what.type = Command::type;
    wish.what.body = schemas::encode(command);
    wish.what.user = schemas::user_id{user};
    wish.what.credential_hash = user == 1 ? admin_key_hash : second_admin_key_hash;
    if (how == repeat::with_key) wish.what.idempotency_key = name("key");
    x_history.push_back(std::move(wish));
    ++x_waiting;
    attempt(x_history.size() - 1, std::move(learn));
}

void client::attempt(std::size_t index, learner learn) {
    if (x_history[index].done) return;
    std::vector<api_node*> serving;
    for (const auto& node : x_nodes)
        if (node->serves()) serving.push_back(node.get());
    const std::int64_t now = x_world.time.now_ms();
    if (serving.empty()) {
        x_thread.run_at(now + repeat_after_ms, [this, index, learn] { attempt(index, learn); });
        return;
    }
    // The reply comes on the node's thread; the client hears of it on its own.
    const auto answered = std::make_shared<bool>(false);
    operation& wish = x_history[index];
    wish.commands.push_back(
        x_world.chance.pick(serving)->send(wish.what, [this, index, learn, answered](const reply& what) {
            x_thread.post([this, index, learn, answered, what] {
                if (!std::exchange(*answered, true)) heard(index, what, learn);
            });
        }));
    x_thread.run_at(now + answer_wait_ms, [this, index, learn, answered] {
        if (!std::exchange(*answered, true)) heard(index, {reply::kind::unknown, {}}, learn);
    });
}

void client::heard(std::size_t index, const reply& what, const learner& learn) {
    operation& wish = x_history[index];
    wish.replies.push_back(what);
    const bool refused_for_now = what.what == reply::kind::answered &&
                                 what.outcome.code == static_cast<std::uint32_t>(error_code::unavailable);
    const bool may_repeat = !wish.what.idempotency_key.empty();
    if ((what.what != reply::kind::answered || refused_for_now) && may_repeat) {
        x_thread.run_at(x_world.time.now_ms() + repeat_after_ms,
                        [this, index, learn] { attempt(index, learn); });
        return;
    }
    // Now and then the answer is lost on its way, and the client asks again what was done already.
    if (may_repeat && x_world.chance.one_in(8)) {
        x_thread.run_at(x_world.time.now_ms() + repeat_after_ms,
                        [this, index, learn] { attempt(index, learn); });
        return;
    }
    wish.done = true;
    --x_waiting;
    if (what.what == reply::kind::answered && what.outcome.code == 0 && learn) learn(what.outcome);
}

template <class Answer>
client::learner client::learn_id(std::vector<std::uint64_t> known::*into) {
    return [this, into](const schemas::outcome& outcome) {
        (x_known.*into).push_back(schemas::decode<Answer>(outcome.body)->id.value);
    };
}

void client::prepare() {
    schemas::create_user second;
    second.email = "second@example.org";
    second.key_hash = second_admin_key_hash;
    ask(second, repeat::with_key, [this](const schemas::outcome& outcome) {
        schemas::add_group_users members;
        members.org_id = schemas::organization_id{1};
        members.group_id = schemas::group_id{1};  // Admins
        members.user_id = {schemas::decode<schemas::user>(outcome.body)->id};
        ask(members, repeat::with_key);
    });
    create_webhook();
}

void client::create_webhook() {
    using schemas::event_type;
    dice& chance = x_world.chance;
    schemas::create_webhook hook;
    hook.name = name("webhook");
    hook.location = "https://" + hook.name + ".example/";
    hook.all_events = chance.one_in(3);
    for (const event_type type :
         {event_type::promote, event_type::request_scan, event_type::create, event_type::update})
        if (chance.one_in(2)) hook.event_types.push_back(type);
    if (chance.one_in(3)) {
        schemas::resource_filter filter;
        filter.registry_service_resource_type =
            chance.one_in(2) ? schemas::resource_type::registered_model_version : schemas::resource_type::all;
        hook.resource_types.push_back(filter);
    }
    ask(hook, any_way(), learn_id<schemas::webhook>(&known::webhooks));
}

void client::create_transition() {
    schemas::create_transition command;
    command.model_version_id.value = x_world.chance.pick(x_known.versions);
    command.desired_stage = x_world.chance.one_in(3) ? schemas::stage::staging : schemas::stage::production;
    ask(command, any_way(), [this](const schemas::outcome& outcome) {
        const std::uint64_t id = schemas::decode<schemas::activity>(outcome.body)->id.value;
        x_known.transitions.push_back(id);
        if (x_world.chance.one_in(2)) review(id);
    });
}

void client::review(std::uint64_t transition) {
    const schemas::review_transition command{schemas::activity_id{transition}, !x_world.chance.one_in(6), ""};
    const auto commit = [this, transition](const schemas::outcome&) {
        x_known.approved.push_back(transition);
        if (x_world.chance.one_in(2))
            ask(schemas::commit_transition{schemas::activity_id{transition}, ""}, any_way());
    };
    ask(command, any_way(), commit, 2);
}

void client::act() {
    dice& chance = x_world.chance;
    switch (chance.between(0, 11)) {
        case 0:
            if (x_known.webhooks.size() < 5) create_webhook();
            break;
        case 1:
            if (x_known.webhooks.size() > 1 && chance.one_in(3))
                ask(schemas::delete_webhooks{{schemas::webhook_id{chance.pick(x_known.webhooks)}}},
                    any_way());
            break;
        case 2:
            if (x_known.models.size() < 3) {
                schemas::create_model command;
                command.workspace_name = workspace;
                command.model.name = name("model");
                ask(command, any_way(), learn_id<schemas::registered_model>(&known::models));
            }
            break;
        case 3:
            if (!x_known.models.empty() && x_known.versions.size() < 6) {
                schemas::create_version command;
                command.registered_model_id.value = chance.pick(x_known.models);
                command.version.version = name("version");
                ask(command, any_way(), learn_id<schemas::model_version>(&known::versions));
            }
            break;
        case 4:
            if (!x_known.versions.empty()) {
                schemas::create_build command;
                command.workspace_name = workspace;
                command.model_version_id.value = chance.pick(x_known.versions);
                command.external_location = "registry.example/" + name("image");
                ask(command, any_way(), learn_id<schemas::build>(&known::builds));
            }
            break;
        case 5:
        case 6:
            if (!x_known.versions.empty()) create_transition();
            break;
        case 7:
        case 8:
            if (!x_known.transitions.empty()) review(chance.pick(x_known.transitions));
            break;
        case 9:
            if (!x_known.approved.empty())
                ask(schemas::commit_transition{schemas::activity_id{chance.pick(x_known.approved)}, ""},
                    any_way());
            break;
        case 10:
            if (!x_known.builds.empty())
                ask(
                    schemas::request_scan{
                        std::string(workspace), schemas::build_id{chance.pick(x_known.builds)}, {}},
                    any_way());
            break;
        default:
            if (!x_known.builds.empty())
                ask(schemas::report_scan{std::string(workspace),
                                         schemas::build_id{chance.pick(x_known.builds)},
                                         schemas::scan_status::scanned, schemas::safety_status::safe, ""},
                    any_way());
            break;
    }
}

}  // namespace herald::simulation
