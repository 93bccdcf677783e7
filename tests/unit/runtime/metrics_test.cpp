// Protects what operators watch: every count appears in the text, from all threads, and labels cannot fill
// the memory.
#include "runtime/metrics.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "runtime/limits.hpp"

namespace herald::test {
namespace {

using namespace runtime;

bool shows(const std::string& line) {
    return ("\n" + metrics_text()).find("\n" + line + "\n") != std::string::npos;
}

TEST(counter, shows_its_help_type_and_value) {
    counter& counted = metric_counter("test_things_total", "Things that happened");
    counted.add();
    counted.add(41);
    EXPECT_TRUE(shows("# HELP test_things_total Things that happened"));
    EXPECT_TRUE(shows("# TYPE test_things_total counter"));
    EXPECT_TRUE(shows("test_things_total 42"));
}

TEST(counter, of_the_same_name_and_labels_is_the_same) {
    EXPECT_EQ(&metric_counter("test_same_total", "", {{"kind", "a"}}),
              &metric_counter("test_same_total", "", {{"kind", "a"}}));
    EXPECT_NE(&metric_counter("test_same_total", "", {{"kind", "a"}}),
              &metric_counter("test_same_total", "", {{"kind", "b"}}));
}

TEST(counter, loses_nothing_between_threads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] {
            counter& counted = metric_counter("test_threads_total", "", {{"kind", "shared"}});
            for (int n = 0; n < 10'000; ++n) counted.add();
        });
    for (std::thread& each : threads) each.join();
    EXPECT_TRUE(shows("test_threads_total{kind=\"shared\"} 40000"));
}

TEST(counter, has_its_labels_escaped) {
    metric_counter("test_escape_total", "", {{"text", "a\"b\\c\nd"}}).add();
    EXPECT_TRUE(shows("test_escape_total{text=\"a\\\"b\\\\c\\nd\"} 1"));
}

TEST(gauge, goes_up_and_down) {
    gauge& level = metric_gauge("test_level", "A level");
    level.set(5);
    level.add(-7);
    EXPECT_TRUE(shows("test_level -2"));
}

TEST(histogram, counts_each_duration_in_its_bucket_and_all_above) {
    histogram& taken = metric_histogram("test_taken_seconds", "How long");
    taken.observe_us(50);  // the bound belongs to the bucket
    taken.observe_us(51);
    taken.observe_us(1'000'000);
    taken.observe_us(600'000'000);
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"5e-05\"} 1"));
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"0.0001\"} 2"));
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"0.5\"} 2"));
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"1\"} 3"));
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"60\"} 3"));
    EXPECT_TRUE(shows("test_taken_seconds_bucket{le=\"+Inf\"} 4"));
    EXPECT_TRUE(shows("test_taken_seconds_count 4"));
}

TEST(metrics_source, is_asked_whenever_the_text_is_made_until_its_handle_ends) {
    gauge& asked = metric_gauge("test_asked", "");
    metrics_source source = add_metrics_source([&] { asked.add(1); });
    EXPECT_TRUE(shows("test_asked 1"));
    EXPECT_TRUE(shows("test_asked 2"));
    source.reset();
    EXPECT_TRUE(shows("test_asked 2"));
}

TEST(process_metrics, tell_memory_time_and_descriptors_of_this_process) {
    const auto value = [](const std::string& name) {
        const std::string text = "\n" + metrics_text();
        const std::size_t at = text.find("\n" + name + " ");
        return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
    };
    const double before = value("process_open_fds");
    const int descriptor = ::dup(0);
    EXPECT_EQ(value("process_open_fds"), before + 1);
    ::close(descriptor);
    EXPECT_GE(value("process_max_fds"), before);
    const double resident = value("process_resident_memory_bytes");
    constexpr std::size_t bytes = 64'000'000;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    EXPECT_GT(value("process_resident_memory_bytes"), resident + 50e6);
    ::munmap(memory, bytes);
    const double cpu = value("process_cpu_seconds_total");
    while (value("process_cpu_seconds_total") < cpu + 0.05) continue;
    const auto now = static_cast<double>(std::time(nullptr));
    EXPECT_GT(value("process_start_time_seconds"), now - 600);
    EXPECT_LE(value("process_start_time_seconds"), now + 1);
}

TEST(labels, beyond_the_bound_share_one) {
    for (std::size_t i = 0; i < limits::metric_label_values_max + 50; ++i)
        metric_counter("test_many_total", "", {{"who", std::to_string(i)}}).add();
    EXPECT_TRUE(shows("test_many_total{who=\"0\"} 1"));
    EXPECT_TRUE(shows("test_many_total{who=\"other\"} 50"));
    EXPECT_EQ(metrics_text().find("who=\"" + std::to_string(limits::metric_label_values_max) + "\""),
              std::string::npos);
}

TEST(labels, beyond_the_bound_keep_what_the_other_labels_say) {
    for (std::size_t i = 0; i < limits::metric_label_values_max + 7; ++i)
        for (const char* end : {"well", "failed"})
            metric_counter("test_ends_total", "", {{"who", std::to_string(i)}, {"end", end}}).add();
    EXPECT_TRUE(shows("test_ends_total{who=\"1000\",end=\"failed\"} 1"));
    EXPECT_TRUE(shows("test_ends_total{who=\"other\",end=\"well\"} 7"));
    EXPECT_TRUE(shows("test_ends_total{who=\"other\",end=\"failed\"} 7"));
}

TEST(held_metrics, go_with_their_last_holder_and_leave_room_for_others) {
    constexpr metric_name name{"test_held_total", ""};
    for (std::size_t i = 0; i < 3 * limits::metric_label_values_max; ++i)
        held_counter(name, {{"who", std::to_string(i)}, {"end", "well"}})->add();
    EXPECT_EQ(metrics_text().find("test_held_total{"), std::string::npos);
    auto first = held_counter(name, {{"who", "a"}, {"end", "well"}});
    const auto second = held_counter(name, {{"who", "a"}, {"end", "well"}});
    first->add(3);
    first.reset();
    EXPECT_TRUE(shows("test_held_total{who=\"a\",end=\"well\"} 3"));
}

TEST(metric_death, of_one_name_is_of_one_kind_and_has_the_same_label_names) {
    metric_counter("test_kind_total", "", {{"a", "1"}});
    EXPECT_DEATH(metric_gauge("test_kind_total", ""), "broken invariant");
    EXPECT_DEATH(metric_counter("test_kind_total", "", {{"b", "1"}}), "broken invariant");
}

}  // namespace
}  // namespace herald::test
