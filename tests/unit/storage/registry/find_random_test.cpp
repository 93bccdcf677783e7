// Protects finds from their indexes: over random registries, edits and requests they answer what looking at
// every row answers, whatever way they take, in slices of any size.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "schemas/json_codec.hpp"
#include "storage/registry/find/conditions.hpp"
#include "storage/registry/find/find.hpp"
#include "storage/registry/find/searching.hpp"
#include "storage/registry/tables/deletions.hpp"
#include "storage/registry/tables/lists.hpp"
#include "storage/registry/tables/models.hpp"
#include "storage/registry/tables/versions.hpp"
#include "tests/support/registry.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/storage/registry/whole_search.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::find;
using namespace storage::registry::tables;
using schemas::find_operator;
using schemas::model_version;
using schemas::registered_model;
using storage::registry::state::state_changes;

const std::vector<std::string> label_names{"a", "b", "b c", "candidate", "z"};

std::string name_of(const registered_model& row) { return row.name; }
std::string name_of(const model_version& row) { return row.version; }

class random_registry {
  public:
    explicit random_registry(unsigned seed) : x_random(seed) {
        reader = x_registry.second_admin();  // who reads workspace 1 and an own one, but not the third
        x_registry.user_named("stranger@example.org");
        EXPECT_EQ(x_registry.run(schemas::commands::no_operation{}).code, 0u);
        x_now = x_registry.view();
        state.emplace(x_now.get());
    }

    std::uint64_t below(std::uint64_t bound) { return x_random() % bound; }
    bool once_in(std::uint64_t times) { return below(times) == 0; }
    std::vector<std::string> labels() {
        std::vector<std::string> out;
        for (const std::string& label : label_names)
            if (once_in(3)) out.push_back(label);
        return out;
    }

    void edit() {
        if (models.empty() || once_in(12)) return make_model();
        if (versions.empty() || once_in(2)) return make_version();
        if (once_in(40)) return erase_model();
        if (once_in(12)) return erase_version();
        if (once_in(8)) return change_model();
        change_version();
    }
    /// Rows in a store, as finds read them.
    std::shared_ptr<const storage::registry::state::state_view> view() {
        EXPECT_TRUE(x_registry.store->write(state->take()));
        x_now = x_registry.store->view();
        state->rebase(x_now.get());
        return x_now;
    }

    schemas::user_id reader;
    std::optional<state_changes> state;
    std::map<std::uint64_t, registered_model> models;
    std::map<std::uint64_t, model_version> versions;
    std::int64_t stamp = 1'700'000'000'000;

    template <class Rows>
    const auto& any_of(const Rows& rows) {
        return std::next(rows.begin(), static_cast<std::ptrdiff_t>(below(rows.size())))->second;
    }

  private:
    void make_model() {
        registered_model row;
        row.id.value = ++x_last_model;
        row.workspace_id.value = 1 + below(3);
        row.name = "m" + std::to_string(below(10)) + "." + std::to_string(row.id.value);
        row.labels = labels();
        row.owner.value = 1 + below(3);
        row.time_created = row.time_updated = ++stamp;
        storage::registry::tables::models::put(*state, row);
        models[row.id.value] = row;
    }
    void make_version() {
        const registered_model& model = any_of(models);
        model_version row;
        row.id.value = ++x_last_version;
        row.registered_model_id = model.id;
        row.workspace_id = model.workspace_id;
        row.version = "v" + std::to_string(below(12));
        if (storage::registry::tables::versions::named(*state, model.id, row.version))
            row.version += "." + std::to_string(row.id.value);
        row.labels = labels();
        row.owner.value = 1 + below(3);
        if (once_in(10)) row.experiment_run_id = "run " + std::to_string(below(2));
        if (once_in(4)) row.description = "late";
        row.time_created = row.time_updated = ++stamp;
        storage::registry::tables::versions::put(*state, row);
        versions[row.id.value] = row;
    }
    void change_model() {
        const registered_model before = any_of(models);
        registered_model after = before;
        after.time_updated = ++stamp;
        after.labels = labels();
        storage::registry::tables::models::update(*state, before, after);
        models[after.id.value] = after;
    }
    void change_version() {
        const model_version before = any_of(versions);
        model_version after = before;
        after.time_updated = ++stamp;
        if (once_in(2)) after.labels = labels();
        if (once_in(2)) after.stage = static_cast<schemas::stage>(1 + below(5));
        if (once_in(5)) after.version = "w" + std::to_string(after.id.value);
        storage::registry::tables::versions::update(*state, before, after);
        versions[after.id.value] = after;
    }
    void erase_version() {
        const model_version row = any_of(versions);
        storage::registry::tables::versions::erase(*state, row);
        versions.erase(row.id.value);
    }
    /// Its versions stay for a while, in nobody's sight.
    void erase_model() {
        const registered_model row = any_of(models);
        storage::registry::tables::models::erase(*state, row);
        models.erase(row.id.value);
        std::erase_if(versions, [&](const auto& each) {
            const bool is_orphan = each.second.registered_model_id == row.id;
            if (is_orphan) x_orphans.push_back(each.second);
            return is_orphan;
        });
        deleted_models::put(*state, row.id, {});
        while (x_orphans.size() > 20) {
            const model_version gone = x_orphans.front();
            storage::registry::tables::versions::erase(*state, gone);
            x_orphans.erase(x_orphans.begin());
            const auto is_sibling = [&](const model_version& each) {
                return each.registered_model_id == gone.registered_model_id;
            };
            if (std::ranges::none_of(x_orphans, is_sibling))
                deleted_models::erase(*state, gone.registered_model_id);
        }
    }

