// A group member that the test kills: takes each record, commits it, prints "topic partition offset".
// usage: kafka_member BOOTSTRAP PREFIX GROUP TOPIC
#include <cstdio>

#include "events/log/kafka/kafka_log.hpp"

int main(int count, char** arguments) {
    using namespace herald::events;
    using namespace herald::events::log;
    if (count != 5) return 2;
    kafka::kafka_options options;
    options.bootstrap_servers = arguments[1];
    options.topic_prefix = arguments[2];
    options.session_timeout_ms = 3'000;
    const auto log = kafka::make_kafka_log(options);
    if (!log) return 1;
    const auto member = (*log)->join(arguments[3], {arguments[4]});
    while (true) {
        for (const member_event& event : member->poll(100, 200)) {
            if (const auto* wanted = std::get_if<recalled>(&event))
                member->release(wanted->where, wanted->epoch);
            const auto* taken = std::get_if<consumed>(&event);
            if (taken == nullptr) continue;
            member->commit(taken->where, taken->epoch, taken->what.offset + 1, "from the killed one");
            std::printf("%s %d %lld\n", taken->where.topic.c_str(), taken->where.partition,
                        static_cast<long long>(taken->what.offset));
            std::fflush(stdout);
        }
    }
}
