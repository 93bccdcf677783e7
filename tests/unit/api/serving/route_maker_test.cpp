// The route book says what the rows say, after each write, and nothing else is made anew.
#include "api/serving/route_maker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "schemas/commands/serving.hpp"
#include "schemas/runtimes.hpp"
#include "serving_parts.hpp"
#include "storage/registry/state/state.hpp"
#include "storage/registry/tables/access_tokens.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/until.hpp"

namespace herald::api::serving {
namespace {

namespace tables = storage::registry::tables;
using test::eventually;

class route_maker_test : public testing::Test {
  protected:
    route_maker_test() : book(1) {
        models = std::make_shared<components>(
            components::parts{node, loops[0], loops.blocking(), runtime::system_random(), {engine}, nullptr});
        canaries = std::make_shared<canary_reports>(
            canary_reports::parts{node, loops[0], runtime::system_random(), runtime::system_clock()});
        maker.emplace(route_maker::options{{"svc-", "other-"}, 1'000, 2'000, 3},
                      route_maker::parts{book, gate, *models, *canaries});
        schemas::user owner;
        owner.id = {7};
        owner.email = "owner@example.org";
        owner.username = "owner";
        owner.user_uuid[0] = 0xAB;
        put<tables::users>(owner);
        schemas::registered_model model;
        model.id = {3};
        model.workspace_id = {1};
        model.name = "churn";
        put<tables::models>(model);
    }
    ~route_maker_test() override {
        book.clear();
        models->end();
        loops.stop();
    }

    /// Writes what the change makes, and shows it.
    template <class Change>
    void write(const Change& change, bool is_caught_up = true) {
        const auto before = store->view();
        storage::registry::state::state_changes changes(before.get());
        change(changes);
        const auto rows = changes.take();
        ASSERT_TRUE(store->write(rows));
        const auto view = store->view();
        const tables::serving_changes what(rows);
        maker->shown({view, what, 1, 3, is_caught_up});
    }
    template <class Table, class Row>
    void put(const Row& row) {
        write([&](auto& changes) { Table::put(changes, row); });
    }
    template <class Table, class Row>
    void update(const Row& before, const Row& after) {
        write([&](auto& changes) { Table::update(changes, before, after); });
    }

    schemas::endpoint endpoint_at(std::uint8_t number, const std::string& path) {
        schemas::endpoint row;
        row.id[15] = number;
        row.path = path;
        row.workspace_id = {1};
        row.owner_id = {7};
        put<tables::endpoints>(row);
        return row;
    }
    schemas::build build_of(std::uint64_t id, const std::string& version_name) {
        schemas::model_version version;
        version.id = {id};
        version.registered_model_id = {3};
        version.workspace_id = {1};
        version.version = version_name;
        version.version_number = id;
        put<tables::versions>(version);
        schemas::build build;
        build.id = {id};
        build.workspace_id = {1};
        build.model_version_id = {id};
        build.status = schemas::build_status::finished;
        build.upstream_url = "http://upstream.example.com";
        build.runtime = schemas::runtimes::upstream;
        put<tables::builds>(build);
        return build;
    }
    static schemas::stage_component component_of(std::uint64_t build, std::uint32_t ratio_ppm) {
        schemas::stage_component out;
        out.build_id = {build};
        out.ratio_ppm = ratio_ppm;
        out.status = schemas::component_status::active;
        return out;
    }
    schemas::endpoint_stage stage_of(const schemas::endpoint& endpoint, std::uint64_t id,
                                     std::vector<schemas::stage_component> components) {
        schemas::endpoint_stage row;
        row.id = {id};
        row.endpoint_id = endpoint.id;
        row.name = "production";
        row.components = std::move(components);
        put<tables::endpoint_stages>(row);
        return row;
    }
    const endpoint_route& at(const std::string& path) { return **book.on_loop(0).find(path); }

    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 2}};
    test::keeping_node node;
    std::shared_ptr<test::told_engine> engine = std::make_shared<test::told_engine>("upstream");
    std::shared_ptr<components> models;
    std::shared_ptr<canary_reports> canaries;
    route_book book;
    serving_gate gate{runtime::system_clock()};
    std::optional<route_maker> maker;
    std::unique_ptr<storage::registry::state::state_store> store =
        storage::registry::state::make_memory_state();
};

