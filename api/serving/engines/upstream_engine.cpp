#include "api/serving/engines/upstream_engine.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "api/serving/engines/limits.hpp"
#include "api/serving/engines/upstream_body.hpp"
#include "api/serving/engines/upstream_exchange.hpp"
#include "runtime/metrics.hpp"

namespace herald::api::serving::engines {
namespace {

namespace client = runtime::http::client;
using runtime::event_loop;

/// A loop, its client, and what is under way there. Used on the loop's thread, but for its loop.
class upstream_lane {
  public:
    upstream_lane(event_loop& loop, const client::client_options& options)
        : x_loop(loop), x_client(client::make_client(loop.context(), options)) {}

    event_loop& loop() const noexcept { return x_loop; }

    /// The exchange brings a body that follows. `take` is dropped with the lane.
    using taker = std::function<void(client::answer, std::unique_ptr<client::exchange>)>;
    std::uint64_t start(client::request request, taker take) {
        const std::uint64_t number = ++x_started;
        x_running[number] = x_client->start(std::move(request),
                                            [this, number, take = std::move(take)](client::answer answer) {
                                                const auto found = x_running.find(number);
                                                auto exchange = std::move(found->second);
                                                x_running.erase(found);
                                                take(std::move(answer), std::move(exchange));
                                            });
        return number;
    }
    /// Any thread; nothing is taken any more.
    void cancel(std::uint64_t number) {
        x_loop.post([this, number] { const auto dropped = x_running.extract(number); });
    }

    /// Drops what is under way. After the loop has stopped.
    void close() { const auto dropped = std::exchange(x_running, {}); }

  private:
    event_loop& x_loop;
    const std::unique_ptr<client::client> x_client;
    std::uint64_t x_started = 0;
    std::map<std::uint64_t, std::unique_ptr<client::exchange>> x_running;
};

/// The lanes, shared by the engine and its models.
class upstream_lanes {
  public:
    upstream_lanes(const std::vector<event_loop*>& loops, const client::client_options& options) {
        for (event_loop* each : loops) x_lanes.push_back(std::make_unique<upstream_lane>(*each, options));
        x_health = std::make_unique<upstream_lane>(*loops.front(), options);
    }
    /// For health checks alone: predictions do not take its connections. On the first loop.
    upstream_lane& health() const noexcept { return *x_health; }
    /// That of the calling thread's loop, if it has one here.
    upstream_lane& choose() noexcept {
        for (const auto& each : x_lanes)
            if (each->loop().is_current()) return *each;
        return *x_lanes[x_turn.fetch_add(1, std::memory_order_relaxed) % x_lanes.size()];
    }

    void close() {
        for (const auto& each : x_lanes) each->close();
        x_health->close();
    }

  private:
    std::vector<std::unique_ptr<upstream_lane>> x_lanes;
    std::unique_ptr<upstream_lane> x_health;
    std::atomic<std::size_t> x_turn{0};
};

/// What a server is called at.
struct upstream_server {
    std::string url;
    std::string health_url;  // empty: a connection is enough
    std::string pool_key;
};

client::request health_request(const upstream_server& server) {
    client::request out;
    // Where only a connection is wanted, this is the request that does least.
    out.method =
        server.health_url.empty() ? runtime::http::http_method::head : runtime::http::http_method::get;
    out.location = server.health_url.empty() ? server.url : server.health_url;
    out.pool_key = server.pool_key + " health";
    out.deadline_ms = limits::upstream_health_ms_max;
    out.connect_ms_max = std::min(out.connect_ms_max, out.deadline_ms);
    return out;
}

runtime::counter& health_checks(bool is_healthy) {
    static runtime::counter& healthy =
        runtime::metric_counter(runtime::metrics::upstream_health_checks, {{"outcome", "healthy"}});
    static runtime::counter& failed =
        runtime::metric_counter(runtime::metrics::upstream_health_checks, {{"outcome", "failed"}});
    return is_healthy ? healthy : failed;
}

class upstream_model final : public body_model, public std::enable_shared_from_this<upstream_model> {
  public:
    upstream_model(std::shared_ptr<upstream_lanes> lanes, upstream_server server)
        : x_lanes(std::move(lanes)), x_server(std::move(server)) {}

    void infer(body_request request, response_handler handler) override {
        upstream_lane& lane = x_lanes->choose();
        auto self = shared_from_this();
        lane.loop().post([self, &lane, request = std::move(request), handler = std::move(handler)]() mutable {
            self->infer_on(lane, std::move(request), std::move(handler));
        });
    }

    /// Looks at the server for as long as the model is there. On the first loop.
    void watch() {
        event_loop& loop = x_lanes->health().loop();
        const std::weak_ptr<upstream_model> weak = weak_from_this();
        loop.run_at(loop.time().steady_ms() + limits::upstream_health_interval_ms, [weak] {
            if (const auto self = weak.lock()) self->look();
        });
    }

