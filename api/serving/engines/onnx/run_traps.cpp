#include "api/serving/engines/onnx/run_traps.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

#include "api/serving/engines/onnx/counted_memory.hpp"
#include "api/serving/engines/onnx/division.hpp"
#include "api/serving/engines/onnx/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::api::serving::engines::onnx {
namespace {

constexpr std::array<int, 5> watched_signals{SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT};
std::array<struct sigaction, watched_signals.size()>
    handlers_before{};  // written once, when they are first watched

/// Read by a signal handler: a place that needs no call to be found.
[[gnu::tls_model("initial-exec")]] constinit thread_local watched_run* watched = nullptr;

constinit thread_local const broken_off_duty::duty_type* duty = nullptr;
std::atomic<unsigned> lost_threads{0};
std::terminate_handler before_terminate = nullptr;  // written with those of signals

/// Only what may be called in a signal handler.
void append_to(const char* mark) noexcept {
    if (*mark == '\0') return;
    const int file = ::open(mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    static_cast<void>(::write(file, "x", 1) == 1 && ::fsync(file) == 0);
    ::close(file);
}

void act_as_before(int number, const siginfo_t& info) noexcept {
    const auto* const place = std::ranges::find(watched_signals, number);
    ::sigaction(number, &handlers_before[static_cast<std::size_t>(place - watched_signals.begin())], nullptr);
    // A fault comes again when the instruction does, as abort() does; what was sent does not.
    if (info.si_code <= 0) ::raise(number);
}

/// For handlers: the thread's own stack may be what is used up.
class handler_stack {
  public:
    handler_stack() noexcept {
        stack_t now{};
        if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
        void* const made = ::mmap(nullptr, limits::onnx_handler_stack_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (made == MAP_FAILED) return;
        stack_t mine{};
        mine.ss_sp = made;
        mine.ss_size = limits::onnx_handler_stack_bytes;
        if (::sigaltstack(&mine, nullptr) == 0)
            x_memory = made;
        else
            ::munmap(made, limits::onnx_handler_stack_bytes);
    }
    ~handler_stack() {
        if (!x_memory) return;
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
        ::munmap(x_memory, limits::onnx_handler_stack_bytes);
    }
    handler_stack(const handler_stack&) = delete;
    handler_stack& operator=(const handler_stack&) = delete;

  private:
    void* x_memory = nullptr;
};

constinit thread_local bool has_handler_stack = false;

void have_handler_stack() noexcept {
    static thread_local const handler_stack mine;
    has_handler_stack = true;
}

/// In a terminate handler.
std::string why_it_ends() {
    if (const auto thrown = std::current_exception()) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::exception& known) {
            return known.what();
        } catch (...) {
            return "an exception of unknown type";
        }
    }
    return "std::terminate without an exception";
}

}  // namespace

void watched_run::begin() noexcept {
    static std::once_flag is_installed;
    if (!has_handler_stack) {
        std::call_once(is_installed, install);
        have_handler_stack();
    }
    watched = this;
}

void watched_run::end() noexcept { watched = nullptr; }

void watched_run::install() {
    before_terminate = std::set_terminate(&watched_run::on_terminate);
    struct sigaction mine {};
    mine.sa_sigaction = &watched_run::on_signal;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    for (std::size_t place = 0; place < watched_signals.size(); ++place)
        ::sigaction(watched_signals[place], &mine, &handlers_before[place]);
}

void watched_run::on_terminate() {
    const auto* const to_do = std::exchange(duty, nullptr);
    const auto lost = counted_memory::lose();
    const bool may_stay = lost.has_room || !counted_memory::is_counting();
    if (watched && to_do && may_stay && lost_threads.fetch_add(1) < limits::onnx_lost_threads_max) {
        watched = nullptr;
        try {
            (*to_do)({lost.bytes, lost.lacked, why_it_ends()});
        } catch (const std::exception& thrown) {
            runtime::log(runtime::log_level::error, runtime::log_events::task_failed,
                         {{"task", "answer_prediction"}, {"reason", thrown.what()}});
        }
        for (;;) ::pause();
    }
    if (before_terminate) before_terminate();
    std::abort();
}

broken_off_duty::broken_off_duty(const duty_type& chosen) noexcept { duty = &chosen; }
broken_off_duty::~broken_off_duty() { duty = nullptr; }

void watched_run::on_signal(int number, siginfo_t* info, void* context) noexcept {
    const int kept_errno = errno;
    watched_run* const run = watched;
    if (run && number == SIGFPE && info->si_code > 0 && skip_division(*static_cast<ucontext_t*>(context))) {
        run->x_traps = run->x_traps + 1;
        if (run->x_traps == 1 && run->x_what.end_early) run->x_what.end_early(run->x_what.of);
    } else {
        // Who sends such a signal from outside means the process, not the model.
        if (run && (info->si_code > 0 || info->si_pid == ::getpid())) append_to(run->x_what.end_mark);
        act_as_before(number, *info);
    }
    errno = kept_errno;
}

}  // namespace herald::api::serving::engines::onnx
