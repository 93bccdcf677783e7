// herald groups: shows where consumer groups have lost their place in Kafka; with --reset they resume at what
// is left.
#include <algorithm>
#include <cstdint>
#include <iostream>

#include "program/parts/open_log.hpp"
#include "program/parts/process_end.hpp"

namespace herald::program {

process_end run_groups(const settings& chosen) {
    const auto log = open_kafka_log(chosen);
    if (!log) return failed(log.error());
    const auto lost = (*log)->find_lost_places();
    if (!lost) return failed(lost.error());
    if (chosen.reset_groups)
        if (const auto done = (*log)->reset(*lost); !done) return failed(done.error());
    for (const auto& [group, where, committed, there] : *lost) {
        std::cout << group << " " << where.topic << "[" << where.partition << "]: ";
        if (committed < 0)
            std::cout << "no offset, ";
        else
            std::cout << "at " << committed << ", ";
        std::cout << "the log has " << there.first << " to " << there.next;
        if (chosen.reset_groups) std::cout << "; resumes at " << there.first;
        const std::int64_t skipped_from = std::max<std::int64_t>(committed, 0);
        if (skipped_from < there.first)
            std::cout << (committed < 0 ? "; up to " : "; ") << there.first - skipped_from
                      << " records are no longer there";
        std::cout << "\n";
    }
    if (lost->empty()) std::cout << "every group knows where to resume\n";
    return lost->empty() || chosen.reset_groups ? process_end::done : process_end::failure;
}

}  // namespace herald::program
