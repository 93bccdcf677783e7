// Protects histories and the inbox: everybody sees what was done with stages, and what waits for him.
#include <gmock/gmock.h>

#include "storage/registry/find/limits.hpp"
#include "tests/unit/storage/registry/stage_rules.hpp"

namespace herald::test {
namespace {

namespace find = storage::registry::find;

using schemas::transition_state;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using histories = stage_rules;

TEST_F(histories, of_a_version_and_of_a_model_are_told_oldest_first_page_by_page) {
    const schemas::model_version second = registry.version_named("v2", model.id);
    const auto comment = [&](schemas::version_id on) {
        return registry.must<activity>(schemas::commands::create_comment{on, "c"}).id.value;
    };
    const std::uint64_t a = comment(second.id), b = comment(version.id), c = comment(second.id);
    const auto view = registry.view();
    const auto found = [&](const find::history_place& place, std::int64_t limit, const std::string& token) {
        schemas::pagination page;
        page.page_limit = limit;
        page.page_token = token;
        return whole(find::search_activities(*view, registry.admin, place, page));
    };
    EXPECT_THAT(ids(found({model.id, {}}, -1, "")), ElementsAre(a, b, c));
    EXPECT_THAT(ids(found({{}, second.id}, -1, "")), ElementsAre(a, c));
    EXPECT_THAT(ids(found({model.id, version.id}, -1, "")), ElementsAre(b));
    const auto first = found({model.id, {}}, 2, "");
    EXPECT_THAT(ids(first), ElementsAre(a, b));
    EXPECT_EQ(first->total_records, 3u);
    EXPECT_THAT(ids(found({model.id, {}}, 2, first->next_page_token)), ElementsAre(c));
    EXPECT_EQ(found({{}, second.id}, 2, first->next_page_token).error().code, error_code::invalid_argument);
    EXPECT_EQ(found({}, -1, "").error().code, error_code::invalid_argument);
    EXPECT_EQ(found({schemas::model_id{99}, {}}, -1, "").error().code, error_code::not_found);
    const auto elsewhere = registry.model_named("n");
    EXPECT_EQ(found({elsewhere.id, version.id}, -1, "").error().code, error_code::not_found);
    const user_id stranger = registry.user_named("stranger@example.org").id;
    EXPECT_EQ(whole(find::search_activities(*registry.view(), stranger, {{}, version.id}, {})).error().code,
              error_code::not_found);
}

TEST_F(histories, that_take_too_long_are_refused_saying_what_to_name) {
    for (std::size_t i = 0; i < limits::find_rows_between_looks; ++i)
        ASSERT_EQ(registry.run(schemas::commands::create_comment{version.id, "c"}).code, 0u);
    const auto late = whole(find::search_activities(*registry.view(), registry.admin, {model.id, {}}, {}),
                            [] { return true; });
    ASSERT_FALSE(late);
    EXPECT_THAT(late.error().message, HasSubstr("name a workspace or a model"));
}

TEST_F(histories, show_who_may_approve_what_waits_for_him) {
    const user_id approver =
        member("approver@example.org", {schemas::action::read, schemas::action::approve_reject});
    const user_id reader = member("reader@example.org", {schemas::action::read});
    const user_id stranger = registry.user_named("stranger@example.org").id;
    const auto mine = transition_to(stage::production).value;
    const auto theirs = schemas::decode<activity>(ask_for(stage::staging, other).body)->id.value;
    const find::transition_filter waiting{{}, false, true};
    EXPECT_THAT(ids(transitions(approver, waiting)), ElementsAre(mine, theirs));
    EXPECT_THAT(ids(transitions(registry.admin, waiting)), ElementsAre(theirs)) << "not one's own";
    EXPECT_THAT(ids(transitions(reader, waiting)), IsEmpty());
    EXPECT_THAT(ids(transitions(reader, {})), ElementsAre(mine, theirs));
    EXPECT_THAT(ids(transitions(stranger, {})), IsEmpty());
    EXPECT_THAT(ids(transitions(other, {{}, true, false})), ElementsAre(theirs));
    review(approver, activity_id{mine}, true);
    EXPECT_THAT(ids(transitions(approver, waiting)), ElementsAre(theirs)) << "of which he said nothing yet";
    EXPECT_THAT(ids(transitions(other, waiting)), IsEmpty()) << "it is approved already";
    EXPECT_THAT(ids(transitions(reader, {{transition_state::approved}, false, false})), ElementsAre(mine));
    dismiss(approver);
    EXPECT_THAT(ids(transitions(other, waiting)), ElementsAre(mine)) << "as it stands now";
    const auto shown = transitions(reader, {{transition_state::pending}, false, false});
    EXPECT_THAT(ids(shown), ElementsAre(mine, theirs));
    EXPECT_EQ(shown->rows.front().transition->state, transition_state::pending);
}

TEST_F(histories, hold_closed_and_committed_transitions_too) {
    const auto closed = transition_to(stage::archived);
    ASSERT_EQ(registry.run(schemas::commands::close_transition{closed, ""}).code, 0u);
    const auto committed = transition_to(stage::staging);
    ASSERT_EQ(commit(committed).code, 0u);
    const auto open = transition_to(stage::production);
    const find::transition_filter ended{
        {transition_state::closed, transition_state::committed}, false, false};
    for (const find::history_place& place :
         {find::history_place{}, {model.id, {}}, {{}, version.id}, {model.id, version.id}}) {
        EXPECT_THAT(ids(transitions(registry.admin, ended, place)),
                    ElementsAre(closed.value, committed.value));
        EXPECT_THAT(ids(transitions(registry.admin, {}, place)),
                    ElementsAre(closed.value, committed.value, open.value));
        EXPECT_THAT(ids(transitions(registry.admin, {{transition_state::pending}, false, false}, place)),
                    ElementsAre(open.value));
    }
}

}  // namespace
}  // namespace herald::test
