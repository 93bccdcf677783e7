#include "api/serving/route_maker.hpp"

#include <algorithm>
#include <utility>

#include "runtime/text.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoints.hpp"

namespace herald::api::serving {
namespace {

using storage::node::shown_write;
using storage::registry::tables::endpoint_stages;
using storage::registry::tables::endpoints;

template <class Ids, class Users>
void add_users(std::set<schemas::uuid>& to, const Ids& changed, const Users& users) {
    for (const auto& id : changed)
        if (const auto found = users.find(id); found != users.end())
            to.insert(found->second.begin(), found->second.end());
}

template <class Ids, class Users>
void add_endpoint(Users& users, const Ids& ids, const schemas::uuid& endpoint) {
    for (const auto& id : ids) users[id].insert(endpoint);
}

template <class Ids, class Users>
void remove_endpoint(Users& users, const Ids& ids, const schemas::uuid& endpoint) {
    for (const auto& id : ids) {
        const auto found = users.find(id);
        if (found == users.end()) continue;
        found->second.erase(endpoint);
        if (found->second.empty()) users.erase(found);
    }
}

/// Names are any text, and clients read a header's bytes as they like: what is not visible ASCII is
/// percent-encoded UTF-8.
std::string as_header_value(std::string_view text) {
    return runtime::percent_encoded(text, [](char c) { return 0x20 < c && c < 0x7F && c != '%'; });
}

bool can_load(const route_rows::component& one) {
    return one.build.status == schemas::build_status::finished && !one.build.unsafe_scan_id &&
           one.said.status != schemas::component_status::error;
}

}  // namespace

void route_maker::shown(const shown_write& what) {
    if (!what.is_caught_up) return;
    std::set<schemas::uuid> remade;
    if (!std::exchange(x_has_begun, true)) {
        endpoints::each(*what.view, [&](const schemas::endpoint& row) {
            remade.insert(row.id);
            return true;
        });
    } else if (what.changes.empty()) {
        return;
    } else {
        tell_gate(what);
        remade = touched(what);
    }
    const std::shared_ptr<const route_table> before = x_on.book.newest();
    std::vector<route_table::change> changes;
    for (const schemas::uuid& id : remade) {
        const route_table::entry* const old = before->find_id(id);
        const std::set<schemas::update_id> updates = updates_of(id);
        forget(id);
        const auto rows = rows_of(*what.view, id);
        if (!rows) {
            for (const schemas::update_id update : updates) x_on.models.forget(update);
            if (old) changes.push_back({id, nullptr});
            continue;
        }
        made now = make(*rows, old ? *old : nullptr);
        remember(id, now.from);
        for (const schemas::update_id update : updates)
            if (!now.from.updates.contains(update)) x_on.models.forget(update);
        changes.push_back({id, std::move(now.entry)});
    }
    if (!changes.empty()) x_on.book.store(before->with(changes));
    x_on.book.set_known();
}

/// Whatever the routes are: predictions of a build that has just lost its last route are still under way.
void route_maker::tell_gate(const shown_write& what) const {
    for (const schemas::build_id id : what.changes.builds)
        if (const auto build = storage::registry::tables::builds::find(*what.view, id))
            if (build->unsafe_scan_id) x_on.gate.set_unsafe(id, build->unsafe_scan_id);
    for (const auto& report : what.changes.unsafe_reports) x_on.gate.set_unsafe(report.build, report.scan);
}

std::set<schemas::uuid> route_maker::touched(const shown_write& what) const {
    std::set<schemas::uuid> out(what.changes.endpoints.begin(), what.changes.endpoints.end());
    add_users(out, what.changes.stages, x_of_stage);
    add_users(out, what.changes.builds, x_of_build);
    add_users(out, what.changes.versions, x_of_version);
    add_users(out, what.changes.models, x_of_model);
    add_users(out, what.changes.users, x_of_user);
    add_users(out, what.changes.updates, x_of_update);
    return out;
}

route_maker::made route_maker::make(const route_rows& rows, const route_table::entry& before) const {
    made out;
    out.entry = std::make_shared<endpoint_route>();
    endpoint_route& entry = *out.entry;
    entry.id = rows.row.id;
    entry.path = rows.row.path;
    entry.v2_name = storage::registry::tables::v2_name_of(rows.row.path);
    entry.meter =
        before && before->path == entry.path ? before->meter : std::make_shared<endpoint_meter>(entry.path);
    entry.header_lines = lines({{"endpoint-id", runtime::uuid_text(rows.row.id)},
                                {"endpoint-owner-id", runtime::uuid_text(rows.owner_uuid)},
                                {"endpoint-owner-name", rows.owner_name},
                                {"endpoint-path", rows.row.path}});
    out.from.users.insert(rows.row.owner_id);
    for (const route_rows::stage& stage : rows.stages) {
        const auto place = static_cast<std::uint32_t>(entry.stages.size());
        entry.stages.push_back(make_stage(rows, stage, before, out.from));
        for (const component_route& each : entry.stages.back().components)
            entry.body_bytes_max = std::max(entry.body_bytes_max, each.body_bytes_max);
        for (const schemas::access_token& token : stage.tokens) {
            token_route& to = entry.tokens.emplace_back();
            std::copy_n(token.hash.begin(), std::min(token.hash.size(), to.hash.size()), to.hash.begin());
            to.stage = place;
        }
    }
    if (entry.body_bytes_max == 0) entry.body_bytes_max = x_with.body_bytes_max;
    // Of stages that have the same token, the one with the lower id is opened.
    std::ranges::sort(entry.tokens, {}, [&](const token_route& each) {
        return std::pair(each.hash, entry.stages[each.stage].id);
    });
    return out;
}

stage_route route_maker::make_stage(const route_rows& rows, const route_rows::stage& stage,
                                    const route_table::entry& before, origins& from) const {
    stage_route out;
    out.id = stage.row.id;
    out.name = stage.row.name;
    from.stages.insert(stage.row.id);
    if (stage.row.update_id) from.updates.insert(stage.row.update_id);
    std::uint32_t share_begins_ppm = 0;
    for (const route_rows::component& each : stage.components) {
        component_route made_route = make_component(rows, each, from);
        made_route.meter = meter_of(stage, each, before);
        if (can_load(each)) follow_update(stage, each, made_route);
        if (each.said.ratio_ppm == 0) {
            if (each.said.status == schemas::component_status::error)
                out.failure = "build " + std::to_string(each.said.build_id.value) + ": " + each.said.message;
            if (can_load(each)) out.waiting.push_back(std::move(made_route.served));
            continue;
        }
        made_route.share_begins_ppm = share_begins_ppm;
        share_begins_ppm = std::min(share_begins_ppm + each.said.ratio_ppm, schemas::whole_ppm);
        made_route.share_ends_ppm = share_begins_ppm;
        out.components.push_back(std::move(made_route));
    }
    if (!out.components.empty()) out.components.back().share_ends_ppm = schemas::whole_ppm;
    return out;
}

component_route route_maker::make_component(const route_rows& rows, const route_rows::component& one,
                                            origins& from) const {
    from.builds.insert(one.said.build_id);
    if (one.build.model_version_id) from.versions.insert(one.build.model_version_id);
    if (one.model) from.models.insert(one.model);
    component_route out;
    out.build = one.said.build_id;
    out.unsafe_scan = one.build.unsafe_scan_id;
    out.safety = x_on.gate.safety_of(one.said.build_id);
    if (out.unsafe_scan) out.safety->set_unsafe(out.unsafe_scan);
    out.update = one.said.update_id;
    out.model_name = one.model_name;
    out.model_version = one.version_name;
    out.version_number = one.version_number;
    const schemas::prediction_limits& own = one.said.limits;
    out.body_bytes_max = own.body_bytes_max != 0 ? own.body_bytes_max : x_with.body_bytes_max;
    out.deadline_ms = own.deadline_ms != 0 ? own.deadline_ms : x_with.deadline_ms;
    out.in_flight_max = own.in_flight_max != 0 ? own.in_flight_max : x_with.in_flight_max;
    out.header_lines = lines({{"build-id", std::to_string(one.said.build_id.value)},
                              {"endpoint-id", runtime::uuid_text(rows.row.id)},
                              {"endpoint-owner-id", runtime::uuid_text(rows.owner_uuid)},
                              {"endpoint-owner-name", rows.owner_name},
                              {"endpoint-path", rows.row.path},
                              {"model-name", one.model_name},
                              {"model-version", one.version_name}});
    out.served = can_load(one) ? hold(one) : components::without_model(one.said.build_id);
    return out;
}

std::shared_ptr<component> route_maker::hold(const route_rows::component& one) const {
    component_source source;
    source.key = {one.said.build_id, one.said.batching};
    source.upstream_url = one.build.upstream_url;
    source.runtime = one.build.runtime;
    source.has_file = !one.build.model_parts.empty();
    source.health_path = one.health_path;
    return x_on.models.hold(source);
}

void route_maker::follow_update(const route_rows::stage& stage, const route_rows::component& one,
                                const component_route& route) const {
    if (!stage.update || one.said.update_id != stage.update->id) return;
    // What is told before the update loads is not heard; this is made anew when it begins to.
    if (stage.update->phase == schemas::update_phase::loading)
        x_on.models.tell_when_ready(stage.update->id, route.served);
    if (route.meter)
        x_on.canaries.begin({stage.update->id, stage.update->interval, stage.update->interval_ends_ms},
                            route.meter);
}

/// The one that the entry before had, or a new one.
std::shared_ptr<canary_meter> route_maker::meter_of(const route_rows::stage& stage,
                                                    const route_rows::component& one,
                                                    const route_table::entry& before) const {
    if (!stage.update || one.said.update_id != stage.update->id ||
        stage.update->phase != schemas::update_phase::canary)
        return nullptr;
    if (before)
        for (const stage_route& its : before->stages)
            for (const component_route& each : its.components)
                if (its.id == stage.row.id && each.update == stage.update->id && each.meter)
                    return each.meter;
    return std::make_shared<canary_meter>(x_on.book.loops());
}

std::string route_maker::lines(const std::vector<std::pair<std::string_view, std::string>>& headers) const {
    std::string out;
    for (const std::string& prefix : x_with.header_prefixes)
        for (const auto& [name, value] : headers) {
            out += prefix;
            out += name;
            out += ": ";
            out += as_header_value(value);
            out += "\r\n";
        }
    return out;
}

std::set<schemas::update_id> route_maker::updates_of(const schemas::uuid& endpoint) const {
    const auto known = x_origins.find(endpoint);
    return known == x_origins.end() ? std::set<schemas::update_id>() : known->second.updates;
}

void route_maker::remember(const schemas::uuid& endpoint, const origins& from) {
    add_endpoint(x_of_stage, from.stages, endpoint);
    add_endpoint(x_of_build, from.builds, endpoint);
    add_endpoint(x_of_version, from.versions, endpoint);
    add_endpoint(x_of_model, from.models, endpoint);
    add_endpoint(x_of_user, from.users, endpoint);
    add_endpoint(x_of_update, from.updates, endpoint);
    x_origins.insert_or_assign(endpoint, from);
}

void route_maker::forget(const schemas::uuid& endpoint) {
    const auto known = x_origins.find(endpoint);
    if (known == x_origins.end()) return;
    const origins& from = known->second;
    remove_endpoint(x_of_stage, from.stages, endpoint);
    remove_endpoint(x_of_build, from.builds, endpoint);
    remove_endpoint(x_of_version, from.versions, endpoint);
    remove_endpoint(x_of_model, from.models, endpoint);
    remove_endpoint(x_of_user, from.users, endpoint);
    remove_endpoint(x_of_update, from.updates, endpoint);
    x_origins.erase(known);
}

}  // namespace herald::api::serving
