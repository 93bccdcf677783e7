// herald worker: a delivery worker on Kafka.
#include "program/open_log.hpp"
#include "program/stop_signal.hpp"
#include "program/worker_node.hpp"
#include "runtime/limits.hpp"

namespace herald::program {

process_end run_worker(const settings& chosen) {
    stop_signal stop;
    const runtime::descriptor_shares descriptors = runtime::take_descriptors();
    runtime::event_loops jobs(one_loop);
    const auto begun = open_begun_kafka_log(chosen);
    if (!begun) return failed(begun.error());
    begun->log->check_offsets_retention();
    auto worker = make_worker_node(chosen, {*begun->log, begun->keys, descriptors, jobs}, stop.requester(),
                                   operator_answers::by_itself);
    if (!worker) return failed(worker.error());
    (*worker)->announce();
    const process_end end = stop.wait();
    (*worker)->drain(limits::drain_ms_max);
    return end;
}

}  // namespace herald::program
