// Protects the guarantees of events/log/log.hpp, the same for every log: the log as a whole.
#include "tests/support/log_suite.hpp"

#include <chrono>
#include <map>
#include <vector>

#include "runtime/random.hpp"
#include "tests/support/log_suite_tools.hpp"

namespace herald::test {

using events::log::topic_partition;
using std::chrono::steady_clock;

std::string log_name(const ::testing::TestParamInfo<log_factory>& info) { return info.param.name; }

void log_suite::SetUp() {
    result<std::unique_ptr<log_fixture>> made = GetParam().make();
    if (!made) GTEST_SKIP() << GetParam().name << ": " << made.error().message;
    x_fixture = std::move(*made);
    x_mark = runtime::uuid_text(runtime::system_random().uuid()) + "/";
    const result<void> created = log().create_topics();
    ASSERT_TRUE(created) << created.error().message;
}

TEST_P(log_suite, creating_the_topics_again_changes_nothing) {
    const std::int64_t end = end_of(log(), promote_3);
    append_all(log(), promote_3, {{mark() + "kept", "v"}});
    ASSERT_TRUE(log().create_topics());
    for (const events::log::topic_settings& each : events::log::all_topics) {
        const result<std::int32_t> count = log().partitions(std::string(each.name));
        ASSERT_TRUE(count) << each.name;
        EXPECT_EQ(*count, each.partitions) << each.name;
    }
    EXPECT_EQ(read_marked(log(), promote_3, end, mark(), 1).size(), 1u);
}

TEST_P(log_suite, a_restart_keeps_records_and_commits) {
    const std::int64_t end = end_of(log(), promote_3);
    const std::vector<sent_record> sent = numbered(mark(), 100);
    append_all(log(), promote_3, sent);
    std::int64_t committed = 0;
    {
        follower member(log(), events::log::group::direct, direct_topics);
        ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
        append_all(log(), direct(9), numbered(mark(), 5));
        ASSERT_TRUE(member.wait_for(mark(), 5));
        committed = member.marked(mark())[2].what.offset + 1;
        member.member().commit(direct(9), member.assigned().at(direct(9)).epoch, committed, "before");
    }
    if (!x_fixture->restart()) GTEST_SKIP() << "this log cannot be restarted here";

    EXPECT_EQ(end_of(log(), promote_3), end + 100);
    expect_same(read_marked(log(), promote_3, end, mark(), sent.size()), sent);
    follower member(log(), events::log::group::direct, direct_topics);
    ASSERT_TRUE(member.wait_for_assignment(direct_partitions));
    EXPECT_EQ(member.assigned().at(direct(9)).next_offset, committed);
    EXPECT_EQ(member.assigned().at(direct(9)).metadata, "before");
    ASSERT_TRUE(member.wait_for(mark(), 2));
    member.commit("");
    append_all(log(), promote_3, {{mark() + "after", "v"}});
    EXPECT_EQ(end_of(log(), promote_3), end + 101);
}

TEST_P(log_suite, a_hard_stop_keeps_what_was_acknowledged) {
    const topic_partition durable = direct(10);
    const std::int64_t end = end_of(log(), durable);
    const std::vector<sent_record> sent = numbered(mark(), 100);
    append_all(log(), durable, sent);
    if (!x_fixture->hard_stop()) GTEST_SKIP() << "this log cannot be killed here";
    expect_same(read_marked(log(), durable, end, mark(), sent.size()), sent);
}

TEST_P(log_suite, compaction_keeps_the_last_value_of_each_key) {
    const std::int64_t end = end_of(log(), subscribers_0);
    for (int i = 0; i < 20; ++i)
        append_all(log(), subscribers_0,
                   {{mark() + "a", std::to_string(i)}, {mark() + "b", "b" + std::to_string(i)}});
    append_all(log(), subscribers_0, {{mark() + "c", "c"}});
    if (!x_fixture->compact()) GTEST_SKIP() << "this log cannot be made to compact";

    // The last record is beyond the reach of compaction: once it is read, everything is.
    append_all(log(), subscribers_0, {{mark() + "z", "last"}});
    const auto reader = log().open_reader(subscribers_0, end);
    std::map<std::string, std::string> last;
    std::size_t found = 0;
    const auto deadline = steady_clock::now() + patience;
    while (!last.contains(mark() + "z") && steady_clock::now() < deadline)
        for (const events::log::record& each : read_marked(*reader, mark(), 1)) {
            last[each.key] = *each.value;
            ++found;
        }
    const std::map<std::string, std::string> wanted{
        {mark() + "a", "19"}, {mark() + "b", "b19"}, {mark() + "c", "c"}, {mark() + "z", "last"}};
    EXPECT_EQ(last, wanted);
    EXPECT_LT(found, 42u) << "nothing was compacted";
    EXPECT_EQ(end_of(log(), subscribers_0), end + 42);
}

}  // namespace herald::test
