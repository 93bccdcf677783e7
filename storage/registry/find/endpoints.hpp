// Endpoints with their stages, tokens and logs, for answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/endpoints.hpp"
#include "schemas/find.hpp"
#include "schemas/identity.hpp"
#include "storage/registry/state/state.hpp"

namespace herald::storage::registry::find {

/// Which of a workspace's endpoints are on a page, in the order of their ids.
struct page_of_endpoints {
    std::optional<schemas::uuid> after;  // the first is the one behind this; empty: the first of all
    std::uint64_t rows = 0;
    std::uint64_t total_records = 0;  // on all pages
    std::string next_page_token;      // empty: these are the last
    bool is_cut = false;              // all were asked for, and these are not all
};
/// The user may read all of them, or none. Errors: those of check_paging; invalid_argument for anything but a
/// page_token.
result<page_of_endpoints> choose_endpoints(const state::state_view&, schemas::user_id,
                                           const schemas::workspace&, const schemas::pagination&);
/// The workspace's endpoints in the order of their ids, at most `most` behind `after`.
std::vector<schemas::endpoint> endpoints_of(const state::state_view&, schemas::workspace_id,
                                            const std::optional<schemas::uuid>& after, std::uint64_t most);
/// In the order in which they were made.
std::vector<schemas::endpoint_stage> stages_of(const state::state_view&, const schemas::uuid& endpoint);
/// The stage's tokens that have not ended by then, the default one first.
std::vector<schemas::access_token> tokens_of(const state::state_view&, schemas::endpoint_stage_id,
                                             std::int64_t now_ms);
/// Oldest first.
std::vector<schemas::stage_log_entry> log_of_stage(const state::state_view&, schemas::endpoint_stage_id);
/// Whether a version that one of the endpoint's stages serves, or is about to, has an artifact with this key.
bool serves_artifact(const state::state_view&, const schemas::uuid& endpoint, std::string_view key);

}  // namespace herald::storage::registry::find
