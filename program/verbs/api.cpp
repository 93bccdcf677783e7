// herald api: an API node on Kafka.
#include "program/parts/api_node.hpp"
#include "program/parts/doors.hpp"
#include "program/parts/installation.hpp"
#include "program/parts/stop_signal.hpp"
#include "program/parts/wait_for_log.hpp"

namespace herald::program {

process_end run_api(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    runtime::event_loops jobs(one_loop);
    runtime::event_loops attempts(one_loop);
    start_report report("api");
    const auto doors = api_doors::open(chosen, descriptors.clients, jobs, report);
    if (!doors) return failed(doors.error());
    if (const auto made = make_folder(chosen); !made) return failed(made.error());
    const auto begun = wait_for_begun_log(chosen, report);
    if (!begun) return failed(begun.error());
    auto node = make_api_node(
        chosen, {{*begun->log, begun->keys, descriptors, jobs}, attempts, begun->beginning, **doors},
        stop.requester(), [] { return std::optional<runtime::trouble>(); }, report);
    if (!node) return failed(node.error());
    const process_end end = stop.wait();
    (*node)->drain();
    stop.drained();
    return end;
}

}  // namespace herald::program
