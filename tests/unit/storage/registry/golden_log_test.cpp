// Protects P5 in a rolling upgrade: every version makes the same rows of the same records, up to the letters
// of an error, until a level lets it do otherwise (schemas/commands/level.hpp).
//
// The golden log holds every command, every refusal of a rule, every timer and every kind of event that apply
// emits. golden_log.txt has a line for each of its records: digests of the record and of the state after it,
// the letters of the tables that it wrote to (storage/registry/tables/tables.hpp), and in words what the
// record is and what became of it. The state's digest is the rolling hash of the engine, which covers every
// row: stored outcomes, indexes, timers, and events with their bodies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "runtime/crypto.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/tables/tables.hpp"
#include "storage/registry/tables/timers.hpp"
#include "tests/support/frozen.hpp"
#include "tests/support/named_values.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace storage::registry;
using namespace storage::registry::tables;

/// Rows in memory; tells what was written last.
class watched_state final : public state::state_store {
  public:
    state::row_changes newest;

    result<void> write(const state::row_changes& changes) override {
        newest = changes;
        newest.erase(std::string(key_of(table::position)));
        return x_rows->write(changes);
    }
    std::shared_ptr<const state::state_view> view() const override { return x_rows->view(); }

  private:
    std::unique_ptr<state::state_store> x_rows = state::make_memory_state();
};

/// What became of a record.
struct replayed {
    golden_record told;
    std::string digest;  // of the record
    std::string hash;    // of the state after it
    schemas::commands::command_type type{};
    schemas::commands::outcome outcome;
    std::set<char> tables;
    std::set<schemas::event_type> events;
    std::set<timer_kind> fired;
};

std::string short_hex(std::string_view bytes) { return runtime::to_hex(bytes.substr(0, 8)); }

/// Of the events and timers among the rows that a record wrote.
void note_effects(const state::row_changes& rows, std::int64_t now_ms, replayed& record) {
    for (const auto& [key, row] : rows) {
        record.tables.insert(key.front());
        if (key.front() == static_cast<char>(table::outbox) && row)
            record.events.insert(decode_row<schemas::event>(key, *row).type);
        const bool is_timer = key.front() == static_cast<char>(table::timer);
        if (is_timer && !row && static_cast<std::int64_t>(number_in_key(key)) <= now_ms)
            record.fired.insert(static_cast<timer_kind>(key[9]));  // else it was cancelled
    }
}

/// How long an engine lives: what it remembers from one record to the next must change nothing.
enum class engine_life : std::uint8_t { the_whole_log, one_record };

std::vector<replayed> replay(engine_life life = engine_life::the_whole_log) {
    watched_state rows;
    auto node = std::make_unique<engine::engine>(rows);
    std::vector<replayed> log;
    for (golden_record& told : golden_story()) {
        if (!told.rows.empty()) EXPECT_TRUE(rows.write(told.rows));
        if (!told.rows.empty() || life == engine_life::one_record)
            node = std::make_unique<engine::engine>(rows);
        const auto applied = node->apply(told.record);
        EXPECT_TRUE(applied) << "the engine stops at record " << log.size() << ", " << told.what << ": "
                             << applied.error().message;
        if (!applied || !node->write()) break;
        replayed& record = log.emplace_back();
        record.digest = short_hex(node->position().last_record_hash);
        record.hash = short_hex(node->position().hash);
        record.type = applied->type;
        record.outcome = applied->outcome;
        note_effects(rows.newest, node->position().time_ms, record);
        record.told = std::move(told);
    }
    return log;
}

template <class Enum>
std::string_view name_in(Enum wanted) {
    for (const auto& one : named_values<Enum>())
        if (one.value == wanted) return one.name;
    return "?";
}

/// "done", or why it was refused; and what else happened.
std::string ending_of(const replayed& record) {
    std::string text = "done";
    if (record.outcome.code != 0)
        text = std::string(runtime::name_of(static_cast<error_code>(record.outcome.code))) + ": " +
               record.outcome.message;
    for (const schemas::event_type type : record.events)
        text += "; tells " + std::string(schemas::name_of(type));
    for (const timer_kind kind : record.fired) text += "; fires " + std::string(name_in(kind));
    return text;
}

/// A line of golden_log.txt.
struct golden_line {
    std::string digest;  // "record 0123456789abcdef"
    std::string state;   // "state 0123456789abcdef in CMN"
    std::string words;

    bool operator==(const golden_line&) const = default;
    std::string text() const { return digest + ", " + state + ": " + words; }
};

golden_line line_of(const replayed& record, std::size_t offset) {
    return {std::to_string(offset) + " record " + record.digest,
            "state " + record.hash + " in " + std::string(record.tables.begin(), record.tables.end()),
            record.told.what + " -> " + ending_of(record)};
}

golden_line parsed(const std::string& text) {
    const std::size_t comma = text.find(", "), colon = text.find(": ", comma);
    if (comma == text.npos || colon == text.npos) return {"", "", text};
    return {text.substr(0, comma), text.substr(comma + 2, colon - comma - 2), text.substr(colon + 2)};
}

std::vector<golden_line> golden_lines() {
    std::vector<golden_line> lines;
    std::ifstream in(HERALD_GOLDEN_LOG);
    for (std::string line; std::getline(in, line);)
        if (!line.starts_with('#')) lines.push_back(parsed(line));
    return lines;
}

