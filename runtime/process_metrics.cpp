#include "runtime/process_metrics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

namespace herald::runtime {
namespace {

prometheus::MetricFamily family(std::string name, std::string help, prometheus::MetricType type,
                                double value) {
    prometheus::ClientMetric metric;
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    return {std::move(name), std::move(help), type, {std::move(metric)}};
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double seconds_of(clockid_t which) {
    timespec now{};
    ::clock_gettime(which, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double open_descriptors() {
    std::error_code failure;
    const auto all = std::filesystem::directory_iterator("/proc/self/fd", failure);
    return failure ? 0 : static_cast<double>(std::distance(begin(all), end(all)) - 1);  // one reads the list
}

/// Field `number` of /proc/self/stat (proc(5)), from 3 on: the name of the program, field 2, may hold spaces.
double stat_field(int number) {
    std::ifstream file("/proc/self/stat");
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string value;
    for (int at = 3; at <= number; ++at) fields >> value;
    return value.empty() ? 0 : std::stod(value);
}

double start_time() {
    constexpr int start_ticks_after_boot = 22;
    return seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME) +
           stat_field(start_ticks_after_boot) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<prometheus::MetricFamily> process_metrics() {
    constexpr int resident_pages = 24;
    static const double started = start_time();  // the wall clock may jump later
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    rlimit descriptors{};
    ::getrlimit(RLIMIT_NOFILE, &descriptors);
    constexpr auto counter = prometheus::MetricType::Counter;
    constexpr auto gauge = prometheus::MetricType::Gauge;
    return {
        family("process_cpu_seconds_total", "User and system time", counter,
               seconds(used.ru_utime) + seconds(used.ru_stime)),
        family("process_resident_memory_bytes", "Memory in use", gauge,
               stat_field(resident_pages) * static_cast<double>(::sysconf(_SC_PAGESIZE))),
        family("process_open_fds", "Open file descriptors", gauge, open_descriptors()),
        family("process_max_fds", "Most file descriptors", gauge, static_cast<double>(descriptors.rlim_cur)),
        family("process_start_time_seconds", "When the process began, by the wall clock then", gauge,
               started)};
}

}  // namespace herald::runtime
