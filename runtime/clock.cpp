#include "runtime/clock.hpp"

#include <ctime>

namespace herald::runtime {
namespace {

std::int64_t read_ms(clockid_t which) noexcept {
    timespec now{};
    ::clock_gettime(which, &now);
    return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

class machine_clock final : public clock {
  public:
    std::int64_t wall_ms() const noexcept override { return read_ms(CLOCK_REALTIME); }
    std::int64_t steady_ms() const noexcept override { return read_ms(CLOCK_BOOTTIME); }
};

}  // namespace

clock& system_clock() noexcept {
    static machine_clock the_clock;
    return the_clock;
}

}  // namespace herald::runtime
