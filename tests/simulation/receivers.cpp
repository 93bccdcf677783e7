#include "tests/simulation/receivers.hpp"

namespace herald::test {
namespace {

std::string header_of(const workers::delivery_request& request, std::string_view name) {
    for (const runtime::http::header& header : request.headers)
        if (header.name == name) return header.value;
    throw rule_broken{"a delivery has no header " + std::string(name)};
}

workers::delivery_answer status(std::uint16_t code) {
    workers::delivery_answer answer;
    answer.status = code;
    answer.error = code < 300 ? schemas::delivery_error::none : schemas::delivery_error::status;
    return answer;
}

workers::delivery_answer failure(schemas::delivery_error what) {
    workers::delivery_answer answer;
    answer.error = what;
    return answer;
}

class attempt final : public workers::attempt_handle {
  public:
    explicit attempt(std::shared_ptr<bool> wanted) : x_wanted(std::move(wanted)) {}
    ~attempt() override { *x_wanted = false; }
    bool on_the_wire() const noexcept override { return true; }

  private:
    std::shared_ptr<bool> x_wanted;
};

}  // namespace

class receivers::network final : public workers::transport {
  public:
    network(receivers& to, process_thread& thread) : x_receivers(to), x_thread(thread) {}

    std::unique_ptr<workers::attempt_handle> post(workers::delivery_request request, callback done) override {
        dice& chance = x_receivers.x_world.chance;
        workers::delivery_answer answer = x_receivers.receive(request);
        const bool hangs = answer.error == schemas::delivery_error::timeout;
        const std::int64_t takes_ms =
            hangs ? request.deadline_ms : chance.between(0, chance.one_in(10) ? 3'000 : 40);
        const auto wanted = std::make_shared<bool>(true);
        x_thread.run_at(x_receivers.x_world.time.now_ms() + takes_ms, [wanted, done, answer] {
            if (*wanted) done(answer);
        });
        return std::make_unique<attempt>(wanted);
    }

  private:
    receivers& x_receivers;
    process_thread& x_thread;
};

std::unique_ptr<workers::transport> receivers::make_transport(process_thread& thread) {
    return std::make_unique<network>(*this, thread);
}

/// What the receiver does and what the worker sees can differ: an answer may be lost on its way.
workers::delivery_answer receivers::receive(const workers::delivery_request& request) {
    history& here = x_all[{header_of(request, "svc-event-id"), request.webhook_id.value}];
    here.places.insert(request.location);
    const std::string id = header_of(request, "webhook-id");
    if (here.attempts++ == 0) here.delivery_id = id;
    if (here.delivery_id != id)
        throw rule_broken{"a delivery came again under another webhook-id (invariant 5)"};
    dice& chance = x_world.chance;
    const bool is_bad = (request.webhook_id.value + 1) % x_bad_one_in == 0;
    if (x_healed || (!is_bad && !chance.one_in(4))) {
        here.received = true;
        return status(204);
    }
    switch (is_bad ? 6 : chance.between(0, 6)) {
        case 0:
            return failure(schemas::delivery_error::timeout);
        case 1:
            return failure(schemas::delivery_error::connect);
        case 2: {
            here.received = true;
            return failure(schemas::delivery_error::protocol);
        }
        case 3: {
            auto answer = status(503);
            answer.headers.push_back({"Retry-After", std::to_string(chance.between(1, 20))});
            return answer;
        }
        case 4:
            return status(chance.one_in(6) ? 410 : 500);
        case 5:
            return status(302);
        default:
            return status(500);
    }
}

}  // namespace herald::test
