// How fast a node rebuilds its state from the log: create_version commands, prepared in memory, through the
// replica into an empty RocksDB; against bare RocksDB batches of the same rows.
// usage: replay_bench [COMMANDS]
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "events/log/topics.hpp"
#include "runtime/assert.hpp"
#include "runtime/key_ring.hpp"
#include "schemas/commands/all.hpp"
#include "storage/node/replica.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/prepared_log.hpp"
#include "tests/support/seeded_random.hpp"

namespace {

namespace fs = std::filesystem;
using namespace herald;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
    return std::chrono::duration<double>(steady_clock::now() - start).count();
}
double cpu_seconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// The records of registry.commands: GENESIS, a model, its versions.
std::vector<events::log::record> prepared_commands(std::size_t versions) {
    test::seeded_random random(1);
    schemas::commands::genesis genesis;
    genesis.level = schemas::commands::newest_level;
    genesis.log_id = random.uuid();
    genesis.event_partitions = 12;
    genesis.organization_name = "Default";
    genesis.admin_uuid = test::some_uuid;
    genesis.admin_email = test::admin_email;
    genesis.admin_key_hash = test::admin_key_hash();
    std::vector<events::log::record> records;
    records.reserve(versions + 2);
    const auto add = [&](const auto& what) {
        schemas::commands::request_identity who = test::request_of();
        who.scope = "POST /api/v1/registry/registered_models/model_versions";
        who.address = "192.0.2.17";
        auto command =
            test::envelope_of(schemas::commands::make_envelope(what), 1'700'000'000'000, std::move(who));
        command.log_id = genesis.log_id;
        command.command_id = random.uuid();
        command.not_after_ms = INT64_MAX;
        records.push_back({static_cast<std::int64_t>(records.size()), 1'700'000'000'000, "",
                           schemas::commands::seal_envelope(command)});
    };
    add(genesis);
    schemas::commands::create_model model;
    model.workspace_name = "Default";
    model.model.name = "model";
    add(model);
    schemas::commands::create_version version;
    version.registered_model_id.value = 1;
    version.version.description = "trained on the data of last week";
    version.version.labels = {"candidate", "nightly"};
    for (std::size_t i = 0; i < versions; ++i) {
        version.version.version = "v" + std::to_string(i);
        add(version);
    }
    return records;
}

/// Writes the same rows into a bare RocksDB too, and counts how long that takes.
class doubled_store final : public storage::registry::state::state_store {
  public:
    doubled_store(storage::registry::state::state_store& to, const fs::path& folder) : x_to(to) {
        rocksdb::Options options;
        options.create_if_missing = true;
        options.write_buffer_size = 16ull << 20;
        options.max_write_buffer_number = 3;
        options.compression = rocksdb::kLZ4Compression;
        rocksdb::DB* db = nullptr;
        HERALD_ASSERT(rocksdb::DB::Open(options, folder.string(), &db).ok());
        x_bare.reset(db);
    }
    result<void> write(const storage::registry::state::row_changes& changes) override {
        const auto start = steady_clock::now();
        rocksdb::WriteBatch batch;
        for (const auto& [key, value] : changes) {
            if (value)
                HERALD_ASSERT(batch.Put(key, *value).ok());
            else
                HERALD_ASSERT(batch.Delete(key).ok());
        }
        HERALD_ASSERT(x_bare->Write({}, &batch).ok());
        bare_seconds += seconds_since(start);
        bytes += batch.GetDataSize();
        rows += changes.size();
        return x_to.write(changes);
    }
    std::shared_ptr<const storage::registry::state::state_view> view() const override { return x_to.view(); }

    double bare_seconds = 0;
    std::size_t bytes = 0;
    std::size_t rows = 0;

  private:
    storage::registry::state::state_store& x_to;
    std::unique_ptr<rocksdb::DB> x_bare;
};

std::string replay(events::log::partitioned_log& log, storage::registry::state::state_store& store) {
    storage::node::replica replica(
        log, store, runtime::system_clock(), "bench",
        {[](storage::registry::engine::applied_record& done) { HERALD_ASSERT(done.outcome.code == 0); },
         [](const storage::node::written_tables&) {},
         {},
         {}});
    for (;;) {
        const auto outcome = replica.advance(0);
        const auto& progress = std::get<storage::node::replica::progress>(outcome);
        if (progress.at_end) return runtime::to_hex(replica.newest()->position.hash);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const auto count = static_cast<std::size_t>(argument_count > 1 ? std::atoll(arguments[1]) : 1'000'000);
    const test::temporary_folder folder;
    std::vector<events::log::record> records = prepared_commands(count);
    const std::size_t record_bytes = records.back().value->size();
    test::prepared_log log(std::move(records));
    std::printf("%zu create_version commands of %zu bytes, %u cores, RocksDB without sync in %s\n", count,
                record_bytes, std::thread::hardware_concurrency(), folder.path().c_str());

    const auto state = storage::rocks::open_rocks_state(folder / "state");
    HERALD_ASSERT(state.has_value());
    const double cpu_before = cpu_seconds();
    const auto start = steady_clock::now();
    const std::string hash = replay(log, *state->store);
    const double seconds = seconds_since(start);
    const double cpu = cpu_seconds() - cpu_before;
    const double rate = static_cast<double>(count) / seconds;
    std::printf("replay        %9.0f commands/s   %.2f s, %.2f s of CPU, hash %.8s\n", rate, seconds, cpu,
                hash.c_str());

    const auto again = storage::rocks::open_rocks_state(folder / "again");
    HERALD_ASSERT(again.has_value());
    doubled_store both(*again->store, folder / "bare");
    HERALD_ASSERT(replay(log, both) == hash);
    const double bare_rate = static_cast<double>(count) / both.bare_seconds;
    std::printf("bare batches  %9.0f commands/s   %.2f s, %.1f rows and %zu bytes a command\n", bare_rate,
                both.bare_seconds, static_cast<double>(both.rows) / static_cast<double>(count),
                both.bytes / count);
    std::printf("ratio         %9.2f\n", rate / bare_rate);
}
