#include "storage/deliveries/history_lists.hpp"

#include <algorithm>
#include <chrono>

#include "schemas/latency_buckets.hpp"
#include "schemas/limits.hpp"
#include "storage/deliveries/history_batch.hpp"
#include "storage/deliveries/history_keys.hpp"
#include "storage/deliveries/limits.hpp"

namespace herald::storage::deliveries {
namespace {

using schemas::delivery_row;
using schemas::delivery_state;

/// When an answer has to be given with what was found.
class time_to_work {
  public:
    bool is_over() {
        if (++x_asked % asked_each != 0) return false;
        return std::chrono::steady_clock::now() >= x_until;
    }

  private:
    static constexpr std::uint64_t asked_each = 64;
    const std::chrono::steady_clock::time_point x_until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(limits::delivery_list_ms_max);
    std::uint64_t x_asked = 0;
};

bool fits(const delivery_filter& filter, const delivery_facts& facts) {
    if (filter.event_type && *filter.event_type != facts.event_type) return false;
    if (!filter.states.empty() && std::ranges::count(filter.states, facts.state) == 0) return false;
    if (filter.error && *filter.error != facts.error) return false;
    if (!filter.status) return true;
    if (filter.status->last == 0) return facts.status == 0 && facts.error != schemas::delivery_error::none;
    return facts.status >= filter.status->first && facts.status <= filter.status->last;
}

bool is_about_one(const delivery_filter& filter) {
    return filter.resource_type != schemas::resource_type::none;
}

struct index_entry {
    std::int64_t time_event_ms = 0;
    std::string id_key;

    /// The order of lists.
    friend bool operator<(const index_entry& left, const index_entry& right) {
        if (left.time_event_ms != right.time_event_ms) return left.time_event_ms > right.time_event_ms;
        return left.id_key < right.id_key;
    }
};

/// The index of a workspace or of a webhook: the deliveries of each combination of facts, newest first.
class facts_index {
  public:
    facts_index(const open_history& open, const delivery_filter& filter)
        : x_filter(filter),
          x_prefix(filter.webhook_id ? of_webhook('P', filter.workspace_id, filter.webhook_id).bytes()
                                     : of_workspace('O', filter.workspace_id).bytes()),
          x_row(open.iterate()) {}

    /// Visits the entries of each fitting combination in the order of lists, behind `after`; `visit` returns
    /// false to go on with the next combination.
    template <class Visit>
    void each(const std::optional<delivery_place>& after, const Visit& visit) {
        for (x_row->Seek(x_prefix); is_inside(x_prefix);) {
            const std::string facts(x_row->key().ToStringView().substr(x_prefix.size(), facts_bytes));
            if (fits(x_filter, facts_in(facts))) each_of(facts, after, visit);
            if (!seek_behind(facts)) return;
        }
    }

  private:
    bool is_inside(std::string_view prefix) const {
        return x_row->Valid() && x_row->key().ToStringView().starts_with(prefix);
    }

    template <class Visit>
    void each_of(const std::string& facts, const std::optional<delivery_place>& after, const Visit& visit) {
        const std::string combination = x_prefix + facts;
        history_key from;
        from.end(combination);
        if (after)
            from.newest_first(after->time_event_ms).end(delivery_key(after->id)).byte(0);
        else
            from.newest_first(x_filter.until_ms == INT64_MAX ? INT64_MAX : x_filter.until_ms - 1);
        for (x_row->Seek(from.bytes()); is_inside(combination); x_row->Next()) {
            const std::string_view rest = x_row->key().ToStringView().substr(combination.size());
            const auto time_ms = static_cast<std::int64_t>(~schemas::read_big_endian(rest));
            if (time_ms < x_filter.since_ms || !visit(time_ms, rest.substr(8))) return;
        }
    }

    bool seek_behind(std::string facts) {
        for (std::size_t i = facts.size(); i-- > 0;) {
            if (static_cast<std::uint8_t>(facts[i]) == 0xff) continue;
            facts[i] = static_cast<char>(static_cast<std::uint8_t>(facts[i]) + 1);
            facts.resize(i + 1);
            x_row->Seek(x_prefix + facts);
            return true;
        }
        return false;
    }

