// Where a model puts its response. A quick one is there before anybody has to wait.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>

#include "runtime/completion.hpp"
#include "runtime/error.hpp"

namespace herald::api::predictions {

/// Owned by the request and by the model. `T` is a result.
template <class T>
class response_slot : public runtime::completion<T> {
  public:
    /// Gives in place of the model, which need not answer any more.
    void give_up(error why) {
        this->give(T(std::move(why)));
        x_cancellation.cancel();
    }
    /// For the request; lives as long as the slot.
    std::shared_ptr<serving::engines::cancellation> cancellation() {
        return {this->shared_from_this(), &x_cancellation};
    }
    /// As completion::given(); gives up when the coroutine is cancelled.
    boost::asio::awaitable<void> given(std::function<void()> begin = {}) {
        const auto cancelled = [this] {
            give_up(runtime::unavailable("this node is shutting down; retry on another node"));
        };
        return runtime::completion<T>::given(cancelled, std::move(begin));
    }

  private:
    serving::engines::cancellation x_cancellation;
};

}  // namespace herald::api::predictions
