#include "api/predictions/prediction_service.hpp"

#include "api/calls/call.hpp"
#include "api/predictions/codecs.hpp"
#include "api/predictions/json_dialect.hpp"
#include "api/predictions/last_look.hpp"
#include "api/predictions/limits.hpp"
#include "api/predictions/places.hpp"
#include "api/predictions/prediction_bodies.hpp"
#include "api/predictions/prediction_memory.hpp"
#include "api/predictions/prediction_paths.hpp"
#include "api/predictions/refusal_budget.hpp"
#include "api/predictions/response_slot.hpp"
#include "api/predictions/routed_prediction.hpp"
#include "api/predictions/routing.hpp"
#include "api/predictions/v2_dialect.hpp"
#include "api/predictions/waiting.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/request_report.hpp"
#include "schemas/json.hpp"
#include "schemas/limits.hpp"

namespace herald::api::predictions {
namespace {

using runtime::http::http_method;
using runtime::http::http_response;
using runtime::http::server::plan;
using runtime::http::server::request;
using runtime::http::server::request_handler;
using runtime::http::server::steady_us;
using serving::component_route;
using serving::endpoint_route;
using serving::engines::body_response;
using serving::engines::tensor_request;
namespace asio = boost::asio;

error unknown_path() {
    return runtime::not_found(
        "there is no such path; predictions are requested with POST /api/v1/predict/<endpoint path>, POST "
        "/api/v1/batch-predict/<endpoint path> and /v2/models/<endpoint path with dots>/infer");
}

error bad_encoding(std::string_view path) {
    return runtime::invalid_argument(
        {"the path ", path, " is not percent-encoded UTF-8: after each % come two hexadecimal digits"});
}

/// Not a 503: retrying cannot help.
error served_elsewhere() {
    return {error_code::unimplemented,
            "this node serves no predictions (--serve-predictions false); ask a node that does", 0};
}

bool is_v2(std::string_view path) noexcept { return path.starts_with("/v2"); }

error wrong_method(path_kind what) {
    return {error_code::unimplemented,
            is_posted(what) ? "predictions are requested with POST" : "use GET here", 405};
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
std::function<void(T)> into(const std::shared_ptr<response_slot<T>>& slot) {
    return [slot](T value) { slot->give(std::move(value)); };
}

class prediction_service final : public request_handler {
  public:
    prediction_service(prediction_parts with, request_handler& others)
        : x_with(std::move(with)),
          x_others(others),
          x_reading(x_with.loops.size(), limits::bodies_read_beside_loops_max),
          x_writing(x_with.loops.size(), limits::bodies_written_beside_loops_max) {}

    request_handler& begin(const request& head, plan& out) noexcept override {
        if (!is_of_predictions(head.path)) return x_others.begin(head, out);
        const auto& sent = out.keep<sent_path>(head.path);
        out.is_decided = !sent.what() || !is_allowed(head.method, *sent.what());
        if (out.is_decided || !is_posted(*sent.what())) return *this;
        // Unknown endpoint: use the largest limit; judge() refuses it later.
        const auto* const found = entry_of(head, sent.parsed(head.path));
        out.body_bytes_max =
            found ? static_cast<std::size_t>((*found)->body_bytes_max) : limits::prediction_body_bytes_max;
        return *this;
    }

    bool handle_now(const request& received, const plan& begun, http_response& out) override {
        const auto& sent = begun.kept<sent_path>();
        if (begun.is_decided)
            out = refused_head(received, begun);
        else if (!needs_token(*sent.what()))
            out = of_server(*sent.what());
        else
            return is_posted(*sent.what()) && predict_now(received, sent.parsed(received.path), out);
        return true;
    }

    asio::awaitable<http_response> handle(const request& received, const plan& begun) override {
        const prediction_path path = begun.kept<sent_path>().parsed(received.path);
        co_return co_await predict(received, path);
    }

    asio::awaitable<std::optional<http_response>> judge(const request& head, const plan& begun) override {
        const auto& sent = begun.kept<sent_path>();
        if (!is_posted(*sent.what())) co_return std::nullopt;
        const prediction_path path = sent.parsed(head.path);
        const std::int64_t begun_us = steady_us();
        auto found = route_here(head, path);
        if (may_be_known_elsewhere(found)) found = co_await route_again(std::move(found), head, path);
        const unrouted* const refused = std::get_if<unrouted>(&found);
        if (!refused) co_return std::nullopt;
        co_return refused_answer({head, path, *refused, begun_us});
    }

    http_response refusal(const request& head, const plan& begun, const error& why) const override {
        http_response out = refusal_of(why, is_v2(head.path));
        const auto& sent = begun.kept<sent_path>();
        if (!sent.what() || !needs_token(*sent.what())) return out;
        if (const auto* const found = entry_of(head, sent.parsed(head.path)))
            out.head_lines = (*found)->header_lines;
        return out;
    }

  private:
    static bool is_allowed(http_method method, path_kind what) noexcept {
        if (is_posted(what)) return method == http_method::post;
        return method == http_method::get || method == http_method::head;
    }
    /// The refusal of a path that leads nowhere, or of its method.
    http_response refused_head(const request& head, const plan& begun) const {
        const auto& sent = begun.kept<sent_path>();
        if (!sent.what())
            return refusal_of(sent.is_well_encoded() ? unknown_path() : bad_encoding(head.path),
                              is_v2(head.path));
        http_response out = refusal(head, begun, wrong_method(*sent.what()));
        out.headers.push_back({"allow", is_posted(*sent.what()) ? "POST" : "GET, HEAD"});
        return out;
    }
    const serving::route_table::entry* entry_of(const request& head, const prediction_path& path) const {
        const serving::route_table& table = x_with.book.on_loop(head.loop_index);
        return is_of_v2(path.what) ? table.find_v2(path.name) : table.find(path.name);
    }

    http_response of_server(path_kind what) const {
        if (what == path_kind::server) return json_response(v2_server_metadata(x_with.version));
        if (what == path_kind::server_live) return json_response(R"({"live":true})");
        if (x_with.book.is_ready() && x_with.gate.has_lease() && !x_with.is_draining)
            return json_response(R"({"ready":true})");
        http_response out = json_response(R"({"ready":false})");
        out.status = 503;
        out.headers.push_back({"retry-after", "1"});
        return out;
    }

    std::variant<routed, unrouted> route_here(const request& received, const prediction_path& path) {
        if (!x_with.are_served) return unrouted{served_elsewhere(), {}};
        return route(x_with.book, x_with.gate, received, path);
    }
    /// In a cluster no caller is refused for something that only this node does not know yet.
    bool may_be_known_elsewhere(const std::variant<routed, unrouted>& found) const noexcept {
        const unrouted* const refused = std::get_if<unrouted>(&found);
        return refused && refused->rests_on_state && x_with.has_other_nodes;
    }
    asio::awaitable<std::variant<routed, unrouted>> route_again(std::variant<routed, unrouted> found,
                                                                const request& received,
                                                                const prediction_path& path) {
        runtime::event_loop& loop = x_with.loops[received.loop_index];
        if (!x_budget.take(received.remote_address, loop.time().steady_ms())) co_return found;
        const calls::time_limit limit(loop, limits::awaited_refusal_ms_max);
        const auto newest = co_await calls::read_state(x_with.registry, limit);
        if (!newest || newest->stale) {
            const unrouted& refused = std::get<unrouted>(found);
            unrouted unknown{
                runtime::unavailable(
                    "the log cannot be reached, so this node cannot tell whether the endpoint or the "
                    "token exists; try again"),
                refused.endpoint, refused.component};
            co_return unknown;
        }
        co_return route_here(received, path);
    }

    struct refused_prediction {
        const request& received;
        const prediction_path& path;
        const unrouted& why;
        std::int64_t begun_us;
    };
    http_response refused_answer(const refused_prediction& prediction) {
        const unrouted& refused = prediction.why;
        http_response out = refusal_of(refused.why, is_of_v2(prediction.path.what));
        if (refused.component)
            out.head_lines = refused.component->header_lines;
        else if (refused.endpoint)
            out.head_lines = refused.endpoint->header_lines;
        if (!refused.endpoint || !is_posted(prediction.path.what)) return out;
        const std::int64_t took_us = steady_us() - prediction.begun_us;
        refused.endpoint->meter->count(out.status, took_us);
        if (refused.component && refused.component->meter)
            refused.component->meter->count(prediction.received.loop_index, out.status,
                                            static_cast<std::uint64_t>(took_us));
        if (x_with.log.wants())
            serving::prediction_log::tell(*refused.endpoint, refused.component, out.status, took_us,
                                          prediction.received.request_id);
        return out;
    }

    /// False when it must wait, or when nothing can answer it: predict() handles both.
    bool predict_now(const request& received, const prediction_path& path, http_response& out) {
        const std::int64_t begun_us = steady_us();
        const auto found = route_here(received, path);
        const routed* const target = std::get_if<routed>(&found);
        tensor_model* const model = target ? target->component->served->model()->tensors.get() : nullptr;
        if (!model || !model->is_quick() || !is_read_on_loop(received)) return false;
        const place_in_flight place(*target->endpoint->meter, target->component->in_flight_max);
        if (!place) return false;
        const routed_prediction prediction{received, path, *target, begun_us};
        admitted(received);
        const auto answered = infer_now(prediction, *model, out);
        if (!answered) return false;
        if (!*answered) out = refusal_of(answered->error(), is_of_v2(path.what));
        finish(prediction, out);
        return true;
    }

    static void admitted(const request& received) noexcept {
        if (received.is_known) received.is_known->store(true, std::memory_order_relaxed);
    }

    /// The headers of every answer of a component.
    void finish(const routed_prediction& prediction, http_response& out) const {
        out.head_lines = prediction.component().header_lines;
        out.guard = std::make_shared<last_look>(x_with, prediction);
    }

    asio::awaitable<http_response> predict(const request& received, const prediction_path& path) {
        const std::int64_t begun_us = steady_us();
        auto found = route_here(received, path);
        if (may_be_known_elsewhere(found)) found = co_await route_again(std::move(found), received, path);
        if (const unrouted* const refused = std::get_if<unrouted>(&found))
            co_return refused_answer({received, path, *refused, begun_us});
        const routed_prediction prediction{received, path, std::get<routed>(found), begun_us};
        admitted(received);
        auto answered = co_await answer(prediction);
        http_response out;
        if (answered)
            out = *std::move(answered);
        else
            out = refusal_of(answered.error(), is_of_v2(path.what));
        finish(prediction, out);
        co_return out;
    }

    asio::awaitable<result<http_response>> answer(const routed_prediction& prediction) {
        const component_route& component = prediction.component();
        const endpoint_route& endpoint = *prediction.target.endpoint;
        const serving::engines::loaded_model& model = *component.served->model();
        if (!is_posted(prediction.path.what)) co_return of_model(prediction, model);
        place_in_flight place(*endpoint.meter, component.in_flight_max);
        if (!place)
            co_return runtime::resource_exhausted({"the endpoint ", endpoint.path, " already has ",
                                                   component.in_flight_max,
                                                   " predictions in flight on this node, the most allowed "
                                                   "(limits.in_flight_max); try again"});
        if (model.bodies) {
            auto passed = co_await pass_on(prediction, *model.bodies);
            if (passed && passed->stream)
                passed->stream = in_flight(std::move(passed->stream), prediction.target, place);
            co_return passed;
        }
        co_return co_await infer_later(prediction, *model.tensors);
    }

    using tensor_slot = response_slot<result<serving::engines::tensor_response>>;
    using tensor_model = serving::engines::tensor_model;

    patience patience_of(const routed_prediction& prediction) const {
        runtime::event_loop& loop = x_with.loops[prediction.received.loop_index];
        return {loop, loop.time().steady_ms() + prediction.component().deadline_ms, prediction.received.from,
                &x_with.is_drained};
    }
    static bool is_read_on_loop(const request& received) {
        return received.body.size() <= limits::body_bytes_on_loop_max && !received.header("content-encoding");
    }
    static std::shared_ptr<tensor_slot> begin(tensor_model& model, tensor_request inference) {
        auto slot = std::make_shared<tensor_slot>();
        inference.cancelled = slot->cancellation();
        model.infer(std::move(inference), into(slot));
        return slot;
    }
    /// Waits until the response is given, or until waiting is pointless.
    template <class T>
    static asio::awaitable<void> wait(const std::shared_ptr<response_slot<T>>& slot, const patience& with,
                                      std::function<void()> begin = {}) {
        const waiting<T> looked_after(slot, with);
        co_await slot->given(std::move(begin));
    }
    /// Runs `work` on a thread where it holds up no other caller. The wait for its turn ends like the wait
    /// for a response; once begun, the work is finished, because it refers to the request. Errors: those of
    /// `work`, and of the wait; unavailable when too many wait.
    template <class Work>
    static asio::awaitable<std::invoke_result_t<Work&>> beside_the_loop(runtime::blocking_pool& pool,
                                                                        const patience& with, Work& work) {
        const auto slot = std::make_shared<response_slot<std::invoke_result_t<Work&>>>();
        std::exception_ptr thrown;
        const auto turn = [slot, &work, &thrown]() -> result<void> {
            if (!slot->claim()) return {};  // nobody waits any more, and the request is gone
            try {
                slot->give_claimed(work());
            } catch (...) {
                thrown = std::current_exception();
                slot->give_claimed(runtime::internal("the body could not be read or written"));
            }
            return {};
        };
        const auto begin = [&] {
            if (!runtime::started_call<result<void>>::start(pool, turn)) slot->give(too_many_large());
        };
        co_await wait(slot, with, begin);
        if (thrown) std::rethrow_exception(thrown);
        co_return slot->take();
    }

    template <class Work>
    asio::awaitable<std::invoke_result_t<Work&>> read_beside_the_loop(const routed_prediction& prediction,
                                                                      const patience& with, Work& work) {
        const place_to_read place(*prediction.target.endpoint->meter);
        if (!place) co_return too_many_large();
        auto out = co_await beside_the_loop(x_reading, with, work);
        co_return out;
    }

    /// On the thread of the loop; nothing when the model is not known to be quick with this request.
    static std::optional<result<void>> infer_now(const routed_prediction& prediction, tensor_model& model,
                                                 http_response& out) {
        codec with(prediction, model.signature());
        prediction_memory memory(prediction.received);
        const auto inference = with.decode(memory);
        if (!inference) return inference.error();
        const auto outputs = model.infer_now(*inference);
        if (!outputs) return std::nullopt;
        if (!*outputs) return outputs->error();
        return with.encode(**outputs, out);
    }

    asio::awaitable<result<http_response>> infer_later(const routed_prediction& prediction,
                                                       tensor_model& model) {
        codec with(prediction, model.signature());
        const auto memory = std::make_shared<prediction_memory>(prediction.received);
        const patience with_us = patience_of(prediction);
        auto decode = [&] { return with.decode(*memory); };
        result<tensor_request> inference = tensor_request();
        if (is_read_on_loop(prediction.received))
            inference = decode();
        else
            inference = co_await read_beside_the_loop(prediction, with_us, decode);
        if (!inference) co_return inference.error();
        if (x_with.is_drained) co_return node_ends();
        inference->deadline_ms = with_us.deadline_ms;
        inference->memory = memory;  // also once nobody waits for it any more
        const auto slot = begin(model, *std::move(inference));
        if (!slot->is_given()) co_await wait(slot, with_us);
        auto outputs = slot->take();
        if (!outputs) co_return outputs.error();
        http_response out;
        auto encode = [&] {
            const auto taken = std::move(*outputs);  // freed here, too
            return with.encode(taken, out);
        };
        result<void> encoded;
        if (schemas::bytes_to_write(*outputs) <= limits::body_bytes_on_loop_max)
            encoded = encode();
        else
            encoded = co_await beside_the_loop(x_writing, with_us, encode);
        if (!encoded) co_return encoded.error();
        co_return out;
    }

    static result<http_response> of_model(const routed_prediction& prediction,
                                          const serving::engines::loaded_model& model) {
        const std::string_view name = prediction.path.name;
        if (prediction.path.what == path_kind::model_ready) {
            const auto in_service = model.tensors ? model.tensors->in_service() : result<void>();
            if (!in_service) return in_service.error();
            return json_response(schemas::object_writer().text("name", name).flag("ready", true).finish());
        }
        const std::string version = std::to_string(prediction.component().version_number);
        const auto signature = model.tensors ? model.tensors->signature() : schemas::model_signature();
        return json_response(v2_metadata(name, version, signature, model.platform));
    }

    asio::awaitable<result<http_response>> pass_on(const routed_prediction& prediction,
                                                   serving::engines::body_model& model) {
        const request& received = prediction.received;
        if (prediction.path.what == path_kind::inference)
            co_return runtime::failed_precondition(
                {"the model ", prediction.path.name,
                 " is served by an upstream server, which takes bodies as they are; send them to "
                 "/api/v1/predict",
                 prediction.target.endpoint->path});
        prediction_memory memory(received);
        const patience with_us = patience_of(prediction);
        plain_body body;
        auto inflate = [&] { return inflate_body(prediction, body, memory); };
        result<void> inflated;
        if (received.header("content-encoding"))
            inflated = co_await read_beside_the_loop(prediction, with_us, inflate);
        else
            inflated = inflate();
        if (!inflated) co_return inflated.error();
        if (x_with.is_drained) co_return node_ends();
        if (const auto fits = memory.resize(body.bytes.size()); !fits) co_return fits.error();
        serving::engines::body_request inference;
        inference.request_id = received.request_id;
        inference.content_type = received.header("content-type").value_or("");
        inference.body = body.inflated.empty() ? std::string(body.bytes) : std::move(body.inflated);
        inference.deadline_ms = with_us.deadline_ms;
        const auto slot = std::make_shared<response_slot<result<body_response>>>();
        inference.cancelled = slot->cancellation();
        model.infer(std::move(inference), into(slot));
        if (!slot->is_given()) co_await wait(slot, with_us);
        auto answered = slot->take();
        if (!answered) co_return answered.error();
        co_return response_of(*std::move(answered));
    }

    const prediction_parts x_with;
    request_handler& x_others;
    refusal_budget x_budget;
    // For bodies that take long. Two, so that writing an answer does not wait behind reading others'
    // requests:
    runtime::blocking_pool x_reading;
    runtime::blocking_pool x_writing;
};

}  // namespace

std::unique_ptr<request_handler> make_prediction_service(prediction_parts with, request_handler& others) {
    return std::make_unique<prediction_service>(std::move(with), others);
}

}  // namespace herald::api::predictions
