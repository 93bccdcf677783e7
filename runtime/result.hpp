// A value, or why there is none: what boost::system::result does, for a tenth of its time to compile.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/assert.hpp"

namespace herald::runtime {

struct error;
/// Reached only through a bug: value() of a result that holds an error. Throws std::logic_error.
[[noreturn]] void throw_without_value(const error&);

/// As copyable as T. Moving a T or a Failure does not throw.
template <class T = void, class Failure = error>
class result {
  public:
    using value_type = T;

    /// T{}.
    result()
        requires std::is_default_constructible_v<T>
        : x_value(), x_has_value(true) {}
    template <class From = T>
        requires std::is_convertible_v<From, T>
    result(From&& value) : x_value(std::forward<From>(value)), x_has_value(true) {}
    template <class From = Failure>
        requires(std::is_convertible_v<From, Failure> && !std::is_convertible_v<From, T>)
    result(From&& failure) : x_failure(std::forward<From>(failure)), x_has_value(false) {}

    result(const result& other)
        requires std::is_copy_constructible_v<T>
    {
        take(other);
    }
    result(result&& other) noexcept { take(std::move(other)); }
    result& operator=(result other) noexcept {
        destroy();
        take(std::move(other));
        return *this;
    }
    ~result() { destroy(); }

    bool has_value() const noexcept { return x_has_value; }
    bool has_error() const noexcept { return !x_has_value; }
    explicit operator bool() const noexcept { return x_has_value; }

    T& operator*() & noexcept { return *operator->(); }
    const T& operator*() const& noexcept { return *operator->(); }
    T operator*() && noexcept { return std::move(*operator->()); }
    T operator*() const&& = delete;
    T* operator->() noexcept {
        HERALD_ASSERT(x_has_value);
        return std::addressof(x_value);
    }
    const T* operator->() const noexcept {
        HERALD_ASSERT(x_has_value);
        return std::addressof(x_value);
    }
    T& value() & {
        if (!x_has_value) throw_without_value(x_failure);
        return x_value;
    }
    const T& value() const& {
        if (!x_has_value) throw_without_value(x_failure);
        return x_value;
    }
    T value() && { return std::move(value()); }

    /// A default one when there is a value.
    Failure error() const { return x_has_value ? Failure() : x_failure; }

  private:
    /// Nothing is held yet.
    template <class Other>
    void take(Other&& other) {
        x_has_value = other.x_has_value;
        if (x_has_value)
            std::construct_at(std::addressof(x_value), std::forward<Other>(other).x_value);
        else
            std::construct_at(std::addressof(x_failure), std::forward<Other>(other).x_failure);
    }
    void destroy() noexcept {
        if (x_has_value)
            std::destroy_at(std::addressof(x_value));
        else
            std::destroy_at(std::addressof(x_failure));
    }

    union {
        T x_value;
        Failure x_failure;
    };
    bool x_has_value;
};

template <class Failure>
class result<void, Failure> {
  public:
    using value_type = void;

    result() = default;
    template <class From>
        requires std::is_convertible_v<From, Failure>
    result(From&& failure) : x_failure(std::forward<From>(failure)) {}

    bool has_value() const noexcept { return !x_failure; }
    bool has_error() const noexcept { return x_failure.has_value(); }
    explicit operator bool() const noexcept { return !x_failure; }
    void value() const {
        if (x_failure) throw_without_value(*x_failure);
    }
    Failure error() const { return x_failure ? *x_failure : Failure(); }

  private:
    std::optional<Failure> x_failure;
};

}  // namespace herald::runtime
