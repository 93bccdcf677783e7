// Creates and destroys objects on the loop that they live on, from the main thread.
#pragma once

#include <exception>
#include <future>

#include "runtime/event_loop.hpp"

namespace herald::program {

/// Runs `work` on the loop's thread and waits for it; rethrows here what it throws.
template <class Work>
void run_and_wait(runtime::event_loop& loop, Work work) {
    std::promise<void> done;
    loop.post([&] {
        try {
            work();
            done.set_value();
        } catch (...) {
            done.set_exception(std::current_exception());
        }
    });
    done.get_future().get();
}

}  // namespace herald::program
