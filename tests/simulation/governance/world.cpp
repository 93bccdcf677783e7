#include <algorithm>

#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/groups.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/versions.hpp"
#include "storage/registry/tables/workspaces.hpp"
#include "tests/simulation/governance/governance.hpp"
#include "tests/support/registry.hpp"

namespace herald::test::governance {

using schemas::lock_level;
using schemas::safety_status;
using schemas::scan_status;
using schemas::stage;
using storage::registry::context::rule_context;
using storage::registry::state::state_changes;
using storage::registry::state::state_view;
namespace rules = storage::registry::rules;
namespace tables = storage::registry::tables;

namespace {

constexpr std::string_view workspace_name = "default";
constexpr schemas::workspace_id the_workspace{1};
constexpr std::int64_t beginning_ms = 1'700'000'100'000;

/// The groups and roles of the world, beside the built-in ones.
constexpr schemas::group_id anns_group{11}, bobs_group{12};
constexpr schemas::role_id editor_role{11}, approver_role{12}, reader_role{13};

schemas::role_id role_of(bobs_role role) {
    return role == bobs_role::editor     ? editor_role
           : role == bobs_role::approver ? approver_role
                                         : reader_role;
}

/// The view as a broken rule reads it.
class changed_view final : public state_view {
  public:
    changed_view(const state_view& base, const mutation& broken, const move& step)
        : x_base(base), x_broken(broken), x_step(step) {}
    bool read(std::string_view key, const storage::registry::state::row_reader& reader) const override {
        return x_base.read(key, [&](std::string_view value) { reader(changed(key, value)); });
    }
    void scan(std::string_view prefix, std::string_view from,
              const storage::registry::state::row_visitor& visit) const override {
        x_base.scan(prefix, from, [&](std::string_view key, std::string_view value) {
            return visit(key, changed(key, value));
        });
    }

  private:
    std::string changed(std::string_view key, std::string_view value) const {
        std::string row(value);
        x_broken.row(x_step, key, row);
        return row;
    }
    const state_view& x_base;
    const mutation& x_broken;
    const move& x_step;
};

template <class... Lists>
rules::runner runner_of(commands::command_type type, commands::command_lists<Lists...>) {
    rules::runner found = nullptr;
    ((found = rules::runner_of(type, Lists{})) || ...);
    return found;
}

/// Rows that GENESIS and the commands of other areas would make.
void put_people(state_changes& state) {
    using schemas::action;
    const auto put_role = [&](schemas::role_id id, std::vector<action> actions) {
        schemas::role role;
        role.id = id;
        role.org_id = schemas::organization_id{1};
        role.name = "role " + std::to_string(id.value);
        role.actions = {{schemas::protected_type::registered_model, actions},
                        {schemas::protected_type::endpoint, actions}};
        tables::roles::put(state, role);
    };
    put_role(editor_role, {action::read, action::update, action::create, action::delete_,
                           action::approve_reject, action::deploy});
    put_role(approver_role, {action::read, action::approve_reject});
    put_role(reader_role, {action::read});
    for (const auto& [group, user] : {std::pair(anns_group, ann), std::pair(bobs_group, bob)}) {
        schemas::group row;
        row.id = group;
        row.org_id = schemas::organization_id{1};
        row.name = "group " + std::to_string(group.value);
        tables::groups::put(state, row);
        tables::members::put(state, group, user);
    }
    schemas::workspace workspace = *tables::workspaces::find(state, the_workspace);
    workspace.permissions = {{anns_group, editor_role}, {bobs_group, role_of(bobs_role::editor)}};
    tables::workspaces::put(state, workspace);
}

std::string said(schemas::user_id user) {
    return user == admin ? "the admin " : user == ann ? "Ann " : "Bob ";
}

/// Collects the steps of one user.
struct speaker {
    schemas::user_id user;
    std::vector<move>& moves;

