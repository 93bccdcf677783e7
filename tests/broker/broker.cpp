// Starts, kills and wipes brokers through deploy/kafka.
#include "tests/broker/broker.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <cstdlib>

#include <chrono>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

#include "runtime/random.hpp"

namespace herald::test {
namespace {

constexpr int cannot_be_had = 3;

long number_in(const std::filesystem::path& file) {
    long number = 0;
    std::ifstream(file) >> number;
    return number;
}

template <class T>
T value_or_throw(result<T> from) {
    if (!from) throw std::runtime_error(from.error().message);
    return std::move(*from);
}

}  // namespace

std::unique_ptr<broker> broker::start_own(int nodes, const std::vector<std::string>& settings) {
    std::unique_ptr<broker> made(new broker(HERALD_OWN_BROKER, nodes, true));
    made->run("wipe");  // left by a test that crashed
    const int code = made->run("start", settings);
    if (code == cannot_be_had) return nullptr;
    if (code != 0) throw std::runtime_error("deploy/kafka start failed");
    return made;
}

std::unique_ptr<broker> broker::shared() {
    if (number_in(std::filesystem::path(HERALD_SHARED_BROKER) / "port") == 0) return nullptr;
    return std::unique_ptr<broker>(new broker(HERALD_SHARED_BROKER, 1, false));
}

broker::~broker() {
    if (x_own) run("wipe");
}

int broker::run(const std::string& verb, const std::vector<std::string>& settings) const {
    std::string command = std::string(HERALD_KAFKA_SCRIPT) + " " + verb + " --dir '" + x_directory.string() +
                          "' --port 0 --nodes " + std::to_string(x_nodes);
    for (const std::string& each : settings) command += " --set '" + each + "'";
    command += " >/dev/null";
    return WEXITSTATUS(std::system(command.c_str()));
}

std::string broker::bootstrap() const {
    const long port = number_in(x_directory / "port");
    std::string list;
    for (int node = 0; node < x_nodes; ++node)
        list += (node == 0 ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(port + 10 * node);
    return list;
}

int broker::pid_of(int node) const {
    const long pid = number_in(x_directory / ("node-" + std::to_string(node)) / "pid");
    if (pid <= 0) throw std::runtime_error("no such node");
    return static_cast<int>(pid);
}

void broker::kill(int node) {
    const int pid = pid_of(node);
    ::kill(pid, SIGKILL);
    if (!eventually(10, [&] { return ::kill(pid, 0) != 0; })) throw std::runtime_error("the node lives on");
}

void broker::hang() { ::kill(pid_of(1), SIGSTOP); }

void broker::go_on() { ::kill(pid_of(1), SIGCONT); }

void broker::start() {
    if (run("start") != 0) throw std::runtime_error("deploy/kafka start failed");
}

void broker::wipe_and_start() {
    const long port = number_in(x_directory / "port");
    if (!x_own || run("wipe") != 0) throw std::runtime_error("deploy/kafka wipe failed");
    std::filesystem::create_directories(x_directory);
    std::ofstream(x_directory / "port") << port << '\n';
    start();
}

std::unique_ptr<events::log::kafka::kafka_log> broker::log_of(const std::string& prefix, int replicas,
                                                              const std::string& member_name) const {
    events::log::kafka::kafka_options options;
    options.bootstrap_servers = bootstrap();
    options.topic_prefix = prefix;
    options.replicas = replicas == 0 ? x_nodes : replicas;
    options.session_timeout_ms = 3'000;
    options.member_name = member_name;
    return value_or_throw(events::log::kafka::make_kafka_log(options));
}

std::unique_ptr<events::log::kafka::kafka_log> broker::new_log(std::string& prefix) {
    prefix = runtime::uuid_text(runtime::system_random().uuid()) + ".";
    auto log = log_of(prefix);
    if (const result<void> made = log->create_topics(); !made) throw std::runtime_error(made.error().message);
    return log;
}

events::log::offset_range range_or_throw(events::log::partitioned_log& log,
                                         const events::log::topic_partition& where) {
    std::promise<result<events::log::offset_range>> answer;
    log.query_range(where,
                    [&](result<events::log::offset_range> range) { answer.set_value(std::move(range)); });
    return value_or_throw(answer.get_future().get());
}

void append_all(events::log::partitioned_log& log, const events::log::topic_partition& where,
                const std::vector<std::string>& values) {
    const auto producer = log.open_producer(events::log::producer_kind::ordinary);
    for (const std::string& value : values) {
        std::promise<result<std::int64_t>> answer;
        const result<void> taken = producer->append(
            where, "key", value, [&](result<std::int64_t> offset) { answer.set_value(std::move(offset)); });
        if (!taken) throw std::runtime_error(taken.error().message);
        value_or_throw(answer.get_future().get());
    }
}

}  // namespace herald::test
