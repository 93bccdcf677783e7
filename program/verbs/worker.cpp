// herald worker: a delivery worker on Kafka.
#include "program/parts/doors.hpp"
#include "program/parts/stop_signal.hpp"
#include "program/parts/wait_for_log.hpp"
#include "program/parts/worker_node.hpp"
#include "runtime/limits.hpp"

namespace herald::program {

process_end run_worker(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    start_report report("worker");
    const auto opened = worker_door::open(chosen, report);
    if (!opened) return failed(opened.error());
    door* const operators = *opened ? (*opened)->operators.get() : nullptr;
    runtime::event_loops jobs(one_loop);
    const auto begun = wait_for_begun_log(chosen, report);
    if (!begun) return failed(begun.error());
    begun->log->check_offsets_retention();
    auto worker =
        make_worker_node(chosen, {*begun->log, begun->keys, descriptors, jobs}, stop.requester(), operators);
    if (!worker) return failed(worker.error());
    (*worker)->announce();
    const process_end end = stop.wait();
    (*worker)->drain(limits::drain_ms_max);
    stop.drained();
    return end;
}

}  // namespace herald::program
