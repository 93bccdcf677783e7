// A version with a model's bytes, builds of it, an endpoint with a stage, and nodes that serve.
#pragma once

#include <string>
#include <vector>

#include "runtime/crypto.hpp"
#include "schemas/commands/serving.hpp"
#include "storage/registry/tables/builds.hpp"
#include "storage/registry/tables/endpoint_updates.hpp"
#include "storage/registry/tables/nodes.hpp"
#include "storage/registry/tables/scans.hpp"
#include "storage/registry/tables/stage_log.hpp"
#include "tests/unit/storage/registry/endpoint_rules.hpp"

namespace herald::test {

class deployed : public endpoint_rules {
  protected:
    using build_status = schemas::build_status;
    using stage_status = schemas::endpoint_stage_status;
    using component_status = schemas::component_status;

    static std::string digest_of(const std::string& bytes) {
        return std::string(runtime::as_bytes(runtime::sha256(bytes)));
    }

    schemas::registered_model model = registry.model_named("m");
    schemas::model_version version = version_with_model("the model's bytes");

    schemas::model_version version_with_model(const std::string& bytes) {
        schemas::commands::create_version command;
        command.registered_model_id = model.id;
        command.version.version = "v" + std::to_string(registry.offset);
        command.version.model.emplace();
        command.version.model->key = "model";
        command.version.model->path = "p";
        const auto made = registry.must<schemas::model_version>(command);
        run(schemas::commands::store_blob{digest_of(bytes), bytes.size(), "object of " + bytes});
        run(schemas::commands::set_artifact_bytes{made.id, "model", digest_of("p").substr(0, 16),
                                                  digest_of(bytes)});
        return made;
    }
    template <class Command>
    void run(const Command& command) {
        const auto outcome = registry.run(command);
        EXPECT_EQ(outcome.code, 0u) << outcome.message;
    }

    // ---- nodes
    void beat(const std::string& node, std::uint8_t boot = 1, bool serves = true, bool last = false) {
        schemas::commands::node_heartbeat command;
        command.node = node;
        command.boot[0] = boot;
        command.first = true;
        command.last = last;
        command.applied_offset = registry.offset;
        command.runtimes = {"onnx", "upstream"};
        command.serves_predictions = serves;
        run(command);
    }
    void ready(schemas::update_id update, const std::string& node, const std::string& error = {},
               std::uint8_t boot = 1) {
        schemas::commands::component_ready command;
        command.update_id = update;
        command.node = node;
        command.boot[0] = boot;
        command.error = error;
        run(command);
    }
    /// Time goes on by these seconds, in steps in which the nodes are heard.
    void pass(int seconds, const std::vector<std::string>& nodes = {}) {
        for (int i = 0; i < seconds; ++i) {
            registry.now_ms += 1'000;
            if (nodes.empty()) run(schemas::commands::no_operation{});
            for (const std::string& each : nodes) beat(each);
        }
    }

    // ---- builds
    schemas::commands::create_build asked_build(schemas::version_id of) {
        schemas::commands::create_build command;
        command.workspace_name = "default";
        command.model_version_id = of;
        command.creator_request.text = "{}";
        return command;
    }
    schemas::build asked(schemas::version_id of) { return registry.must<schemas::build>(asked_build(of)); }
    schemas::build build_now(schemas::build_id id) {
        return *storage::registry::tables::builds::find(*registry.view(), id);
    }
    std::uint64_t claim_builder(const std::string& node, std::uint8_t boot = 1) {
        schemas::commands::claim command;
        command.job = "builder";
        command.node = node;
        command.boot[0] = boot;
        return registry.must<schemas::claim_row>(command).token;
    }
    schemas::commands::finish_build finished(schemas::build_id id, std::uint64_t token) {
        schemas::commands::finish_build command;
        command.build_id = id;
        command.token = token;
        command.image_digest = digest_of("image");
        command.image_bytes = 7;
        command.base_url = "https://herald.example.org";
        command.signature.inputs = {{"x", schemas::tensor_type::float32, {-1, 2}}};
        return command;
    }
    /// Finished by the node "a".
    schemas::build made(schemas::version_id of) {
        beat("a");
        const schemas::build build = asked(of);
        run(finished(build.id, claim_builder("a")));
        return build_now(build.id);
    }
    schemas::build made() { return made(version.id); }
    /// A build that serves from an upstream.
    schemas::build upstream(const std::string& url = "http://127.0.0.1:9/") {
        auto command = asked_build(version.id);
        command.external_location = "registry.example.org/m:1";
        command.upstream_url = url;
        return registry.must<schemas::build>(command);
    }
    schemas::commands::outcome report(schemas::build_id id, schemas::safety_status safety) {
        schemas::commands::report_scan command;
        command.workspace_name = "default";
        command.build_id = id;
        command.scan_status = schemas::scan_status::scanned;
        command.safety_status = safety;
        return registry.run(command);
    }

    // ---- the stage
    schemas::endpoint endpoint = endpoint_at("/churn");
    schemas::endpoint_stage stage = stage_of(endpoint, "production");

    schemas::commands::update_endpoint_stage update_to(schemas::build_id build) {
        schemas::commands::update_endpoint_stage command;
        command.endpoint_id = endpoint.id;
        command.workspace_name = "default";
        command.stage_id = stage.id;
        command.build_id = build;
        command.update_request.text = "{}";
        return command;
    }
    schemas::commands::update_endpoint_stage canary_to(schemas::build_id build,
                                                       const std::string& step = "0.4",
                                                       std::uint32_t rule = 1008,
                                                       const std::string& threshold = "0.1") {
        auto command = update_to(build);
        command.strategy = schemas::update_strategy::canary;
        command.progress_interval_seconds = 10;
        command.progress_step = step;
        command.rules = {{rule, threshold}};
        return command;
    }
    schemas::endpoint_stage begun(const schemas::commands::update_endpoint_stage& command) {
        return registry.must<schemas::endpoint_stage>(command);
    }
    schemas::endpoint_stage stage_now() {
        return *storage::registry::tables::endpoint_stages::find(*registry.view(), stage.id);
    }
    std::optional<schemas::endpoint_update> running() {
        return storage::registry::tables::endpoint_updates::find(*registry.view(), stage_now().update_id);
    }
    /// Serves from this build, which the node "a" has loaded.
    void serve(schemas::build_id build) {
        beat("a");
        ready(begun(update_to(build)).update_id, "a");
        EXPECT_EQ(stage_now().status, stage_status::active);
    }
    /// "7 at 1000000 active, 9 at 0 creating".
    std::string components() {
        std::string text;
        for (const auto& each : stage_now().components)
            text += (text.empty() ? "" : ", ") + std::to_string(each.build_id.value) + " at " +
                    std::to_string(each.ratio_ppm) + " " + std::string(name_of(each.status));
        return text;
    }
    /// One of components().
    static std::string text(schemas::build_id id, std::uint32_t ppm, const std::string& status) {
        return std::to_string(id.value) + " at " + std::to_string(ppm) + " " + status;
    }
    std::string newest_of_log() {
        std::string newest;
        storage::registry::tables::stage_log::each(*registry.view(), stage.id, 0,
                                                   [&](const schemas::stage_log_entry& entry) {
                                                       newest = entry.message;
                                                       return true;
                                                   });
        return newest;
    }
};

}  // namespace herald::test
