// What nodes report of builds and predictions. Numbers 120 to 129.
#pragma once

#include "schemas/commands/envelope.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/tensors.hpp"

namespace herald::schemas::commands {

/// A component is loaded and warm on this node, or cannot be. → nothing
struct component_ready {
    static constexpr command_type type{120};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    schemas::update_id update_id;
    std::string node;
    uuid boot{};
    std::string error;  // why it cannot be served here; empty: it is ready

    HERALD_DESCRIBE(update_id, node, boot, error);
};

/// What a node counted of an update's new component in an interval. → nothing
struct report_canary {
    static constexpr command_type type{121};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    schemas::update_id update_id;
    std::uint32_t interval = 0;
    std::string node;
    uuid boot{};
    component_counts counts;

    HERALD_DESCRIBE(update_id, interval, node, boot, counts);
};

/// From the holder of the claim "builder". → nothing
struct finish_build {
    static constexpr command_type type{122};
    static constexpr command_traits traits{.from = sender::node, .passes_full_disk = true};

    schemas::build_id build_id;
    std::uint64_t token = 0;   // of the claim
    std::string error;         // why it cannot be built; empty: it is finished
    std::string image_digest;  // SHA-256 of the image, 32 bytes
    std::uint64_t image_bytes = 0;
    std::string base_url;  // of this node's --public-url; empty: of the request that made the build
    model_signature signature;

    HERALD_DESCRIBE(build_id, token, error, image_digest, image_bytes, base_url, signature);
};

using serving_commands = command_list<component_ready, report_canary>;
using build_ending_commands = command_list<finish_build>;

}  // namespace herald::schemas::commands
