// People and programs that use the registry: they send requests, repeat what may be repeated, and remember
// the answers.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/registry/tables/tables.hpp"
#include "tests/simulation/api_node.hpp"

namespace herald::test {

/// One intended operation, with everything that was sent for it and answered.
struct operation {
    request what;
    std::int64_t asked_ms = 0;
    /// Sent with a key that its user no longer has.
    bool is_revoked = false;
    std::vector<schemas::uuid> commands;
    std::vector<reply> replies;
    bool done = false;
};

class client {
  public:
    static constexpr std::string_view workspace = "simulated";
    static constexpr std::string_view first_admin_email = "first@example.org";
    static constexpr std::string_view admin_key_hash = "first administrator's key hashed";

    /// `deposed_ms`: for how long a deposed leader of the log may hide new records.
    client(world& in, std::vector<std::unique_ptr<api_node>>& nodes, std::int64_t deposed_ms)
        : x_world(in), x_nodes(nodes), x_thread(in.time.start_thread()), x_deposed_ms(deposed_ms) {}

    /// A second administrator (to approve what the first asks for), a model, a version, a webhook.
    void prepare();
    /// Sends one request, chosen by chance from those that the answers so far make possible.
    void act();
    /// Whether no answer is awaited.
    bool idle() const { return x_waiting == 0; }
    const std::deque<operation>& history() const { return x_history; }

  private:
    enum class repeat : std::uint8_t { with_key, never };
    using learner = std::function<void(const schemas::commands::outcome&)>;

    /// Of a transition; what its version is read as from then on has that time, or a later one.
    struct commit {
        std::uint64_t version = 0;
        std::int64_t time_ms = 0;
    };
    struct known {
        std::vector<std::uint64_t> models, versions, builds, webhooks;
        std::vector<std::uint64_t> transitions;  // requested ones
        std::vector<std::uint64_t> approved;
        std::vector<commit> commits;
    };
    /// A row that a write made, from the time of its answer.
    struct written_row {
        std::string key;
        std::int64_t answered_ms = 0;
    };
    /// A developer key of the first administrator that may be the current one: a renewal may have been lost.
    struct own_key {
        std::string hash;
        std::int64_t since = -1;  // offset of its renewal, once that was answered
    };

    template <class Command>
    void ask(const Command& command, repeat how, learner learn = nullptr, std::uint64_t user = 1);
    template <class Answer>
    learner learn_id(std::vector<std::uint64_t> known::*into, storage::registry::tables::table rows);
    request with_another_requests_key(request what);
    const std::string& credential(std::uint64_t user);
    void repeat_later(std::size_t index, learner learn);
    void attempt(std::size_t index, learner learn);
    void heard(std::size_t index, const reply& what, const learner& learn);
    void create_webhook();
    void move_webhook();
    void create_transition();
    void create_version();
    void update_version();
    void delete_webhook();
    void renew_key();
    void ask_under_old_key();
    /// Every answered write must be visible at each node, or the read says that it is stale (invariant 9).
    void read();
    std::string text_of_any_size();
    void review(std::uint64_t transition);
    void commit_transition(std::uint64_t transition);
    /// As it was read after some commit, which need not be the newest.
    void complete_promotion();
    repeat any_way() { return x_world.chance.one_in(4) ? repeat::never : repeat::with_key; }
    std::string name(std::string_view kind) { return std::string(kind) + "-" + std::to_string(++x_names); }

    world& x_world;
    std::vector<std::unique_ptr<api_node>>& x_nodes;
    process_thread& x_thread;
    std::deque<operation> x_history;
    known x_known;
    const std::int64_t x_deposed_ms;
    /// Rows of any size make a run slow, so few runs have them.
    const bool x_is_large = x_world.chance.one_in(10);
    std::vector<written_row> x_written;
    std::vector<own_key> x_keys{{std::string(admin_key_hash), 0}};
    std::vector<std::string> x_old_keys;
    std::size_t x_waiting = 0;
    std::uint64_t x_names = 0;
};

}  // namespace herald::test
