// Makes builds of models (wire.md §4 "Building by Herald means").
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/serving/builder/limits.hpp"
#include "api/serving/builder/lone_threads.hpp"
#include "api/serving/model_cache/load_marks.hpp"
#include "api/serving/model_cache/model_cache.hpp"
#include "runtime/random.hpp"
#include "runtime/task_group.hpp"
#include "schemas/commands/serving.hpp"
#include "schemas/deployment.hpp"
#include "schemas/registry.hpp"
#include "schemas/tensors.hpp"
#include "storage/artifacts/store.hpp"
#include "storage/node/node.hpp"

namespace herald::api::serving::builder {

/// While this node holds the claim it makes what waits to be built, one build at a time, the oldest first:
/// looks at the model's bytes, has an engine load them, and takes the digest of the image. What cannot be
/// built now, because the store or the disk is in trouble or no engine is there, is tried again; other
/// failures end the build with their text. So does a second end of this process while it was being loaded,
/// and a look that takes longer than it may: it goes on beside the next ones, as nothing can end it, on a
/// thread that is lost to building until then, and is left behind at the end. A node that has lost all of
/// these threads lets the claim go. Lives on the loop's thread, but for end().
class builder_job final : public storage::node::claimed_job,
                          public std::enable_shared_from_this<builder_job> {
  public:
    /// Loads a model from a file and says what it takes and gives; called on a thread that may block, and
    /// that may be left behind: it owns what it uses. Errors: invalid_argument when it cannot be served, for
    /// people; unavailable when this node cannot tell.
    using model_loader = std::function<result<schemas::model_signature>(const std::filesystem::path&)>;
    /// Builds that wait, the oldest first.
    using builds_finder =
        std::function<std::vector<schemas::build>(const storage::registry::state::state_view&)>;
    struct settings {
        std::uint64_t model_bytes_max = limits::model_bytes_max;
        std::int64_t interval_ms = limits::build_interval_ms;
        std::int64_t again_ms = limits::build_again_ms;
        std::int64_t look_ms_max = limits::build_look_ms_max;
        std::string base_url;         // --public-url; empty: the request's
        std::filesystem::path marks;  // a folder of this node's, for load_marks
    };
    /// All of them must outlive it.
    struct parts {
        storage::node::registry_node& registry;
        const storage::registry::state::state_store& state;
        storage::artifacts::artifact_store& artifacts;
        model_cache::model_cache& models;
        runtime::event_loop& loop;
        runtime::random_source& random;
        runtime::blocking_pool& blocking;
        runtime::blocking_pool& looks;  // limits::build_looks_max threads, for nothing else
        builds_finder builds_to_make;
        model_loader load;
    };
    builder_job(parts with, settings set)
        : x_with(std::move(with)),
          x_settings(std::move(set)),
          x_marks(std::make_shared<model_cache::load_marks>(x_settings.marks)),
          x_threads(std::make_shared<lone_threads>()),
          x_tasks(x_with.loop) {}

    void start(std::uint64_t token) override;
    void stop() override { x_token = 0; }
    /// Whether it may look at a further model.
    bool is_able() const override;
    /// If the process ends from now on, no model is the cause. Any thread.
    void let_off() noexcept { x_marks->let_off(); }
    /// Waits until nothing of it is left but looks at models that do not end. Not on the loop's thread; while
    /// the loop runs.
    void end();

  private:
    using finished = schemas::commands::finish_build;
    using look_at_model = runtime::started_call<result<schemas::model_signature>>;
    void look_later();
    void look();
    static boost::asio::awaitable<void> make_next(std::shared_ptr<builder_job> self);
    boost::asio::awaitable<void> make(schemas::build);
    storage::artifacts::task<finished> made_of(const schemas::build&);
    storage::artifacts::task<schemas::model_signature> signature_of(
        const schemas::build&, std::vector<storage::artifacts::stored_object> model);
    storage::artifacts::task<schemas::model_signature> looked(schemas::build_id,
                                                              std::shared_ptr<const model_cache::held_model>);
    void given_up(std::shared_ptr<look_at_model>);
    result<std::vector<storage::artifacts::stored_object>> model_of(const schemas::build&) const;
    using rests = std::map<std::uint64_t, std::int64_t>;  // of a build: until when, by the steady clock
    result<schemas::build> next_build(const rests&) const;
    void tell(finished);

    const parts x_with;
    const settings x_settings;
    const std::shared_ptr<model_cache::load_marks> x_marks;
    const std::shared_ptr<lone_threads> x_threads;  // of models that are looked at
    runtime::task_group x_tasks;
    std::uint64_t x_token = 0;
    bool x_is_planned = false;
    bool x_is_making = false;
    bool x_is_ending = false;
    std::shared_ptr<look_at_model> x_look;                   // under way
    std::vector<std::shared_ptr<look_at_model>> x_given_up;  // that may still be under way
    rests x_rests_until_ms;                                  // what could not be made, or was just told of
};

}  // namespace herald::api::serving::builder
