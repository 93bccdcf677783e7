#include "api/predictions/prediction_service.hpp"

#include <chrono>

#include "api/calls/call.hpp"
#include "api/predictions/answer_slot.hpp"
#include "api/predictions/json_dialect.hpp"
#include "api/predictions/limits.hpp"
#include "api/predictions/prediction_paths.hpp"
#include "api/predictions/refusal_budget.hpp"
#include "api/predictions/routing.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "runtime/gzip.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/text.hpp"
#include "schemas/json.hpp"

namespace herald::api::predictions {
namespace {

using runtime::http::http_method;
using runtime::http::http_response;
using runtime::http::server::error_response;
using runtime::http::server::request;
using runtime::http::server::request_handler;
using serving::component_route;
using serving::endpoint_route;
using serving::engines::body_answer;
using serving::engines::tensor_question;
namespace asio = boost::asio;

constexpr std::string_view inference_header_length = "inference-header-content-length";

/// The wait for the log that comes before a refusal.
constexpr calls::route waiting_for_the_log = [] {
    calls::route row;
    row.name = "prediction";
    row.deadline_ms = limits::awaited_refusal_ms_max;
    return row;
}();

error unknown_path() {
    return runtime::not_found(
        "there is no such path; models are asked at POST /api/v1/predict/<endpoint path>, POST "
        "/api/v1/batch-predict/<endpoint path> and /v2/models/<endpoint path with dots>/infer");
}

bool is_v2(std::string_view path) noexcept { return path.starts_with("/v2"); }

error wrong_method(const prediction_path& asked) {
    return {error_code::unimplemented,
            is_posted(asked.what) ? "models are asked with POST" : "this is asked with GET", 405};
}

/// {"error": "<text>"} in the v2 protocol.
http_response refusal_of(const error& why, bool is_of_v2_protocol) {
    http_response out = error_response(why);
    if (is_of_v2_protocol) out.body = schemas::object_writer().text("error", why.message).finish();
    return out;
}

std::int64_t now_us() noexcept {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

/// A place among the endpoint's predictions in flight.
class place_in_flight {
  public:
    explicit place_in_flight(serving::endpoint_meter& meter, std::uint32_t most)
        : x_meter(meter.begin(most) ? &meter : nullptr) {}
    place_in_flight(place_in_flight&& other) noexcept : x_meter(std::exchange(other.x_meter, nullptr)) {}
    ~place_in_flight() {
        if (x_meter) x_meter->end();
    }
    place_in_flight(const place_in_flight&) = delete;
    place_in_flight& operator=(const place_in_flight&) = delete;
    explicit operator bool() const noexcept { return x_meter != nullptr; }

  private:
    serving::endpoint_meter* x_meter;
};

/// Errors: invalid_argument (415) for another coding than gzip; those of gunzip; resource_exhausted (413).
result<void> inflate_body(const request& received, const component_route& component, std::string& inflated,
                          std::string_view& body) {
    body = received.body;
    const auto coding = received.header("content-encoding");
    if (coding && !runtime::equals_ignoring_case(*coding, "identity")) {
        if (!runtime::equals_ignoring_case(*coding, "gzip"))
            return error{
                error_code::invalid_argument,
                "the body has the Content-Encoding " + std::string(*coding) + "; it must be gzip or identity",
                415};
        auto whole = runtime::gunzip(received.body, component.body_bytes_max);
        if (!whole) return whole.error();
        inflated = *std::move(whole);
        body = inflated;
    }
    if (body.size() <= component.body_bytes_max) return {};
    return error{error_code::resource_exhausted,
                 "the body is " + std::to_string(body.size()) + " bytes long; it must be at most " +
                     std::to_string(component.body_bytes_max),
                 413};
}

http_response json_response(std::string body) {
    http_response out;
    out.body = std::move(body);
    return out;
}

http_response response_of(body_answer from) {
    http_response out;
    out.status = from.status;
    out.content_type = std::move(from.content_type);
    out.body = std::move(from.body);
    if (!from.content_encoding.empty())
        out.headers.push_back({"content-encoding", std::move(from.content_encoding)});
    if (!from.retry_after.empty()) out.headers.push_back({"retry-after", std::move(from.retry_after)});
    out.stream = std::move(from.stream);
    out.stream_bytes = from.stream_bytes;
    return out;
}

/// The body, which keeps the prediction's place until it is sent.
std::shared_ptr<runtime::http::body_stream> in_flight(std::shared_ptr<runtime::http::body_stream> body,
                                                      const routed& target, place_in_flight& place) {
    struct sending {
        routed target;
        place_in_flight place;
        std::shared_ptr<runtime::http::body_stream> body;
    };
    const auto kept = std::make_shared<sending>(sending{target, std::move(place), std::move(body)});
    return {kept, kept->body.get()};
}

template <class T>
std::function<void(T)> into(const std::shared_ptr<answer_slot<T>>& slot) {
    return [slot](T value) { slot->give(std::move(value)); };
}

/// The second look, in the step in which the answer's first byte goes out (P7).
class last_look final : public runtime::http::send_guard {
  public:
    last_look(const serving::serving_gate& gate, const routed& target, const prediction_path& asked)
        : x_gate(gate), x_target(target), x_is_v2(is_of_v2(asked.what)) {}

    std::optional<http_response> instead() const override {
        const component_route& component = *x_target.component;
        const auto scan = component.safety->unsafe_scan();
        if (!scan && x_gate.has_lease()) return std::nullopt;
        http_response out = refusal_of(scan ? unsafe_build(component.build, scan) : without_lease(), x_is_v2);
        out.head_lines = component.header_lines;
        return out;
    }

  private:
    const serving::serving_gate& x_gate;
    const routed x_target;
    const bool x_is_v2;
};

class prediction_service final : public request_handler {
  public:
    prediction_service(prediction_parts with, request_handler& others)
        : x_with(std::move(with)), x_others(others) {}

    bool handle_now(const request& received, http_response& out) override {
        return !is_of_predictions(received.path) && x_others.handle_now(received, out);
    }

    asio::awaitable<http_response> handle(const request& received) override {
        if (!is_of_predictions(received.path)) co_return co_await x_others.handle(received);
        const auto asked = parsed_path(received.path);
        if (!asked) co_return refusal_of(unknown_path(), is_v2(received.path));
        if (!is_allowed(received.method, *asked)) co_return refused_method(*asked);
        if (asked->what < asked_for::server || asked->what >= asked_for::model)
            co_return co_await predict(received, *asked);
        co_return of_server(asked->what);
    }

    asio::awaitable<std::optional<http_response>> judge(const request& head) override {
        if (!is_of_predictions(head.path)) co_return co_await x_others.judge(head);
        const auto asked = parsed_path(head.path);
        if (!asked) co_return refusal_of(unknown_path(), is_v2(head.path));
        if (!is_allowed(head.method, *asked)) co_return refused_method(*asked);
        if (!is_posted(asked->what)) co_return std::nullopt;
        auto found = route_here(head, *asked);
        if (may_be_known_elsewhere(found)) found = co_await route_again(std::move(found), head, *asked);
        const unrouted* const refused = std::get_if<unrouted>(&found);
        if (!refused) co_return std::nullopt;
        co_return refused_answer(head, *asked, *refused, now_us());
    }

    std::size_t body_bytes_max(http_method method, std::string_view path) const noexcept override {
        if (!is_of_predictions(path)) return x_others.body_bytes_max(method, path);
        const auto asked = parsed_path(path);
        if (!asked || !is_posted(asked->what)) return limits::management_body_bytes_max;
        const auto table = x_with.book.newest();
        const auto* const found =
            is_of_v2(asked->what) ? table->find_v2(asked->name) : table->find(asked->name);
        return found ? static_cast<std::size_t>((*found)->body_bytes_max) : limits::management_body_bytes_max;
    }

    bool streams_body(http_method method, std::string_view path) const noexcept override {
        return !is_of_predictions(path) && x_others.streams_body(method, path);
    }

  private:
    static bool is_allowed(http_method method, const prediction_path& asked) noexcept {
        if (is_posted(asked.what)) return method == http_method::post;
        return method == http_method::get || method == http_method::head;
    }
    static http_response refused_method(const prediction_path& asked) {
        http_response out = refusal_of(wrong_method(asked), is_of_v2(asked.what));
        out.headers.push_back({"allow", is_posted(asked.what) ? "POST" : "GET, HEAD"});
        return out;
    }

    http_response of_server(asked_for what) const {
        if (what == asked_for::server) return json_response(v2_server_metadata(x_with.version));
        if (what == asked_for::server_live) return json_response(R"({"live":true})");
        if (x_with.book.is_ready() && x_with.gate.has_lease()) return json_response(R"({"ready":true})");
        http_response out = json_response(R"({"ready":false})");
        out.status = 503;
        out.headers.push_back({"retry-after", "1"});
        return out;
    }

    std::variant<routed, unrouted> route_here(const request& received, const prediction_path& asked) {
        return route(x_with.book, x_with.gate, received, asked);
    }
    /// In a cluster nobody is refused for what this node alone does not know yet.
    bool may_be_known_elsewhere(const std::variant<routed, unrouted>& found) const noexcept {
        const unrouted* const refused = std::get_if<unrouted>(&found);
        return refused && refused->rests_on_state && x_with.has_other_nodes;
    }
    asio::awaitable<std::variant<routed, unrouted>> route_again(std::variant<routed, unrouted> found,
                                                                const request& received,
                                                                const prediction_path& asked) {
        runtime::event_loop& loop = x_with.loops[received.loop_index];
        if (!x_budget.take(received.remote_address, loop.time().steady_ms())) co_return found;
        const calls::time_limit limit(loop, waiting_for_the_log);
        const auto newest = co_await calls::read_state(x_with.registry, limit);
        if (!newest || newest->stale) {
            const unrouted& refused = std::get<unrouted>(found);
            unrouted unknown{
                runtime::unavailable("the log is out of reach, and this node may not know of it; try again"),
                refused.endpoint, refused.component};
            co_return unknown;
        }
        co_return route_here(received, asked);
    }

    http_response refused_answer(const request& received, const prediction_path& asked,
                                 const unrouted& refused, std::int64_t begun_us) {
        http_response out = refusal_of(refused.why, is_of_v2(asked.what));
        if (refused.component)
            out.head_lines = refused.component->header_lines;
        else if (refused.endpoint)
            out.head_lines = refused.endpoint->header_lines;
        if (refused.endpoint && is_posted(asked.what))
            count(received, *refused.endpoint, refused.component, out.status, begun_us);
        return out;
    }

    /// Of inferences alone: what is asked of a model says nothing of how it predicts.
    void count(const request& received, const endpoint_route& endpoint, const component_route* component,
               std::uint16_t status, std::int64_t begun_us) {
        const std::int64_t took_us = now_us() - begun_us;
        endpoint.meter->count(status, took_us);
        if (component && component->meter)
            component->meter->count(received.loop_index, status, static_cast<std::uint64_t>(took_us));
        if (x_with.log.wants())
            serving::prediction_log::tell(endpoint, component, status, took_us, received.request_id);
    }

    asio::awaitable<http_response> predict(const request& received, const prediction_path& asked) {
        const std::int64_t begun_us = now_us();
        auto found = route_here(received, asked);
        if (may_be_known_elsewhere(found)) found = co_await route_again(std::move(found), received, asked);
        if (const unrouted* const refused = std::get_if<unrouted>(&found))
            co_return refused_answer(received, asked, *refused, begun_us);
        const routed& target = std::get<routed>(found);
        if (received.is_known) received.is_known->store(true, std::memory_order_relaxed);
        auto answered = co_await answer(received, asked, target);
        http_response out;
        if (answered)
            out = *std::move(answered);
        else
            out = refusal_of(answered.error(), is_of_v2(asked.what));
        out.head_lines = target.component->header_lines;
        out.guard = std::make_shared<last_look>(x_with.gate, target, asked);
        if (is_posted(asked.what)) count(received, *target.endpoint, target.component, out.status, begun_us);
        co_return out;
    }

    asio::awaitable<result<http_response>> answer(const request& received, const prediction_path& asked,
                                                  const routed& target) {
        const component_route& component = *target.component;
        const serving::engines::loaded_model& model = *component.served->model();
        if (!is_posted(asked.what)) co_return of_model(asked, component, model);
        place_in_flight place(*target.endpoint->meter, component.in_flight_max);
        if (!place)
            co_return runtime::resource_exhausted("the endpoint " + target.endpoint->path + " has " +
                                                  std::to_string(component.in_flight_max) +
                                                  " predictions under way on this node; try again");
        const std::int64_t deadline_ms =
            x_with.loops[received.loop_index].time().steady_ms() + component.deadline_ms;
        if (model.bodies) {
            auto passed = co_await pass_on(received, asked, component, *model.bodies, deadline_ms);
            if (passed && passed->stream)
                passed->stream = in_flight(std::move(passed->stream), target, place);
            co_return passed;
        }
        std::string inflated;
        std::string_view body;
        if (const auto good = inflate_body(received, component, inflated, body); !good)
            co_return good.error();
        tensor_question question;
        question.deadline_ms = deadline_ms;
        if (asked.what == asked_for::json) {
            auto inputs = inputs_of_json(body, model.tensors->signature());
            if (!inputs) co_return inputs.error();
            question.inputs = *std::move(inputs);
            const auto slot = begin(*model.tensors, std::move(question));
            if (!slot->is_given()) co_await slot->given();
            const auto outputs = slot->take();
            if (!outputs) co_return outputs.error();
            co_return rendered(json_of_outputs(*outputs));
        }
        if (asked.what == asked_for::table) {
            auto table = inputs_of_split(body, model.tensors->signature());
            if (!table) co_return table.error();
            question.inputs = std::move(table->inputs);
            const auto slot = begin(*model.tensors, std::move(question));
            if (!slot->is_given()) co_await slot->given();
            const auto outputs = slot->take();
            if (!outputs) co_return outputs.error();
            co_return rendered(split_of_outputs(*outputs, table->index));
        }
        co_return co_await infer(received, asked, target, body, std::move(question));
    }

    static result<http_response> rendered(result<std::string> body) {
        if (!body) return body.error();
        return json_response(*std::move(body));
    }

    using tensor_slot = answer_slot<result<tensors>>;
    static std::shared_ptr<tensor_slot> begin(serving::engines::tensor_model& model,
                                              tensor_question question) {
        auto slot = std::make_shared<tensor_slot>();
        model.ask(std::move(question), into(slot));
        return slot;
    }

    static asio::awaitable<result<http_response>> infer(const request& received, const prediction_path& asked,
                                                        const routed& target, std::string_view body,
                                                        tensor_question question) {
        const component_route& component = *target.component;
        serving::engines::tensor_model& model = *component.served->model()->tensors;
        std::optional<std::size_t> header_bytes;
        if (const auto sent = received.header(inference_header_length)) {
            const auto number = runtime::parse_decimal(*sent);
            if (!number)
                co_return runtime::invalid_argument("Inference-Header-Content-Length is \"" +
                                                    std::string(*sent) +
                                                    "\"; it must be the length of the JSON part in bytes");
            header_bytes = *number;
        }
        auto read = question_of_v2(body, header_bytes, model.signature());
        if (!read) co_return read.error();
        question.inputs = std::move(read->inputs);
        question.outputs = read->outputs;
        const auto slot = begin(model, std::move(question));
        if (!slot->is_given()) co_await slot->given();
        const auto outputs = slot->take();
        if (!outputs) co_return outputs.error();
        auto written = v2_of_outputs(asked.name, std::to_string(component.version_number), *read, *outputs);
        if (!written) co_return written.error();
        http_response out = json_response(std::move(written->body));
        if (written->header_bytes) {
            out.content_type = "application/octet-stream";
            out.headers.push_back(
                {"inference-header-content-length", std::to_string(*written->header_bytes)});
        }
        co_return out;
    }

    static result<http_response> of_model(const prediction_path& asked, const component_route& component,
                                          const serving::engines::loaded_model& model) {
        if (asked.what == asked_for::model_ready)
            return json_response(
                schemas::object_writer().text("name", asked.name).flag("ready", true).finish());
        const std::string version = std::to_string(component.version_number);
        if (!model.tensors) return json_response(v2_metadata(asked.name, version, {}, "upstream"));
        return json_response(
            v2_metadata(asked.name, version, model.tensors->signature(), "onnxruntime_onnx"));
    }

    static asio::awaitable<result<http_response>> pass_on(const request& received,
                                                          const prediction_path& asked,
                                                          const component_route& component,
                                                          serving::engines::body_model& model,
                                                          std::int64_t deadline_ms) {
        if (asked.what == asked_for::inference)
            co_return runtime::failed_precondition(
                "the model " + std::string(asked.name) +
                " runs elsewhere and takes bodies as they are; ask it at /api/v1/predict");
        if (received.body.size() > component.body_bytes_max)
            co_return error{error_code::resource_exhausted,
                            "the body is too long; it must be at most " +
                                std::to_string(component.body_bytes_max) + " bytes",
                            413};
        serving::engines::body_question question;
        question.request_id = received.request_id;
        question.content_type = received.header("content-type").value_or("");
        question.content_encoding = received.header("content-encoding").value_or("");
        question.body = received.body;
        question.deadline_ms = deadline_ms;
        const auto slot = std::make_shared<answer_slot<result<body_answer>>>();
        model.ask(std::move(question), into(slot));
        if (!slot->is_given()) co_await slot->given();
        auto answered = slot->take();
        if (!answered) co_return answered.error();
        co_return response_of(*std::move(answered));
    }

    const prediction_parts x_with;
    request_handler& x_others;
    refusal_budget x_budget;
};

}  // namespace

std::unique_ptr<request_handler> make_prediction_service(prediction_parts with, request_handler& others) {
    return std::make_unique<prediction_service>(std::move(with), others);
}

}  // namespace herald::api::predictions
