// Protects the deliveries of a backup: each is carried once, also when a leader shows an end that is too low,
// or a restore is cut off and begun again; and what is cut off leaves nothing behind.
#include <gtest/gtest.h>

#include <future>
#include <tuple>

#include "events/log/topics.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "schemas/binary.hpp"
#include "schemas/commands/all.hpp"
#include "storage/backup/backup_desk.hpp"
#include "storage/backup/limits.hpp"
#include "storage/backup/log_reading.hpp"
#include "storage/backup/make_backup.hpp"
#include "storage/backup/restore_backup.hpp"
#include "storage/embedded_log/embedded_log.hpp"
#include "storage/node/genesis.hpp"
#include "storage/registry/engine/engine.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/forwarding.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;
using events::log::partitioned_log;
using events::log::topic_partition;
using namespace storage::backup;

const topic_partition retried{std::string(events::log::topic::retry_5s), 3};

/// Its readers first say that nothing is there, as a newly elected leader may.
class late_log final : public forwarding_log {
  public:
    using forwarding_log::forwarding_log;
    std::unique_ptr<events::log::reader> open_reader(const topic_partition& where,
                                                     std::int64_t from) override {
        return std::make_unique<late_reader>(x_to.open_reader(where, from));
    }

  private:
    class late_reader final : public events::log::reader {
      public:
        explicit late_reader(std::unique_ptr<events::log::reader> to) : x_reader(std::move(to)) {}
        result<events::log::read_batch> poll(std::size_t records_max, std::int64_t wait_ms) override {
            if (x_polls++ < 3) return events::log::read_batch{{}, true};
            return x_reader->poll(std::min<std::size_t>(records_max, 2), wait_ms);
        }
        void on_ready(std::function<void()> notify) override { x_reader->on_ready(std::move(notify)); }

      private:
        const std::unique_ptr<events::log::reader> x_reader;
        int x_polls = 0;
    };
};

/// Takes only so many appends.
class ending_log final : public forwarding_log {
  public:
    ending_log(partitioned_log& to, int appends) : forwarding_log(to), x_left(appends) {}
    std::unique_ptr<events::log::producer> open_producer(events::log::producer_kind kind) override {
        return std::make_unique<ending_producer>(x_to.open_producer(kind), x_left);
    }

  private:
    class ending_producer final : public events::log::producer {
      public:
        ending_producer(std::unique_ptr<events::log::producer> to, int& left)
            : x_producer(std::move(to)), x_appends_left(left) {}
        result<void> append(const topic_partition& where, std::string key, std::optional<std::string> value,
                            events::log::append_handler handler) override {
            if (x_appends_left-- <= 0) return runtime::aborted("the log is gone");
            return x_producer->append(where, std::move(key), std::move(value), std::move(handler));
        }

      private:
        const std::unique_ptr<events::log::producer> x_producer;
        int& x_appends_left;
    };
    int x_left;
};

class backups : public testing::Test {
  protected:
    void SetUp() override {
        from = opened("from");
        storage::node::genesis_options options;
        options.admin_email = "admin@example.com";
        options.admin_key = "0123456789abcdef";
        const auto begun = storage::node::begin_log(*from, keys, options, *state->view(),
                                                    runtime::system_random(), runtime::system_clock());
        ASSERT_TRUE(begun) << begun.error().message;
        storage::registry::engine::engine engine(*state);
        for (const events::log::record& one : records_of(*from, {"registry.commands", 0}))
            ASSERT_TRUE(engine.apply(one));
        // The level begins with the first record behind GENESIS.
        auto second = schemas::commands::make_envelope(schemas::commands::no_operation{});
        second.log_id = begun->genesis.log_id;
        second.generation = begun->genesis.generation;
        second.not_after_ms = INT64_MAX;
        ASSERT_TRUE(engine.apply(
            events::log::record{1, runtime::system_clock().wall_ms(), "", seal_envelope(second)}));
        ASSERT_TRUE(engine.write());
    }

    std::unique_ptr<partitioned_log> opened(const std::string& name) {
        auto log = storage::embedded_log::make_embedded_log(folder / name, {}, runtime::system_clock());
        EXPECT_TRUE(log);
        EXPECT_TRUE((*log)->create_topics());
        return *std::move(log);
    }

    static std::vector<events::log::record> records_of(partitioned_log& log, const topic_partition& where) {
        std::vector<events::log::record> all;
        const auto range = range_of(log, where);
        EXPECT_TRUE(range);
        const auto read = each_record(log, where, range->first, range->next,
                                      [&](const events::log::record& one) -> result<void> {
                                          all.push_back(one);
                                          return {};
                                      });
        EXPECT_TRUE(read);
        return all;
    }

