// Protects the overlay that rules write to: it shows what a plain map would, and keeps nothing in memory that
// a change made wrong.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "storage/registry/state/state.hpp"

namespace herald::test {
namespace {

using namespace storage::registry::state;

using rows = std::map<std::string, std::string>;

rows rows_of(const state_view& view, std::string_view prefix, std::string_view from = {}) {
    rows all;
    view.scan(prefix, from, [&](std::string_view key, std::string_view value) {
        all.emplace(key, value);
        return true;
    });
    return all;
}

TEST(state_changes_test, show_what_a_plain_map_would) {
    std::mt19937 random(7);
    const auto any_key = [&] {
        // Few tables; in one keys ascend, in the others they come in any order.
        static unsigned next = 0;
        const unsigned letter = random() % 4;
        const unsigned number = letter == 0 ? ++next % 2'000 : random() % 500;
        return std::string(1, static_cast<char>('A' + letter)) + std::to_string(10'000 + number);
    };
    const auto store = make_memory_state();
    rows expected;
    row_changes first;
    for (int i = 0; i < 300; ++i) first[any_key()] = "base";
    for (const auto& [key, value] : first) expected[key] = *value;
    ASSERT_TRUE(store->write(first));
    for (int round = 0; round < 3; ++round) {
        const auto base = store->view();
        state_changes batch(base.get());
        for (int i = 0; i < 3'000; ++i) {
            state_changes command(&batch);
            for (unsigned n = random() % 5; n > 0; --n) {
                const std::string key = any_key();
                if (random() % 4 == 0) {
                    command.erase(key);
                    expected.erase(key);
                } else {
                    command.put(key, std::to_string(i));
                    expected[key] = std::to_string(i);
                }
                const std::string other = any_key();
                const auto row = expected.find(other);
                ASSERT_EQ(command.get(other),
                          row == expected.end() ? std::nullopt : std::optional(row->second));
            }
            batch.absorb(command.take());
            const std::string other = any_key();
            const auto row = expected.find(other);
            ASSERT_EQ(batch.get(other), row == expected.end() ? std::nullopt : std::optional(row->second));
        }
        ASSERT_EQ(rows_of(batch, {}), expected);
        rows of_table;
        for (const auto& each : expected)
            if (each.first >= "C10100" && each.first.front() == 'C') of_table.insert(each);
        ASSERT_EQ(rows_of(batch, "C", "C10100"), of_table);
        ASSERT_TRUE(store->write(batch.changes()));
    }
    EXPECT_EQ(rows_of(*store->view(), {}), expected);
}

/// Rows under 'R' decide what is remembered.
class memory_of_r final : public view_memory {
  public:
    bool depends_on(std::string_view key) const noexcept override { return key.starts_with('R'); }
};
class view_with_memory final : public state_view {
  public:
    bool read(std::string_view, const row_reader&) const override { return false; }
    void scan(std::string_view, std::string_view, const row_visitor&) const override {}
    view_memory* memory() const noexcept override { return &x_memory; }

  private:
    mutable memory_of_r x_memory;
};

TEST(state_changes_test, keep_the_memory_below_them_until_it_is_wrong) {
    const view_with_memory base;
    state_changes batch(&base);
    batch.put("A", "1");
    EXPECT_EQ(batch.memory(), base.memory());
    {
        state_changes command(&batch);
        EXPECT_EQ(command.memory(), base.memory());
        command.put("R", "1");
        EXPECT_EQ(command.memory(), nullptr);
        EXPECT_EQ(batch.memory(), base.memory()) << "a refused command changes nothing";
        batch.absorb(command.take());
    }
    EXPECT_EQ(batch.memory(), nullptr);
    EXPECT_EQ(state_changes(&batch).memory(), nullptr);
    const view_with_memory next;
    batch.rebase(&next);
    EXPECT_EQ(batch.memory(), nullptr) << "its own change still lies over the new view";
}

TEST(state_changes_test, that_lie_over_wrong_memory_find_the_right_one_when_it_is_written) {
    const view_with_memory base;
    state_changes below(&base);
    below.erase("R");
    state_changes above(&below);
    above.put("A", "1");
    EXPECT_EQ(above.memory(), nullptr);
    const view_with_memory next;  // below was written into it
    above.rebase(&next);
    EXPECT_EQ(above.memory(), next.memory());
    above.rebase(&below);
    above.put("R", "2");
    above.rebase(&next);
    EXPECT_EQ(above.memory(), nullptr) << "made while nothing was remembered";
}

}  // namespace
}  // namespace herald::test
