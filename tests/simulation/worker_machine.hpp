// A machine that runs one worker process after another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/log/memory/memory_log.hpp"
#include "tests/simulation/mutations.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/world.hpp"

namespace herald::test {

class worker_machine {
  public:
    struct settings {
        events::log::memory::memory_broker& broker;
        events::log::memory::memory_faults& faults;
        receivers& to;
        const mutation& broken;
        const storage::registry::state::state_store& state;  // a node's, for mutations
        /// Now and then, what was committed with an offset is lost: somebody reset the group by hand.
        bool loses_positions = false;
    };
    worker_machine(world& in, settings how);
    ~worker_machine();

    void start();
    /// The process dies; its groups notice only after their session time.
    void crash();
    bool running() const { return x_process != nullptr; }
    process_thread& thread() { return *x_thread; }

  private:
    class process;
    world& x_world;
    settings x_settings;
    process_thread* x_thread = nullptr;
    std::unique_ptr<events::log::memory::memory_log> x_log;
    std::unique_ptr<process> x_process;
};

}  // namespace herald::test
