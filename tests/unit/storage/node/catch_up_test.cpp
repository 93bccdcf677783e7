// Protects a start from the log: batches that are written beside, and records that are opened ahead, give the
// rows, outcomes and hash of one record after the other (P5), whatever the disk does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "storage/node/limits.hpp"
#include "storage/node/replica.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/position.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/busy_log.hpp"
#include "tests/support/forwarding.hpp"
#include "tests/support/manual_scheduler.hpp"
#include "tests/support/prepared_log.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::node;
using namespace storage::registry::state;

/// May be written beside; fails some writes as a full disk does.
class store_beside final : public forwarding_store {
  public:
    store_beside(state_store& to, unsigned failing) : forwarding_store(to), x_failing(failing) {}
    result<void> write(const row_changes& changes) override {
        ++writes;
        if (x_failing > 0 && writes % x_failing == 0) return runtime::unavailable("the disk is full");
        return forwarding_store::write(changes);
    }
    bool is_written_beside() const noexcept override { return true; }

    unsigned writes = 0;

  private:
    const unsigned x_failing;
};

/// Counts what is written.
class counting_store final : public forwarding_store {
  public:
    using forwarding_store::forwarding_store;
    result<void> write(const row_changes& changes) override {
        rows += changes.size();
        rows_at_once = std::max(rows_at_once, changes.size());
        return forwarding_store::write(changes);
    }

    std::size_t rows = 0;
    std::size_t rows_at_once = 0;
};

std::map<std::string, std::string> rows_of(const state_store& store) {
    std::map<std::string, std::string> all;
    store.view()->scan({}, {}, [&](std::string_view key, std::string_view value) {
        all.emplace(key, value);
        return true;
    });
    return all;
}

struct replayed {
    std::string hash;
    std::vector<std::uint32_t> outcomes;
    std::map<std::string, std::string> rows;
    bool was_visible = true;      // each record, when it was told
    bool was_told_before = true;  // who makes routes, of each state before anybody could read it
    std::uint64_t told_of = 0;    // the newest offset that it was told of
};

/// The state shown is that of its position, and the record has its effect in it.
bool shows(const applied_state& newest, const storage::registry::engine::applied_record& record) {
    const auto position = storage::registry::tables::positions::find(*newest.view);
    if (!position || position->hash != newest.position.hash || position->next_offset <= record.offset)
        return false;
    if (record.outcome.code != 0 || record.type != schemas::commands::create_version::type) return true;
    const auto made = schemas::decode<schemas::model_version>(record.outcome.body);
    return storage::registry::tables::versions::find(*newest.view, made->id).has_value();
}