    static schemas::delivery delivery(int number) {
        schemas::delivery one;
        one.event.resource_id = std::to_string(number);
        one.event.generation = 1;
        return one;
    }

    void append(const topic_partition& where, const std::string& value) {
        std::promise<bool> done;
        const auto producer = from->open_producer(events::log::producer_kind::ordinary);
        ASSERT_TRUE(producer->append(where, "1", value,
                                     [&](const auto& offset) { done.set_value(offset.has_value()); }));
        ASSERT_TRUE(done.get_future().get());
    }
    void append_deliveries(int count) {
        for (int number = 0; number < count; ++number) append(retried, schemas::encode(delivery(number)));
    }

    result<backup_summary> restore(partitioned_log& to, const std::string& name = "one.backup",
                                   restored_deliveries chosen = {}) {
        return restore_backup(folder / name, to, keys, chosen, runtime::system_random(),
                              runtime::system_clock());
    }
    std::vector<std::string> carried(partitioned_log& log) {
        std::vector<std::string> ids;
        for (const events::log::record& one : records_of(log, retried))
            ids.push_back(schemas::decode<schemas::delivery>(*one.value)->event.resource_id);
        return ids;
    }

    temporary_folder folder;
    const runtime::key_ring keys = runtime::key_ring::of("k1", std::string(32, 'k'));
    std::unique_ptr<partitioned_log> from;
    std::unique_ptr<storage::registry::state::state_store> state =
        storage::registry::state::make_memory_state();
};

TEST_F(backups, hold_every_delivery_though_the_log_shows_an_end_that_is_too_low) {
    append_deliveries(7);
    late_log late(*from);
    const auto view = state->view();
    const auto made = make_backup({*view, late, {}, {}}, folder / "one.backup", 1);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->end.records, 7u);
    const auto to = opened("to");
    ASSERT_TRUE(restore(*to));
    EXPECT_EQ(carried(*to), (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "6"}));
}

TEST_F(backups, a_restore_that_was_cut_off_goes_on_and_carries_nothing_twice) {
    append_deliveries(6);
    append(retried, schemas::encode(delivery(5)));  // the same bytes once more are another record
    const auto view = state->view();
    ASSERT_TRUE(make_backup({*view, *from, {}, {}}, folder / "one.backup", 1));
    const auto to = opened("to");
    for (int appends = 0; appends < 12; ++appends) {
        ending_log ending(*to, appends);
        (void)restore(ending);
    }
    ASSERT_TRUE(restore(*to));
    EXPECT_EQ(carried(*to), (std::vector<std::string>{"0", "1", "2", "3", "4", "5", "5"}));
}

TEST_F(backups, a_restore_that_was_cut_off_does_not_go_on_with_another_backup_of_the_same_rows) {
    append_deliveries(3);
    const auto view = state->view();
    ASSERT_TRUE(make_backup({*view, *from, {}, {}}, folder / "one.backup", 1));
    append_deliveries(4);
    ASSERT_TRUE(make_backup({*view, *from, {}, {}}, folder / "two.backup", 1));
    const auto to = opened("to");
    ending_log ending(*to, 4);
    EXPECT_FALSE(restore(ending));
    const auto other = restore(*to, "two.backup");
    ASSERT_FALSE(other);
    EXPECT_EQ(other.error().code, error_code::failed_precondition);
    EXPECT_TRUE(restore(*to));
}

TEST_F(backups, a_restore_keeps_what_was_dead_or_has_it_tried_again_under_its_id) {
    const topic_partition dead{std::string(events::log::topic::dead), 0};
    const topic_partition direct{std::string(events::log::topic::direct), 0};
    schemas::delivery buried = delivery(1);
    buried.id = "its webhook-id";
    buried.webhook_id = {7};
    buried.attempts_made = 11;
    buried.first_attempt_ms = 5;
    buried.reason = "attempt 11 was the last";
    append(dead, schemas::encode(buried));
    append(dead, "no delivery");
    append_deliveries(1);
    const auto view = state->view();
    ASSERT_TRUE(make_backup({*view, *from, {}, {}}, folder / "one.backup", 1));
    const auto kept = opened("kept");
    ASSERT_TRUE(restore(*kept));
    EXPECT_EQ(records_of(*kept, dead).size(), 2u);
    EXPECT_TRUE(records_of(*kept, direct).empty());
    const auto tried = opened("tried");
    ASSERT_TRUE(restore(*tried, "one.backup", {.dead = dead_deliveries::tried_again}));
    EXPECT_EQ(carried(*tried), (std::vector<std::string>{"0"}));
    ASSERT_EQ(records_of(*tried, dead).size(), 1u);
    ASSERT_EQ(records_of(*tried, direct).size(), 1u);
    const auto again = schemas::decode<schemas::delivery>(*records_of(*tried, direct)[0].value);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->id, "its webhook-id");
    EXPECT_EQ(again->webhook_id.value, 7u);
    EXPECT_EQ(again->event.resource_id, "1");
    EXPECT_EQ(again->source, schemas::delivery_source::resend);
    EXPECT_EQ(again->attempts_made, 0u);
    EXPECT_EQ(again->reason, "");
}