void renew(const std::vector<replayed>& log) {
    std::ofstream out(HERALD_GOLDEN_LOG);
    out << "# The golden log: what each of its records does (golden_log_test.cpp, which also writes this\n"
           "# file). A line changes only while nothing is released.\n";
    for (std::size_t i = 0; i < log.size(); ++i) out << line_of(log[i], i).text() << "\n";
}

/// What a difference means, and what to do.
std::string meaning_of(const golden_line& frozen, const golden_line& now) {
    const std::string renewal =
        std::string("set ") + renews_frozen_bytes + "=1, run this test, and read the difference";
    if (frozen.digest.empty()) return "The record is new. If it was added at the end: " + renewal + ".";
    if (frozen.digest != now.digest)
        return "The record itself has other bytes: its command is encoded otherwise, or the golden log was "
               "changed before its end. Logs hold the old bytes for ever: every version must read them.";
    if (frozen.state != now.state)
        return "This program makes other rows of the same record, so that in a rolling upgrade its nodes and "
               "those of the version before would have different states. What changes a row, a timer, an "
               "index, an event's body or an error's text must ask for the level in force, "
               "rule_context::level(), and do as before below the new one (ARCHITECTURE.md \"Two versions at "
               "one log\"). While nothing is released: " +
               renewal + ".";
    return "The state is the same: only words differ, of the golden log or of an answer that is not stored. "
           "That splits nothing: " +
           renewal + ".";
}

TEST(golden_log, makes_the_same_rows_of_every_record_in_every_build) {
    const std::vector<replayed> log = replay();
    if (std::getenv(renews_frozen_bytes) != nullptr) {
        renew(log);
        GTEST_SKIP() << HERALD_GOLDEN_LOG << " is written anew";
    }
    const std::vector<golden_line> frozen = golden_lines();
    for (std::size_t i = 0; i < log.size(); ++i) {
        const golden_line now = line_of(log[i], i), then = i < frozen.size() ? frozen[i] : golden_line{};
        ASSERT_TRUE(now == then) << "The first record of the golden log that differs:\n  frozen: "
                                 << then.text() << "\n  now:    " << now.text() << "\n"
                                 << meaning_of(then, now);
    }
    EXPECT_EQ(log.size(), frozen.size()) << "records are gone from the golden log";
}

TEST(golden_log, makes_the_same_rows_in_a_node_that_starts_anew_before_each_record) {
    const std::vector<replayed> log = replay(), started_anew = replay(engine_life::one_record);
    ASSERT_EQ(log.size(), started_anew.size());
    for (std::size_t i = 0; i < log.size(); ++i)
        ASSERT_EQ(line_of(log[i], i).text(), line_of(started_anew[i], i).text());
}

TEST(golden_log, says_of_each_record_whether_it_succeeds) {
    for (const replayed& record : replay())
        EXPECT_EQ(record.told.expected == ending::done, record.outcome.code == 0)
            << record.told.what << " -> " << ending_of(record);
}

/// Kinds that apply never emits.
const std::map<schemas::event_type, std::string_view> never_emitted{
    {schemas::event_type::read, "the node that served a read sends them itself"},
};

/// Commands that succeed only in a log that continues another one (restoring_test.cpp).
const std::set<schemas::commands::command_type> only_with_a_parent{schemas::commands::restore_rows::type,
                                                                   schemas::commands::end_restore::type};

TEST(golden_log, holds_every_command_timer_kind_of_event_and_table) {
    std::set<schemas::commands::command_type> succeeded;
    std::set<schemas::event_type> emitted;
    std::set<timer_kind> fired;
    std::set<char> written{static_cast<char>(table::position)};  // with every batch
    for (const replayed& record : replay()) {
        if (record.outcome.code == 0) succeeded.insert(record.type);
        emitted.insert(record.events.begin(), record.events.end());
        fired.insert(record.fired.begin(), record.fired.end());
        written.insert(record.tables.begin(), record.tables.end());
    }
    for (const auto& command : schemas::commands::command_table())
        EXPECT_NE(succeeded.contains(command.type), only_with_a_parent.contains(command.type))
            << "no " << command.name << " that succeeds";
    for (const auto& kind : named_values<timer_kind>())
        EXPECT_TRUE(fired.contains(kind.value)) << "no timer " << kind.name << " that fires";
    for (const auto& kind : schemas::event_kinds)
        EXPECT_NE(emitted.contains(kind.type), never_emitted.contains(kind.type)) << "events " << kind.name;
    for (const auto& one : named_values<table>())
        EXPECT_TRUE(written.contains(static_cast<char>(one.value))) << "no row of the table " << one.name;
}

TEST(golden_log, has_a_chapter_for_every_level) {
    std::uint32_t level = schemas::commands::first_level;
    for (const replayed& record : replay())
        if (record.type == schemas::commands::raise_level::type && record.outcome.code == 0) {
            const auto opened = schemas::commands::open_envelope(*record.told.record.value);
            level = std::max(level, schemas::decode<schemas::commands::raise_level>(opened->body)->to);
        }
    EXPECT_EQ(level, schemas::commands::newest_level + 1)
        << "the golden log goes through every level of this program, and ends with the raise to the next";
}

}  // namespace
}  // namespace herald::test
