// A transport that answers as the test tells it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/scheduler.hpp"
#include "workers/transport.hpp"

namespace herald::test {

/// What a receiver does with a request. If it takes longer than the deadline, the result is a time-out.
struct receiver_behaviour {
    std::uint16_t status = 200;
    std::int64_t takes_ms = 1;
    std::int64_t on_the_wire_after_ms = 0;
    std::vector<runtime::http::header> headers = {};
    bool own_shortage = false;  // the receiver is never reached
};

struct sent_request {
    std::int64_t at_ms = 0;  // steady
    schemas::webhook_id webhook_id;
    std::string location;
    std::string body;
    std::map<std::string, std::string> headers;
};

class scripted_transport final : public workers::transport {
  public:
    explicit scripted_transport(runtime::scheduler& scheduler) : x_scheduler(scheduler) {}

    std::unique_ptr<workers::attempt_handle> post(workers::delivery_request request, callback done) override {
        const std::int64_t now = x_scheduler.time().steady_ms();
        sent_request& sent = x_sent.emplace_back();
        sent.at_ms = now;
        sent.webhook_id = request.webhook_id;
        sent.location = request.location;
        sent.body = *request.body;
        for (const runtime::http::header& one : request.headers) sent.headers[one.name] = one.value;
        const receiver_behaviour behaviour = behave(sent);

        const std::string id = sent.headers["webhook-id"];
        if (x_running[id]++ > 0) ++doubled;
        running_max = std::max(running_max, ++running);
        auto shared = std::make_shared<attempt>();
        shared->wire_ms = now + behaviour.on_the_wire_after_ms;
        shared->ended = [this, id] {
            --running;
            --x_running[id];
        };
        x_scheduler.run_at(now + std::min(behaviour.takes_ms, request.deadline_ms),
                           [weak = std::weak_ptr(shared), answer = answer_of(behaviour, request), done] {
                               if (const auto still = weak.lock()) {
                                   still->end();
                                   done(answer);
                               }
                           });
        return std::make_unique<handle>(x_scheduler, std::move(shared));
    }

    const std::vector<sent_request>& sent() const { return x_sent; }
    std::vector<sent_request> sent_to(schemas::webhook_id webhook) const {
        std::vector<sent_request> found;
        for (const sent_request& one : x_sent)
            if (one.webhook_id == webhook) found.push_back(one);
        return found;
    }

    std::function<receiver_behaviour(const sent_request&)> behave = [](const sent_request&) {
        return receiver_behaviour{};
    };
    int running = 0;
    int running_max = 0;
    int doubled = 0;  // attempts that started while another attempt of the same delivery was running

  private:
    struct attempt {
        std::int64_t wire_ms = 0;
        std::function<void()> ended;
        void end() {
            if (ended) std::exchange(ended, nullptr)();
        }
    };
    class handle final : public workers::attempt_handle {
      public:
        handle(runtime::scheduler& scheduler, std::shared_ptr<attempt> mine)
            : x_scheduler(scheduler), x_mine(std::move(mine)) {}
        ~handle() override { x_mine->end(); }
        bool on_the_wire() const noexcept override {
            return x_scheduler.time().steady_ms() >= x_mine->wire_ms;
        }

      private:
        runtime::scheduler& x_scheduler;
        std::shared_ptr<attempt> x_mine;
    };

    static workers::delivery_answer answer_of(const receiver_behaviour& behaviour,
                                              const workers::delivery_request& request) {
        workers::delivery_answer answer;
        answer.address = "192.0.2.1:443";
        if (behaviour.own_shortage) {
            answer.own_shortage = true;
            answer.error = schemas::delivery_error::connect;
            answer.message = "Too many open files";
            return answer;
        }
        if (behaviour.takes_ms > request.deadline_ms) {
            answer.error = schemas::delivery_error::timeout;
            answer.message = "no answer within the deadline";
            return answer;
        }
        answer.status = behaviour.status;
        answer.answer_ms = behaviour.takes_ms;
        answer.headers = behaviour.headers;
        if (behaviour.status / 100 != 2) {
            answer.error = schemas::delivery_error::status;
            answer.message = "answered " + std::to_string(behaviour.status);
        }
        return answer;
    }

    runtime::scheduler& x_scheduler;
    std::vector<sent_request> x_sent;
    std::map<std::string, int> x_running;
};

}  // namespace herald::test
