#include "tests/simulation/reference.hpp"

#include <algorithm>

#include "events/log/topics.hpp"
#include "schemas/binary.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {
namespace {

using schemas::commands::command_type;

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t outbox_kept_ms = 30ll * 24 * hour_ms;

}  // namespace

bool wants(const schemas::webhook& hook, schemas::event_type type, schemas::resource_type resource) {
    if (!hook.settings.all_events &&
        std::ranges::find(hook.settings.event_types, type) == hook.settings.event_types.end())
        return false;
    if (hook.settings.resource_types.empty()) return true;
    return std::ranges::any_of(hook.settings.resource_types, [&](const schemas::resource_filter& filter) {
        const auto is = [&](schemas::resource_type wanted) {
            return wanted != schemas::resource_type::none &&
                   (wanted == schemas::resource_type::all || wanted == resource);
        };
        return is(filter.registry_service_resource_type) || is(filter.deployment_service_resource_type) ||
               is(filter.modeldb_service_resource_type);
    });
}

std::vector<events::log::record> reference::read_all(events::log::partitioned_log& from,
                                                     const events::log::topic_partition& where) {
    std::vector<events::log::record> all;
    const auto reader = from.open_reader(where, 0);
    while (true) {
        auto batch = reader->poll(10'000, 0);
        if (!batch && batch.error().code == error_code::unavailable)
            continue;  // by chance; not the next time
        if (!batch)
            throw rule_broken{"a partition of " + where.topic + " cannot be read: " + batch.error().message};
        for (events::log::record& record : batch->records) all.push_back(std::move(record));
        if (batch->at_end) return all;
    }
}

reference::reference(events::log::partitioned_log& from, const apply_change& change) {
    x_changed.emplace(change, from, *x_store);
    x_engine = std::make_unique<storage::registry::engine::engine>(x_changed->store());
    log_rules rules(*x_store);
    for (const events::log::record& record : read_all(from, {std::string(events::log::topic::commands), 0})) {
        events::log::record changed = record;
        x_changed->change(changed);
        const auto done = x_engine->apply(changed);
        if (!done) throw rule_broken{"the command log cannot be applied: " + done.error().message};
        if (!x_engine->write()) throw rule_broken{"the reference cannot be written"};
        rules.judge(record, *done);
        const std::int64_t time_ms = x_engine->position().time_ms;
        x_hashes[done->offset] = x_engine->position().hash;
        x_times[done->offset] = time_ms;
        x_applied[done->offset] = *done;
        note_events(done->offset, time_ms);
        judge_outbox(time_ms);
        const bool took_effect =
            done->command_id && done->outcome.code == 0 && done->outcome.offset == done->offset;
        if (!took_effect) continue;
        x_effects[*done->command_id].push_back(done->offset);
        learn(*schemas::commands::open_envelope(*changed.value), *done);
    }
}

/// What this record put into the outbox.
void reference::note_events(std::uint64_t offset, std::int64_t time_ms) {
    using storage::registry::tables::key_of;
    const std::string of_time =
        key_of(storage::registry::tables::table::outbox_by_time).number(static_cast<std::uint64_t>(time_ms));
    const auto view = x_store->view();
    view->scan(of_time, {}, [&](std::string_view key, std::string_view) {
        const std::string row_key(key.substr(of_time.size()));
        auto event = storage::registry::tables::find_row<schemas::event>(*view, row_key);
        if (!event) throw rule_broken{"the outbox lacks a row that its index has"};
        if (event->offset != offset) return true;
        x_outbox.push_back(*std::move(event));
        x_outbox_rows[row_key] = time_ms;
        return true;
    });
}

/// A row stays 30 days, and longer while it is not published.
void reference::judge_outbox(std::int64_t time_ms) {
    if (time_ms - x_outbox_judged_ms < hour_ms) return;
    x_outbox_judged_ms = time_ms;
    const auto view = x_store->view();
    for (auto next = x_outbox_rows.begin(); next != x_outbox_rows.end();) {
        const auto row = next++;
        if (view->get(row->first)) continue;
        std::string published_key = row->first.substr(0, row->first.size() - 8);
        published_key.front() = static_cast<char>(storage::registry::tables::table::outbox_published);
        const std::uint64_t sequence =
            schemas::read_big_endian(std::string_view(row->first).substr(row->first.size() - 8));
        if (time_ms - row->second < outbox_kept_ms ||
            storage::registry::tables::find_number(*view, published_key).value_or(0) < sequence)
            throw rule_broken{"a row of the outbox is gone that is new or not published (invariant 4)"};
        x_outbox_rows.erase(row);
    }
}

void reference::learn(const schemas::commands::command_envelope& command,
                      const storage::registry::engine::applied_record& done) {
    using schemas::event_type;
    using schemas::resource_type;
    const std::string& answer = done.outcome.body;
    const auto expect = [&](event_type type, resource_type resource, std::uint64_t id) {
        auto hearers = audience(done.offset, type, resource);
        if (!hearers.empty())
            x_expected.push_back({done.offset, type, std::to_string(id), std::move(hearers)});
    };
    switch (done.type) {
        case schemas::commands::create_webhook::type: {
            auto row = decoded<schemas::webhook>(answer);
            x_hooks[row.id.value] = {row, done.offset};
            break;
        }
        case schemas::commands::update_webhook::type: {
            auto row = decoded<schemas::webhook>(answer);
            schemas::webhook& known = x_hooks.at(row.id.value).row;
            // Without a key, a second copy in the log takes effect too: it moves the webhook to where it is.
            if (known.settings.location != row.settings.location)
                x_left_at[known.settings.location] = done.offset;
            known = std::move(row);
            break;
        }
        case schemas::commands::delete_webhooks::type:
            for (const auto id : decoded<schemas::commands::delete_webhooks>(command.body).ids)
                x_hooks.at(id.value).deleted = done.offset;
            break;
        case schemas::commands::create_transition::type: {
            const auto activity = decoded<schemas::activity>(answer);
            x_desired[activity.id.value] = activity.transition->desired_stage;
            break;
        }
        case schemas::commands::commit_transition::type: {
            const auto activity = decoded<schemas::activity>(answer);
            if (x_desired.at(activity.transition_id.value) == schemas::stage::production)
                expect(event_type::promote, resource_type::registered_model_version,
                       activity.model_version_id.value);
            break;
        }
        case schemas::commands::request_scan::type:
            expect(event_type::request_scan, resource_type::build,
                   decoded<schemas::scan>(answer).build_id.value);
            break;
        default:
            break;
    }
}

std::set<std::uint64_t> reference::audience(std::uint64_t offset, schemas::event_type type,
                                            schemas::resource_type resource) const {
    std::set<std::uint64_t> found;
    for (const auto& [id, known] : x_hooks)
        if (known.created < offset && offset < known.deleted && wants(known.row, type, resource))
            found.insert(id);
    return found;
}

std::vector<std::uint64_t> reference::effects(const schemas::uuid& command) const {
    const auto found = x_effects.find(command);
    return found == x_effects.end() ? std::vector<std::uint64_t>{} : found->second;
}

bool reference::took_effect(std::uint64_t offset) const {
    const auto found = x_applied.find(offset);
    return found != x_applied.end() && found->second.outcome.code == 0 &&
           found->second.outcome.offset == offset;
}

std::optional<storage::registry::engine::applied_record> reference::at(std::uint64_t offset) const {
    const auto found = x_applied.find(offset);
    return found == x_applied.end() ? std::nullopt : std::optional(found->second);
}

bool reference::was_deleted(std::uint64_t webhook) const {
    const auto found = x_hooks.find(webhook);
    return found != x_hooks.end() && found->second.deleted != UINT64_MAX;
}

std::uint64_t reference::left_at(const std::string& place) const {
    const auto found = x_left_at.find(place);
    return found == x_left_at.end() ? UINT64_MAX : found->second;
}

}  // namespace herald::test
