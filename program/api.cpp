// herald api: an API node on Kafka.
#include "program/api_node.hpp"
#include "program/installation.hpp"
#include "program/open_log.hpp"
#include "program/stop_signal.hpp"

namespace herald::program {

process_end run_api(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    if (const auto made = make_folder(chosen); !made) return failed(made.error());
    runtime::event_loops jobs(one_loop);
    runtime::event_loops attempts(one_loop);
    const auto begun = open_begun_kafka_log(chosen);
    if (!begun) return failed(begun.error());
    auto node = make_api_node(chosen, {{*begun->log, begun->keys, descriptors, jobs}, attempts},
                              stop.requester(), [] { return std::optional<runtime::trouble>(); });
    if (!node) return failed(node.error());
    const process_end end = stop.wait();
    (*node)->drain();
    return end;
}

}  // namespace herald::program