TEST_F(route_maker_test, an_endpoint_is_routed_with_all_that_its_answers_say) {
    build_of(5, "v5");
    stage_of(endpoint_at(1, "/team/churn"), 1, {component_of(5, schemas::whole_ppm)});
    const endpoint_route& route = at("/team/churn");
    EXPECT_EQ(route.v2_name, "team.churn");
    ASSERT_EQ(route.stages.size(), 1u);
    ASSERT_EQ(route.stages[0].components.size(), 1u);
    const component_route& one = route.stages[0].components[0];
    EXPECT_EQ(one.header_lines,
              "svc-build-id: 5\r\n"
              "svc-endpoint-id: 00000000-0000-0000-0000-000000000001\r\n"
              "svc-endpoint-owner-id: ab000000-0000-0000-0000-000000000000\r\n"
              "svc-endpoint-owner-name: owner\r\n"
              "svc-endpoint-path: /team/churn\r\n"
              "svc-model-name: churn\r\n"
              "svc-model-version: v5\r\n"
              "other-build-id: 5\r\n"
              "other-endpoint-id: 00000000-0000-0000-0000-000000000001\r\n"
              "other-endpoint-owner-id: ab000000-0000-0000-0000-000000000000\r\n"
              "other-endpoint-owner-name: owner\r\n"
              "other-endpoint-path: /team/churn\r\n"
              "other-model-name: churn\r\n"
              "other-model-version: v5\r\n");
    EXPECT_EQ(one.body_bytes_max, 1'000u);
    EXPECT_EQ(one.deadline_ms, 2'000);
    EXPECT_EQ(one.in_flight_max, 3u);
    EXPECT_EQ(one.version_number, 5u);
    EXPECT_TRUE(eventually([&] { return one.served->model() != nullptr; }));
}

TEST_F(route_maker_test, a_name_ends_no_header_and_goes_out_in_ascii) {
    build_of(5, "v5\r\nSet-Cookie: x");
    build_of(6, "D\xc3\xa9tection 100%");
    stage_of(endpoint_at(1, "/a"), 1, {component_of(5, schemas::whole_ppm)});
    stage_of(endpoint_at(2, "/b"), 2, {component_of(6, schemas::whole_ppm)});
    const std::string& others = at("/b").stages[0].components[0].header_lines;
    EXPECT_NE(others.find("svc-model-version: D%C3%A9tection%20100%25\r\n"), std::string::npos) << others;
    const std::string& lines = at("/a").stages[0].components[0].header_lines;
    EXPECT_NE(lines.find("svc-model-version: v5%0D%0ASet-Cookie:%20x\r\n"), std::string::npos) << lines;
}

TEST_F(route_maker_test, before_the_log_was_read_to_its_end_nothing_is_known) {
    maker.emplace(route_maker::options{{"svc-"}, 1, 1, 1},
                  route_maker::parts{book, gate, *models, *canaries});
    route_book fresh(1);
    route_maker early({{"svc-"}, 1, 1, 1}, {fresh, gate, *models, *canaries});
    endpoint_at(1, "/a");
    const auto view = store->view();
    early.shown({view, {}, 1, 3, false});
    EXPECT_FALSE(fresh.is_known());
    EXPECT_EQ(fresh.newest()->size(), 0u);
    early.shown({view, {}, 2, 3, true});
    EXPECT_TRUE(fresh.is_known());
    EXPECT_EQ(fresh.newest()->size(), 1u);
}

TEST_F(route_maker_test, a_write_that_touches_no_endpoint_makes_no_new_table) {
    endpoint_at(1, "/a");
    const auto before = book.newest();
    build_of(5, "v5");
    EXPECT_EQ(book.newest(), before);
}

TEST_F(route_maker_test, a_new_name_of_model_version_or_owner_is_in_the_next_answer) {
    build_of(5, "v5");
    stage_of(endpoint_at(1, "/a"), 1, {component_of(5, schemas::whole_ppm)});
    auto model = *tables::models::find(*store->view(), {3});
    auto renamed = model;
    renamed.name = "retention";
    update<tables::models>(model, renamed);
    EXPECT_EQ(at("/a").stages[0].components[0].model_name, "retention");
    auto version = *tables::versions::find(*store->view(), {5});
    auto other = version;
    other.version = "five";
    update<tables::versions>(version, other);
    EXPECT_EQ(at("/a").stages[0].components[0].model_version, "five");
    auto owner = *tables::users::find(*store->view(), {7});
    auto someone = owner;
    someone.username = "someone";
    update<tables::users>(owner, someone);
    EXPECT_NE(at("/a").header_lines.find("owner-name: someone\r\n"), std::string::npos);
}

TEST_F(route_maker_test, a_token_opens_its_stage_from_its_write_until_it_is_erased) {
    stage_of(endpoint_at(1, "/a"), 1, {});
    schemas::access_token token;
    token.id = {1};
    token.stage_id = {1};
    const auto hash = runtime::sha256("secret");
    token.hash = std::string(runtime::as_bytes(hash));
    put<tables::access_tokens>(token);
    EXPECT_NE(at("/a").stage_of(hash), nullptr);
    EXPECT_TRUE(book.on_loop(0).has_token(hash));
    write([&](auto& changes) { tables::access_tokens::erase(changes, token); });
    EXPECT_EQ(at("/a").stage_of(hash), nullptr);
    EXPECT_FALSE(book.on_loop(0).has_token(hash));
}

TEST_F(route_maker_test, a_token_that_two_stages_have_opens_the_one_with_the_lower_id) {
    const auto endpoint = endpoint_at(1, "/a");
    const auto hash = runtime::sha256("secret");
    constexpr std::uint64_t stages = 40;
    for (std::uint64_t id = 1; id <= stages; ++id) {
        schemas::endpoint_stage row;
        row.id = {id};
        row.endpoint_id = endpoint.id;
        row.name = "stage " + std::to_string(id);
        put<tables::endpoint_stages>(row);
        schemas::access_token token;
        token.id = {stages - id + 1};
        token.stage_id = {id};
        token.hash = std::string(runtime::as_bytes(hash));
        put<tables::access_tokens>(token);
    }
    ASSERT_NE(at("/a").stage_of(hash), nullptr);
    EXPECT_EQ(at("/a").stage_of(hash)->id.value, 1u);
    EXPECT_TRUE(std::ranges::is_sorted(at("/a").tokens, {}, &token_route::stage));
}

TEST_F(route_maker_test, a_deleted_endpoint_is_gone_and_its_model_unloaded) {
    build_of(5, "v5");
    const auto endpoint = endpoint_at(1, "/a");
    stage_of(endpoint, 1, {component_of(5, schemas::whole_ppm)});
    ASSERT_TRUE(eventually([&] { return engine->has_model_of(5); }));
    write([&](auto& changes) { tables::endpoints::erase(changes, endpoint); });
    EXPECT_EQ(book.on_loop(0).find("/a"), nullptr);
    EXPECT_TRUE(eventually([&] { return !engine->has_model_of(5); }));
}

TEST_F(route_maker_test, a_new_build_is_loaded_without_a_share_and_the_swap_keeps_its_model) {
    build_of(5, "v5");
    build_of(6, "v6");
    const auto endpoint = endpoint_at(1, "/a");
    auto creating = component_of(6, 0);
    creating.status = schemas::component_status::creating;
    const auto before = stage_of(endpoint, 1, {component_of(5, schemas::whole_ppm), creating});
    ASSERT_EQ(at("/a").stages[0].waiting.size(), 1u);
    EXPECT_EQ(at("/a").stages[0].component_for("x")->build.value, 5u);
    const auto waiting = at("/a").stages[0].waiting[0];
    ASSERT_TRUE(eventually([&] { return waiting->model() != nullptr; }));
    auto after = before;
    after.components = {component_of(6, schemas::whole_ppm)};
    update<tables::endpoint_stages>(before, after);
    EXPECT_EQ(at("/a").stages[0].component_for("x")->served, waiting);
    EXPECT_EQ(engine->loads_of(6), 1u);
    EXPECT_TRUE(eventually([&] { return !engine->has_model_of(5); }));
}

TEST_F(route_maker_test, an_unsafe_build_keeps_its_share_and_has_no_model) {
    const auto build = build_of(5, "v5");
    stage_of(endpoint_at(1, "/a"), 1, {component_of(5, schemas::whole_ppm)});
    ASSERT_TRUE(eventually([&] { return engine->has_model_of(5); }));
    auto unsafe = build;
    unsafe.unsafe_scan_id = {44};
    update<tables::builds>(build, unsafe);
    const component_route* const one = at("/a").stages[0].component_for("x");
    EXPECT_EQ(one->unsafe_scan.value, 44u);
    EXPECT_EQ(one->served->model(), nullptr);
    EXPECT_TRUE(eventually([&] { return !engine->has_model_of(5); }));
}

/// Predictions of a build are still under way when its last route goes: their second look must find it
/// unsafe.
TEST_F(route_maker_test, a_build_that_no_route_has_any_more_is_unsafe_for_predictions_under_way) {
    const auto endpoint = endpoint_at(1, "acme/team/churn");
    const auto replaced = build_of(11, "v1");
    const auto deleted = build_of(12, "v2");
    const auto stage = stage_of(endpoint, 21, {component_of(11, schemas::whole_ppm)});
    const auto of_replaced = at("acme/team/churn").stages[0].components[0].safety;
    auto swapped = stage;
    swapped.components = {component_of(12, schemas::whole_ppm)};
    update<tables::endpoint_stages>(stage, swapped);
    const auto of_deleted = at("acme/team/churn").stages[0].components[0].safety;
    write([&](auto& changes) { tables::endpoint_stages::erase(changes, swapped); });
    write([&](auto& changes) { tables::endpoints::erase(changes, endpoint); });
    ASSERT_EQ(book.on_loop(0).find("acme/team/churn"), nullptr);
    for (const auto& [build, safety] : {std::pair(replaced, of_replaced), std::pair(deleted, of_deleted)}) {
        EXPECT_EQ(safety->unsafe_scan(), schemas::scan_id{});
        auto reported = build;
        reported.unsafe_scan_id = {build.id.value + 50};
        update<tables::builds>(build, reported);
        EXPECT_EQ(safety->unsafe_scan(), reported.unsafe_scan_id) << "build " << build.id.value;
    }
}

/// The report and the removal of the build's row may be one write.
TEST_F(route_maker_test, a_build_that_is_gone_when_its_report_is_shown_is_unsafe_for_predictions_under_way) {
    const auto endpoint = endpoint_at(1, "/a");
    const auto build = build_of(11, "v1");
    const auto stage = stage_of(endpoint, 21, {component_of(11, schemas::whole_ppm)});
    const auto safety = at("/a").stages[0].components[0].safety;
    write([&](auto& changes) {
        tables::endpoint_stages::erase(changes, stage);
        tables::endpoints::erase(changes, endpoint);
    });
    const auto before = store->view();
    storage::registry::state::state_changes changes(before.get());
    tables::builds::erase(changes, build);
    const auto rows = changes.take();
    ASSERT_TRUE(store->write(rows));
    const auto view = store->view();
    tables::serving_changes what(rows);
    what.unsafe_reports.push_back({build.id, {44}});
    maker->shown({view, what, 1, 3, true});
    EXPECT_EQ(safety->unsafe_scan().value, 44u);
}

TEST_F(route_maker_test, a_build_that_is_being_made_or_failed_is_not_loaded) {
    auto build = build_of(6, "v6");
    auto building = build;
    building.status = schemas::build_status::building;
    update<tables::builds>(build, building);
    auto failed = component_of(6, 0);
    failed.status = schemas::component_status::error;
    failed.message = "the model is no model";
    auto creating = component_of(6, 0);
    creating.status = schemas::component_status::creating;
    stage_of(endpoint_at(1, "/a"), 1, {failed});
    stage_of(endpoint_at(2, "/b"), 2, {creating});
    EXPECT_TRUE(at("/a").stages[0].waiting.empty());
    EXPECT_TRUE(at("/b").stages[0].waiting.empty());
    EXPECT_EQ(at("/a").stages[0].failure, "build 6: the model is no model");
    EXPECT_EQ(at("/b").stages[0].failure, "");
    update<tables::builds>(building, build);
    EXPECT_EQ(at("/b").stages[0].waiting.size(), 1u);
    EXPECT_TRUE(at("/a").stages[0].waiting.empty());
}

TEST_F(route_maker_test, an_update_is_told_of_its_component_only_once_it_loads) {
    build_of(6, "v6");
    schemas::endpoint_update update;
    update.id = {9};
    update.stage_id = {1};
    update.build_id = {6};
    update.phase = schemas::update_phase::waiting_for_build;
    put<tables::endpoint_updates>(update);
    auto fresh = component_of(6, schemas::whole_ppm);
    fresh.update_id = {9};
    schemas::endpoint_stage stage;
    stage.id = {1};
    stage.endpoint_id = endpoint_at(1, "/a").id;
    stage.components = {fresh};
    stage.update_id = {9};
    put<tables::endpoint_stages>(stage);
    const auto served = at("/a").stages[0].components[0].served;
    ASSERT_TRUE(eventually([&] { return served->model() != nullptr; }));
    const auto told = [&] { return node.told<schemas::commands::component_ready>().size(); };
    std::atomic<bool> has_passed = false;
    loops[0].post([&] { has_passed = true; });
    ASSERT_TRUE(eventually([&] { return has_passed.load(); }));
    EXPECT_EQ(told(), 0u);
    update.phase = schemas::update_phase::loading;
    put<tables::endpoint_updates>(update);
    EXPECT_EQ(eventually(told, 1), 1u);
    write([&](auto& changes) {
        auto after = stage;
        after.update_id = {};
        tables::endpoint_stages::update(changes, stage, after);
        tables::endpoint_updates::erase(changes, update);
    });
    models->tell_when_ready({9}, served);
    EXPECT_EQ(eventually(told, 2), 2u) << "it has ended, and nothing of it is kept";
}

TEST_F(route_maker_test, a_canary_counts_its_own_stage_alone_and_from_one_interval_to_the_next) {
    build_of(5, "v5");
    build_of(6, "v6");
    const auto canary = endpoint_at(1, "/canary"), other = endpoint_at(2, "/other");
    stage_of(other, 2, {component_of(6, schemas::whole_ppm)});
    auto fresh = component_of(6, 400'000);
    fresh.update_id = {9};
    schemas::endpoint_update update;
    update.id = {9};
    update.stage_id = {1};
    update.build_id = {6};
    update.phase = schemas::update_phase::canary;
    update.interval = 1;
    put<tables::endpoint_updates>(update);
    schemas::endpoint_stage stage;
    stage.id = {1};
    stage.endpoint_id = canary.id;
    stage.components = {component_of(5, 600'000), fresh};
    stage.update_id = {9};
    put<tables::endpoint_stages>(stage);
    const auto components = at("/canary").stages[0].components;
    const component_route elsewhere = at("/other").stages[0].components[0];
    ASSERT_EQ(components.size(), 2u);
    EXPECT_EQ(components[1].served, elsewhere.served) << "the model is shared";
    EXPECT_EQ(components[0].meter, nullptr) << "nothing is decided by the old one";
    EXPECT_EQ(elsewhere.meter, nullptr);
    ASSERT_NE(components[1].meter, nullptr);
    update.interval = 2;
    put<tables::endpoint_updates>(update);
    auto changed = stage;
    changed.components[0].ratio_ppm = 200'000;
    changed.components[1].ratio_ppm = 800'000;
    write([&](auto& changes) { tables::endpoint_stages::update(changes, stage, changed); });
    EXPECT_EQ(at("/canary").stages[0].components[1].meter, components[1].meter);
}

TEST_F(route_maker_test, the_meter_of_an_endpoint_stays_through_its_changes) {
    const auto endpoint = endpoint_at(1, "/a");
    const auto meter = at("/a").meter;
    stage_of(endpoint, 1, {});
    EXPECT_EQ(at("/a").meter, meter);
}

}  // namespace
}  // namespace herald::api::serving
