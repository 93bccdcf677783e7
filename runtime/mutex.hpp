// Mutexes whose rules the compiler checks: clang's -Wthread-safety refuses access to a member marked
// GUARDED_BY(x_mutex) without the mutex, and calls of a function marked REQUIRES(x_mutex). Other compilers
// see plain mutexes.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <utility>

#if defined(__clang__)
#define HERALD_THREAD_SAFETY(attribute) __attribute__((attribute))
#else
#define HERALD_THREAD_SAFETY(attribute)
#endif

/// For a member: accessed only with the mutex held (of a shared_mutex: read with a shared_lock, too).
#define GUARDED_BY(mutex) HERALD_THREAD_SAFETY(guarded_by(mutex))
/// For a function or lambda: called with the mutex held, and it is still held on return.
#define REQUIRES(mutex) HERALD_THREAD_SAFETY(requires_capability(mutex))
/// The same, where holding a shared_mutex shared is enough.
#define REQUIRES_SHARED(mutex) HERALD_THREAD_SAFETY(requires_shared_capability(mutex))

namespace herald::runtime {

/// A standard mutex. Lock it with the guards below; an unlock_guard and a condition_variable release one that
/// is held.
template <class Standard>
class HERALD_THREAD_SAFETY(capability("mutex")) basic_mutex {
  public:
    void lock() HERALD_THREAD_SAFETY(acquire_capability()) { x_standard.lock(); }
    void unlock() HERALD_THREAD_SAFETY(release_capability()) { x_standard.unlock(); }

  private:
    friend class condition_variable;
    Standard x_standard;
};
using mutex = basic_mutex<std::mutex>;
using recursive_mutex = basic_mutex<std::recursive_mutex>;

class HERALD_THREAD_SAFETY(capability("mutex")) shared_mutex {
  public:
    void lock() HERALD_THREAD_SAFETY(acquire_capability()) { x_standard.lock(); }
    void unlock() HERALD_THREAD_SAFETY(release_capability()) { x_standard.unlock(); }
    void lock_shared() HERALD_THREAD_SAFETY(acquire_shared_capability()) { x_standard.lock_shared(); }
    void unlock_shared() HERALD_THREAD_SAFETY(release_shared_capability()) { x_standard.unlock_shared(); }

  private:
    std::shared_mutex x_standard;
};

template <class Mutex>
class HERALD_THREAD_SAFETY(scoped_lockable) lock_guard {
  public:
    explicit lock_guard(Mutex& of) HERALD_THREAD_SAFETY(acquire_capability(of)) : x_mutex(of) {
        x_mutex.lock();
    }
    ~lock_guard() HERALD_THREAD_SAFETY(release_capability()) { x_mutex.unlock(); }
    lock_guard(const lock_guard&) = delete;
    lock_guard& operator=(const lock_guard&) = delete;

  private:
    Mutex& x_mutex;
};

/// A guard that may release its mutex before its own end.
class HERALD_THREAD_SAFETY(scoped_lockable) unique_lock {
  public:
    explicit unique_lock(mutex& of) HERALD_THREAD_SAFETY(acquire_capability(of)) : x_mutex(&of) { of.lock(); }
    ~unique_lock() HERALD_THREAD_SAFETY(release_capability()) {
        if (x_mutex) x_mutex->unlock();
    }
    unique_lock(const unique_lock&) = delete;
    unique_lock& operator=(const unique_lock&) = delete;

    void unlock() HERALD_THREAD_SAFETY(release_capability()) { std::exchange(x_mutex, nullptr)->unlock(); }

  private:
    mutex* x_mutex;
};

/// For a shared_mutex: for those that only read what it guards.
class HERALD_THREAD_SAFETY(scoped_lockable) shared_lock {
  public:
    explicit shared_lock(shared_mutex& of) HERALD_THREAD_SAFETY(acquire_shared_capability(of)) : x_mutex(of) {
        x_mutex.lock_shared();
    }
    ~shared_lock() HERALD_THREAD_SAFETY(release_capability()) { x_mutex.unlock_shared(); }
    shared_lock(const shared_lock&) = delete;
    shared_lock& operator=(const shared_lock&) = delete;

  private:
    shared_mutex& x_mutex;
};

/// The opposite: while this lives, a held mutex is free. (For clang, "release" at the destructor means that
/// this object releases, so that the mutex is taken again.)
class HERALD_THREAD_SAFETY(scoped_lockable) unlock_guard {
  public:
    explicit unlock_guard(mutex& of) HERALD_THREAD_SAFETY(release_capability(of)) : x_mutex(of) {
        x_mutex.unlock();
    }
    ~unlock_guard() HERALD_THREAD_SAFETY(release_capability()) { x_mutex.lock(); }
    unlock_guard(const unlock_guard&) = delete;
    unlock_guard& operator=(const unlock_guard&) = delete;

  private:
    mutex& x_mutex;
};

/// Like the standard one, but it waits with the mutex itself, so the holder need not pass a guard around. The
/// condition is a lambda marked REQUIRES(its mutex).
class condition_variable {
  public:
    void notify_one() noexcept { x_standard.notify_one(); }
    void notify_all() noexcept { x_standard.notify_all(); }

    /// May return without a notification, like the standard one.
    template <class Clock, class Duration>
    void wait_until(mutex& held, std::chrono::time_point<Clock, Duration> at) REQUIRES(held) {
        borrowed lock(held.x_standard);
        x_standard.wait_until(lock.of, at);
    }
    template <class Rep, class Period>
    void wait_for(mutex& held, std::chrono::duration<Rep, Period> time) REQUIRES(held) {
        borrowed lock(held.x_standard);
        x_standard.wait_for(lock.of, time);
    }

    template <class Condition>
    void wait(mutex& held, Condition is_so) REQUIRES(held) {
        borrowed lock(held.x_standard);
        x_standard.wait(lock.of, is_so);
    }
    /// False when the condition did not hold in time.
    template <class Clock, class Duration, class Condition>
    bool wait_until(mutex& held, std::chrono::time_point<Clock, Duration> at, Condition is_so)
        REQUIRES(held) {
        borrowed lock(held.x_standard);
        return x_standard.wait_until(lock.of, at, is_so);
    }
    template <class Rep, class Period, class Condition>
    bool wait_for(mutex& held, std::chrono::duration<Rep, Period> time, Condition is_so) REQUIRES(held) {
        borrowed lock(held.x_standard);
        return x_standard.wait_for(lock.of, time, is_so);
    }

  private:
    /// The standard one needs its own kind of lock: it gets one, and the mutex stays held afterwards.
    struct borrowed {
        explicit borrowed(std::mutex& held) : of(held, std::adopt_lock) {}
        ~borrowed() { of.release(); }
        borrowed(const borrowed&) = delete;
        borrowed& operator=(const borrowed&) = delete;
        std::unique_lock<std::mutex> of;
    };

    std::condition_variable x_standard;
};

}  // namespace herald::runtime
