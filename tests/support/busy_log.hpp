// A log in which rights change between commands that depend on them, for tests of replay.
#pragma once

#include "tests/support/registry.hpp"

namespace herald::test {

/// What a log holds and what applying it record by record comes to.
struct busy_log {
    std::vector<events::log::record> records;
    std::vector<std::uint32_t> outcomes;  // the code of each
    std::string hash;
};

inline busy_log make_busy_log(std::size_t commands) {
    busy_log log;
    registry all;  // makes the envelopes

    const auto store = storage::registry::state::make_memory_state();
    storage::registry::engine::engine engine(*store);
    const auto add = [&](schemas::user_id user, const auto& command) {
        log.records.push_back(all.record_of(all.envelope_of(user, command)));
        const auto applied = engine.apply(log.records.back());
        ASSERT_TRUE(applied && engine.write());
        log.outcomes.push_back(applied->outcome.code);
    };
    all.offset = 0;
    add(admin, registry::genesis());
    schemas::commands::create_model model;
    model.workspace_name = "default";
    model.model.name = "m";
    add(admin, model);
    std::uint64_t users = 1;
    for (std::size_t i = 0; log.records.size() < commands; ++i) {
        if (i % 211 == 5) {
            schemas::commands::create_user user;
            user.email = "u" + std::to_string(++users) + "@example.org";
            user.key_hash = admin_key_hash();
            user.user_uuid = some_uuid;
            add(admin, user);
        } else if (i % 211 == 150) {  // until now the newest user may do nothing here
            schemas::commands::add_group_users join;
            join.org_id.value = 1;
            join.group_id.value = 1;
            join.user_id = {schemas::user_id{users}};
            add(admin, join);
        } else {
            schemas::commands::create_version version;
            version.registered_model_id.value = 1;
            version.version.version = "v" + std::to_string(i * 7'919 % 100'003);
            version.version.description = std::string(i % 90, 'd');
            add(schemas::user_id{i % 3 == 0 ? users : 1}, version);
        }
    }
    log.hash = engine.position().hash;
    return log;
}

}  // namespace herald::test