    const delivery_filter& x_filter;
    const std::string x_prefix;
    const std::unique_ptr<rocksdb::Iterator> x_row;
};

/// Whether a row is the answer's: what the index does not decide.
bool is_wanted(const delivery_question& asked, const delivery_row& row) {
    return matches(asked.filter, row) && (!asked.may_see || asked.may_see(row));
}

/// The first entries in the order of lists, however they come.
class first_entries {
  public:
    explicit first_entries(std::size_t most) : x_most(most) {}
    /// False: it, and all that come behind it, are too late.
    bool add(std::int64_t time_event_ms, std::string_view id_key) {
        if (x_heap.size() == x_most) {
            const index_entry& last = x_heap.front();
            if (time_event_ms < last.time_event_ms ||
                (time_event_ms == last.time_event_ms && id_key >= last.id_key))
                return false;
            std::pop_heap(x_heap.begin(), x_heap.end());
            x_heap.pop_back();
        }
        x_heap.push_back({time_event_ms, std::string(id_key)});
        std::push_heap(x_heap.begin(), x_heap.end());
        return true;
    }
    std::vector<index_entry> in_order() && {
        std::sort_heap(x_heap.begin(), x_heap.end());
        return std::move(x_heap);
    }

  private:
    const std::size_t x_most;
    std::vector<index_entry> x_heap;  // the last one in front
};

std::optional<delivery_row> row_in(std::string_view value) {
    if (value.size() <= 9) return std::nullopt;
    auto row = schemas::decode<delivery_row>(value.substr(9));
    if (!row) return std::nullopt;
    return *std::move(row);
}

/// All at once; what is gone is left out.
std::vector<delivery_row> read_rows(const open_history& open, const std::vector<index_entry>& entries) {
    std::vector<std::string> keys;
    std::vector<rocksdb::Slice> asked;
    keys.reserve(entries.size());
    for (const index_entry& entry : entries)
        asked.emplace_back(keys.emplace_back(history_key('d').end(entry.id_key).bytes()));
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> found(keys.size());
    open.db().MultiGet({}, open.rows(), keys.size(), asked.data(), values.data(), found.data());
    std::vector<delivery_row> rows;
    rows.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (found[i].ok())
            if (auto row = row_in(values[i].ToStringView())) rows.push_back(*std::move(row));
    return rows;
}

void finish_page(delivery_page& page, std::size_t rows_max) {
    if (page.rows.size() <= rows_max) return;
    page.rows.resize(rows_max);
    page.next = place_of(page.rows.back());
}

/// Everybody's deliveries: entries alone are counted and chosen, only those of the page are read.
delivery_page list_by_facts(const open_history& open, const delivery_question& asked) {
    delivery_page page;
    facts_index index(open, asked.filter);
    first_entries first(asked.rows_max + 1);
    const auto count = [&] { return ++page.total <= limits::deliveries_counted_max; };
    const bool is_first_page = !asked.after;  // then what is counted is what is chosen from
    if (asked.is_counted && !is_first_page)
        index.each(std::nullopt, [&](std::int64_t, std::string_view) { return count(); });
    index.each(asked.after, [&](std::int64_t time_ms, std::string_view id_key) {
        const bool is_chosen = first.add(time_ms, id_key);
        return (asked.is_counted && is_first_page && count()) || is_chosen;
    });
    page.total_is_at_least = page.total > limits::deliveries_counted_max;
    page.total = std::min(page.total, limits::deliveries_counted_max);
    page.rows = read_rows(open, std::move(first).in_order());
    finish_page(page, asked.rows_max);
    return page;
}

/// In the order of lists, those of a resource, or else of all facts: merged in portions.
template <class Visit>
void each_in_order(const open_history& open, const delivery_filter& filter,
                   std::optional<delivery_place> after, const Visit& visit) {
    if (is_about_one(filter)) {
        const std::string prefix = of_workspace('R', filter.workspace_id)
                                       .byte(static_cast<std::uint8_t>(filter.resource_type))
                                       .text(filter.resource_id)
                                       .bytes();
        history_key from;
        from.end(prefix);
        if (after)
            from.newest_first(after->time_event_ms).end(delivery_key(after->id)).byte(0);
        else
            from.newest_first(filter.until_ms == INT64_MAX ? INT64_MAX : filter.until_ms - 1);
        const auto row = open.iterate();
        for (row->Seek(from.bytes()); row->Valid() && row->key().starts_with(prefix); row->Next()) {
            const std::string_view rest = row->key().ToStringView().substr(prefix.size());
            const auto time_ms = static_cast<std::int64_t>(~schemas::read_big_endian(rest));
            if (time_ms < filter.since_ms || !visit(rest.substr(8))) return;
        }
        return;
    }
    constexpr std::size_t portion = 1'000;
    facts_index index(open, filter);
    while (true) {
        first_entries first(portion);
        index.each(after,
                   [&](std::int64_t time_ms, std::string_view id_key) { return first.add(time_ms, id_key); });
        const std::vector<index_entry> entries = std::move(first).in_order();
        for (const index_entry& entry : entries)
            if (!visit(std::string_view(entry.id_key))) return;
        if (entries.size() < portion) return;
        after = delivery_place{entries.back().time_event_ms, id_of_key(entries.back().id_key)};
    }
}

/// Each row is read and judged.
delivery_page list_by_rows(const open_history& open, const delivery_question& asked) {
    delivery_page page;
    time_to_work time;
    bool is_cut = false;
    std::optional<delivery_place> last;
    each_in_order(open, asked.filter, asked.after, [&](std::string_view id_key) {
        if ((is_cut = time.is_over())) return false;
        const auto row = read_row(open, id_key);
        if (!row) return true;
        last = place_of(*row);
        if (is_wanted(asked, *row)) page.rows.push_back(*row);
        return page.rows.size() <= asked.rows_max;
    });
    finish_page(page, asked.rows_max);
    if (is_cut && !page.next) page.next = last;
    if (!asked.is_counted) return page;
    each_in_order(open, asked.filter, std::nullopt, [&](std::string_view id_key) {
        if ((page.total_is_at_least = time.is_over())) return false;
        const auto row = read_row(open, id_key);
        if (row && is_wanted(asked, *row)) ++page.total;
        page.total_is_at_least = page.total > limits::deliveries_counted_max;
        return !page.total_is_at_least;
    });
    page.total = std::min(page.total, limits::deliveries_counted_max);
    return page;
}

delivery_page list_of_event(const open_history& open, const delivery_question& asked) {
    delivery_page page;
    for (delivery_row& row : rows_of_event(open, asked.filter.event_id)) {
        if (!is_wanted(asked, row)) continue;
        ++page.total;
        if (!asked.after || is_before(*asked.after, place_of(row))) page.rows.push_back(std::move(row));
    }
    finish_page(page, asked.rows_max);
    return page;
}

/// The time of the oldest event that a webhook has not had; 0: none. `prefix`: of its index.
std::int64_t oldest_waiting(const open_history& open, const std::string& prefix) {
    std::int64_t oldest_ms = 0;
    const auto row = open.iterate();
    for (row->Seek(prefix); row->Valid() && row->key().starts_with(prefix);) {
        const std::string facts(row->key().ToStringView().substr(prefix.size(), facts_bytes));
        const std::string behind = prefix + facts + std::string(8, '\xff');
        if (facts_in(facts).state == delivery_state::waiting) {
            row->SeekForPrev(behind);
            const std::string_view rest = row->key().ToStringView().substr(prefix.size() + facts_bytes);
            const auto time_ms = static_cast<std::int64_t>(~schemas::read_big_endian(rest));
            if (oldest_ms == 0 || time_ms < oldest_ms) oldest_ms = time_ms;
        }
        row->Seek(behind);
    }
    return oldest_ms;
}

/// 0: there are no times.
std::uint64_t p95_of(const std::vector<std::uint64_t>& buckets, std::uint64_t count) {
    std::uint64_t left = count * 95 / 100;
    for (std::uint32_t bucket = 0; bucket < buckets.size(); ++bucket) {
        if (buckets[bucket] > left) return schemas::latency_of_bucket(bucket);
        left -= buckets[bucket];
    }
    return 0;
}

// ---- the histogram

struct steps_of {
    count_unit unit{};
    std::int64_t first_ms = 0;
    std::int64_t step_ms = 0;
    delivery_histogram made;