    std::mt19937_64 x_random;
    registry x_registry;
    std::shared_ptr<const storage::registry::state::state_view> x_now;
    std::uint64_t x_last_model = 0;
    std::uint64_t x_last_version = 0;
    std::vector<model_version> x_orphans;
};

class random_requests {
  public:
    explicit random_requests(random_registry& of) : x_of(of) {}

    schemas::find_request request(bool of_versions) {
        schemas::find_request out;
        out.ascending = x_of.once_in(2);
        const char* const keys[] = {"", "name", "time_created", "time_updated"};
        out.sort_key = keys[x_of.below(4)];
        if (x_of.once_in(3)) out.workspace_name = "default";
        if (of_versions && x_of.once_in(3) && !x_of.models.empty()) {
            const auto& model = x_of.any_of(x_of.models);
            if (model.workspace_id.value != 3) out.id.emplace().registered_model_id = model.id;
        }
        for (std::uint64_t left = x_of.below(4); left > 0; --left)
            out.predicates.push_back(predicate(of_versions));
        if (x_of.once_in(8))
            for (int i = 0; i < 20; ++i) out.ids.push_back(1 + x_of.below(300));
        if (x_of.once_in(2))
            out.pagination = schemas::pagination{static_cast<std::int64_t>(1 + x_of.below(4)),
                                                 static_cast<std::int64_t>(1 + x_of.below(12)),
                                                 {}};
        return out;
    }

  private:
    schemas::predicate predicate(bool of_versions) {
        switch (x_of.below(of_versions ? 10 : 7)) {
            case 0:
            case 1:
                return texts("labels", label_names[x_of.below(label_names.size())],
                             label_names[x_of.below(label_names.size())]);
            case 2:
                return numbers("id", 1 + x_of.below(200), 1 + x_of.below(200));
            case 3:
                return numbers("time_created", stamp(), stamp());
            case 4:
                return numbers("time_updated", stamp(), stamp());
            case 5: {
                const std::string some = "v" + std::to_string(x_of.below(12));
                return texts(of_versions ? "version" : "name", of_versions ? some : "m1.1", "w3");
            }
            case 6:
                return texts("owner", std::to_string(1 + x_of.below(4)), "2");
            case 7:
                return texts("stage", std::to_string(1 + x_of.below(5)), "PRODUCTION", false);
            case 8:
                return numbers("registered_model_id", 1 + x_of.below(12), 1 + x_of.below(12));
            default:
                return x_of.once_in(2) ? texts("description", "late", "")
                                       : texts("experiment_run_id", "run 1", x_of.once_in(2) ? "run 0" : "");
        }
    }
    std::uint64_t stamp() { return static_cast<std::uint64_t>(x_of.stamp) - x_of.below(700); }
    schemas::predicate texts(std::string key, const std::string& one, const std::string& other,
                             bool is_text = true) {
        const std::string list = "[\"" + one + "\",\"" + other + "\"]", value = "\"" + one + "\"";
        switch (x_of.below(is_text ? 8 : 6)) {
            case 0:
                return {std::move(key), {value}, find_operator::ne};
            case 1:
                return {std::move(key), {list}, find_operator::in};
            case 2:
                return {std::move(key), {list}, find_operator::not_in};
            case 6:
                return {std::move(key), {value}, find_operator::contain};
            case 7:
                return {std::move(key), {value}, find_operator::gte};
            default:
                return {std::move(key), {value}, find_operator::eq};
        }
    }
    schemas::predicate numbers(std::string key, std::uint64_t one, std::uint64_t other) {
        const std::string list = "[" + std::to_string(one) + "," + std::to_string(other) + "]";
        const auto op = static_cast<find_operator>(x_of.below(10));
        if (op == find_operator::in || op == find_operator::not_in) return {std::move(key), {list}, op};
        const std::string value = std::to_string(one) + (x_of.once_in(4) ? ".5" : "");
        const bool has_order = op != find_operator::contain && op != find_operator::not_contain;
        return {std::move(key), {value}, has_order ? op : find_operator::eq};
    }

    random_registry& x_of;
};

