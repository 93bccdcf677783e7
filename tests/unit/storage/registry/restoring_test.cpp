// Protects a restored installation: it has the parent's rows, all of them, before anything else happens in
// its log.
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/content.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/outbox.hpp"
#include "storage/registry/tables/timers.hpp"
#include "storage/registry/tables/webhooks.hpp"
#include "tests/support/registry.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using storage::registry::tables::content;
namespace tables = storage::registry::tables;

/// A log that continues that of a registry.
class continued {
  public:
    explicit continued(registry& parent) : x_parent(parent) {
        restore_rows piece;
        content::each_carried(*parent.view(), [&](std::string_view key, std::string_view value) {
            piece.rows.push_back({std::string(key), std::string(value)});
            if (piece.rows.size() == 5) add(piece);
            return true;
        });
        if (!piece.rows.empty()) add(piece);
        begin();
    }

    template <class Command>
    outcome run(const Command& command, std::string idempotency_key = {}) {
        request_identity who = request_of(admin);
        who.idempotency_key = std::move(idempotency_key);
        auto envelope = test::envelope_of(make_envelope(command), now_ms, std::move(who));
        envelope.log_id = x_log.log_id;
        envelope.generation = x_log.generation;
        const auto offset = static_cast<std::int64_t>(engine_of_log.position().next_offset);
        const auto applied =
            engine_of_log.apply(events::log::record{offset, now_ms, "", seal_envelope(envelope)});
        EXPECT_TRUE(applied);
        return applied->outcome;
    }
    void restore() {
        for (const restore_rows& piece : pieces) EXPECT_EQ(run(piece).code, 0u);
    }
    outcome end(bool paused = false) { return run(end_restore{pieces.size(), paused}); }
    std::shared_ptr<const storage::registry::state::state_view> view() {
        EXPECT_TRUE(engine_of_log.write());
        return store->view();
    }

    std::int64_t now_ms = 1'699'999'980'000;  // this machine's clock is 20 s behind the parent's
    std::vector<restore_rows> pieces;
    std::unique_ptr<storage::registry::state::state_store> store =
        storage::registry::state::make_memory_state();
    storage::registry::engine::engine engine_of_log{*store};

  private:
    void add(restore_rows& piece) {
        piece.piece = pieces.size();
        x_digest = content::digest_after(x_digest, piece.rows);
        pieces.push_back(std::exchange(piece, {}));
    }
    void begin() {
        x_log = registry::genesis();
        x_log.log_id[0] = 8;
        x_log.generation = 2;
        x_log.parent_log_id = "07";
        x_log.parent_time_ms = x_parent.now_ms + 50'000;
        x_log.snapshot_digest = x_digest;
        EXPECT_EQ(run(x_log).code, 0u);
    }

    registry& x_parent;
    genesis x_log;
    std::string x_digest;
};

void fill(registry& all) {
    const auto model = all.model_named("m");
    for (int i = 0; i < 20; ++i) all.version_named("v" + std::to_string(i), model.id);
    all.webhook_for({schemas::event_type::promote});
}

TEST(restoring, gives_the_content_of_the_parent) {
    registry parent;
    fill(parent);
    continued log(parent);
    log.restore();
    EXPECT_EQ(log.end().code, 0u);
    EXPECT_EQ(content::digest(*log.view()), content::digest(*parent.view()));
    EXPECT_TRUE(tables::restoring::find(*log.view())->is_done);
}

TEST(restoring, goes_on_where_it_was_cut_off) {
    registry parent;
    fill(parent);
    continued log(parent);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(log.run(log.pieces[i]).code, 0u);
    log.restore();
    EXPECT_EQ(log.end().code, 0u);
    log.restore();
    EXPECT_EQ(content::digest(*log.view()), content::digest(*parent.view()));
}

TEST(restoring, does_not_end_with_a_piece_missing_changed_or_out_of_order) {
    registry parent;
    fill(parent);
    continued log(parent);
    EXPECT_EQ(code_of(log.run(log.pieces[1])), error_code::failed_precondition);
    EXPECT_EQ(code_of(log.end()), error_code::failed_precondition);
    log.pieces[2].rows[0].value += "x";
    log.restore();
    EXPECT_EQ(code_of(log.end()), error_code::failed_precondition);
    EXPECT_FALSE(tables::restoring::find(*log.view())->is_done);
}

TEST(restoring, brings_no_row_that_is_of_the_parents_log) {
    registry parent;
    fill(parent);
    continued log(parent);
    restore_rows piece = log.pieces[0];
    piece.rows.push_back({"q", "\x07"});
    EXPECT_EQ(code_of(log.run(piece)), error_code::invalid_argument);
}