    explicit steps_of(const histogram_question& asked) {
        const delivery_filter& filter = asked.filter;
        unit = filter.until_ms - filter.since_ms > limits::histogram_minutes_ms_max ? count_unit::hour
                                                                                    : count_unit::minute;
        const std::int64_t unit_ms = ms_of(unit);
        first_ms = filter.since_ms / unit_ms * unit_ms;
        const std::int64_t units =
            std::max<std::int64_t>(1, (filter.until_ms - first_ms + unit_ms - 1) / unit_ms);
        const auto steps = static_cast<std::int64_t>(asked.steps);
        step_ms = (units + steps - 1) / steps * unit_ms;
        for (std::int64_t from_ms = first_ms; from_ms < first_ms + units * unit_ms; from_ms += step_ms)
            made.steps.push_back({from_ms, {}});
    }
    std::int64_t end_ms() const { return made.steps.back().from_ms + step_ms; }
    void add(std::int64_t time_ms, delivery_state state, std::uint64_t count) {
        const std::int64_t place = (time_ms - first_ms) / step_ms;
        if (time_ms < first_ms || place >= static_cast<std::int64_t>(made.steps.size())) return;
        made.steps[static_cast<std::size_t>(place)].of_state[static_cast<std::size_t>(state)] += count;
    }
};

void count_by_counters(const open_history& open, const delivery_filter& filter, steps_of& steps) {
    const std::string prefix = (filter.webhook_id ? of_webhook('m', filter.workspace_id, filter.webhook_id)
                                                  : of_workspace('n', filter.workspace_id))
                                   .byte(static_cast<std::uint8_t>(steps.unit))
                                   .bytes();
    const auto row = open.iterate();
    const std::string from =
        history_key().end(prefix).short_number(unit_of(steps.first_ms, steps.unit)).bytes();
    for (row->Seek(from); row->Valid() && row->key().starts_with(prefix); row->Next()) {
        const std::string_view rest = row->key().ToStringView().substr(prefix.size());
        std::uint32_t unit = 0;
        for (std::size_t i = 0; i < 4; ++i) unit = unit << 8 | static_cast<std::uint8_t>(rest[i]);
        const std::int64_t time_ms = std::int64_t{unit} * ms_of(steps.unit);
        if (time_ms >= steps.end_ms()) return;
        const delivery_facts facts = facts_in(rest.substr(4));
        if (fits(filter, facts)) steps.add(time_ms, facts.state, count_in(row->value().ToStringView()));
    }
}

void count_by_rows(const open_history& open, const histogram_question& asked, steps_of& steps) {
    const delivery_question question{asked.filter, {}, 0, false, asked.may_see};
    const auto add = [&](const delivery_row& row) {
        if (is_wanted(question, row)) steps.add(row.time_event_ms, row.state, 1);
    };
    if (!asked.filter.event_id.empty()) {
        for (const delivery_row& row : rows_of_event(open, asked.filter.event_id)) add(row);
        return;
    }
    time_to_work time;
    each_in_order(open, asked.filter, std::nullopt, [&](std::string_view id_key) {
        if ((steps.made.is_partial = time.is_over())) return false;
        if (const auto row = read_row(open, id_key)) add(*row);
        return true;
    });
}

}  // namespace

delivery_place place_of(const delivery_row& row) { return {row.time_event_ms, row.id}; }

bool is_before(const delivery_place& left, const delivery_place& right) {
    return index_entry{left.time_event_ms, delivery_key(left.id)} <
           index_entry{right.time_event_ms, delivery_key(right.id)};
}

bool matches(const delivery_filter& filter, const delivery_row& row) {
    return row.workspace_id == filter.workspace_id &&
           (!filter.webhook_id || filter.webhook_id == row.webhook_id) &&
           (filter.event_id.empty() || filter.event_id == row.event_id) &&
           (!is_about_one(filter) ||
            (filter.resource_type == row.resource_type && filter.resource_id == row.resource_id)) &&
           fits(filter, facts_of(row)) && row.time_event_ms >= filter.since_ms &&
           row.time_event_ms < filter.until_ms;
}

std::optional<delivery_row> read_row(const open_history& open, std::string_view id_key) {
    const auto value = open.get(history_key('d').end(id_key).bytes());
    return value ? row_in(*value) : std::nullopt;
}

std::vector<delivery_row> rows_of_event(const open_history& open, std::string_view event_id) {
    std::vector<delivery_row> found;
    const std::string prefix = history_key('E').text(event_id).bytes();
    const auto entry = open.iterate();
    for (entry->Seek(prefix); entry->Valid() && entry->key().starts_with(prefix); entry->Next()) {
        if (auto row = read_row(open, entry->key().ToStringView().substr(prefix.size())))
            found.push_back(*std::move(row));
        if (found.size() >= limits::webhooks_per_workspace_max) break;
    }
    std::ranges::sort(found, [](const delivery_row& left, const delivery_row& right) {
        return is_before(place_of(left), place_of(right));
    });
    return found;
}

delivery_page list_deliveries(const open_history& open, const delivery_question& asked) {
    if (!asked.filter.event_id.empty()) return list_of_event(open, asked);
    if (is_about_one(asked.filter) || asked.may_see) return list_by_rows(open, asked);
    return list_by_facts(open, asked);
}

delivery_histogram count_deliveries(const open_history& open, const histogram_question& asked) {
    steps_of steps(asked);
    if (asked.filter.event_id.empty() && !is_about_one(asked.filter) && !asked.may_see)
        count_by_counters(open, asked.filter, steps);
    else
        count_by_rows(open, asked, steps);
    return std::move(steps.made);
}

dead_groups group_dead(const open_history& open, schemas::workspace_id workspace,
                       const delivery_judge& may_see) {
    dead_groups found;
    time_to_work time;
    delivery_filter filter;
    filter.workspace_id = workspace;
    filter.states = {delivery_state::dead};
    each_in_order(open, filter, std::nullopt, [&](std::string_view id_key) {
        if ((found.is_partial = time.is_over())) return false;
        const auto row = read_row(open, id_key);
        if (!row || !matches(filter, *row) || (may_see && !may_see(*row))) return true;
        const auto same = std::ranges::find_if(found.groups, [&](const dead_group& each) {
            return each.webhook_id == row->webhook_id && each.error == row->last_error &&
                   each.status == row->last_status;
        });
        if (same != found.groups.end()) {
            ++same->count;
            same->first_ms = row->time_event_ms;
        } else if (found.groups.size() < limits::dead_groups_max) {
            found.groups.push_back({row->webhook_id, row->last_error, row->last_status, 1, row->time_event_ms,
                                    row->time_event_ms, row->id});
        } else {
            found.is_partial = true;
        }
        return true;
    });
    return found;
}

webhook_record record_of_webhook(const open_history& open, schemas::workspace_id workspace,
                                 schemas::webhook_id webhook, std::int64_t now_ms) {
    webhook_record record;
    const std::uint64_t id = webhook.value;
    if (const auto value = open.get(history_key('h').number(id).bytes()))
        if (auto recent = schemas::decode<schemas::recent_attempts>(*value)) {
            record.recent = std::move(recent->attempts);
            std::ranges::reverse(record.recent);
        }
    std::vector<std::uint64_t> buckets(schemas::latency_buckets);
    const std::string hours = history_key('l').number(id).bytes();
    const auto row = open.iterate();
    const std::int64_t day_ago_ms = std::max<std::int64_t>(0, now_ms - 24ll * 3'600'000);
    for (row->Seek(history_key().end(hours).short_number(unit_of(day_ago_ms, count_unit::hour)).bytes());
         row->Valid() && row->key().starts_with(hours); row->Next()) {
        const auto hour = schemas::decode<schemas::attempts_of_hour>(row->value().ToStringView());
        if (!hour) continue;
        record.succeeded += hour->succeeded;
        record.failed += hour->failed;
        for (std::size_t i = 0; i < std::min(buckets.size(), hour->total_us_buckets.size()); ++i)
            buckets[i] += hour->total_us_buckets[i];
    }
    record.p95_us = p95_of(buckets, record.succeeded + record.failed);
    const std::string counters =
        of_webhook('m', workspace, webhook).byte(static_cast<std::uint8_t>(count_unit::hour)).bytes();
    for (row->Seek(counters); row->Valid() && row->key().starts_with(counters); row->Next()) {
        const delivery_facts facts = facts_in(row->key().ToStringView().substr(counters.size() + 4));
        const std::uint64_t count = count_in(row->value().ToStringView());
        if (facts.state == delivery_state::waiting) record.waiting += count;
        if (facts.state == delivery_state::dead) record.dead += count;
        if (facts.state == delivery_state::held) record.held += count;
    }
    if (record.waiting > 0)
        record.oldest_waiting_ms = oldest_waiting(open, of_webhook('P', workspace, webhook).bytes());
    return record;
}

}  // namespace herald::storage::deliveries
