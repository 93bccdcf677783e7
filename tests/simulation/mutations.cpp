#include "tests/simulation/mutations.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "events/event_topic.hpp"
#include "events/subscriber_table.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/outbox_view.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/simulation/reference.hpp"
#include "tests/support/forwarding.hpp"
#include "workers/event_position.hpp"
#include "workers/retry_policy.hpp"

namespace herald::test {
namespace {

bool is_event_topic(std::string_view topic) {
    return std::ranges::find(events::event_topics, topic) != events::event_topics.end();
}

workers::event_position position_of(const std::optional<std::string>& value) {
    const auto event = schemas::decode<schemas::event>(value.value_or(""));
    if (!event) return {};
    return {event->generation, event->partition_sequence};
}

events::log::record tail_record(std::int64_t offset, const workers::event_position& position) {
    schemas::event event;
    event.generation = position.generation;
    event.partition_sequence = position.sequence;
    return {offset, 0, "", schemas::encode(event)};
}

std::uint32_t generation_of(const storage::registry::state::state_store& state) {
    const auto row = storage::registry::tables::find_row<schemas::commands::genesis>(
        *state.view(), storage::registry::tables::key_of(storage::registry::tables::table::installation));
    return row ? row->generation : 0;
}

// ---- the publisher's tails

/// Every partition continues after the highest sequence in any of them.
class one_cursor_for_all final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        if (!is_event_topic(where.topic)) return x_to.open_reader(where, from);
        workers::event_position highest;
        for (const std::string_view topic : events::event_topics)
            for (std::int32_t partition = 0; partition < events::log::partitions_default; ++partition)
                for (const events::log::record& record :
                     reference::read_all(x_to, {std::string(topic), partition}))
                    highest = std::max(highest, position_of(record.value));
        return std::make_unique<made_up_reader>(std::vector{tail_record(from, highest)});
    }
};

/// After an error it continues after what it has sent, whether that is in the log or not.
class tails_from_memory final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        return std::make_unique<remembering_producer>(x_to.open_producer(kind), x_sent);
    }
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (!x_sent->contains(where)) return x_to.query_range(where, std::move(handler));
        x_to.query_range(where, [handler](const auto& range) {
            handler(range ? result<events::log::offset_range>(events::log::offset_range{0, 1}) : range);
        });
    }
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        const auto sent = x_sent->find(where);
        if (sent == x_sent->end()) return x_to.open_reader(where, from);
        return std::make_unique<made_up_reader>(std::vector{tail_record(from, sent->second)});
    }

  private:
    using positions = std::map<events::log::topic_partition, workers::event_position>;
    class remembering_producer final : public events::log::producer {
      public:
        remembering_producer(std::unique_ptr<events::log::producer> to, std::shared_ptr<positions> sent)
            : x_to(std::move(to)), x_sent(std::move(sent)) {}
        result<void> append(const events::log::topic_partition& where, std::string key,
                            std::optional<std::string> value, events::log::append_handler handler) override {
            if (is_event_topic(where.topic)) (*x_sent)[where] = position_of(value);
            return x_to->append(where, std::move(key), std::move(value), std::move(handler));
        }

      private:
        std::unique_ptr<events::log::producer> x_to;
        std::shared_ptr<positions> x_sent;
    };
    std::shared_ptr<positions> x_sent = std::make_shared<positions>();
};

/// The sequence of a tail counts, whatever its generation.
class generation_ignored final : public forwarding_log {
  public:
    generation_ignored(events::log::partitioned_log& to, const storage::registry::state::state_store& state)
        : forwarding_log(to), x_state(state) {}
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        if (!is_event_topic(where.topic)) return x_to.open_reader(where, from);
        std::vector<events::log::record> records = reference::read_all(x_to, where);
        if (records.empty()) return x_to.open_reader(where, from);
        const workers::event_position last = position_of(records.back().value);
        return std::make_unique<made_up_reader>(
            std::vector{tail_record(records.back().offset, {generation_of(x_state), last.sequence})});
    }

  private:
    const storage::registry::state::state_store& x_state;
};

// ---- the publisher's producer

/// Several batches are in flight at once: when one is rejected, the next may be accepted.
class many_in_flight final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind) override {
        return x_to.open_producer(events::log::producer_kind::ordinary);
    }
};

