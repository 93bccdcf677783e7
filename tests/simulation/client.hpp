// People and programs that use the registry: they ask, repeat what they may repeat, and remember what they
// heard.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/api_node.hpp"

namespace herald::simulation {

/// One wish, with everything that was sent for it and heard of it.
struct operation {
    request what;
    std::vector<schemas::uuid> commands;
    std::vector<reply> replies;
    bool done = false;
};

class client {
  public:
    static constexpr std::string_view workspace = "simulated";
    static constexpr std::string_view admin_key_hash = "first administrator's key hashed";

    client(world& in, std::vector<std::unique_ptr<api_node>>& nodes)
        : x_world(in), x_nodes(nodes), x_thread(in.time.start_thread()) {}

    /// A second administrator (to approve what the first asks for), a model, a version, a webhook.
    void prepare();
    /// Asks for one thing, by chance, that what was heard so far makes possible.
    void act();
    /// No answer is waited for.
    bool idle() const { return x_waiting == 0; }
    const std::deque<operation>& history() const { return x_history; }

  private:
    enum class repeat : std::uint8_t { with_key, never };
    using learner = std::function<void(const schemas::outcome&)>;

    struct known {
        std::vector<std::uint64_t> models, versions, builds, webhooks;
        std::vector<std::uint64_t> transitions;  // asked for
        std::vector<std::uint64_t> approved;
    };

    template <class Command>
    void ask(const Command& command, repeat how, learner learn = nullptr, std::uint64_t user = 1);
    template <class Answer>
    learner learn_id(std::vector<std::uint64_t> known::*into);
    void attempt(std::size_t index, learner learn);
    void heard(std::size_t index, const reply& what, const learner& learn);
    void create_webhook();
    void create_transition();
    void review(std::uint64_t transition);
    repeat any_way() { return x_world.chance.one_in(4) ? repeat::never : repeat::with_key; }
    std::string name(std::string_view kind) { return std::string(kind) + "-" + std::to_string(++x_names); }

    world& x_world;
    std::vector<std::unique_ptr<api_node>>& x_nodes;
    process_thread& x_thread;
    std::deque<operation> x_history;
    known x_known;
    std::size_t x_waiting = 0;
    std::uint64_t x_names = 0;
};

}  // namespace herald::simulation
