#include "storage/registry/tables/content.hpp"

#include "runtime/crypto.hpp"
#include "schemas/deployment.hpp"
#include "schemas/webhooks.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/webhooks.hpp"

namespace herald::storage::registry::tables {
namespace {

/// Its table has no name here: an older program may meet one.
constexpr char audit = '9';

/// What is only of this log: it begins anew in another.
bool is_of_the_log(char letter) noexcept {
    switch (static_cast<table>(letter)) {
        case table::installation:
        case table::position:
        case table::webhook_change:
        case table::outbox:
        case table::outbox_sequence:
        case table::outbox_published:
        case table::outbox_by_time:
        case table::outbox_of_event:
        case table::node:
        case table::claim:
        case table::replaced_processes:
        case table::level:
            return true;
        default:
            return false;
    }
}

/// How many outcomes are stored: names of counters that end so.
constexpr std::string_view outcomes_kept = "outcomes kept";

bool is_content(std::string_view key) noexcept {
    const char letter = key.front();
    if (letter == static_cast<char>(table::counter) && key.ends_with(outcomes_kept)) return false;
    return !is_of_the_log(letter) && letter != static_cast<char>(table::outcome) &&
           letter != static_cast<char>(table::outcome_bucket) && letter != static_cast<char>(table::timer) &&
           letter != audit;
}

void add(runtime::sha256_stream& digest, std::string_view bytes) {
    std::string length;
    schemas::append_varint(length, bytes.size());
    digest.add(length);
    digest.add(bytes);
}

/// A build without the offset in its own log at which it was reported unsafe.
std::string without_offset(std::string_view key, std::string_view value) {
    auto build = decode_row<schemas::build>(key, value);
    if (build.unsafe_offset == 0) return std::string(value);
    build.unsafe_offset = 0;
    return schemas::encode(build);
}

}  // namespace

std::string content::digest(const state::state_view& state) {
    runtime::sha256_stream sum;
    state.scan({}, {}, [&](std::string_view key, std::string_view value) {
        if (!is_content(key)) return true;
        add(sum, key);
        if (key.front() == static_cast<char>(table::build)) {
            add(sum, without_offset(key, value));
            return true;
        }
        if (key.front() != static_cast<char>(table::webhook)) {
            add(sum, value);
            return true;
        }
        auto hook = decode_row<schemas::webhook>(key, value);
        hook.revision = 0;  // an offset
        add(sum, schemas::encode(hook));
        return true;
    });
    return std::string(runtime::as_bytes(sum.finish()));
}

void content::each_carried(const state::state_view& state, const state::row_visitor& visit) {
    const auto installation = installation::find(state);
    state.scan({}, {}, [&](std::string_view key, std::string_view value) {
        if (is_carried(key)) return visit(key, value);
        if (key.front() != static_cast<char>(table::outbox) || !installation) return true;
        const auto earlier = outbox::earlier_key(key, value, installation->generation);
        return !earlier || visit(*earlier, value);
    });
}

bool content::is_carried(std::string_view key) noexcept {
    return !key.empty() && (!is_of_the_log(key.front()) || outbox::is_of_earlier(key));
}

void content::put_carried(state::state_changes& state, const schemas::carried_row& row,
                          std::uint64_t offset) {
    if (outbox::is_of_earlier(row.key)) return outbox::put_earlier(state, row.key, row.value);
    // All nodes of the new log begin with the report applied.
    if (row.key.front() == static_cast<char>(table::build))
        return state.put(row.key, without_offset(row.key, row.value));
    if (row.key.front() != static_cast<char>(table::webhook)) return state.put(row.key, row.value);
    auto hook = decode_row<schemas::webhook>(row.key, row.value);
    hook.revision = offset;
    webhooks::put(state, hook);
}

std::string content::digest_after(const std::string& before, const std::vector<schemas::carried_row>& rows) {
    runtime::sha256_stream sum;
    sum.add(before);
    for (const schemas::carried_row& row : rows) {
        add(sum, row.key);
        add(sum, row.value);
    }
    return std::string(runtime::as_bytes(sum.finish()));
}

}  // namespace herald::storage::registry::tables