/// An error does not lead to a new producer: the next rows are sent through the old one.
class errors_ignored final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        if (kind != events::log::producer_kind::strict) return x_to.open_producer(kind);
        return std::make_unique<deaf_producer>(x_to.open_producer(events::log::producer_kind::ordinary));
    }

  private:
    class deaf_producer final : public events::log::producer {
      public:
        explicit deaf_producer(std::unique_ptr<events::log::producer> to) : x_to(std::move(to)) {}
        result<void> append(const events::log::topic_partition& where, std::string key,
                            std::optional<std::string> value, events::log::append_handler handler) override {
            return x_to->append(where, std::move(key), std::move(value),
                                [handler](const result<std::int64_t>& done) { handler(done ? *done : -1); });
        }

      private:
        std::unique_ptr<events::log::producer> x_to;
    };
};

// ---- `subscribers`

/// The head is sent first, and the rows that it counts only when it is acknowledged.
class head_before_rows final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        auto inner = x_to.open_producer(kind);
        if (kind != events::log::producer_kind::strict) return inner;
        return std::make_unique<hasty_producer>(std::move(inner));
    }

  private:
    struct row {
        std::string key;
        std::optional<std::string> value;
    };
    class hasty_producer final : public events::log::producer {
      public:
        explicit hasty_producer(std::unique_ptr<events::log::producer> to) : x_to(std::move(to)) {}
        result<void> append(const events::log::topic_partition& where, std::string key,
                            std::optional<std::string> value, events::log::append_handler handler) override {
            if (where.topic != events::log::topic::subscribers)
                return x_to->append(where, std::move(key), std::move(value), std::move(handler));
            if (key != events::subscribers_head_key) {
                x_rows.push_back({std::move(key), std::move(value)});
                handler(-1);
                return {};
            }
            return x_to->append(where, std::move(key), std::move(value),
                                [this, where, handler](const result<std::int64_t>& done) {
                                    for (row& each : std::exchange(x_rows, {}))
                                        if (done)
                                            (void)x_to->append(where, std::move(each.key),
                                                               std::move(each.value), [](const auto&) {});
                                    handler(done);
                                });
        }

      private:
        std::vector<row> x_rows;
        std::unique_ptr<events::log::producer> x_to;  // destroyed first: its handlers use the rows
    };
};

/// A new holder of the claim assumes that `subscribers` equals the state.
class subscribers_not_compared final : public forwarding_log {
  public:
    subscribers_not_compared(events::log::partitioned_log& to,
                             const storage::registry::state::state_store& state)
        : forwarding_log(to), x_state(state) {}
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (where.topic != events::log::topic::subscribers)
            return x_to.query_range(where, std::move(handler));
        x_to.query_range(where, [handler](const auto& range) {
            handler(range ? result<events::log::offset_range>(events::log::offset_range{0, 1}) : range);
        });
    }
    std::unique_ptr<events::log::reader> open_reader(const events::log::topic_partition& where,
                                                     std::int64_t from) override {
        if (where.topic != events::log::topic::subscribers) return x_to.open_reader(where, from);
        const storage::node::outbox_view outbox(x_state);
        std::vector<events::log::record> content;
        for (const schemas::subscriber& row : outbox.subscribers())
            content.push_back({0, 0, events::subscriber_key(row.webhook_id), schemas::encode(row)});
        const schemas::subscribers_head head{outbox.generation(), outbox.last_subscriber_change()};
        content.push_back({0, 0, std::string(events::subscribers_head_key), schemas::encode(head)});
        return std::make_unique<made_up_reader>(std::move(content));
    }

  private:
    const storage::registry::state::state_store& x_state;
};

// ---- the outbox

