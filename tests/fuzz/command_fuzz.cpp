// Feeds arbitrary bytes to the command decoder and to apply: nothing may crash, every record is applied or
// refused, and two engines that see the same bytes agree (P5).
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/assert.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/engine/engine.hpp"
#include "tests/support/commands.hpp"

namespace {

using namespace herald;

constexpr std::int64_t now_ms = 1'700'000'000'000;

template <class Command>
schemas::commands::command_envelope envelope(const Command& command) {
    return test::envelope_of(schemas::commands::make_envelope(command), now_ms);
}

/// A registry with a model and a version, so that bodies can refer to something.
struct registry {
    registry() {
        schemas::commands::genesis genesis;
        genesis.level = schemas::commands::newest_level;
        genesis.event_partitions = 2;
        genesis.organization_name = "default";
        genesis.admin_uuid = test::some_uuid;
        genesis.admin_email = test::admin_email;
        genesis.admin_key_hash = test::admin_key_hash();
        apply(envelope(genesis));
        schemas::commands::create_model model;
        model.workspace_name = "default";
        model.model.name = "m";
        apply(envelope(model));
        schemas::commands::create_version version;
        version.registered_model_id.value = 1;
        version.version.version = "v";
        apply(envelope(version));
    }
    void apply(const schemas::commands::command_envelope& command) {
        apply(schemas::commands::seal_envelope(command));
    }
    void apply(std::string bytes) {
        const auto applied = engine.apply({offset++, now_ms, "", std::move(bytes)});
        if (applied) HERALD_ASSERT(applied->outcome.code == 0 || !applied->outcome.message.empty());
    }

    std::int64_t offset = 0;
    std::unique_ptr<storage::registry::state::state_store> store =
        storage::registry::state::make_memory_state();
    storage::registry::engine::engine engine{*store};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    registry one;
    registry other;
    for (registry* each : {&one, &other}) {
        each->apply(bytes);  // as a record of the log
        if (const auto opened = schemas::decode<schemas::commands::command_envelope>(bytes))
            each->apply(*opened);
        schemas::commands::command_envelope of_any_type;
        of_any_type.type = static_cast<schemas::commands::command_type>(data[0]);
        of_any_type.body = bytes.substr(1);
        each->apply(test::envelope_of(std::move(of_any_type), now_ms));
    }
    HERALD_ASSERT(one.engine.position().hash == other.engine.position().hash);
    HERALD_ASSERT(one.engine.write().has_value());
    return 0;
}
