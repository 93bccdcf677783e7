// A machine that runs one worker process after another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/memory_log.hpp"
#include "tests/simulation/receivers.hpp"
#include "tests/simulation/world.hpp"

namespace herald::simulation {

class worker_machine {
  public:
    struct settings {
        events::memory_broker& broker;
        events::memory_faults& faults;
        receivers& to;
        /// Stands between the process and its log, where a rule is broken on purpose.
        std::function<std::unique_ptr<events::log>(events::log&)> wrap_log;
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
    std::unique_ptr<events::memory_log> x_log;
    std::unique_ptr<process> x_process;
};

}  // namespace herald::simulation
