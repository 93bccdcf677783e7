// A version's history (its activities), its stage transitions and its newest promotion.
#pragma once

#include "schemas/registry.hpp"
#include "storage/registry/tables/keyed_table.hpp"

namespace herald::storage::registry::tables {

/// A user's latest decision on a transition.
struct review {
    schemas::user_id user;
    bool approve = false;
    std::int64_t time = 0;

    HERALD_DESCRIBE(user, approve, time);
};

/// The part of a transition that only rules see. Its id is that of the activity that opened it.
struct transition_row {
    schemas::transition transition;
    schemas::version_id model_version_id;
    schemas::user_id author;
    std::int64_t time_requested = 0;
    std::vector<review> reviews;  // one for each user

    HERALD_DESCRIBE(transition, model_version_id, author, time_requested, reviews);
};

extern template class keyed_table<schemas::activity, schemas::activity_id>;
extern template class keyed_table<transition_row, schemas::activity_id>;
extern template class keyed_table<schemas::promotion, schemas::version_id>;

/// Found also by version.
class activities final : public keyed_table<schemas::activity, schemas::activity_id> {
  public:
    /// The version's activities by ascending id, from `from` on (0: from the first).
    static void each_of(const state::state_view&, schemas::version_id, schemas::activity_id from,
                        const visitor<schemas::activity_id>&);
};
/// A version has at most one open transition to each stage: one that is neither closed nor committed.
class transitions final : public keyed_table<transition_row, schemas::activity_id> {
  public:
    static std::optional<schemas::activity_id> open_to(const state::state_view&, schemas::version_id,
                                                       schemas::stage desired);
    /// The open ones of all versions from `from` on (0: from the first), in the order of the versions.
    static void each_open(const state::state_view&, schemas::version_id from,
                          const std::function<bool(schemas::version_id, schemas::activity_id)>&);
};
/// A version has only its newest one.
class promotions final : public keyed_table<schemas::promotion, schemas::version_id> {};

}  // namespace herald::storage::registry::tables
