#include "storage/registry/rules/removal.hpp"

#include "storage/registry/emission/resource_events.hpp"
#include "storage/registry/rules/artifacts.hpp"
#include "storage/registry/rules/limits.hpp"
#include "storage/registry/rules/rules.hpp"
#include "storage/registry/rules/scanning.hpp"
#include "storage/registry/rules/stage_changes.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stages.hpp"
#include "storage/registry/tables/versions.hpp"

namespace herald::storage::registry::rules {
namespace {

using schemas::resource_type;
using schemas::version_id;
using tables::removal_place;

template <class Table>
using id_of = decltype(std::declval<typename Table::row_type>().id);

/// Removes rows until it has done enough for one command or one firing. What it leaves is found again by the
/// index entries of what is left. A search goes on behind the row that was erased last, in the next firing,
/// too: the places of erased entries cost time.
class removal_step {
  public:
    removal_step(rule_context& context, std::size_t changes_max)
        : x_context(context), x_changes_max(context.state.changes().size() + changes_max) {}

    /// Rows are erased whole, so a step may go beyond its bounds by one row.
    bool has_room() const {
        return x_rows < limits::removed_rows_max && x_bytes < limits::removed_bytes_max &&
               x_context.state.changes().size() < x_changes_max;
    }

    /// The row, its index entries, and its DELETE event. The one place where a version goes: what belongs to
    /// it, other than rows that hang on it, is dropped here.
    void erase(const schemas::model_version& version) {
        emission::emit_deleted(x_context, resource_type::registered_model_version, version.id.value,
                               version.workspace_id, version, x_audiences);
        tables::versions::erase(x_context.state, version);
        drop_bytes_of(x_context, version.id);
        count(schemas::encode(version).size());
    }
    void erase(const schemas::registered_model& model) {
        emission::emit_deleted(x_context, resource_type::registered_model, model.id.value, model.workspace_id,
                               model, x_audiences);
        tables::models::erase(x_context.state, model);
        count(schemas::encode(model).size());
    }
    /// The build with its scans, those from `next` on; the one place where a build goes. When it had no room
    /// for all, false, and `next` says with which scan to go on.
    bool erase(const schemas::build& build, schemas::scan_id& next) {
        while (const auto id = first_of<tables::scans>(next, build.id)) {
            if (!has_room()) return false;
            erase(found<tables::scans>(*id));
            next.value = id->value + 1;
        }
        if (!has_room()) return false;
        next = {};
        emission::emit_deleted(x_context, resource_type::build, build.id.value, build.workspace_id, build,
                               x_audiences);
        if (!build.model_parts.empty()) release_bytes(x_context, build.model_parts);
        tables::builds::erase(x_context.state, build);
        count(schemas::encode(build).size());
        return true;
    }

    /// What hangs on a version. When it had no room for all, false, and `next` says with what to go on.
    bool erase_parts(version_id version, removal_place& next) {
        while (const auto workspace =
                   tables::builds::next_workspace(x_context.state, version, next.workspace)) {
            if (*workspace != next.workspace) next = {*workspace, {}, {}, {}};
            if (!erase_builds(version, next)) return false;
            next = {schemas::workspace_id{workspace->value + 1}, {}, {}, {}};
        }
        while (const auto activity = first_of<tables::activities>(next.activity, version)) {
            if (!has_room()) return false;
            erase_activity(*activity);
            next.activity.value = activity->value + 1;
        }
        if (const auto promotion = tables::promotions::find(x_context.state, version)) {
            if (!has_room()) return false;
            cancel_deadline(x_context, *promotion);
            tables::promotions::erase(x_context.state, *promotion);
            count(0);
        }
        return true;
    }

    /// The versions of a model with what hangs on them. When it had no room for all, the model's mark says
    /// with which one to go on.
    bool erase_versions(schemas::model_id model) {
        version_id next = tables::deleted_models::next_version(x_context.state, model);
        while (const auto id = first_of<tables::versions>(next, model)) {
            if (!has_room()) break;
            erase(found<tables::versions>(*id));
            next.value = id->value + 1;
            removal_place part;
            if (erase_parts(*id, part)) continue;
            tables::deleted_versions::put(x_context.state, *id, part);
            break;
        }
        if (!first_of<tables::versions>(next, model)) return true;
        tables::deleted_models::put(x_context.state, model, next);
        return false;
    }

