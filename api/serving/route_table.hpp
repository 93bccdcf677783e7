// Which endpoint, stage and component a prediction goes to: an immutable snapshot of what the registry says
// (design.md §4). Looking into it takes no lock and touches no disk, and with 10,000 endpoints it costs what
// it costs with one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/serving/component.hpp"
#include "api/serving/meters.hpp"
#include "api/serving/serving_gate.hpp"
#include "runtime/crypto.hpp"
#include "schemas/endpoints.hpp"
#include "schemas/ids.hpp"

namespace herald::api::serving {

/// A build with a share of a stage's predictions.
struct component_route {
    schemas::build_id build;
    schemas::scan_id unsafe_scan;        // that reported the build unsafe; 0: none did
    std::uint32_t share_begins_ppm = 0;  // the share of a request's place: [share_begins_ppm, share_ends_ppm)
    std::uint32_t share_ends_ppm = 0;
    schemas::update_id update;             // that brought it
    std::shared_ptr<build_safety> safety;  // never null: of the build, beyond this snapshot
    std::shared_ptr<component> served;     // never null; its model is, until it is loaded here
    /// What is counted for the update while it is a canary, else null: of this stage alone, even if
    /// others serve the same model, and the same in each snapshot.
    std::shared_ptr<canary_meter> meter;
    std::string model_name;
    std::string model_version;         // its name
    std::uint64_t version_number = 0;  // ascending within the model: {v} of the v2 protocol
    std::uint64_t body_bytes_max = 0;  // the limits in force, defaults filled in
    std::int64_t deadline_ms = 0;
    std::uint32_t in_flight_max = 0;
    /// Seven of the eight headers of spec.md §6.1 (all but the request id) as lines that end in CRLF, under
    /// each prefix.
    std::string header_lines;
};

struct stage_route {
    schemas::endpoint_stage_id id;
    std::string name;
    std::vector<component_route> components;          // those with a share, in the order of their shares
    std::vector<std::shared_ptr<component>> waiting;  // of an update: being loaded, without a share yet
    /// Of an update that failed: "build 7: its reason"; empty when the newest did not.
    std::string failure;

    /// Null when no component has a share. `request_id`: the one that the answer bears; the same id goes to
    /// the same component while the shares stay.
    const component_route* component_for(std::string_view request_id) const noexcept;
};

/// A live token of one of the endpoint's stages.
struct token_route {
    runtime::sha256_digest hash{};  // of its value
    std::uint32_t stage = 0;        // its place in endpoint_route::stages
};

struct endpoint_route {
    schemas::uuid id{};
    std::string path;     // "/team/churn"
    std::string v2_name;  // "team.churn"
    std::vector<stage_route> stages;
    std::vector<token_route> tokens;  // ascending by hash
    /// Those of the eight headers that do not depend on the component, as component_route::header_lines: for
    /// refusals.
    std::string header_lines;
    std::uint64_t body_bytes_max = 0;       // the largest of its components', the default when it has none
    std::shared_ptr<endpoint_meter> meter;  // never null; the same in each snapshot

    /// The stage that the token with this hash opens; null when none of its tokens has it. A token that
    /// expires is removed by its timer in log time, so on every node alike.
    const stage_route* stage_of(const runtime::sha256_digest& token) const noexcept;
};

/// Immutable. Shards are shared with the snapshots before and after: a change of one endpoint costs its
/// shards.
class route_table {
  public:
    static constexpr std::size_t shards = 256;
    using entry = std::shared_ptr<const endpoint_route>;

    route_table();

    /// By the path with its leading "/", as after /api/v1/predict; null when there is none. Valid as long as
    /// the snapshot, or a copy of the entry.
    const entry* find(std::string_view path) const noexcept;
    /// By its name in the v2 protocol.
    const entry* find_v2(std::string_view name) const noexcept;
    /// Whether it is a live token of any endpoint: what is sent to another endpoint is 403, not 401.
    bool has_token(const runtime::sha256_digest& token) const noexcept;

    std::size_t size() const noexcept { return x_size; }
    void each(const std::function<void(const entry&)>& visit) const;

    /// A snapshot in which these endpoints are as given, and the others as here. A null entry: it is gone.
    struct change {
        schemas::uuid endpoint{};
        entry now;
    };
    std::shared_ptr<const route_table> with(const std::vector<change>&) const;
    /// The entry of the endpoint with this id; null when there is none. For who makes changes.
    const entry* find_id(const schemas::uuid&) const noexcept;

  private:
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    struct id_hash {
        std::size_t operator()(const schemas::uuid& id) const noexcept;
    };
    struct digest_hash {
        std::size_t operator()(const runtime::sha256_digest& digest) const noexcept;
    };
    using by_text = std::unordered_map<std::string, entry, text_hash, std::equal_to<>>;
    using by_id = std::unordered_map<schemas::uuid, entry, id_hash>;
    /// By hash: endpoints that have such a token. Mostly one.
    using by_token = std::unordered_multimap<runtime::sha256_digest, entry, digest_hash>;
    template <class Map>
    using sharded = std::array<std::shared_ptr<const Map>, shards>;
    class editor;

    std::size_t x_size = 0;
    sharded<by_text> x_paths;
    sharded<by_text> x_names;
    sharded<by_id> x_ids;
    sharded<by_token> x_tokens;
};

}  // namespace herald::api::serving
