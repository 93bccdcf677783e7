// Keeps the route book at what the node has applied: makes the entries of the endpoints that a write has
// touched.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/serving/canary_reports.hpp"
#include "api/serving/components.hpp"
#include "api/serving/route_book.hpp"
#include "api/serving/route_rows.hpp"
#include "storage/node/node.hpp"

namespace herald::api::serving {

/// On the applying thread alone. Until the log has been applied to its end once there is nothing to serve.
class route_maker {
  public:
    struct options {
        std::vector<std::string> header_prefixes;  // of what answers say (spec.md §6.1)
        std::uint64_t body_bytes_max = 0;          // where an endpoint's update names no other
        std::int64_t deadline_ms = 0;
        std::uint32_t in_flight_max = 0;
    };
    /// All of them must outlive it.
    struct parts {
        route_book& book;
        serving_gate& gate;
        component_holder& models;
        canary_reports& canaries;
    };
    route_maker(options with, const parts& on) : x_with(std::move(with)), x_on(on) {}

    /// For registry_node::options::about_to_show.
    void shown(const storage::node::shown_write&);

  private:
    /// The rows of which an entry is made: when one of them changes, so does the entry.
    struct origins {
        std::set<schemas::endpoint_stage_id> stages;
        std::set<schemas::build_id> builds;
        std::set<schemas::version_id> versions;
        std::set<schemas::model_id> models;
        std::set<schemas::user_id> users;
        std::set<schemas::update_id> updates;
    };
    template <class Id>
    using users_of = std::unordered_map<Id, std::set<schemas::uuid>>;
    struct made {
        std::shared_ptr<endpoint_route> entry;
        origins from;
    };

    void tell_gate(const storage::node::shown_write&) const;
    std::set<schemas::uuid> touched(const storage::node::shown_write&) const;
    made make(const route_rows&, const route_table::entry& before) const;
    stage_route make_stage(const route_rows&, const route_rows::stage&, const route_table::entry& before,
                           origins&) const;
    component_route make_component(const route_rows&, const route_rows::component&, origins&) const;
    std::shared_ptr<canary_meter> meter_of(const route_rows::stage&, const route_rows::component&,
                                           const route_table::entry& before) const;
    std::shared_ptr<component> hold(const route_rows::component&) const;
    void follow_update(const route_rows::stage&, const route_rows::component&, const component_route&) const;
    std::string lines(const std::vector<std::pair<std::string_view, std::string>>& headers) const;
    std::set<schemas::update_id> updates_of(const schemas::uuid& endpoint) const;
    void remember(const schemas::uuid& endpoint, const origins&);
    void forget(const schemas::uuid& endpoint);

    const options x_with;
    const parts x_on;
    bool x_has_begun = false;
    std::map<schemas::uuid, origins> x_origins;
    users_of<schemas::endpoint_stage_id> x_of_stage;
    users_of<schemas::build_id> x_of_build;
    users_of<schemas::version_id> x_of_version;
    users_of<schemas::model_id> x_of_model;
    users_of<schemas::user_id> x_of_user;
    users_of<schemas::update_id> x_of_update;
};

}  // namespace herald::api::serving
