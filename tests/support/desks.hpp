// Desks for backups and snapshots that make none, but say so.
#pragma once

#include "storage/backup/backup_desk.hpp"
#include "storage/snapshots/snapshot_desk.hpp"

namespace herald::test {

/// One thread.
class backups_in_memory final : public storage::backup::backup_desk {
  public:
    result<storage::backup::backup_row> begin() override {
        if (refusal) return *refusal;
        storage::backup::backup_row row;
        row.name = "herald-" + std::to_string(rows.size()) + ".backup";
        row.path = "/backups/" + row.name;
        row.state = storage::backup::backup_state::running;
        rows.insert(rows.begin(), row);
        return row;
    }
    result<std::vector<storage::backup::backup_row>> list() const override { return rows; }

    std::optional<error> refusal;
    std::vector<storage::backup::backup_row> rows;
};

class snapshots_in_memory final : public storage::snapshots::snapshot_desk {
  public:
    result<void> begin() override {
        rows.insert(rows.begin(), {std::to_string(rows.size()), 1, 17, 1'700'000'000'000, 4'096, "digest"});
        return {};
    }
    bool is_taking() const override { return false; }
    result<std::vector<storage::snapshots::snapshot_row>> list() const override { return rows; }

    std::vector<storage::snapshots::snapshot_row> rows;
};

}  // namespace herald::test
