#include "storage/registry/find/activities.hpp"

#include <algorithm>
#include <map>

#include "storage/registry/access/access.hpp"
#include "storage/registry/find/question.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/find/transitions.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {
namespace {

using schemas::activity;
using schemas::activity_id;
using schemas::transition_state;
using schemas::version_id;
using state::state_view;
using tables::transition_row;

/// Errors: not_found.
result<void> check_place(const state_view& state, schemas::user_id user, const history_place& place) {
    if (place.registered_model_id) {
        const auto model = access::readable_model(state, user, place.registered_model_id);
        if (!model) return model.error();
    }
    if (!place.model_version_id) return {};
    const auto version =
        place.registered_model_id
            ? access::readable_version(state, user, place.registered_model_id, place.model_version_id)
            : access::readable_version(state, user, place.model_version_id);
    if (!version) return version.error();
    return {};
}

/// Walks the entries of a version, of each version of a model, or everywhere those that opened transitions.
class history_search final : public passing_search<tables::activities> {
  public:
    /// Without a filter, all entries.
    history_search(const state_view& state, schemas::user_id user, const history_place& place,
                   std::optional<transition_filter> filter, page_of_rows page)
        : passing_search(state, std::move(page)), x_user(user), x_place(place), x_filter(std::move(filter)) {}

  private:
    bool look_on(pace& pace) override {
        if (x_place.model_version_id) return look_at_version(x_place.model_version_id, pace);
        if (x_place.registered_model_id) return look_at_model(pace);
        return wants_only_open() ? look_at_open(pace) : look_at_all(pace);
    }
    bool look_at_version(version_id version, pace& pace) {
        bool goes_on = true;
        tables::activities::each_of(state(), version, x_entry, [&](activity_id id) {
            x_entry.value = id.value + 1;
            look_at(id);
            return goes_on = pace.pass();
        });
        return goes_on;
    }
    bool look_at_model(pace& pace) {
        bool goes_on = true;
        tables::versions::each_of(state(), x_place.registered_model_id, x_version, [&](version_id version) {
            if (version != x_version) x_entry = {};
            x_version = version;
            return goes_on = look_at_version(version, pace) && pace.pass();
        });
        return goes_on;
    }
    /// Stops only behind a version: it has few open ones.
    bool look_at_open(pace& pace) {
        bool goes_on = true;
        version_id now;
        tables::transitions::each_open(state(), x_version, [&](version_id version, activity_id id) {
            if (version != now) {
                if (!goes_on) return false;
                now = version;
                x_version.value = version.value + 1;
            }
            goes_on = pace.pass();
            if (version_of(version)) look_at(id);
            return true;
        });
        return goes_on;
    }
    bool look_at_all(pace& pace) {
        bool goes_on = true;
        tables::transitions::each_from(state(), x_entry, [&](const transition_row& row) {
            x_entry.value = row.transition.id.value + 1;
            if (is_wanted(row)) add(row.transition.id.value);
            return goes_on = pace.pass();
        });
        return goes_on;
    }

    void look_at(activity_id id) {
        if (!x_filter) return add(id.value);
        const auto row = tables::transitions::find(state(), id);
        if (row && is_wanted(*row)) add(id.value);
    }

    /// The version is read last: most rows are sorted out before.
    bool is_wanted(const transition_row& row) {
        if (x_filter->mine && row.author != x_user) return false;
        if (is_open(row) ? wants_only_ended() : !is_asked_for(row.transition.state)) return false;
        const auto* const of = version_of(row.model_version_id);
        if (!of) return false;
        const transition_state now = judge(state(), row, *of).state;
        if (!is_asked_for(now)) return false;
        return !x_filter->waiting_for_me ||
               (now == transition_state::pending && may_review(state(), x_user, row, of->workspace) &&
                !has_reviewed(x_user, row, of->row));
    }
    bool is_asked_for(transition_state one) const {
        const auto& states = x_filter->states;
        return states.empty() || std::find(states.begin(), states.end(), one) != states.end();
    }
    static bool is_ended(transition_state one) {
        return one == transition_state::closed || one == transition_state::committed;
    }
    bool wants_only_open() const {
        const auto& states = x_filter->states;
        return x_filter->waiting_for_me ||
               (!states.empty() && std::none_of(states.begin(), states.end(), is_ended));
    }
    bool wants_only_ended() const {
        const auto& states = x_filter->states;
        return !states.empty() && std::all_of(states.begin(), states.end(), is_ended);
    }

    /// Shows a transition as it stands now.
    void correct(activity& shown) override {
        const auto row = shown.transition ? tables::transitions::find(state(), shown.id) : std::nullopt;
        const auto* const of = row ? version_of(row->model_version_id) : nullptr;
        if (!of) return;
        shown.activity_state = shown.transition->state = judge(state(), *row, *of).state;
    }

    /// Null when the user may not read the version. Transitions of a version mostly come one after the other.
    const access::placed<schemas::model_version>* version_of(version_id id) {
        if (id == x_seen) return x_version_seen ? &*x_version_seen : nullptr;
        x_seen = id;
        x_version_seen.reset();
        const auto of = tables::workspace_of_row(state(), id);
        if (!of || !may_read(*of)) return nullptr;  // a version may be large, and need not be read
        if (auto found = access::readable_version(state(), x_user, id)) x_version_seen = *std::move(found);
        return x_version_seen ? &*x_version_seen : nullptr;
    }
    bool may_read(schemas::workspace_id id) {
        if (const auto known = x_readable.find(id); known != x_readable.end()) return known->second;
        const auto workspace = access::find_workspace(state(), id);
        const bool may =
            workspace && access::is_allowed(state(), x_user, *workspace,
                                            schemas::protected_type::registered_model, schemas::action::read);
        x_readable.emplace(id, may);
        return may;
    }

    const schemas::user_id x_user;
    const history_place x_place;
    const std::optional<transition_filter> x_filter;
    version_id x_version;  // where it is: that version,
    activity_id x_entry;   // and the next entry
    version_id x_seen;     // the last one that version_of was asked for
    std::optional<access::placed<schemas::model_version>> x_version_seen;
    std::map<schemas::workspace_id, bool> x_readable;
};

}  // namespace

result<search_pointer<activity>> search_activities(const state_view& state, schemas::user_id user,
                                                   const history_place& place,
                                                   const std::optional<schemas::pagination>& pagination) {
    if (place.is_everywhere())
        return runtime::invalid_argument(
            "registered_model_id and model_version_id are missing; give one of them");
    if (const auto good = check_place(state, user, place); !good) return good.error();
    return begun<history_search>(
        page_by_age(pagination, question("activities", place.registered_model_id, place.model_version_id)),
        state, user, place, std::nullopt);
}

result<search_pointer<activity>> search_transitions(const state_view& state, schemas::user_id user,
                                                    const history_place& place, transition_filter filter,
                                                    const std::optional<schemas::pagination>& pagination) {
    if (const auto good = check_place(state, user, place); !good) return good.error();
    return begun<history_search>(
        page_by_age(pagination, question("transitions", place.registered_model_id, place.model_version_id,
                                         filter.states, filter.mine, filter.waiting_for_me)),
        state, user, place, std::move(filter));
}

}  // namespace herald::storage::registry::find
