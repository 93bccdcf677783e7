// Answers about backups and snapshots of the installation.
#pragma once

#include "schemas/answers/answer.hpp"

namespace herald::schemas::answers {

struct backup {
    std::string name;
    std::string path;   // on the node that was asked
    std::string state;  // RUNNING, DONE, FAILED, DAMAGED
    std::int64_t time_created = 0;
    std::string message;
    std::uint64_t bytes = 0;
    std::string digest;          // hexadecimal digits, as the next
    std::string content_digest;  // herald state-hash --content
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;
    std::uint64_t rows = 0;
    std::uint64_t carried_deliveries = 0;
    std::uint64_t artifacts_compared = 0;
    std::uint64_t artifacts_lost = 0;
    std::vector<std::string> lost_artifacts;

    HERALD_DESCRIBE(name, path, state, time_created, message, bytes, digest, content_digest, generation,
                    offset, rows, carried_deliveries, artifacts_compared, artifacts_lost, lost_artifacts);
};

struct begun_backup : one<"backup", answers::backup> {};

/// One page holds all, as of snapshots: there are few.
struct backups : page<"backups", backup> {};

struct snapshot {
    std::string name;
    std::uint32_t generation = 0;
    std::uint64_t offset = 0;
    std::int64_t time_created = 0;
    std::uint64_t bytes = 0;
    std::string digest;

    HERALD_DESCRIBE(name, generation, offset, time_created, bytes, digest);
};

struct snapshots {
    std::vector<snapshot> snapshots_;
    bool is_taking = false;
    std::uint64_t total_records = 0;
    std::string next_page_token;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "snapshots", self.snapshots_);
        field(2, "is_taking", self.is_taking);
        field(3, "total_records", self.total_records);
        field(4, "next_page_token", self.next_page_token);
    }
};

}  // namespace herald::schemas::answers