/// Only the newest rows of a partition are kept, published or not.
class rows_trimmed_early final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;
    std::shared_ptr<const storage::registry::state::state_view> view() const override {
        return std::make_shared<trimmed_view>(x_to.view());
    }

  private:
    static constexpr std::uint64_t rows_kept = 2;
    class trimmed_view final : public storage::registry::state::state_view {
      public:
        explicit trimmed_view(std::shared_ptr<const storage::registry::state::state_view> of)
            : x_of(std::move(of)) {}
        bool read(std::string_view key, const storage::registry::state::row_reader& reader) const override {
            return x_of->read(key, reader);
        }
        void scan(std::string_view prefix, std::string_view from,
                  const storage::registry::state::row_visitor& visit) const override {
            if (!prefix.starts_with(static_cast<char>(storage::registry::tables::table::outbox)))
                return x_of->scan(prefix, from, visit);
            x_of->scan(prefix, from, [&](std::string_view key, std::string_view value) {
                std::string counter(key.substr(0, key.size() - 8));
                counter.front() = static_cast<char>(storage::registry::tables::table::outbox_sequence);
                const std::uint64_t last = storage::registry::tables::find_number(*x_of, counter).value_or(0);
                if (schemas::read_big_endian(key.substr(key.size() - 8)) + rows_kept <= last) return true;
                return visit(key, value);
            });
        }

      private:
        std::shared_ptr<const storage::registry::state::state_view> x_of;
    };
};

// ---- the consumers

/// No record in a retry topic is known to be younger than another.
class end_not_asked final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    void query_range(const events::log::topic_partition& where, events::log::range_handler handler) override {
        if (workers::delay_of(where.topic) == 0) return x_to.query_range(where, std::move(handler));
        handler(events::log::offset_range{0, INT64_MAX});
    }
};

/// What the member does with each of its events; false: the worker does not get it.
using member_filter = std::function<bool(events::log::member_event&)>;

class filtered_groups final : public forwarding_log {
  public:
    filtered_groups(events::log::partitioned_log& to, std::function<member_filter()> make_filter)
        : forwarding_log(to), x_make_filter(std::move(make_filter)) {}
    std::unique_ptr<events::log::group_member> join(const std::string& group,
                                                    const std::vector<std::string>& topics) override {
        auto member = x_to.join(group, topics);
        if (group != events::log::group::events) return member;
        return std::make_unique<filtered_member>(std::move(member), x_make_filter());
    }

  private:
    class filtered_member final : public forwarding_member {
      public:
        filtered_member(std::unique_ptr<events::log::group_member> to, member_filter filter)
            : forwarding_member(std::move(to)), x_filter(std::move(filter)) {}
        std::vector<events::log::member_event> poll(std::size_t events_max, std::int64_t wait_ms) override {
            auto found = x_to->poll(events_max, wait_ms);
            std::erase_if(found, [this](events::log::member_event& event) { return !x_filter(event); });
            return found;
        }

      private:
        member_filter x_filter;
    };
    std::function<member_filter()> x_make_filter;
};

member_filter position_forgotten() {
    return [](events::log::member_event& event) {
        if (auto* got = std::get_if<events::log::assigned>(&event)) got->metadata.clear();
        return true;
    };
}

member_filter gaps_dropped() {
    const auto last = std::make_shared<std::map<events::log::topic_partition, workers::event_position>>();
    return [last](events::log::member_event& event) {
        if (const auto* got = std::get_if<events::log::assigned>(&event))
            (*last)[got->where] = workers::position_from_text(got->metadata);
        const auto* what = std::get_if<events::log::consumed>(&event);
        if (!what) return true;
        workers::event_position& here = (*last)[what->where];
        const workers::event_position next = position_of(what->what.value);
        if (workers::judge(here, next) == workers::arrival::after_gap) return false;
        here = std::max(here, next);
        return true;
    };
}

member_filter audience_of_the_moment(const storage::registry::state::state_store& state) {
    return [&state](events::log::member_event& event) {
        auto* what = std::get_if<events::log::consumed>(&event);
        auto content = schemas::decode<schemas::event>(what ? what->what.value.value_or("") : "");
        if (!what || !content) return true;
        content->audience.clear();
        storage::registry::tables::webhooks::each(*state.view(), [&](const schemas::webhook& hook) {
            if (wants(hook, content->type, content->resource_type))
                content->audience.push_back({hook.id, false});
            return true;
        });
        what->what.value = schemas::encode(*content);
        return true;
    };
}

member_filter place_of_the_moment() {
    return [](events::log::member_event& event) {
        auto* what = std::get_if<events::log::consumed>(&event);
        auto content = schemas::decode<schemas::event>(what ? what->what.value.value_or("") : "");
        if (!what || !content) return true;
        for (schemas::audience_member& member : content->audience) member.revision = 0;
        what->what.value = schemas::encode(*content);
        return true;
    };
}

// ---- all of them

