// fdatasync of this program, counted and behind a gate.
#pragma once

#include <atomic>
#include <mutex>

namespace herald::test {

inline std::atomic<int> sync_count = 0;
inline std::atomic<int> syncs_waiting = 0;
inline std::mutex sync_gate;  // while it is held, the disk does not sync

}  // namespace herald::test
