// Protects builds: each that waits ends with the digest of its image and the model's signature, or with a
// text that says why not; what may pass is tried again, and a model that ends the process is not tried for
// ever.
#include "api/serving/builder/builder_job.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <vector>

#include "api/serving/images/image_tar.hpp"
#include "runtime/mutex.hpp"
#include "runtime/text.hpp"
#include "storage/registry/tables/artifacts.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/memory_artifacts.hpp"
#include "tests/support/model_bytes.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

using namespace storage;
using api::serving::builder::builder_job;
using api::serving::model_cache::load_marks;
using schemas::commands::finish_build;
using testing::HasSubstr;
namespace images = api::serving::images;

/// Keeps what it is told, and applies nothing.
class told_node final : public node::registry_node {
  public:
    void submit(schemas::commands::command_type type, std::string body, schemas::commands::request_identity,
                schemas::uuid, outcome_handler) override {
        const runtime::lock_guard lock(x_mutex);
        if (type == finish_build::type) x_told.push_back(*schemas::decode<finish_build>(body));
    }
    std::vector<finish_build> told() const {
        const runtime::lock_guard lock(x_mutex);
        return x_told;
    }
    std::optional<reading> read_now(storage::node::freshness) const override { return std::nullopt; }
    void read(reading_handler) override {}
    void after_next_heartbeat(std::function<void()>) override {}
    bool ready() const noexcept override { return true; }
    identity me() const override { return {}; }
    std::int64_t serves_until_ms() const noexcept override { return std::int64_t{1} << 60; }
    status state_now() const override { return {}; }
    void add_job(schemas::job, std::shared_ptr<node::claimed_job>) override {}
    void start() override {}
    void drain(std::function<void()>) override {}

  private:
    mutable runtime::mutex x_mutex;
    std::vector<finish_build> x_told GUARDED_BY(x_mutex);
};

class builder : public testing::Test {
  protected:
    builder() {
        auto opened =
            api::serving::model_cache::model_cache::open(folder / "models", {objects, loops.blocking()}, {});
        models = *std::move(opened);
        settings.interval_ms = 1;
        settings.again_ms = 1;
        settings.model_bytes_max = 1'000;
        settings.base_url = "https://herald.example";
        settings.marks = folder / "builds";
        waiting.id = schemas::build_id{5};
        waiting.model_version_id = schemas::version_id{3};
    }
    ~builder() override {
        if (job) job->end();
        if (!is_let_go.exchange(true)) let_go.set_value();
    }
    /// The version's model, in parts.
    void upload(const std::vector<std::string>& parts) {
        schemas::model_version version;
        version.id = schemas::version_id{3};
        version.registered_model_id = schemas::model_id{1};
        version.version = "v";
        version.model.emplace();
        version.model->key = "model";
        version.model->upload_completed = true;
        schemas::artifact_bytes bytes;
        bytes.model_version_id = version.id;
        bytes.key = "model";
        const auto view = state->view();
        registry::state::state_changes changes(view.get());
        for (const std::string& part : parts) {
            schemas::blob row;
            row.digest = std::string(runtime::as_bytes(runtime::sha256(part)));
            row.bytes = part.size();
            row.object = artifacts::object_name(row.digest, "12345678");
            objects.objects[row.object] = part;
            content.model.push_back({row.object, row.digest, row.bytes});
            bytes.parts.push_back({row.digest, row.bytes});
            waiting.model_parts.push_back({row.digest, row.bytes});
            registry::tables::blobs::put(changes, row);
        }
        registry::tables::versions::put(changes, version);
        registry::tables::bytes_of_artifacts::put(changes, bytes);
        ASSERT_TRUE(state->write(changes.changes()));
        content.build = waiting.id;
        content.version = version.id;
    }
    /// What the log is told first.
    finish_build made() {
        start();
        EXPECT_TRUE(eventually([&] { return !node.told().empty(); }));
        std::exchange(job, nullptr)->end();  // before what the test has lent it is gone
        const auto told = node.told();
        return told.empty() ? finish_build() : told.front();
    }
    void start() {
        // What the log was told of waits no longer.
        const auto waits = [this](const registry::state::state_view&) {
            return node.told().empty() ? std::vector{waiting} : std::vector<schemas::build>{};
        };
        begin(waits);
    }
    void begin(const builder_job::builds_finder& waits) {
        job = job_of(waits);
        loops[0].post([this] { job->start(77); });
    }
    std::shared_ptr<builder_job> job_of(const builder_job::builds_finder& waits) {
        return std::make_shared<builder_job>(
            builder_job::parts{node, *state, objects, *models, loops[0], runtime::system_random(),
                               loops.blocking(), *looks, waits, load},
            settings);
    }
    /// Builds of the same version with these ids, as long as nothing was told of them.
    builder_job::builds_finder builds(std::vector<std::uint64_t> ids) {
        return [this, ids = std::move(ids)](const registry::state::state_view&) {
            std::vector<schemas::build> out;
            const auto told = node.told();
            for (const std::uint64_t id : ids) {
                if (std::ranges::any_of(told, [&](const auto& each) { return each.build_id.value == id; }))
                    continue;
                out.push_back(waiting);
                out.back().id = schemas::build_id{id};
            }
            return out;
        };
    }
    bool is_able() {
        std::promise<bool> said;
        loops[0].post([&] { said.set_value(job->is_able()); });
        return said.get_future().get();
    }
    /// The first `count` loads do not end before the test does or lets them.
    void hang(int count) {
        // What comes after the wait may outlive the test.
        load = [this, count, may_go = let, plain = load](const std::filesystem::path& file) {
            if (++loads <= count) may_go.wait();
            return plain(file);
        };
    }

