// Compiled once for each version: for the next one `storage` is a separate namespace (CMakeLists.txt).
#include "tests/unit/upgrade/member.hpp"

#include <utility>

#include "runtime/crypto.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/node.hpp"
#include "storage/registry/tables/installation.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/log/memory/memory_log.hpp"

namespace herald::storage {
namespace {

using node::node_failure;
using node::registry_node;
using registry::tables::key_of;

std::string name_of(node_failure::kind what) {
    switch (what) {
        case node_failure::kind::level_too_low:
            return "level_too_low";
        case node_failure::kind::unknown_command:
            return "unknown_command";
        case node_failure::kind::diverged:
            return "diverged";
        default:
            return "another";
    }
}

class node_member final : public upgrade::member {
  public:
    node_member(const upgrade::ground& on, const std::string& name, const upgrade::rows& state)
        : x_random(on.random), x_scheduler(on.scheduler), x_store(registry::state::make_memory_state()) {
        (void)x_store->write(state);
        x_log = std::make_unique<events::log::memory::memory_log>(
            on.broker, [&on_scheduler = on.scheduler](std::function<void()> task) {
                on_scheduler.post(std::move(task));
            });
        registry_node::options options;
        options.name = name;
        options.kind = node::node_kind::cluster;
        options.has_thread = false;
        options.on_failure = [this](const node_failure& why) { x_failure = name_of(why.what); };
        x_node = node::make_node(options, {*x_log, *x_store, on.scheduler, on.random});
        x_node->start();
        on.scheduler.settle();
    }
    ~node_member() override {
        x_log->crash();
        x_node.reset();
    }

    std::string hash() const override { return x_node->state_now().hash; }
    std::uint64_t next_offset() const override { return x_node->state_now().next_offset; }
    std::uint32_t level_in_force() const override {
        return registry::tables::level_in_force(*x_store->view());
    }
    bool is_ready() const override { return !x_node->state_now().not_ready; }
    std::string failure() const override { return x_failure; }
    void drain() override {
        x_node->drain([] {});
        x_scheduler.settle();
    }
    upgrade::rows state() const override {
        upgrade::rows all;
        x_store->view()->scan("", {}, [&](std::string_view key, std::string_view value) {
            all.emplace(key, std::string(value));
            return true;
        });
        return all;
    }

    std::shared_ptr<upgrade::reply> create_model(const std::string& name) override {
        schemas::commands::create_model command;
        command.workspace_name = "default";
        command.model.name = name;
        return submit(command);
    }
    std::shared_ptr<upgrade::reply> create_webhook() override {
        schemas::commands::create_webhook command;
        command.settings.name = "hook";
        command.settings.location = "https://example.org/hook";
        command.settings.event_types = {schemas::event_type::create};
        return submit(command);
    }
    std::shared_ptr<upgrade::reply> describe_model(std::uint64_t id, const std::string& description) override;
    std::optional<std::string> description_of(std::uint64_t model) const override {
        const auto row = registry::tables::models::find(*x_store->view(), schemas::model_id{model});
        return row ? std::optional(row->description) : std::nullopt;
    }
    std::vector<std::string> events() const override {
        std::map<std::uint64_t, std::string> by_offset;
        const std::string all = registry::tables::key_of(registry::tables::table::outbox);
        x_store->view()->scan(all, {}, [&](std::string_view key, std::string_view value) {
            const auto event = registry::tables::decode_row<schemas::event>(key, value);
            by_offset.emplace(event.offset, event.body);
            return true;
        });
        std::vector<std::string> bodies;
        for (auto& [offset, body] : by_offset) bodies.push_back(std::move(body));
        return bodies;
    }

  private:
    template <schemas::commands::any_command Command>
    std::shared_ptr<upgrade::reply> submit(const Command& command) {
        const auto got = std::make_shared<upgrade::reply>();
        schemas::commands::request_identity who;
        who.principal.value = 1;
        who.credential_hash = runtime::as_bytes(runtime::sha256(upgrade::admin_key));
        who.scope = "POST /test";
        x_node->submit(Command::type, schemas::encode(command), std::move(who), x_random.uuid(),
                       [got](const result<schemas::commands::outcome>& outcome) {
                           got->is_there = true;
                           got->was_applied = outcome.has_value();
                           got->code =
                               outcome ? static_cast<error_code>(outcome->code) : outcome.error().code;
                           got->message = outcome ? outcome->message : outcome.error().message;
                       });
        x_scheduler.settle();
        return got;
    }

    runtime::random_source& x_random;
    test::manual_scheduler& x_scheduler;
    const std::unique_ptr<registry::state::state_store> x_store;
    std::unique_ptr<events::log::memory::memory_log> x_log;
    std::string x_failure;
    std::shared_ptr<registry_node> x_node;
};

#ifdef HERALD_NEXT
std::shared_ptr<upgrade::reply> node_member::describe_model(std::uint64_t id,
                                                            const std::string& description) {
    schemas::commands::describe_model command;
    command.model_id.value = id;
    command.description = description;
    return submit(command);
}
#else
std::shared_ptr<upgrade::reply> node_member::describe_model(std::uint64_t, const std::string&) {
    return nullptr;  // it has no such command
}
#endif

}  // namespace

std::unique_ptr<upgrade::member> make_member(const upgrade::ground& on, const std::string& name,
                                             const upgrade::rows& state) {
    return std::make_unique<node_member>(on, name, state);
}

}  // namespace herald::storage
