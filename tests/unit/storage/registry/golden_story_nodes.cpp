// Of the golden log: nodes, and a month in which nearly nothing happens but timers.
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using std::string;

/// Of a program of the first level, whatever this one is.
node_heartbeat heartbeat_of(const string& node, std::uint8_t boot) {
    node_heartbeat command;
    command.node = node;
    command.boot[0] = boot;
    command.newest_level = 1;
    command.isolation_grace_ms = 900'000;
    command.runtimes = {"upstream"};
    return command;
}
node_heartbeat first_heartbeat_of(const string& node, std::uint8_t boot, std::uint64_t applied_offset) {
    node_heartbeat command = heartbeat_of(node, boot);
    command.first = true;
    command.applied_offset = applied_offset;
    return command;
}

claim claim_of(const string& job, const string& node, std::uint8_t boot) {
    claim command;
    command.job = job;
    command.node = node;
    command.boot[0] = boot;
    return command;
}

void tell_of_nothing(golden_writer& log, int times, std::string_view when) {
    for (int i = 0; i < times; ++i) log.done(no_operation{}, when);
}

}  // namespace

std::uint64_t tell_of_nodes(golden_writer& log) {
    const std::uint64_t begun = log.done(first_heartbeat_of("a", 1, 0));
    log.done(first_heartbeat_of("b", 2, begun));
    node_heartbeat beat = heartbeat_of("b", 2);
    beat.runtimes = std::vector<string>(17, "onnx");
    log.refused(beat, "with too many runtimes");
    beat.runtimes = {""};
    log.refused(beat, "with a runtime without a name");
    beat.runtimes = {string(65, 'x')};
    log.refused(beat, "with a runtime whose name is too long");
    beat.runtimes = std::vector<string>(16, string(64, 'x'));
    log.done(beat, "with as many runtimes as may be");
    beat = heartbeat_of("b", 2);
    beat.published = {{"events.promote", 4, 1}};
    log.refused(beat, "of a partition that there is none of");
    beat.published = {{"registry.commands", 0, 1}};
    log.refused(beat, "of a topic that holds no events");
    log.refused(heartbeat_of("b", 3), "of another process, not its first");
    log.refused(first_heartbeat_of("b", 3, 0), "of a process that began before");
    const std::uint64_t restarted = log.done(first_heartbeat_of("b", 4, log.offset()), "a restart");

    log.refused(claim_of("publisher", "b", 2), "of the process before the restart");
    log.done(claim_of("publisher", "a", 1), "which a gets");
    log.done(claim_of("publisher", "b", 4), "which a keeps");
    log.refused(raise_level{2}, "while two older nodes run");
    log.done(raise_level{1}, "which is in force already");
    log.now_ms += 11'000;
    log.done(claim_of("publisher", "b", 4), "while all are silent");
    log.done(claim_of("publisher", "x", 9), "of a node that nobody knows, while all are silent");
    log.done(heartbeat_of("b", 4));
    log.done(claim_of("publisher", "b", 4), "which b gets from a, who is silent");
    log.done(heartbeat_of("a", 1));
    beat = first_heartbeat_of("b", 5, restarted);
    beat.serves_predictions = true;
    log.done(beat, "a restart");
    const std::uint64_t token =
        log.done(claim_of("publisher", "a", 1), "which a gets from a process that is gone");
    log.done(claim_of("publisher", "a", 1), "which a has");
    log.done(claim_of("idle", "c", 6), "of a node that nobody knows");
    log.done(heartbeat_of("c", 7), "not its first, of a node that nobody knows");
    log.done(claim_of("idle", "c", 7), "which c gets back from its earlier process");
    beat = heartbeat_of("b", 5);
    beat.last = true;
    log.done(beat, "the last one");
    log.refused(raise_level{2}, "while an older node runs");
    return token;
}

void tell_of_a_month(golden_writer& log, std::uint64_t publisher_token) {
    node_heartbeat beat = heartbeat_of("a", 1);
    for (const std::uint32_t partition : {0u, 1u, 2u}) {
        beat.published.push_back({"events.resource", partition, 200});
        beat.published.push_back({"events.promote", partition, 1});
        beat.published.push_back({"events.request-scan", partition, 1});
    }
    log.done(beat, "that tells what is published, without the claim");
    beat.publisher_token = publisher_token;
    log.done(beat, "that tells what is published");

    log.now_ms += day_ms - 60'000;  // a day after its first heartbeat, but not after its last
    tell_of_nothing(log, 3, "a day later");
    log.now_ms += 2 * hour_ms;
    tell_of_nothing(log, 6, "two hours later");
    tell_of_a_late_report(log);
    log.now_ms += 2 * day_ms;
    tell_of_nothing(log, 3, "two days later");
    log.now_ms += 2 * day_ms;
    tell_of_nothing(log, 3, "again two days later");
    log.now_ms += 27 * day_ms;
    tell_of_nothing(log, 12, "four weeks later");
    log.done(claim_of("publisher", "d", 1), "which d gets from a node that is forgotten");
}

void tell_of_a_raise(golden_writer& log, std::uint32_t to) {
    log.done(heartbeat_of("old", 1), "of the first level");
    log.now_ms += 11'000;
    node_heartbeat beat = heartbeat_of("new", 1);
    beat.newest_level = to;
    log.done(beat, "of level " + std::to_string(to));
    log.done(raise_level{to}, "while the older node is silent");
}

}  // namespace herald::test
