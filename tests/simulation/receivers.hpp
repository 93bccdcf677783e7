// The receivers of webhooks and the network to them: answers of all kinds, late ones, missing ones; and a
// record of everything that reached them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "tests/simulation/world.hpp"
#include "workers/transport.hpp"

namespace herald::test {

class receivers {
  public:
    /// What happened to one event at one webhook.
    struct history {
        std::string delivery_id;  // webhook-id, the same each time
        std::uint64_t attempts = 0;
        bool received = false;         // answered with 2xx
        std::set<std::string> places;  // where it was sent
    };
    using pair = std::pair<std::string, std::uint64_t>;  // event id, webhook

    explicit receivers(world& in) : x_world(in) {}
    /// The network of one worker process.
    std::unique_ptr<workers::transport> make_transport(process_thread&);
    /// From now on every receiver works.
    void heal() { x_healed = true; }
    const std::map<pair, history>& all() const { return x_all; }

  private:
    class network;
    workers::delivery_answer receive(const workers::delivery_request&);

    world& x_world;
    /// One in this many only fails until it is healed.
    const std::uint64_t x_bad_one_in = static_cast<std::uint64_t>(x_world.chance.between(2, 12));
    bool x_healed = false;
    std::map<pair, history> x_all;
};

}  // namespace herald::test
