#include "api/serving/images/image_tar.hpp"

#include <utility>

#include "api/serving/images/tar.hpp"
#include "runtime/crypto.hpp"

namespace herald::api::serving::images {
namespace {

using storage::artifacts::artifact_store;
using storage::artifacts::stored_object;

constexpr std::string_view layer_name = "layer.tar";
constexpr std::string_view manifest_name = "manifest.json";
constexpr std::string_view model_name = "model/model.onnx";
constexpr std::string_view about_name = "model/build.json";
constexpr std::size_t end_of_tar_bytes = 2 * tar_block_bytes;

std::uint64_t model_bytes(const image_content& of) {
    std::uint64_t sum = 0;
    for (const stored_object& each : of.model) sum += each.bytes;
    return sum;
}

std::string about(const image_content& of) {
    std::string parts;
    for (const stored_object& each : of.model)
        parts += (parts.empty() ? "\"sha256:" : ",\"sha256:") + runtime::to_hex(each.digest) + "\"";
    return "{\"build_id\":" + std::to_string(of.build.value) +
           ",\"model_version_id\":" + std::to_string(of.version.value) +
           ",\"model\":{\"bytes\":" + std::to_string(model_bytes(of)) + ",\"parts\":[" + parts + "]}}";
}

std::string configuration(std::string_view layer_hex) {
    return "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{},\"rootfs\":{\"type\":\"layers\","
           "\"diff_ids\":[\"sha256:" +
           std::string(layer_hex) + "\"]}}";
}

std::string manifest(std::string_view configuration_name) {
    return "[{\"Config\":\"" + std::string(configuration_name) + "\",\"RepoTags\":null,\"Layers\":[\"" +
           std::string(layer_name) + "\"]}]";
}

std::string hex_digest(std::string_view text) {
    return runtime::to_hex(runtime::as_bytes(runtime::sha256(text)));
}

std::string tar_file(std::string_view name, std::string_view text) {
    return tar_header(name, text.size(), '0') + std::string(text) + tar_padding(text.size());
}

std::uint64_t layer_bytes(const image_content& of) {
    return tar_entry_bytes(model_bytes(of)) + tar_entry_bytes(about(of).size()) + end_of_tar_bytes;
}

class image_stream final : public runtime::http::body_stream {
  public:
    image_stream(artifact_store& store, image_content content, std::string digest)
        : x_store(store), x_content(std::move(content)), x_digest(std::move(digest)) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        switch (x_step) {
            case step::head:
                x_step = step::model;
                co_return give_head();
            case step::model: {
                const auto piece = co_await read_model();
                if (!piece) co_return piece.error();
                if (!piece->empty()) co_return in_layer(*piece);
                x_step = step::tail;
                co_return in_layer(hold(tail_of_layer()));
            }
            case step::tail:
                x_step = step::end;
                co_return give_tail();
            case step::end:
                break;
        }
        co_return std::string_view();
    }

  private:
    enum class step : std::uint8_t { head, model, tail, end };

    std::string_view hold(std::string bytes) {
        x_held = std::move(bytes);
        return x_held;
    }
    std::string_view whole(std::string_view bytes) {
        x_whole_hash.add(bytes);
        return bytes;
    }
    std::string_view in_layer(std::string_view bytes) {
        x_layer_hash.add(bytes);
        return whole(bytes);
    }

    std::string_view give_head() {
        const std::string outer = tar_header(layer_name, layer_bytes(x_content), '0');
        const std::string inner = tar_header(model_name, model_bytes(x_content), '0');
        x_layer_hash.add(inner);
        return whole(hold(outer + inner));
    }

    boost::asio::awaitable<result<std::string_view>> read_model() {
        if (!x_model) {
            const storage::artifacts::byte_range all{0, model_bytes(x_content)};
            auto opened = co_await storage::artifacts::read_joined(x_store, x_content.model, all);
            if (!opened) co_return opened.error();
            x_model = *std::move(opened);
        }
        co_return co_await x_model->next();
    }

    /// The layer fills whole blocks: nothing is needed between it and the next header.
    std::string tail_of_layer() {
        return tar_padding(model_bytes(x_content)) + tar_file(about_name, about(x_content)) +
               std::string(end_of_tar_bytes, '\0');
    }

    result<std::string_view> give_tail() {
        const std::string config = configuration(runtime::to_hex(runtime::as_bytes(x_layer_hash.finish())));
        const std::string config_name = hex_digest(config) + ".json";
        const std::string_view tail =
            whole(hold(tar_file(config_name, config) + tar_file(manifest_name, manifest(config_name)) +
                       std::string(end_of_tar_bytes, '\0')));
        const auto digest = x_whole_hash.finish();
        if (!x_digest.empty() && x_digest != runtime::as_bytes(digest))
            return runtime::internal("the image's bytes differ from those that were built; build it again");
        return tail;
    }

    artifact_store& x_store;
    const image_content x_content;
    const std::string x_digest;
    step x_step = step::head;
    std::shared_ptr<runtime::http::body_stream> x_model;
    std::string x_held;
    runtime::sha256_stream x_layer_hash;
    runtime::sha256_stream x_whole_hash;
};

}  // namespace

std::uint64_t image_bytes(const image_content& of) {
    const std::string hex(64, '0');
    const std::string config_name = hex + ".json";
    return tar_block_bytes + layer_bytes(of) + tar_entry_bytes(configuration(hex).size()) +
           tar_entry_bytes(manifest(config_name).size()) + end_of_tar_bytes;
}

std::shared_ptr<runtime::http::body_stream> image_tar(artifact_store& store, image_content content,
                                                      std::string digest) {
    return std::make_shared<image_stream>(store, std::move(content), std::move(digest));
}

storage::artifacts::task<std::string> image_digest(artifact_store& store, image_content content) {
    const auto stream = image_tar(store, std::move(content), "");
    runtime::sha256_stream hash;
    while (true) {
        const auto piece = co_await stream->next();
        if (!piece) co_return piece.error();
        if (piece->empty()) break;
        hash.add(*piece);
    }
    const auto digest = hash.finish();
    co_return std::string(runtime::as_bytes(digest));
}

}  // namespace herald::api::serving::images
