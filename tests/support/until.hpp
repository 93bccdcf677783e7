// Waits for what another thread or process does: asks again and again, up to a deadline.
#pragma once

#include <chrono>
#include <thread>

namespace herald::test {

/// For things that should take milliseconds: reached only when they never happen.
inline constexpr std::chrono::milliseconds patience{30'000};

/// Whether `check` returns true within `seconds`.
template <class Check>
bool eventually(double seconds, const Check& check) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!check()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}
template <class Check>
bool eventually(const Check& check) {
    return eventually(std::chrono::duration<double>(patience).count(), check);
}

/// What `question` answers in the end: `wanted`, or something else if that never comes.
template <class Question>
auto eventually(const Question& question, const decltype(question())& wanted) {
    auto seen = question();
    eventually([&] { return seen == wanted || (seen = question()) == wanted; });
    return seen;
}

}  // namespace herald::test