replayed replay(const busy_log& what, unsigned failing) {
    const auto rows = make_memory_state();
    store_beside store(*rows, failing);
    prepared_log log(what.records);
    manual_scheduler scheduler;
    replayed done;
    const replica* told_by = nullptr;
    replica all(log, store, scheduler.clock(), "a",
                {[&](storage::registry::engine::applied_record& record) {
                     done.outcomes.push_back(record.outcome.code);
                     done.was_visible &= shows(*told_by->newest(), record);
                 },
                 [](const written_tables&) {},
                 {},
                 [&](const applied_state& next, const storage::registry::tables::serving_changes&) {
                     done.told_of = next.offset();
                     done.was_told_before &= told_by->newest()->offset() < next.offset();
                 }});
    told_by = &all;
    for (unsigned rounds = 0; done.outcomes.size() < what.records.size() && rounds < 1'000; ++rounds)
        EXPECT_TRUE(std::holds_alternative<replica::progress>(all.advance(0)));
    done.hash = all.newest()->position.hash;
    done.rows = rows_of(*rows);
    return done;
}

TEST(catch_up, comes_to_what_one_record_after_the_other_comes_to) {
    const busy_log log = make_busy_log(3 * limits::apply_records_max + 500);
    const replayed beside = replay(log, 0);
    EXPECT_EQ(beside.outcomes, log.outcomes);
    EXPECT_EQ(beside.hash, log.hash);
    EXPECT_TRUE(beside.was_visible);
    EXPECT_TRUE(beside.was_told_before);
    EXPECT_EQ(beside.told_of, log.records.size() - 1);
    EXPECT_GT(std::ranges::count_if(log.outcomes, [](std::uint32_t code) { return code != 0; }), 100)
        << "rights matter in this log";
}

TEST(catch_up, loses_nothing_when_writes_fail) {
    const busy_log log = make_busy_log(3 * limits::apply_records_max + 500);
    const replayed whole = replay(log, 0);
    for (const unsigned failing : {2u, 3u}) {
        const replayed patched = replay(log, failing);
        EXPECT_EQ(patched.outcomes, log.outcomes) << failing;
        EXPECT_EQ(patched.hash, log.hash) << failing;
        EXPECT_EQ(patched.rows, whole.rows) << failing;
        EXPECT_TRUE(patched.was_visible) << failing;
    }
}

TEST(catch_up, tells_of_an_unsafe_report_though_the_same_write_erases_the_build) {
    registry all;  // makes the envelopes, and says what comes of them
    all.offset = 0;
    std::vector<events::log::record> records;
    registry answers;
    const auto add = [&](const auto& command) {
        records.push_back(all.record_of(all.envelope_of(admin, command)));
    };
    add(registry::genesis());
    schemas::commands::create_model model;
    model.workspace_name = "default";
    model.model.name = "m";
    add(model);
    schemas::commands::create_version version;
    version.registered_model_id = answers.must<schemas::registered_model>(model).id;
    version.version.version = "v";
    add(version);
    schemas::commands::create_build build;
    build.workspace_name = "default";
    build.model_version_id = answers.must<schemas::model_version>(version).id;
    build.external_location = "registry.example.org/m:1";
    build.creator_request.text = "{}";
    add(build);
    const auto made = answers.must<schemas::build>(build);
    for (const auto safety : {schemas::safety_status::safe, schemas::safety_status::unsafe}) {
        schemas::commands::report_scan report;
        report.workspace_name = "default";
        report.build_id = made.id;
        report.scan_status = schemas::scan_status::scanned;
        report.safety_status = safety;
        if (safety == schemas::safety_status::safe) {
            schemas::commands::request_scan request;
            request.workspace_name = "default";
            request.build_id = made.id;
            add(request);
        }
        add(report);
    }
    schemas::commands::delete_version gone;
    gone.id = build.model_version_id;
    add(gone);
    for (int i = 0; i < 3; ++i) add(schemas::commands::no_operation{});  // what hangs on it goes by timers

    const auto rows = make_memory_state();
    prepared_log log(std::move(records));
    manual_scheduler scheduler;
    std::vector<storage::registry::tables::serving_changes> told;
    bool is_there = true;
    replica one(log, *rows, scheduler.clock(), "a",
                {[](auto& done) { EXPECT_EQ(done.outcome.code, 0u) << done.outcome.message; },
                 [](const written_tables&) {},
                 {},
                 [&](const applied_state& next, const storage::registry::tables::serving_changes& what) {
                     told.push_back(what);
                     is_there = storage::registry::tables::builds::find(*next.view, made.id).has_value();
                 }});
    EXPECT_TRUE(std::holds_alternative<replica::progress>(one.advance(0)));
    ASSERT_EQ(told.size(), 1u) << "the test would show nothing";
    ASSERT_FALSE(is_there) << "the test would show nothing";
    ASSERT_EQ(told[0].unsafe_reports.size(), 1u) << "a safe report is none";
    EXPECT_EQ(told[0].unsafe_reports[0].build, made.id);
    EXPECT_TRUE(told[0].unsafe_reports[0].scan);
}

TEST(catch_up, writes_much_that_short_records_change_in_bounded_batches) {
    registry all;  // makes the envelopes
    all.offset = 0;
    std::vector<events::log::record> records;
    const auto add = [&](const auto& command) {
        records.push_back(all.record_of(all.envelope_of(admin, command)));
    };
    add(registry::genesis());
    schemas::commands::create_model model;
    model.workspace_name = "default";
    model.model.name = "m";
    add(model);
    for (int i = 0; i < 400; ++i) {
        schemas::commands::create_version version;
        version.registered_model_id.value = 1;
        version.version.version = "v" + std::to_string(i);
        for (int j = 0; j < 256; ++j)  // each an entry and a count
            version.version.labels.push_back(std::to_string(i) + "." + std::to_string(j));
        add(version);
    }
    std::size_t bytes = 0;
    for (const auto& each : records) bytes += each.value->size();
    ASSERT_LT(bytes, limits::apply_batch_bytes_max) << "the test would show nothing";
    const auto rows = make_memory_state();
    counting_store store(*rows);
    prepared_log log(std::move(records));
    manual_scheduler scheduler;
    replica one(log, store, scheduler.clock(), "a", {[](auto&) {}, [](const written_tables&) {}, {}, {}});
    EXPECT_TRUE(std::holds_alternative<replica::progress>(one.advance(0)));
    EXPECT_GT(store.rows, limits::apply_batch_rows_max) << "the test would show nothing";
    EXPECT_LT(store.rows_at_once, limits::apply_batch_rows_max + 2'000);
}

}  // namespace
}  // namespace herald::test
