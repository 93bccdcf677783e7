// Only for the thread sanitizer: it does not see threads that a library (librdkafka) creates with C11's
// calls, and ends the process in them. These functions replace the C library's and create the same threads
// with POSIX calls, which it sees.
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <memory>

namespace {

struct beginning {
    thrd_start_t run;
    void* argument;
};

void* begin(void* given) {
    const beginning what = *std::unique_ptr<beginning>(static_cast<beginning*>(given));
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(what.run(what.argument)));
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* made, thrd_start_t run, void* argument) {
    auto what = std::make_unique<beginning>(beginning{run, argument});
    if (::pthread_create(made, nullptr, begin, what.get()) != 0) return thrd_error;
    static_cast<void>(what.release());
    return thrd_success;
}

int thrd_join(thrd_t which, int* answer) {
    void* returned = nullptr;
    if (::pthread_join(which, &returned) != 0) return thrd_error;
    if (answer) *answer = static_cast<int>(reinterpret_cast<std::intptr_t>(returned));
    return thrd_success;
}

int thrd_detach(thrd_t which) { return ::pthread_detach(which) == 0 ? thrd_success : thrd_error; }

}  // extern "C"