    template <class Command>
    void add(std::string words, Command command) {
        moves.push_back({said(user) + std::move(words), user, std::move(command)});
    }
};

void add_stages(speaker& by, const std::vector<tables::transition_row>& transitions) {
    for (const stage to : {stage::staging, stage::production}) {
        by.add("asks for " + std::string(name_of(to)), commands::create_transition{the_version, to, ""});
        by.add("sets " + std::string(name_of(to)), commands::update_stage{the_version, to, ""});
    }
    for (const tables::transition_row& one : transitions) {
        const schemas::activity_id id = one.transition.id;
        const std::string which = " the transition " + std::to_string(id.value);
        by.add("approves" + which, commands::review_transition{id, true, ""});
        by.add("rejects" + which, commands::review_transition{id, false, ""});
        by.add("closes" + which, commands::close_transition{id, ""});
        by.add("commits" + which, commands::commit_transition{id, ""});
    }
}

void add_contents(speaker& by, const schemas::model_version& version) {
    for (const lock_level to : {lock_level::open, lock_level::redact, lock_level::closed})
        by.add("locks " + std::string(name_of(to)), commands::lock_version{the_version, to});
    commands::update_version change;
    change.id = the_version;
    change.mode = commands::update_mode::merge;
    change.present = {"environment"};
    const bool is_a = version.environment.text == R"({"docker":"a"})";
    change.version.environment = {is_a ? R"({"docker":"b"})" : R"({"docker":"a"})"};
    by.add("changes the environment", change);
    commands::delete_version gone;
    gone.id = the_version;
    by.add("deletes the version", gone);
}

void add_promotion(speaker& by) {
    commands::update_version completion;
    completion.id = the_version;
    completion.mode = commands::update_mode::replace;
    completion.redirect_metadata = "https://example.org/done";
    by.add("completes the promotion", completion);
    by.add("fails the promotion", commands::fail_promotion{the_version, "why"});
}

void add_scans(speaker& by) {
    for (const schemas::build_id build : the_builds) {
        const std::string which = " build " + std::to_string(build.value);
        by.add("has" + which + " scanned", commands::request_scan{std::string(workspace_name), build, {}});
        const auto report = [&](std::string_view words, scan_status status, safety_status safety) {
            by.add("reports" + which + std::string(words),
                   commands::report_scan{std::string(workspace_name), build, status, safety, ""});
        };
        report(" safe", scan_status::scanned, safety_status::safe);
        report(" unsafe", scan_status::scanned, safety_status::unsafe);
        report(" not scannable", scan_status::error, safety_status::unknown);
    }
}

schemas::workspace_policies policies(std::vector<stage> approval, std::uint32_t approvals,
                                     std::vector<stage> scan, bool commits) {
    schemas::workspace_policies made;
    made.require_approval_for = std::move(approval);
    made.approvals_required = approvals;
    made.require_safe_scan_for = std::move(scan);
    made.commit_on_approve = commits;
    return made;
}

void add_policies(speaker& by) {
    const auto set = [&](std::string_view words, schemas::workspace_policies wanted) {
        commands::set_policies command;
        command.workspace_name = workspace_name;
        command.policies = std::move(wanted);
        by.add("demands " + std::string(words), command);
    };
    set("nothing", policies({}, 1, {}, false));
    set("one approval", policies({stage::production}, 1, {}, false));
    set("two approvals", policies({stage::production}, 2, {}, false));
    set("a safe scan", policies({}, 1, {stage::production}, false));
    set("an approval, which commits, and a safe scan",
        policies({stage::production}, 1, {stage::production}, true));
}

}  // namespace

world::world(const mutation* broken)
    : x_broken(broken), x_store(storage::registry::state::make_memory_state()) {
    registry begun;
    for (const char* email : {"ann@example.org", "bob@example.org"}) begun.user_named(email);
    const schemas::registered_model model = begun.model_named("m");
    begun.version_named("v", model.id);
    for (std::size_t i = 0; i < std::size(the_builds); ++i) {
        commands::create_build build;
        build.workspace_name = workspace_name;
        build.model_version_id = the_version;
        build.external_location = "registry.example.org/m";
        begun.must<schemas::build>(build);
    }
    const auto view = begun.view();
    state_changes people(view.get());
    put_people(people);
    EXPECT_TRUE(begun.store->write(people.take()));
    x_store = std::move(begun.store);
    x_beginning = x_store->view();
}

std::vector<move> world::moves_in(const state_view& state) const {
    std::vector<move> moves;
    const auto version = tables::versions::find(state, the_version);
    if (!version) return moves;
    std::vector<tables::transition_row> transitions;
    tables::transitions::each(state, [&](const tables::transition_row& row) {
        transitions.push_back(row);
        return true;
    });
    for (const schemas::user_id user : users) {
        speaker by{user, moves};
        add_stages(by, transitions);
        add_contents(by, *version);
        add_promotion(by);
        add_scans(by);
        add_policies(by);
    }
    for (const bobs_role to : {bobs_role::editor, bobs_role::approver, bobs_role::reader})
        moves.push_back({"Bob gets role " + std::to_string(role_of(to).value), admin, change_of_role{to}});
    moves.push_back({"time passes", admin, passing_of_time{}});
    return moves;
}

namespace {

/// Errors: failed_precondition when no timer is set that could end a scan or a promotion.
result<void> pass_time(rule_context& context) {
    std::vector<tables::timer> due;
    tables::timers::each(context.state, [&](const tables::timer& one) {
        if (one.kind == tables::timer_kind::scan_deadline) due.push_back(one);
        return true;
    });
    if (due.empty()) return runtime::failed_precondition("nothing is due");
    for (const tables::timer& one : due) {
        tables::timers::erase(context.state, one);
        rules::fire_scan_deadline(context, one.key);
    }
    return {};
}

}  // namespace

result<void> world::play(const move& step, std::uint32_t depth, state_changes& changes) const {
    rule_context::place here;
    here.offset = 1'000 + depth;
    here.time_ms = beginning_ms + depth * 1'000;
    here.event_partitions = 4;
    here.level = commands::newest_level;
    commands::command_envelope envelope;
    envelope.command_id[0] = static_cast<std::uint8_t>(depth + 1);
    envelope.request.principal = x_broken && x_broken->principal ? x_broken->principal(step) : step.by;
    const auto play_over = [&](const state_view& base) -> result<void> {
        state_changes own(&base);
        rule_context context(own, here, envelope);
        const result<void> done = std::visit(
            [&]<class What>(const What& what) -> result<void> {
                if constexpr (std::same_as<What, change_of_role>) {
                    schemas::workspace row = *tables::workspaces::find(own, the_workspace);
                    row.permissions[1].role_id = role_of(what.to);
                    tables::workspaces::put(own, row);
                    return {};
                } else if constexpr (std::same_as<What, passing_of_time>) {
                    return pass_time(context);
                } else {
                    static const rules::runner run = runner_of(What::type, commands::all_lists{});
                    if (const auto answer = run(context, schemas::encode(what)); !answer)
                        return answer.error();
                    return {};
                }
            },
            step.what);
        if (done) changes.absorb(own.take());
        return done;
    };
    if (!x_broken || !x_broken->row) return play_over(changes);
    return play_over(changed_view(changes, *x_broken, step));
}

std::string world::fingerprint(const state_view& state) const {
    const auto number = [](auto value) { return std::to_string(static_cast<int>(value)) + " "; };
    const auto version = tables::versions::find(state, the_version);
    if (!version) return "gone";
    std::string text = number(version->stage) + number(version->lock_level) + version->environment.text;
    text += version->redirect_metadata.empty() ? "" : " redirected";
    const auto promotion = tables::promotions::find(state, the_version).value_or(schemas::promotion{});
    text += "\npromotion " + number(promotion.status) + number(promotion.completion.empty());
    tables::transitions::each(state, [&](const tables::transition_row& row) {
        if (row.transition.state == schemas::transition_state::closed ||
            row.transition.state == schemas::transition_state::committed)
            return true;
        text += "\ntransition " + number(row.author.value) + number(row.transition.source_stage) +
                number(row.transition.desired_stage) + number(row.transition.state);
        std::vector<tables::review> reviews = row.reviews;
        std::sort(reviews.begin(), reviews.end(),
                  [](const auto& a, const auto& b) { return a.user < b.user; });
        for (const tables::review& one : reviews)
            text += number(one.user.value) + number(one.approve) +
                    number(one.time < version->time_ingredients_changed);
        return true;
    });
    std::vector<std::string> builds;
    for (const schemas::build_id id : the_builds) {
        const auto build = tables::builds::find(state, id);
        if (!build) continue;
        std::string one = "\nbuild " + number(build->status) + number(build->unsafe_scan_id.value != 0) +
                          number(build->time_created < version->time_image_changed);
        if (const auto scan = tables::scans::find(state, build->scan_id))
            one += number(scan->scan_status) + number(scan->safety_status);
        builds.push_back(std::move(one));
    }
    std::sort(builds.begin(), builds.end());
    for (const std::string& one : builds) text += one;
    const auto workspace = tables::workspaces::find(state, the_workspace);
    return text + "\n" + schemas::encode(workspace->policies) +
           number(workspace->permissions[1].role_id.value);
}

namespace {

template <class Row>
void change_row(tables::table which, std::string_view key, std::string& bytes,
                const std::function<void(Row&)>& change) {
    if (key.front() != static_cast<char>(which)) return;
    Row row = tables::decode_row<Row>(key, bytes);
    change(row);
    bytes = schemas::encode(row);
}

template <class... Commands>
bool is_one_of(const move& step) {
    return (std::holds_alternative<Commands>(step.what) || ...);
}

}  // namespace

const std::vector<mutation>& mutations() {
    using tables::table;
    static const std::vector<mutation> all{
        {"approval-not-demanded",
         "no version enters PRODUCTION without what the policy demands",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::commit_transition>(step))
                 change_row<schemas::workspace>(table::workspace, key, row, [](auto& workspace) {
                     workspace.policies.require_approval_for.clear();
                 });
         },
         {}},
        {"scan-not-demanded",
         "no version enters PRODUCTION without what the policy demands",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::commit_transition, commands::update_stage>(step))
                 change_row<schemas::workspace>(table::workspace, key, row, [](auto& workspace) {
                     workspace.policies.require_safe_scan_for.clear();
                 });
         },
         {}},
        {"former-approver-counts",
         "no version enters PRODUCTION without what the policy demands",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::commit_transition>(step))
                 change_row<schemas::workspace>(table::workspace, key, row, [](auto& workspace) {
                     workspace.permissions[1].role_id = role_of(bobs_role::editor);
                 });
         },
         {}},
        {"outdated-approval-counts",
         "no version enters PRODUCTION without what the policy demands",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::commit_transition>(step))
                 change_row<schemas::model_version>(
                     table::version, key, row, [](auto& version) { version.time_ingredients_changed = 0; });
         },
         {}},
        {"outdated-scan-counts",
         "no version enters PRODUCTION without what the policy demands",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::commit_transition, commands::update_stage>(step))
                 change_row<schemas::model_version>(table::version, key, row,
                                                    [](auto& version) { version.time_image_changed = 0; });
         },
         {}},
        {"author-approves",
         "no author approves",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::review_transition>(step))
                 change_row<tables::transition_row>(table::transition, key, row,
                                                    [](auto& transition) { transition.author.value = 99; });
         },
         {}},
        {"closed-may-change",
         "CLOSED never mutates",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::update_version, commands::delete_version>(step))
                 change_row<schemas::model_version>(table::version, key, row, [](auto& version) {
                     if (version.lock_level == lock_level::closed) version.lock_level = lock_level::open;
                 });
         },
         {}},
        {"anybody-lowers",
         "lowering a lock only by admin",
         {},
         [](const move& step) { return is_one_of<commands::lock_version>(step) ? admin : step.by; }},
        {"promotion-skips",
         "promotion status never skips",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::update_version>(step))
                 change_row<schemas::promotion>(table::promotion, key, row, [](auto& promotion) {
                     if (promotion.status == schemas::promotion_status::failed)
                         promotion.status = schemas::promotion_status::in_progress;
                 });
         },
         {}},
        {"unsafe-forgotten",
         "a build ever unsafe never counts as safe",
         [](const move& step, std::string_view key, std::string& row) {
             if (is_one_of<commands::report_scan, commands::commit_transition>(step))
                 change_row<schemas::build>(table::build, key, row,
                                            [](auto& build) { build.unsafe_scan_id = schemas::scan_id{}; });
         },
         {}},
    };
    return all;
}

}  // namespace herald::test::governance