TEST_F(backups, a_restore_that_was_cut_off_goes_on_with_what_was_dead_in_the_same_way_or_not_at_all) {
    const topic_partition dead{std::string(events::log::topic::dead), 0};
    const topic_partition direct{std::string(events::log::topic::direct), 0};
    for (int number = 0; number < 3; ++number) append(dead, schemas::encode(delivery(number)));
    const auto view = state->view();
    ASSERT_TRUE(make_backup({*view, *from, {}, {}}, folder / "one.backup", 1));
    const restored_deliveries kept, tried{.dead = dead_deliveries::tried_again};
    for (const auto& [name, first, other] : {std::tuple("a", kept, tried), std::tuple("b", tried, kept)}) {
        const auto to = opened(name);
        const auto count = [&] { return records_of(*to, dead).size() + records_of(*to, direct).size(); };
        for (int appends = 1; count() == 0; ++appends) {
            ending_log ending(*to, appends);
            ASSERT_FALSE(restore(ending, "one.backup", first));
        }
        const auto mixed = restore(*to, "one.backup", other);
        ASSERT_FALSE(mixed);
        EXPECT_EQ(mixed.error().code, error_code::failed_precondition);
        EXPECT_TRUE(restore(*to, "one.backup", first));
        EXPECT_EQ(count(), 3u);
    }
}

TEST_F(backups, one_that_is_stopped_leaves_no_file) {
    append_deliveries(3);
    std::stop_source stop;
    stop.request_stop();
    const auto view = state->view();
    const auto made = make_backup({*view, *from, {}, stop.get_token()}, folder / "one.backup", 1);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, error_code::aborted);
    for (const auto& each : fs::directory_iterator(folder.path()))
        EXPECT_TRUE(each.is_directory()) << each.path();
}

TEST_F(backups, two_that_are_written_to_one_name_are_one_whole_file_and_one_refusal) {
    backup_writer first(folder / "one.backup"), second(folder / "one.backup");
    ASSERT_TRUE(first.begin({}));
    ASSERT_TRUE(second.begin({}));
    ASSERT_TRUE(first.finish({}));
    const auto late = second.finish({});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, error_code::already_exists);
    EXPECT_TRUE(verify_backup(folder / "one.backup"));
}

TEST_F(backups, a_desk_makes_one_at_a_time_lists_them_and_keeps_no_more_than_its_bound) {
    const fs::path place = folder / "backups";
    std::promise<void> go;
    const std::shared_future<void> may_go(go.get_future());
    bool is_low = false;
    const auto desk =
        make_backup_desk({*state, *from, place, runtime::system_clock(), [&] { return is_low; },
                          [may_go](const auto&, backup_end& end, const std::stop_token&) -> result<void> {
                              may_go.wait();
                              end.artifacts_compared = true;
                              end.artifacts_lost = 1;
                              end.lost_artifacts = {"digest"};
                              return {};
                          }});
    const auto begun = desk->begin();
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->state, backup_state::running);
    EXPECT_EQ(desk->list()->front().state, backup_state::running);
    EXPECT_EQ(desk->begin().error().code, error_code::already_exists);
    go.set_value();
    const auto is_idle = [&] { return desk->list()->front().state == backup_state::done; };
    ASSERT_TRUE(eventually(is_idle));
    const backup_row row = desk->list()->front();
    EXPECT_EQ(row.name, begun->name);
    const auto whole = verify_backup(row.path);
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->end.content_digest, row.what.end.content_digest);
    EXPECT_EQ(row.what.end.lost_artifacts, std::vector<std::string>{"digest"});
    EXPECT_EQ(row.digest.size(), 32u);
    fs::resize_file(row.path, fs::file_size(row.path) - 1);
    EXPECT_EQ(desk->list()->front().state, backup_state::damaged);
    is_low = true;
    EXPECT_EQ(desk->begin().error().code, error_code::unavailable);
    is_low = false;
    for (std::size_t more = 1; more < limits::backups_kept_max; ++more)
        fs::copy_file(row.path, place / (std::to_string(more) + ".backup"));
    EXPECT_EQ(desk->begin().error().code, error_code::failed_precondition);
    EXPECT_EQ(desk->list()->size(), limits::backups_kept_max);
}

}  // namespace
}  // namespace herald::test
