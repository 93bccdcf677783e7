// How long finds take among many versions: create_version commands, 100 versions in a model, through the
// engine into RocksDB; of each find the median, the longest slice and the slices it took.
// usage: find_bench [VERSIONS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/assert.hpp"
#include "runtime/random.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/engine/engine.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/find/limits.hpp"
#include "storage/rocks/rocks_state.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/folder.hpp"

namespace {

using namespace herald;
using schemas::find_operator;
using std::chrono::steady_clock;
namespace find = storage::registry::find;

constexpr std::size_t versions_of_a_model = 100;
constexpr std::size_t rare_labels = 1'000;  // versions that carry it
constexpr std::int64_t records_at_a_time = 1'000;

double ms_since(steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(steady_clock::now() - start).count();
}

class registry {
  public:
    explicit registry(storage::registry::state::state_store& store) : x_engine(store) {
        schemas::commands::genesis genesis;
        genesis.level = schemas::commands::newest_level;
        genesis.log_id[0] = 7;
        genesis.event_partitions = 12;
        genesis.organization_name = "Default";
        genesis.admin_uuid = test::some_uuid;
        genesis.admin_email = test::admin_email;
        genesis.admin_key_hash = test::admin_key_hash();
        run(genesis);
    }

    template <class Command>
    void run(const Command& command) {
        auto envelope =
            test::envelope_of(schemas::commands::make_envelope(command), x_now_ms, test::request_of());
        envelope.log_id[0] = 7;
        envelope.not_after_ms = INT64_MAX;
        const auto done =
            x_engine.apply({x_offset++, x_now_ms, "", schemas::commands::seal_envelope(envelope)});
        HERALD_ASSERT(done && done->outcome.code == 0);
        if (++x_now_ms % records_at_a_time == 0) HERALD_ASSERT(x_engine.write().has_value());
    }
    void write() { HERALD_ASSERT(x_engine.write().has_value()); }

    /// Prints how long each tenth took.
    void fill(std::size_t versions) {
        const std::size_t apart = std::max<std::size_t>(1, versions / rare_labels);
        schemas::commands::create_model model;
        model.workspace_name = "Default";
        schemas::commands::create_version version;
        auto start = steady_clock::now();
        for (std::size_t i = 0; i < versions; ++i) {
            if (i % versions_of_a_model == 0) {
                model.model.name = "model " + std::to_string(i / versions_of_a_model);
                run(model);
            }
            version.registered_model_id.value = 1 + i / versions_of_a_model;
            version.version.version = "v" + std::to_string(i % versions_of_a_model);
            version.version.description = "trained on the data of last week";
            version.version.labels = {"nightly"};
            if (i % apart == 0) version.version.labels.push_back("rare");
            run(version);
            if ((i + 1) % (versions / 10) == 0) {
                std::printf("%9zu versions  %9.0f commands/s\n", i + 1,
                            static_cast<double>(versions / 10) / ms_since(start) * 1'000);
                start = steady_clock::now();
            }
        }
        write();
    }

  private:
    storage::registry::engine::engine x_engine;
    std::int64_t x_offset = 0;
    std::int64_t x_now_ms = 1'700'000'000'000;
};

schemas::find_request asking(std::string sort_key, std::int64_t page, std::int64_t limit) {
    schemas::find_request request;
    request.sort_key = std::move(sort_key);
    request.pagination = schemas::pagination{page, limit, {}};
    return request;
}

schemas::find_request where(schemas::find_request request, std::string key, std::string json,
                            find_operator op = find_operator::eq) {
    request.predicates.push_back({std::move(key), {std::move(json)}, op});
    return request;
}

void measure(const char* what, const storage::registry::state::state_view& state,
             const schemas::find_request& request) {
    std::vector<double> all;
    double longest = 0;
    std::size_t slices = 0;
    std::uint64_t total = 0;
    for (int i = 0; i < 21; ++i) {
        const auto start = steady_clock::now();
        auto search = find::search_versions(state, test::admin, request);
        HERALD_ASSERT(search.has_value());
        bool is_done = false;
        slices = 0;
        for (auto slice = start; !is_done; slice = steady_clock::now()) {
            std::size_t rows = 0;
            is_done = (*search)->go_on([&] {
                rows += limits::find_rows_between_looks;
                return rows >= limits::find_slice_rows_max ||
                       ms_since(slice) >= static_cast<double>(limits::find_slice_ms_max);
            });
            ++slices;
            longest = std::max(longest, ms_since(slice));
        }
        const auto page = (*search)->take();
        HERALD_ASSERT(page.has_value());
        total = page->total_records;
        while (!(*search)->read().empty()) {
        }
        all.push_back(ms_since(start));
        if (all.back() > 1'000 && i == 2) break;
    }
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    std::printf("%-52s p50 %9.2f ms  total %8llu  %5zu slices, the longest %6.1f ms\n", what,
                all[all.size() / 2], static_cast<unsigned long long>(total), slices, longest);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const auto versions = static_cast<std::size_t>(argument_count > 1 ? std::atoll(arguments[1]) : 1'000'000);
    HERALD_ASSERT(versions >= 1'000);
    const test::temporary_folder folder;
    const auto state = storage::rocks::open_rocks_state(folder / "state", 256);
    HERALD_ASSERT(state.has_value());
    registry(*state->store).fill(versions);
    const auto view = state->store->view();
    const auto all = asking("", 1, 100);
    measure("label of 1,000, first 100", *view, where(all, "labels", R"("rare")"));
    measure("label of all, first 100", *view, where(all, "labels", R"("nightly")"));
    measure("all, first 100", *view, all);
    measure("all, page 1,000 of 10", *view, asking("", 1'000, 10));
    auto ascending = asking("", 1'000, 10);
    ascending.ascending = true;
    measure("all, page 1,000 of 10, oldest first", *view, ascending);
    measure("all by name, first 100", *view, asking("version", 1, 100));
    measure("all by time_created, first 100", *view, asking("time_created", 1, 100));
    measure("version v7 of all models", *view, where(all, "version", R"("v7")"));
    measure("label of 1,000 and a description", *view,
            where(where(all, "labels", R"("rare")"), "description", R"("week")", find_operator::contain));
    measure("a description only", *view, where(all, "description", R"("month")", find_operator::contain));
    auto of_model = all;
    of_model.id.emplace().registered_model_id.value = 1;
    measure("a model, first 100", *view, of_model);
    measure("a model and a label of all", *view, where(of_model, "labels", R"("nightly")"));
}
