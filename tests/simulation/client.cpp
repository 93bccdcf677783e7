#include "tests/simulation/client.hpp"

#include <algorithm>

#include "schemas/binary.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/support/commands.hpp"

namespace herald::test {
namespace {

constexpr std::string_view second_admin_key_hash = "other administrator's key hashed";
/// Longer than a node waits for an outcome: the node died.
constexpr std::int64_t answer_wait_ms = 35'000;
constexpr std::int64_t repeat_after_ms = 300;
/// For this long a repeat is safe, minus the time that an attempt may take.
constexpr std::int64_t repeats_safe_ms = 23ll * 3'600'000;

}  // namespace

template <class Command>
void client::ask(const Command& command, repeat how, learner learn, std::uint64_t user) {
    operation wish;
    wish.what.type = Command::type;
    wish.what.body = schemas::encode(command);
    wish.what.user = schemas::user_id{user};
    if (how == repeat::with_key) wish.what.idempotency_key = name("key");
    if (how == repeat::with_key && x_world.chance.one_in(15))
        wish.what = with_another_requests_key(std::move(wish.what));
    wish.asked_ms = x_world.time.now_ms();
    x_history.push_back(std::move(wish));
    ++x_waiting;
    attempt(x_history.size() - 1, std::move(learn));
}

/// A program that numbers its requests starts again with the same numbers.
request client::with_another_requests_key(request what) {
    const auto is_alike = [&](const operation& other) {
        return other.what.type == what.type && other.what.user == what.user &&
               !other.what.idempotency_key.empty();
    };
    const auto other = std::ranges::find_if(x_history, is_alike);
    if (other == x_history.end()) return what;
    const std::string& key = other->what.idempotency_key;
    const bool was_asked = std::ranges::any_of(x_history, [&](const operation& wish) {
        return wish.what.idempotency_key == key && wish.what.body == what.body;
    });
    if (!was_asked) what.idempotency_key = key;
    return what;
}

const std::string& client::credential(std::uint64_t user) {
    static const std::string second(second_admin_key_hash);
    static const std::string none;
    if (user == 0) return none;
    return user == 1 ? x_world.chance.pick(x_keys).hash : second;
}

void client::repeat_later(std::size_t index, learner learn) {
    x_thread.run_at(x_world.time.now_ms() + repeat_after_ms,
                    [this, index, learn = std::move(learn)] { attempt(index, learn); });
}

void client::attempt(std::size_t index, learner learn) {
    if (x_history[index].done) return;
    std::vector<api_node*> serving;
    for (const auto& node : x_nodes)
        if (node->serves()) serving.push_back(node.get());
    const std::int64_t now = x_world.time.now_ms();
    if (serving.empty()) return repeat_later(index, learn);
    // The reply comes on the node's thread; the client receives it on its own.
    const auto answered = std::make_shared<bool>(false);
    operation& wish = x_history[index];
    if (!wish.is_revoked) wish.what.credential_hash = credential(wish.what.user.value);
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
    const auto is_answer = [&](error_code code) {
        return what.what == reply::kind::answered && what.outcome.code == static_cast<std::uint32_t>(code);
    };
    const bool may_come_again = what.what != reply::kind::answered || is_answer(error_code::unavailable) ||
                                (is_answer(error_code::unauthenticated) && !wish.is_revoked);
    // Now and then the answer is lost on its way, and the client repeats a request that was already done.
    const bool may_repeat =
        !wish.what.idempotency_key.empty() && x_world.time.now_ms() - wish.asked_ms < repeats_safe_ms;
    if (may_repeat && (may_come_again || x_world.chance.one_in(8))) return repeat_later(index, learn);
    wish.done = true;
    --x_waiting;
    if (what.what == reply::kind::answered && what.outcome.code == 0 && learn) learn(what.outcome);
}

template <class Answer>
client::learner client::learn_id(std::vector<std::uint64_t> known::*into,
                                 storage::registry::tables::table rows) {
    return [this, into, rows](const schemas::commands::outcome& outcome) {
        const auto id = schemas::decode<Answer>(outcome.body)->id;
        std::vector<std::uint64_t>& all = x_known.*into;
        if (std::ranges::find(all, id.value) != all.end())
            throw rule_broken{"the id " + std::to_string(id.value) + " was given out twice (invariant 9)"};
        all.push_back(id.value);
        x_written.push_back({storage::registry::tables::key_of(rows).number(id), x_world.time.now_ms()});
        // At once, since later the node that is asked has applied it anyway.
        if (x_world.chance.one_in(2)) read();
    };
}

void client::prepare() {
    schemas::commands::create_user second;
    second.email = "second@example.org";
    second.key_hash = second_admin_key_hash;
    second.user_uuid = some_uuid;
    ask(second, repeat::with_key, [this](const schemas::commands::outcome& outcome) {
        schemas::commands::add_group_users members;
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
    schemas::commands::create_webhook hook;
    hook.settings.name = name("webhook");
    hook.settings.location = "https://" + hook.settings.name + ".example/";
    hook.settings.all_events = chance.one_in(3);
    for (const event_type type :
         {event_type::promote, event_type::request_scan, event_type::create, event_type::update})
        if (chance.one_in(2)) hook.settings.event_types.push_back(type);
    if (chance.one_in(3)) {
        schemas::resource_filter filter;
        filter.registry_service_resource_type =
            chance.one_in(2) ? schemas::resource_type::registered_model_version : schemas::resource_type::all;
        hook.settings.resource_types.push_back(filter);
    }
    ask(hook, any_way(),
        learn_id<schemas::webhook>(&known::webhooks, storage::registry::tables::table::webhook));
}

void client::move_webhook() {
    schemas::commands::update_webhook command;
    command.id.value = x_world.chance.pick(x_known.webhooks);
    command.new_location = "https://" + name("moved") + ".example/";
    ask(command, repeat::never);  // refused while the level is too low, for the whole of some runs
}

void client::create_transition() {
    schemas::commands::create_transition command;
    command.model_version_id.value = x_world.chance.pick(x_known.versions);
    command.desired_stage = x_world.chance.one_in(3) ? schemas::stage::staging : schemas::stage::production;
    ask(command, any_way(), [this](const schemas::commands::outcome& outcome) {
        const std::uint64_t id = schemas::decode<schemas::activity>(outcome.body)->id.value;
        x_known.transitions.push_back(id);
        if (x_world.chance.one_in(2)) review(id);
    });
}

void client::delete_webhook() {
    const schemas::webhook_id id{x_world.chance.pick(x_known.webhooks)};
    std::erase_if(x_written, [&](const written_row& row) {  // from now on it may disappear
        return row.key ==
               std::string(
                   storage::registry::tables::key_of(storage::registry::tables::table::webhook).number(id));
    });
    ask(schemas::commands::delete_webhooks{{id}}, any_way());
}

void client::create_version() {
    schemas::commands::create_version command;
    command.registered_model_id.value = x_world.chance.pick(x_known.models);
    command.version.version = name("version");
    command.version.description = text_of_any_size();
    ask(command, any_way(),
        learn_id<schemas::model_version>(&known::versions, storage::registry::tables::table::version));
}

void client::update_version() {
    if (x_known.versions.empty()) return;
    schemas::commands::update_version command;
    command.id.value = x_world.chance.pick(x_known.versions);
    command.present = {"description", "readme_text"};
    command.version.description = text_of_any_size();
    command.version.readme_text = text_of_any_size();
    ask(command, any_way());
}

/// Up to and beyond the accepted size; quotes are two bytes in JSON.
std::string client::text_of_any_size() {
    dice& chance = x_world.chance;
    if (!x_is_large || chance.one_in(2)) return std::to_string(chance.between(0, 1'000'000));
    const std::int64_t most = chance.one_in(4) ? 270 * 1024 : 64 * 1024;
    return std::string(static_cast<std::size_t>(chance.between(0, most)), chance.one_in(2) ? '"' : 'x');
}

void client::renew_key() {
    schemas::commands::renew_admin_key command;
    command.email = first_admin_email;
    command.key_hash = name("administrator's key hashed");
    x_keys.push_back({command.key_hash, -1});
    const auto renewed = [this, hash = command.key_hash](const schemas::commands::outcome& outcome) {
        std::ranges::find(x_keys, hash, &own_key::hash)->since = static_cast<std::int64_t>(outcome.offset);
        // Answers come in any order; of the renewals without an answer, each may still be in force.
        const std::int64_t newest = std::ranges::max(x_keys, {}, &own_key::since).since;
        std::erase_if(x_keys, [&](const own_key& key) {
            const bool is_over = key.since >= 0 && key.since < newest;
            if (is_over) x_old_keys.push_back(key.hash);
            return is_over;
        });
    };
    ask(command, repeat::never, renewed, 0);
}

void client::ask_under_old_key() {
    if (x_old_keys.empty()) return;
    operation wish;
    wish.what.type = schemas::commands::create_model::type;
    schemas::commands::create_model command;
    command.workspace_name = workspace;
    command.model.name = name("stolen");
    wish.what.body = schemas::encode(command);
    wish.what.user = schemas::user_id{1};
    wish.what.credential_hash = x_world.chance.pick(x_old_keys);
    wish.what.idempotency_key = name("key");
    wish.asked_ms = x_world.time.now_ms();
    wish.is_revoked = true;
    x_history.push_back(std::move(wish));
    ++x_waiting;
    attempt(x_history.size() - 1, nullptr);
}

void client::read() {
    std::vector<std::string> expected;
    for (const written_row& row : x_written)
        if (row.answered_ms + x_deposed_ms <= x_world.time.now_ms()) expected.push_back(row.key);
    const auto look = [this, expected](const result<storage::node::registry_node::reading>& found) {
        if (!found || found->stale) return;
        for (const std::string& key : expected)
            if (!found->view->get(key) &&
                std::ranges::find(x_written, key, &written_row::key) != x_written.end())
                throw rule_broken{"a read did not see a write that was answered before it (invariant 9)"};
    };
    for (const auto& node : x_nodes)
        if (node->serves()) node->read(look);
}

void client::review(std::uint64_t transition) {
    const schemas::commands::review_transition command{schemas::activity_id{transition},
                                                       !x_world.chance.one_in(6), ""};
    const auto commit = [this, transition](const schemas::commands::outcome&) {
        x_known.approved.push_back(transition);
        if (x_world.chance.one_in(2)) commit_transition(transition);
    };
    ask(command, any_way(), commit, 2);
}

void client::commit_transition(std::uint64_t transition) {
    const auto committed = [this](const schemas::commands::outcome& outcome) {
        const auto done = schemas::decode<schemas::activity>(outcome.body);
        x_known.commits.push_back({done->model_version_id.value, done->time_created});
    };
    ask(schemas::commands::commit_transition{schemas::activity_id{transition}, ""}, any_way(), committed);
}

void client::complete_promotion() {
    if (x_known.commits.empty()) return;
    const commit read_after = x_world.chance.pick(x_known.commits);
    schemas::commands::update_version command;
    command.id.value = read_after.version;
    command.present = {"redirect_metadata", "time_updated"};
    command.redirect_metadata = "https://serving.example/" + name("address");
    command.time_updated = read_after.time_ms;
    ask(command, any_way());
}

void client::act() {
    dice& chance = x_world.chance;
    switch (chance.between(0, 22)) {
        case 20:
            return complete_promotion();
        case 21:
        case 22:  // else one that is no longer wanted would bar the way for ever
            if (!x_known.transitions.empty())
                ask(
                    schemas::commands::close_transition{
                        schemas::activity_id{chance.pick(x_known.transitions)}, ""},
                    any_way());
            break;
        case 12:
        case 13:
        case 14:
        case 17:
        case 18:
        case 19:
            return read();
        case 15:
            return update_version();
        case 16:
            if (chance.one_in(3)) return renew_key();
            return ask_under_old_key();
        case 0:
            if (x_known.webhooks.size() < 5) create_webhook();
            break;
        case 1:
            if (x_known.webhooks.size() > 1 && chance.one_in(3))
                delete_webhook();
            else if (!x_known.webhooks.empty())
                move_webhook();
            break;
        case 2:
            if (x_known.models.size() < 3) {
                schemas::commands::create_model command;
                command.workspace_name = workspace;
                command.model.name = name("model");
                ask(command, any_way(),
                    learn_id<schemas::registered_model>(&known::models,
                                                        storage::registry::tables::table::model));
            }
            break;
        case 3:
            if (!x_known.models.empty() && x_known.versions.size() < 6) create_version();
            break;
        case 4:
            if (!x_known.versions.empty()) {
                schemas::commands::create_build command;
                command.workspace_name = workspace;
                command.model_version_id.value = chance.pick(x_known.versions);
                command.external_location = "registry.example/" + name("image");
                ask(command, any_way(),
                    learn_id<schemas::build>(&known::builds, storage::registry::tables::table::build));
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
            if (!x_known.approved.empty()) commit_transition(chance.pick(x_known.approved));
            break;
        case 10:
            if (!x_known.builds.empty())
                ask(
                    schemas::commands::request_scan{
                        std::string(workspace), schemas::build_id{chance.pick(x_known.builds)}, {}},
                    any_way());
            break;
        default:
            if (!x_known.builds.empty())
                ask(schemas::commands::report_scan{std::string(workspace),
                                                   schemas::build_id{chance.pick(x_known.builds)},
                                                   schemas::scan_status::scanned,
                                                   schemas::safety_status::safe, ""},
                    any_way());
            break;
    }
}

}  // namespace herald::test
