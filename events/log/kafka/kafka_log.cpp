// Puts the parts together behind events/log/log.hpp.
#include "events/log/kafka/kafka_log.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "events/log/kafka/admin.hpp"
#include "events/log/kafka/client.hpp"
#include "events/log/kafka/group_member.hpp"
#include "events/log/kafka/group_offsets.hpp"
#include "events/log/kafka/limits.hpp"
#include "events/log/kafka/producer.hpp"
#include "events/log/kafka/range_questions.hpp"
#include "events/log/kafka/reader.hpp"
#include "events/log/kafka/reader_clients.hpp"
#include "events/log/kafka/topics.hpp"
#include "events/log/topics.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/mutex.hpp"

namespace herald::events::log::kafka {
namespace {

constexpr int question_threads = 3;

class composed_kafka_log final : public kafka_log {
  public:
    composed_kafka_log(std::shared_ptr<installation> installed, client_pointer client)
        : x_installed(std::move(installed)),
          x_client(std::move(client)),
          x_clients(std::make_shared<reader_clients>(x_installed)),
          x_questions(std::make_shared<range_questions>(x_installed, x_client, question_threads)) {}

    ~composed_kafka_log() override {
        x_questions.reset();
        x_questions_of_reads.reset();
        x_client.reset();
        if (!x_installed->tasks.wait(limits::kafka_close_ms_max))
            runtime::log(runtime::log_level::warning, runtime::log_events::kafka_client_hangs);
    }

    std::unique_ptr<producer> open_producer(producer_kind kind) override {
        return make_producer(x_installed, kind);
    }

    std::unique_ptr<reader> open_reader(const topic_partition& where, std::int64_t from_offset) override {
        return make_reader(x_installed, x_clients, x_questions, where, from_offset);
    }

    std::unique_ptr<group_member> join(const std::string& group,
                                       const std::vector<std::string>& topics) override {
        return make_group_member(x_installed, x_questions, group, topics);
    }

    void query_range(const topic_partition& where, range_handler handler) override {
        if (where.topic == log::topic::commands)
            questions_of_reads().ask(where, std::move(handler));
        else
            x_questions->ask(where, std::move(handler));
    }

    /// What a start has found stays true while this process runs: Kafka may make partitions only, and Herald
    /// ends where there are more. So a start that found the brokers asks them nothing more that it would wait
    /// for.
    result<std::int32_t> partitions(const std::string& topic) override {
        {
            const runtime::lock_guard lock(x_mutex);
            if (const auto known = x_partitions.find(topic); known != x_partitions.end())
                return known->second;
        }
        return count_partitions(*x_installed, x_client.get(), topic);
    }

    result<std::vector<std::int64_t>> committed(const std::string& topic) override {
        return find_committed(x_installed, x_client.get(), topic);
    }
    result<void> create_topics() override { return kafka::create_topics(x_installed, x_client.get()); }
    result<void> check_topics(std::int64_t wait_ms) override {
        const auto found = kafka::check_topics(*x_installed, x_client.get(), wait_ms);
        if (!found) return found.error();
        const runtime::lock_guard lock(x_mutex);
        for (const auto& [name, shape] : found->topics)
            x_partitions[x_installed->topic_of_name(name.c_str())] = shape.partitions;
        return {};
    }
    void check_offsets_retention() override { warn_of_short_retention(*x_installed, x_client.get()); }
    result<std::vector<lost_place>> find_lost_places() override {
        return kafka::find_lost_places(x_installed, x_client.get());
    }
    result<void> reset(const std::vector<lost_place>& all) override {
        return reset_lost_places(x_installed, all);
    }

  private:
    /// Every read of the registry waits for the end of registry.commands (design.md §1): questions about
    /// other partitions must not delay it.
    range_questions& questions_of_reads() {
        std::call_once(x_reads_begun, [this] {
            const result<client_pointer> own = open_client(x_installed, client_kind::admin);
            x_questions_of_reads = std::make_shared<range_questions>(x_installed, own ? *own : x_client, 1);
        });
        return *x_questions_of_reads;
    }

    const std::shared_ptr<installation> x_installed;
    client_pointer x_client;  // for topics and questions
    const std::shared_ptr<reader_clients> x_clients;
    std::shared_ptr<range_questions> x_questions;
    std::once_flag x_reads_begun;
    std::shared_ptr<range_questions> x_questions_of_reads;
    runtime::mutex x_mutex;
    std::map<std::string, std::int32_t> x_partitions GUARDED_BY(x_mutex);  // as check_topics() found them
};

}  // namespace

result<std::unique_ptr<kafka_log>> make_kafka_log(kafka_options options) {
    if (options.bootstrap_servers.empty()) return runtime::invalid_argument("no Kafka address was given");
    if (result<void> allowed = check_properties(options.properties); !allowed) return allowed.error();
    auto installed = std::make_shared<installation>();
    installed->options = std::move(options);
    result<client_pointer> client = open_client(installed, client_kind::admin);
    if (!client) return client.error();
    return std::unique_ptr<kafka_log>(
        std::make_unique<composed_kafka_log>(std::move(installed), std::move(*client)));
}

}  // namespace herald::events::log::kafka