TEST(restoring, refuses_users_until_it_is_done) {
    registry parent;
    fill(parent);
    continued log(parent);
    log.restore();
    create_model command;
    command.workspace_name = "default";
    command.model.name = "n";
    EXPECT_EQ(code_of(log.run(command)), error_code::unavailable);
    log.end();
    EXPECT_EQ(log.run(command).code, 0u);
}

TEST(restoring, continues_the_parents_ids_and_time) {
    registry parent;
    fill(parent);
    continued log(parent);
    log.restore();
    log.end();
    EXPECT_GE(log.engine_of_log.position().time_ms, parent.now_ms + 50'000);
}

TEST(restoring, begins_the_revisions_of_webhooks_anew_so_that_a_change_is_a_higher_one) {
    registry parent;
    fill(parent);
    for (int i = 0; i < 100; ++i) parent.run(no_operation{});
    const auto hook = parent.webhook_for({schemas::event_type::promote});
    continued log(parent);
    log.restore();
    log.end();
    const auto restored = tables::webhooks::find(*log.view(), hook.id);
    ASSERT_TRUE(restored);
    EXPECT_LT(restored->revision, log.engine_of_log.position().next_offset);
    EXPECT_LT(restored->revision, hook.revision);
    std::size_t changes = 0;
    tables::webhooks::each_change(*log.view(), 1, [&](const auto&) { return ++changes > 0; });
    EXPECT_EQ(changes, 2u);
}

TEST(restoring, keeps_the_events_that_somebody_was_to_hear_until_their_time_is_over) {
    registry parent;
    parent.webhook_for({schemas::event_type::create});
    parent.model_named("m");
    const auto heard = parent.outbox();
    ASSERT_EQ(heard.size(), 1u);
    continued log(parent);
    log.restore();
    log.end();
    using tables::outbox;
    const auto earlier = [&] {
        std::vector<schemas::event> found;
        for (std::uint64_t partition = 0; partition < 4; ++partition)
            outbox::each_of(*log.view(), {"1/events.resource", partition}, 1,
                            [&](const schemas::event& event, std::string_view) {
                                found.push_back(event);
                                return true;
                            });
        return found;
    };
    ASSERT_EQ(earlier().size(), 1u);
    EXPECT_EQ(earlier().front().id, heard.front().id);
    EXPECT_EQ(earlier().front().audience, heard.front().audience);
    // The publisher has nothing to do with it.
    outbox::each_last(*log.view(), [](const auto& where, std::uint64_t) {
        EXPECT_EQ(where.topic.find('/'), where.topic.npos) << where.topic;
    });
    log.now_ms += 29ll * 24 * 3'600'000;
    for (int i = 0; i < 5; ++i) log.run(no_operation{});
    EXPECT_EQ(earlier().size(), 1u);
    for (int i = 0; i < 5; ++i) {
        log.now_ms += 24ll * 3'600'000;
        log.run(no_operation{});
    }
    EXPECT_EQ(earlier().size(), 0u);
}

TEST(restoring, leaves_the_audit_of_the_parent_alone_until_it_has_ended) {
    using tables::audit_rows;
    registry parent;
    fill(parent);
    const auto before = audit_rows::head(*parent.view());
    continued log(parent);
    log.end();  // too early
    log.restore();
    EXPECT_EQ(log.end().code, 0u);
    const auto after = audit_rows::head(*log.view());
    EXPECT_EQ(after.last, before.last + 1) << "only the end of the restore";
    EXPECT_EQ(after.first, before.first);
    std::size_t sweeps = 0;
    tables::timers::each(*log.view(), [&](const auto& one) {
        if (one.kind == tables::timer_kind::audit_sweep) ++sweeps;
        return true;
    });
    EXPECT_EQ(sweeps, 1u);
}

TEST(restoring, holds_deliveries_until_they_are_resumed) {
    registry parent;
    fill(parent);
    continued log(parent);
    log.restore();
    log.end(true);
    EXPECT_TRUE(tables::restoring::find(*log.view())->is_paused);
    EXPECT_EQ(log.run(resume_deliveries{}).code, 0u);
    EXPECT_FALSE(tables::restoring::find(*log.view())->is_paused);
}

TEST(restoring, refuses_signed_urls_until_it_is_done) {
    registry parent;
    fill(parent);
    continued log(parent);
    log.restore();
    set_artifact_bytes command;
    command.model_version_id.value = 1;
    command.key = "a";
    EXPECT_EQ(code_of(log.run(command)), error_code::unavailable);
    put_artifact_part part;
    part.model_version_id.value = 1;
    part.key = "a";
    EXPECT_EQ(code_of(log.run(part)), error_code::unavailable);
    log.end();
    EXPECT_EQ(code_of(log.run(command)), error_code::not_found);
}

}  // namespace
}  // namespace herald::test
