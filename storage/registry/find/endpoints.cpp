#include "storage/registry/find/endpoints.hpp"

#include <algorithm>

#include "runtime/random.hpp"
#include "schemas/limits.hpp"
#include "storage/registry/access/access.hpp"
#include "storage/registry/find/paging.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/stage_log.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::find {

using state::state_view;

result<page_of_endpoints> choose_endpoints(const state_view& state, schemas::user_id user,
                                           const schemas::workspace& workspace,
                                           const schemas::pagination& asked) {
    if (const auto good = check_paging(asked); !good) return good.error();
    page_of_endpoints page;
    if (!asked.page_token.empty()) page.after = runtime::parse_uuid(asked.page_token);
    if (!asked.page_token.empty() && !page.after)
        return runtime::invalid_argument("page_token is not a next_page_token that this list answered");
    if (!access::is_allowed(state, user, workspace, schemas::protected_type::endpoint, schemas::action::read))
        return page;
    const bool wants_all = asked.page_limit <= 0;
    const auto limit = wants_all ? limits::list_rows_max : static_cast<std::uint64_t>(asked.page_limit);
    std::uint64_t skipped = 0;
    if (!wants_all && asked.page_number > 1)
        skipped =
            std::min<std::uint64_t>(static_cast<std::uint64_t>(asked.page_number) - 1, UINT32_MAX) * limit;
    const std::optional<schemas::uuid> token = page.after;
    schemas::uuid last{};
    tables::endpoints::each_of(state, workspace.id, std::nullopt, [&](const schemas::uuid& id) {
        ++page.total_records;
        if (token && id <= *token) return true;
        if (skipped > 0) {
            --skipped;
            page.after = id;
        } else if (page.rows < limit) {
            ++page.rows;
            last = id;
        } else {
            page.next_page_token = runtime::uuid_text(last);
        }
        return true;
    });
    page.is_cut = wants_all && !page.next_page_token.empty();
    return page;
}

std::vector<schemas::endpoint> endpoints_of(const state_view& state, schemas::workspace_id workspace,
                                            const std::optional<schemas::uuid>& after, std::uint64_t most) {
    std::vector<schemas::endpoint> rows;
    if (most == 0) return rows;
    tables::endpoints::each_of(state, workspace, after, [&](const schemas::uuid& id) {
        if (after == id) return true;
        if (auto row = tables::endpoints::find(state, id)) rows.push_back(*std::move(row));
        return rows.size() < most;
    });
    return rows;
}

std::vector<schemas::endpoint_stage> stages_of(const state_view& state, const schemas::uuid& endpoint) {
    std::vector<schemas::endpoint_stage> rows;
    tables::endpoint_stages::each_of(state, endpoint, {}, [&](schemas::endpoint_stage_id id) {
        if (auto row = tables::endpoint_stages::find(state, id)) rows.push_back(*std::move(row));
        return true;
    });
    return rows;
}

std::vector<schemas::access_token> tokens_of(const state_view& state, schemas::endpoint_stage_id stage,
                                             std::int64_t now_ms) {
    std::vector<schemas::access_token> rows;
    tables::access_tokens::each_of(state, stage, {}, [&](schemas::access_token_id id) {
        auto row = tables::access_tokens::find(state, id);
        if (row && (row->expires_ms == 0 || row->expires_ms > now_ms)) rows.push_back(*std::move(row));
        return true;
    });
    std::ranges::stable_partition(rows, &schemas::access_token::is_default);
    return rows;
}

std::vector<schemas::stage_log_entry> log_of_stage(const state_view& state,
                                                   schemas::endpoint_stage_id stage) {
    std::vector<schemas::stage_log_entry> entries;
    tables::stage_log::each(state, stage, 0, [&](const schemas::stage_log_entry& each) {
        entries.push_back(each);
        return true;
    });
    return entries;
}

bool serves_artifact(const state_view& state, const schemas::uuid& endpoint, std::string_view key) {
    for (const schemas::endpoint_stage& stage : stages_of(state, endpoint))
        for (const schemas::stage_component& component : stage.components) {
            const auto build = tables::builds::find(state, component.build_id);
            const auto version =
                build ? tables::versions::find(state, build->model_version_id) : std::nullopt;
            if (version && std::ranges::find(version->artifacts, key, &schemas::artifact::key) !=
                               version->artifacts.end())
                return true;
        }
    return false;
}

}  // namespace herald::storage::registry::find