template <class Log>
std::unique_ptr<events::log::partitioned_log> on(events::log::partitioned_log& log,
                                                 const storage::registry::state::state_store&) {
    return std::make_unique<Log>(log);
}
template <class Log>
std::unique_ptr<events::log::partitioned_log> on_both(events::log::partitioned_log& log,
                                                      const storage::registry::state::state_store& state) {
    return std::make_unique<Log>(log, state);
}

mutation of_node(std::string_view name, std::string_view what, mutation::log_wrapper wrap) {
    return {name, what, std::move(wrap), same_log, same_store};
}
mutation of_worker(std::string_view name, std::string_view what,
                   std::function<member_filter(const storage::registry::state::state_store&)> make) {
    const auto wrap = [make](events::log::partitioned_log& log,
                             const storage::registry::state::state_store& state)
        -> std::unique_ptr<events::log::partitioned_log> {
        return std::make_unique<filtered_groups>(log, [make, &state] { return make(state); });
    };
    return {name, what, same_log, wrap, same_store};
}

std::vector<mutation> publishing_mutations() {
    return {
        {"", "nothing is broken"},
        of_node("one-cursor-for-all", "all partitions go on after the highest sequence of any",
                on<one_cursor_for_all>),
        of_node("tails-from-memory",
                "after an error the publisher goes on behind what it sent, not behind the tail",
                on<tails_from_memory>),
        of_node("generation-ignored", "the tail of an earlier generation counts as one of this",
                on_both<generation_ignored>),
        of_node("many-in-flight", "several batches of the publisher are on the way at once",
                on<many_in_flight>),
        of_node("errors-ignored", "after an error the publisher goes on with the same producer",
                on<errors_ignored>),
        of_node("head-before-rows", "the head of subscribers is written before the rows",
                on<head_before_rows>),
        of_node("subscribers-not-compared", "who takes the claim does not compare subscribers with the state",
                on_both<subscribers_not_compared>),
        {"rows-trimmed-early", "outbox rows are dropped before they are published", same_log, same_log,
         [](storage::registry::state::state_store& store)
             -> std::unique_ptr<storage::registry::state::state_store> {
             return std::make_unique<rows_trimmed_early>(store);
         }},
        of_worker("position-forgotten", "consumers do not keep the last sequence with their offset",
                  [](const auto&) { return position_forgotten(); }),
        {"end-not-asked", "what the log's time makes look old is handed on, whenever it was appended",
         same_log, on<end_not_asked>, same_store},
        of_worker("gaps-dropped", "consumers drop an event that comes after a gap",
                  [](const auto&) { return gaps_dropped(); }),
        of_worker("place-of-the-moment",
                  "an event goes to the place that its webhook has as far as the worker knows",
                  [](const auto&) { return place_of_the_moment(); }),
        of_worker(
            "audience-of-the-moment", "who hears of an event is decided when it is delivered",
            [](const storage::registry::state::state_store& state) { return audience_of_the_moment(state); }),
    };
}

}  // namespace

std::unique_ptr<events::log::partitioned_log> same_log(events::log::partitioned_log& log,
                                                       const storage::registry::state::state_store&) {
    return std::make_unique<forwarding_log>(log);
}
std::unique_ptr<storage::registry::state::state_store> same_store(
    storage::registry::state::state_store& store) {
    return std::make_unique<forwarding_store>(store);
}

const std::vector<mutation>& all_mutations() {
    static const std::vector<mutation> all = [] {
        std::vector<mutation> both = publishing_mutations();
        std::ranges::move(log_rule_mutations(), std::back_inserter(both));
        return both;
    }();
    return all;
}

std::unique_ptr<events::log::partitioned_log> losing_positions(events::log::partitioned_log& log,
                                                               dice& chance) {
    return std::make_unique<filtered_groups>(log, [&chance]() -> member_filter {
        return [&chance](events::log::member_event& event) {
            auto* got = std::get_if<events::log::assigned>(&event);
            if (got && chance.one_in(3)) got->metadata.clear();
            return true;
        };
    });
}

const mutation& mutation_named(std::string_view name) {
    const auto found = std::ranges::find(all_mutations(), name, &mutation::name);
    if (found == all_mutations().end())
        throw std::invalid_argument("there is no mutation " + std::string(name));
    return *found;
}

}  // namespace herald::test
