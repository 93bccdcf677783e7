#include "api/serving/batching/batching_engine.hpp"

#include <utility>

#include "api/serving/batching/batch_trial.hpp"
#include "api/serving/batching/batched_model.hpp"

namespace herald::api::serving::batching {
namespace {

using engines::loaded_model;
using engines::model_source;

struct wanted_batching {
    schemas::build_id build;
    schemas::batching_settings settings;
    std::shared_ptr<engines::cancellation> cancelled;
};

result<loaded_model> batched(result<loaded_model> loaded, const wanted_batching& wanted) {
    const auto& settings = wanted.settings;
    if (!loaded || settings.size_max < 2) return loaded;
    if (!loaded->tensors)
        return runtime::invalid_argument(
            "batching cannot be used with a build that has an upstream_url: Herald does not read the "
            "bodies it forwards, so it cannot merge them");
    if (const auto good = try_batching(*loaded->tensors, settings.size_max, wanted.cancelled); !good)
        return good.error();
    loaded_model out;
    out.tensors = std::make_shared<batched_model>(std::move(loaded->tensors), wanted.build, settings);
    out.platform = std::move(loaded->platform);
    return out;
}

class batching_engine final : public engines::engine {
  public:
    explicit batching_engine(std::shared_ptr<engines::engine> inner) : x_inner(std::move(inner)) {}

    std::string_view name() const noexcept override { return x_inner->name(); }
    void load(const model_source& source, load_handler loaded) override {
        x_inner->load(source, [wanted = wanted_batching{source.build, source.batching, source.cancelled},
                               loaded = std::move(loaded)](result<loaded_model> found) {
            loaded(batched(std::move(found), wanted));
        });
    }

  private:
    const std::shared_ptr<engines::engine> x_inner;
};

}  // namespace

std::shared_ptr<engines::engine> make_batching_engine(std::shared_ptr<engines::engine> inner) {
    return std::make_shared<batching_engine>(std::move(inner));
}

}  // namespace herald::api::serving::batching