    temporary_folder folder;
    memory_artifacts objects;
    std::unique_ptr<registry::state::state_store> state = registry::state::make_memory_state();
    told_node node;
    runtime::event_loops loops{{.loops = 1, .cores = {}, .blocking_threads = 1}};
    std::unique_ptr<api::serving::model_cache::model_cache> models;
    builder_job::settings settings;
    schemas::build waiting;
    images::image_content content;
    builder_job::model_loader load = [](const std::filesystem::path&) -> result<schemas::model_signature> {
        schemas::model_signature out;
        out.inputs.push_back({"x", schemas::tensor_type::float32, {-1, 4}});
        return out;
    };
    std::atomic<int> loads{0};
    std::promise<void> let_go;
    const std::shared_future<void> let{let_go.get_future()};
    std::atomic<bool> is_let_go{false};
    std::shared_ptr<builder_job> job;
    std::unique_ptr<runtime::blocking_pool> looks =
        std::make_unique<runtime::blocking_pool>(limits::build_looks_max, limits::build_looks_max);
};

boost::asio::awaitable<void> read_all(std::shared_ptr<runtime::http::body_stream> stream,
                                      std::promise<result<std::string>>& came) {
    std::string all;
    while (true) {
        const auto piece = co_await stream->next();
        if (!piece) {
            came.set_value(piece.error());
            co_return;
        }
        if (piece->empty()) break;
        all += *piece;
    }
    came.set_value(std::move(all));
}

TEST_F(builder, tells_the_signature_and_the_digest_of_the_image_that_is_fetched_later) {
    const std::string model = wire::small_model();
    upload({model.substr(0, 10), model.substr(10)});
    std::string loaded;
    load = [&, plain = load](const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        loaded.assign(std::istreambuf_iterator<char>(in), {});
        return plain(file);
    };
    const finish_build told = made();
    EXPECT_EQ(told.error, "");
    EXPECT_EQ(told.build_id, waiting.id);
    EXPECT_EQ(told.token, 77u);
    EXPECT_EQ(told.base_url, "https://herald.example");
    EXPECT_EQ(told.signature.inputs.at(0).name, "x");
    EXPECT_EQ(loaded, model);

    runtime::task_group tasks(loops[0]);
    std::promise<result<std::string>> came, other;
    tasks.start("test", read_all(images::image_tar(objects, content, told.image_digest), came));
    const auto image = came.get_future().get();
    ASSERT_TRUE(image) << image.error().message;
    EXPECT_EQ(image->size(), told.image_bytes);
    EXPECT_EQ(image->size() % 512, 0u);
    EXPECT_THAT(*image, HasSubstr(model));
    EXPECT_EQ(runtime::as_bytes(runtime::sha256(*image)), told.image_digest);
    // The layer is what the configuration says.
    const std::size_t layer_bytes = std::stoull(image->substr(124, 11), nullptr, 8);
    const auto layer = runtime::sha256(std::string_view(*image).substr(512, layer_bytes));
    EXPECT_THAT(*image, HasSubstr("sha256:" + runtime::to_hex(runtime::as_bytes(layer))));

    tasks.start("test", read_all(images::image_tar(objects, content, std::string(32, 'x')), other));
    EXPECT_FALSE(other.get_future().get()) << "another image than was asked for must not be read to its end";
    tasks.stop();
}

