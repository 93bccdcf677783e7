// The newest value of something that one thread replaces and any thread reads.
#pragma once

#include <memory>

#include "runtime/mutex.hpp"

namespace herald::runtime {

/// libstdc++ 12's std::atomic<std::shared_ptr> releases its lock without ordering what was read under it (the
/// thread sanitizer finds that); this class does not. Thread-safe.
template <class T>
class newest {
  public:
    std::shared_ptr<T> load() const {
        const runtime::lock_guard lock(x_mutex);
        return x_value;
    }
    void store(std::shared_ptr<T> next) {
        const runtime::lock_guard lock(x_mutex);
        x_value.swap(next);
    }  // the old value is destroyed after the lock: parameters outlive locals

  private:
    mutable runtime::mutex x_mutex;
    std::shared_ptr<T> x_value GUARDED_BY(x_mutex);
};

}  // namespace herald::runtime
