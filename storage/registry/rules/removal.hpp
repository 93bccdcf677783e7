// How deleted models and versions go (design.md §1): a step removes what it can, the timer `removal` the
// rest.
//
// A model's row goes at once, and with it everything of it is absent for everybody: its versions are read
// through the mark that is left (storage/registry/tables/deletions.hpp, access::is_there). A version's row
// goes at once, too, and so does what is read through it: its builds, scans, activities, transitions and
// promotion. In which state these end, nobody can see any more.
#pragma once

#include "schemas/registry.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// Nobody may read the version afterwards. Emits DELETE for it and for the builds that go with it.
void remove_version(context::rule_context&, const schemas::model_version&);
/// Nobody may read the model and its versions afterwards. Emits DELETE for it.
void remove_model(context::rule_context&, const schemas::registered_model&);

/// Where the removal of a workspace's builds goes on.
struct builds_to_remove {
    schemas::build_id before;  // the newest of these is the next; 0: of all
    schemas::scan_id scan;     // of that build: those before are erased
};
/// Removes builds of a deleted workspace, the newest first, as many as one firing of a timer may; true when
/// all are gone, which needs complete lists of builds.
bool remove_builds(context::rule_context&, schemas::workspace_id, builds_to_remove&);

}  // namespace herald::storage::registry::rules