    /// The row of an index entry.
    template <class Table>
    typename Table::row_type found(id_of<Table> id) const {
        auto row = Table::find(x_context.state, id);
        if (!row) throw state::state_corrupt{"an index entry without a row"};
        return *std::move(row);
    }

  private:
    void count(std::size_t bytes) {
        ++x_rows;
        x_bytes += bytes;
    }

    /// The id that the table's index has first under these parents, from `from` on.
    template <class Table, class... Parents>
    std::optional<id_of<Table>> first_of(id_of<Table> from, Parents... parents) const {
        std::optional<id_of<Table>> first;
        Table::each_of(x_context.state, parents..., from, [&](id_of<Table> id) {
            first = id;
            return false;
        });
        return first;
    }
    bool erase_builds(version_id version, removal_place& next) {
        while (const auto id = first_of<tables::builds>(next.build, version, next.workspace)) {
            if (*id != next.build) next.scan = {};
            next.build = *id;
            if (!erase(found<tables::builds>(*id), next.scan)) return false;
            next.build.value = id->value + 1;
        }
        return true;
    }

    void erase(const schemas::scan& scan) {
        if (scan.scan_status == schemas::scan_status::scanning) cancel_deadline(x_context, scan);
        tables::scans::erase(x_context.state, scan);
        count(0);
    }

    void erase_activity(schemas::activity_id id) {
        tables::activities::erase(x_context.state, found<tables::activities>(id));
        if (const auto opened = tables::transitions::find(x_context.state, id))
            tables::transitions::erase(x_context.state, *opened);
        count(0);
    }

    rule_context& x_context;
    emission::audiences x_audiences;
    const std::size_t x_changes_max;
    std::size_t x_rows = 0;
    std::size_t x_bytes = 0;
};

bool has_rest(const rule_context& context) {
    return tables::deleted_versions::first(context.state, {}) ||
           tables::deleted_models::first(context.state, {});
}

/// One timer at a time: whatever is deleted meanwhile waits its turn.
void begin_sweep(rule_context& context) {
    if (!has_rest(context)) context.set_timer(context.time_ms(), timer_kind::removal, "");
}

}  // namespace

void remove_version(rule_context& context, const schemas::model_version& version) {
    removal_step(context, 0).erase(version);
    removal_place next;
    if (removal_step(context, limits::removal_changes_per_command_max).erase_parts(version.id, next)) return;
    begin_sweep(context);
    tables::deleted_versions::put(context.state, version.id, next);
}

void remove_model(rule_context& context, const schemas::registered_model& model) {
    removal_step(context, 0).erase(model);
    begin_sweep(context);
    tables::deleted_models::put(context.state, model.id, {});
}

bool remove_builds(rule_context& context, schemas::workspace_id workspace, builds_to_remove& next) {
    removal_step step(context, limits::removal_changes_max);
    while (const auto id = tables::builds::newest_of(context.state, workspace, next.before)) {
        if (!step.erase(step.found<tables::builds>(*id), next.scan)) return false;
        next.before = *id;
    }
    return true;
}

/// Removes what is left of what was deleted, first of single versions.
void fire_removal(rule_context& context) {
    removal_step step(context, limits::removal_changes_max);
    version_id version_from;
    schemas::model_id model_from;
    while (step.has_room()) {
        if (const auto version = tables::deleted_versions::first(context.state, version_from)) {
            removal_place next = tables::deleted_versions::place_of(context.state, *version);
            if (step.erase_parts(*version, next))
                tables::deleted_versions::erase(context.state, *version);
            else
                tables::deleted_versions::put(context.state, *version, next);
            version_from = *version;
        } else if (const auto model = tables::deleted_models::first(context.state, model_from)) {
            if (step.erase_versions(*model)) tables::deleted_models::erase(context.state, *model);
            model_from = *model;
        } else {
            return;
        }
    }
    if (has_rest(context)) context.set_timer(context.time_ms(), timer_kind::removal, "");
}

}  // namespace herald::storage::registry::rules