TEST_F(builder, a_version_without_a_model_cannot_be_built) {
    upload({});
    EXPECT_THAT(made().error, testing::Not(""));
}

TEST_F(builder, what_was_not_to_be_made_of_a_model_cannot_be_built) {
    EXPECT_THAT(made().error, HasSubstr("no model here"));
}

TEST_F(builder, a_model_beyond_the_bound_is_not_even_fetched) {
    upload({std::string(600, 'x'), std::string(401, 'y')});
    EXPECT_THAT(made().error, testing::AllOf(HasSubstr("1001"), HasSubstr("1000")));
    EXPECT_EQ(models->bytes(), 0u);
}

TEST_F(builder, a_pickle_needs_an_image) {
    upload({std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0.", 12)});
    EXPECT_THAT(made().error, HasSubstr("external_location"));
}

TEST_F(builder, values_in_another_file_are_refused_by_name) {
    upload({wire::small_model("layer1", true)});
    EXPECT_THAT(made().error, HasSubstr("\"layer1\""));
}

TEST_F(builder, bytes_that_are_not_what_was_uploaded_are_never_built) {
    upload({wire::small_model()});
    objects.objects.begin()->second = wire::small_model("v");
    EXPECT_THAT(made().error, HasSubstr("damaged"));
}

TEST_F(builder, what_the_engine_says_of_a_model_is_told) {
    upload({wire::small_model()});
    load = [](const auto&) -> result<schemas::model_signature> {
        std::string why = "opset 99 is not known: \xff";
        for (int i = 0; i < 1'000; ++i) why += "\xE2\x82\xAC";
        return runtime::invalid_argument(std::move(why));
    };
    const std::string error = made().error;
    EXPECT_THAT(error, testing::StartsWith("opset 99 is not known"));
    EXPECT_LE(error.size(), limits::build_message_bytes_max);
    EXPECT_TRUE(runtime::is_valid_utf8(error)) << "the log would not take it, and the build would never end";
}

TEST_F(builder, what_may_pass_is_tried_again_and_ends_no_build) {
    upload({wire::small_model()});
    std::atomic<int> tries{0};
    load = [&, plain = load](const std::filesystem::path& file) -> result<schemas::model_signature> {
        if (++tries < 5) return runtime::unavailable("no ONNX Runtime here");
        return plain(file);
    };
    EXPECT_EQ(made().error, "");
    EXPECT_EQ(tries, 5);
}

TEST_F(builder, a_model_that_ended_the_process_twice_is_not_loaded_again) {
    upload({wire::small_model()});
    load_marks first(settings.marks), second(settings.marks);
    ASSERT_EQ(*first.begin("5"), 0);
    ASSERT_EQ(*second.begin("5"), 1);
    load = [&](const auto&) -> result<schemas::model_signature> {
        ++loads;
        return schemas::model_signature();
    };
    EXPECT_THAT(made().error, HasSubstr("ended the process 2 times"));
    EXPECT_FALSE(std::filesystem::exists(settings.marks / "5")) << "the build is over";
    EXPECT_EQ(loads, 0);
}

TEST_F(builder, one_that_ended_it_once_is_tried_again_and_then_forgotten) {
    upload({wire::small_model()});
    load_marks before(settings.marks);
    ASSERT_EQ(*before.begin("5"), 0);
    EXPECT_EQ(made().error, "");
    EXPECT_EQ(*before.begin("5"), 0);
}

TEST_F(builder, a_look_that_throws_leaves_no_mark) {
    upload({wire::small_model()});
    load = [&, plain = load](const std::filesystem::path& file) {
        if (++loads < 3) throw std::runtime_error("an engine's bug");
        if (loads == 3) EXPECT_EQ(std::filesystem::file_size(settings.marks / "5"), 1u);
        return plain(file);
    };
    EXPECT_EQ(made().error, "");
    EXPECT_FALSE(std::filesystem::exists(settings.marks / "5"));
}

TEST_F(builder, a_model_that_does_not_end_to_load_is_given_up_and_the_next_is_built) {
    upload({wire::small_model()});
    settings.look_ms_max = 50;
    hang(1);
    begin(builds({5, 6}));
    ASSERT_EQ(eventually([&] { return node.told().size(); }, 2), 2u);
    EXPECT_EQ(node.told()[0].build_id.value, 5u);
    EXPECT_THAT(node.told()[0].error, HasSubstr("took more than"));
    EXPECT_EQ(node.told()[1].error, "");
    load_marks after(settings.marks);
    EXPECT_EQ(*after.begin("5"), 0) << "what ends the process later is not for it";
}

TEST_F(builder, only_so_many_are_loading_at_a_time_and_the_next_waits_until_one_ends) {
    upload({wire::small_model()});
    settings.look_ms_max = 20;
    hang(static_cast<int>(limits::build_looks_max));
    begin(builds({5, 6, 7}));
    ASSERT_EQ(eventually([&] { return node.told().size(); }, 2), 2u);
    std::promise<void> looked;
    loops[0].post([&] {
        loops[0].run_at(loops[0].time().steady_ms() + 20 * settings.interval_ms, [&] { looked.set_value(); });
    });
    looked.get_future().get();
    EXPECT_EQ(loads, static_cast<int>(limits::build_looks_max));
    EXPECT_FALSE(is_able()) << "the claim is for a node that can build";
    is_let_go = true;
    let_go.set_value();
    ASSERT_EQ(eventually([&] { return node.told().size(); }, 3), 3u);
    EXPECT_TRUE(is_able());
    EXPECT_EQ(node.told()[2].build_id.value, 7u);
    EXPECT_EQ(node.told()[2].error, "");
}

TEST_F(builder, an_end_waits_for_no_model_and_says_nothing_of_it) {
    upload({wire::small_model()});
    hang(1);
    start();
    ASSERT_TRUE(eventually([&] { return loads == 1; }));
    std::exchange(job, nullptr)->end();
    EXPECT_TRUE(node.told().empty());
    load_marks after(settings.marks);
    EXPECT_EQ(*after.begin("5"), 0) << "an end that was ordered is no sign of the model";
}

TEST_F(builder, a_model_that_hangs_is_left_behind_at_the_end) {
    upload({wire::small_model()});
    settings.look_ms_max = 20;
    hang(2);
    begin(builds({5, 6}));
    ASSERT_EQ(eventually([&] { return node.told().size(); }, 2), 2u);
    job->end();
    const auto gone = std::async(std::launch::async, [&] { looks.reset(); });
    EXPECT_EQ(gone.wait_for(std::chrono::seconds(5)), std::future_status::ready);
    is_let_go = true;
    let_go.set_value();
}

TEST_F(builder, nothing_is_made_without_the_claim) {
    upload({wire::small_model()});
    std::promise<void> looked;
    const auto waits = [this](const registry::state::state_view&) { return std::vector{waiting}; };
    job = job_of(waits);
    loops[0].post([&] {
        job->start(76);
        job->stop();
        // Behind the look that was planned.
        loops[0].run_at(loops[0].time().steady_ms() + 10 * settings.interval_ms, [&] { looked.set_value(); });
    });
    looked.get_future().get();
    job->end();
    EXPECT_TRUE(node.told().empty());
    EXPECT_EQ(made().token, 77u) << "with the claim it is made";
}

}  // namespace
}  // namespace herald::test