/// By looking at every row.
template <class Row>
std::vector<std::uint64_t> all_that_match(const std::map<std::uint64_t, Row>& rows,
                                          const schemas::find_request& request) {
    constexpr bool of_versions = std::is_same_v<Row, model_version>;
    const auto conditions = [&] {
        if constexpr (of_versions)
            return conditions_on_versions(request);
        else
            return conditions_on_models(request);
    }();
    EXPECT_TRUE(conditions);
    std::vector<const Row*> found;
    for (const auto& [id, row] : rows) {
        // The reader's own workspace is the second; that of the stranger is the third.
        if (row.workspace_id.value == 3 ||
            (!request.workspace_name.empty() && row.workspace_id.value != 1 && !request.id))
            continue;
        if constexpr (of_versions)
            if (request.id && row.registered_model_id != request.id->registered_model_id) continue;
        if (!request.ids.empty() &&
            std::find(request.ids.begin(), request.ids.end(), id) == request.ids.end())
            continue;
        const auto holds = [&row = row](const condition& one) { return one.holds(row); };
        if (std::all_of(conditions->begin(), conditions->end(), holds)) found.push_back(&row);
    }
    const auto place = [&](const Row* row) {
        return std::tuple(request.sort_key == "name" ? name_of(*row) : "",
                          request.sort_key == "name"           ? 0
                          : request.sort_key == "time_created" ? row->time_created
                                                               : row->time_updated,
                          row->id.value);
    };
    std::sort(found.begin(), found.end(), [&](const Row* a, const Row* b) {
        return request.ascending ? place(a) < place(b) : place(b) < place(a);
    });
    std::vector<std::uint64_t> ids;
    for (const Row* row : found) ids.push_back(row->id.value);
    return ids;
}

std::string shown(const schemas::find_request& request) {
    return schemas::to_json_object(request, schemas::integers::as_numbers);
}

template <class Row>
std::vector<std::uint64_t> ids_of(const found_page<Row>& page) {
    std::vector<std::uint64_t> ids;
    for (const Row& row : page.rows) ids.push_back(row.id.value);
    return ids;
}

/// In slices that end at random.
template <class Row, class Search>
found_page<Row> answer(random_registry& all, const schemas::find_request& request, const Search& search) {
    const auto view = all.view();
    auto going = search(*view, all.reader, request);
    EXPECT_TRUE(going) << going.error().message;
    if (!going) return {};
    while (!(*going)->go_on([&] { return all.once_in(2); })) {
    }
    auto page = whole(std::move(going));
    EXPECT_TRUE(page);
    return page ? *std::move(page) : found_page<Row>();
}

template <class Row, class Search>
void compare(random_registry& all, const std::map<std::uint64_t, Row>& rows, schemas::find_request request,
             const Search& search) {
    const std::vector<std::uint64_t> expected = all_that_match(rows, request);
    const auto page = answer<Row>(all, request, search);
    EXPECT_EQ(page.total_records, expected.size());
    std::vector<std::uint64_t> wanted = expected;
    if (request.pagination) {
        const auto limit = static_cast<std::size_t>(request.pagination->page_limit);
        const auto begin =
            std::min(expected.size(), static_cast<std::size_t>(request.pagination->page_number - 1) * limit);
        const auto end = std::min(expected.size(), begin + limit);
        wanted.assign(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                      expected.begin() + static_cast<std::ptrdiff_t>(end));
    }
    EXPECT_EQ(ids_of(page), wanted);
    if (!request.pagination) return;
    std::vector<std::uint64_t> followed;
    request.pagination->page_number = 1;
    for (std::size_t pages = 0; pages <= expected.size(); ++pages) {
        const auto next = answer<Row>(all, request, search);
        EXPECT_EQ(next.total_records, expected.size());
        for (const std::uint64_t id : ids_of(next)) followed.push_back(id);
        request.pagination->page_token = next.next_page_token;
        if (next.next_page_token.empty()) break;
    }
    EXPECT_EQ(followed, expected) << "by the tokens";
}

void compare_some(random_registry& all, int times) {
    for (int i = 0; i < times && !testing::Test::HasFailure(); ++i) {
        random_requests requests(all);
        auto request = requests.request(true);
        SCOPED_TRACE(shown(request));
        compare(all, all.versions, request, search_versions);
        request = requests.request(false);
        SCOPED_TRACE(shown(request));
        compare(all, all.models, request, search_models);
    }
}

class random_finds : public testing::TestWithParam<unsigned> {};

TEST_P(random_finds, answer_what_looking_at_every_row_answers) {
    random_registry all(GetParam());
    for (int i = 0; i < 150; ++i) all.edit();
    compare_some(all, 20);
    for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) {
        for (int j = 0; j < 15; ++j) all.edit();
        compare_some(all, 10);
    }
}

// With a sanitizer a look at every row takes fifty times as long.
INSTANTIATE_TEST_SUITE_P(seeds, random_finds, testing::Range(1u, is_sanitized ? 5u : 13u));

}  // namespace
}  // namespace herald::test