  private:
    void infer_on(upstream_lane& lane, body_request request, response_handler handler) {
        std::int64_t wait_ms = limits::upstream_infer_ms_max;
        if (request.deadline_ms != 0)
            wait_ms = std::min(wait_ms, request.deadline_ms - lane.loop().time().steady_ms());
        if (wait_ms <= 0) {
            handler(error{error_code::deadline_exceeded,
                          "the deadline passed before the upstream server could be called", 0});
            return;
        }
        // Keeps the model until its last request is answered.
        const auto take = [self = shared_from_this(), &lane, handler = std::move(handler),
                           cancelled = request.cancelled,
                           deadline_ms = lane.loop().time().steady_ms() + wait_ms](
                              client::answer answer, std::unique_ptr<client::exchange> rest) {
            const bool follows = answer.body_follows;
            const auto bytes = answer.body_bytes;
            auto meant = meaning_of(std::move(answer));
            if (meant && follows) {
                meant->stream =
                    std::make_shared<upstream_body>(self, std::move(rest), lane.loop().time(), deadline_ms);
                meant->stream_bytes = bytes;
            }
            if (cancelled) cancelled->work_has_ended();
            handler(std::move(meant));
        };
        const auto cancelled = request.cancelled;
        if (cancelled && cancelled->is_cancelled()) return;
        const std::uint64_t number =
            lane.start(request_to(x_server.url, x_server.pool_key, std::move(request), wait_ms), take);
        const auto end = [self = shared_from_this(), &lane, number] { lane.cancel(number); };
        if (cancelled && !cancelled->work_begins(end)) lane.cancel(number);
    }

    void look() {
        const std::weak_ptr<upstream_model> weak = weak_from_this();
        const bool has_path = !x_server.health_url.empty();
        x_lanes->health().start(
            health_request(x_server), [weak, has_path](const client::answer& answer, const auto& exchange) {
                health_checks(why_unhealthy(answer, has_path, exchange->on_the_wire()).empty()).add();
                if (const auto self = weak.lock()) self->watch();
            });
    }

    const std::shared_ptr<upstream_lanes> x_lanes;
    const upstream_server x_server;
};

/// Waits until a server is healthy. Owned by its own callbacks; on the first loop.
class upstream_loading final : public std::enable_shared_from_this<upstream_loading> {
  public:
    upstream_loading(std::shared_ptr<upstream_lanes> lanes, upstream_server server,
                     std::function<void(const std::string&)> tell_trouble, engine::load_handler handler)
        : x_lanes(std::move(lanes)),
          x_server(std::move(server)),
          x_tell_trouble(std::move(tell_trouble)),
          x_handler(std::move(handler)) {}

    void begin() {
        event_loop& loop = x_lanes->health().loop();
        loop.post([self = shared_from_this()] {
            self->x_until_ms =
                self->x_lanes->health().loop().time().steady_ms() + limits::upstream_load_ms_max;
            self->look();
        });
    }

  private:
    void look() {
        x_lanes->health().start(
            health_request(x_server),
            [self = shared_from_this()](const client::answer& answer, const auto& exchange) {
                self->judge(answer, exchange->on_the_wire());
            });
    }

    void judge(const client::answer& answer, bool was_connected) {
        if (answer.refused_for_good)
            return x_handler(
                runtime::invalid_argument({"upstream_url is ", x_server.url, ": ", answer.message}));
        const std::string why = why_unhealthy(answer, !x_server.health_url.empty(), was_connected);
        if (why.empty()) {
            loaded_model out;
            const auto model = std::make_shared<upstream_model>(x_lanes, x_server);
            out.bodies = model;
            out.platform = schemas::runtimes::upstream;
            model->watch();
            return x_handler(std::move(out));
        }
        event_loop& loop = x_lanes->health().loop();
        const std::int64_t now_ms = loop.time().steady_ms();
        const std::string trouble = "the upstream server at " + x_server.url + " is unhealthy: " + why;
        if (now_ms + limits::upstream_health_pause_ms > x_until_ms)
            return x_handler(runtime::unavailable(trouble));
        if (x_tell_trouble) x_tell_trouble(trouble);
        loop.run_at(now_ms + limits::upstream_health_pause_ms, [self = shared_from_this()] { self->look(); });
    }

    const std::shared_ptr<upstream_lanes> x_lanes;
    const upstream_server x_server;
    const std::function<void(const std::string&)> x_tell_trouble;
    const engine::load_handler x_handler;
    std::int64_t x_until_ms = 0;
};

class upstream_engine final : public engine {
  public:
    upstream_engine(const std::vector<event_loop*>& loops, const client::client_options& options)
        : x_policy(options.policy), x_lanes(std::make_shared<upstream_lanes>(loops, options)) {}

    /// A request keeps its model, and so the lanes: the circle is opened here.
    ~upstream_engine() override { x_lanes->close(); }

    std::string_view name() const noexcept override { return schemas::runtimes::upstream; }

    void load(const model_source& source, load_handler handler) override {
        const auto good = client::parse_location(source.upstream_url, client::plain_http::allowed, x_policy);
        if (!good)
            return handler(
                runtime::invalid_argument({"upstream_url cannot be used: ", good.error().message}));
        upstream_server server;
        server.url = source.upstream_url;
        server.pool_key = "build " + std::to_string(source.build.value);
        if (!source.health_path.empty()) {
            auto url = health_url(source.upstream_url, source.health_path);
            if (!url) return handler(url.error());
            server.health_url = *std::move(url);
        }
        std::make_shared<upstream_loading>(x_lanes, std::move(server), source.tell_trouble,
                                           std::move(handler))
            ->begin();
    }

  private:
    const client::address_policy x_policy;
    const std::shared_ptr<upstream_lanes> x_lanes;
};

}  // namespace

std::unique_ptr<engine> make_upstream_engine(const std::vector<event_loop*>& loops,
                                             const client::client_options& options) {
    client::client_options mine = options;
    mine.http = client::plain_http::allowed;
    mine.connections_max = limits::upstream_connections_max;
    mine.connections_to_one_max = limits::upstream_connections_to_one_max;
    mine.idle_connections_max = limits::upstream_idle_connections_max;
    return std::make_unique<upstream_engine>(loops, mine);
}

}  // namespace herald::api::serving::engines
