#include "tests/unit/api/node_without_sockets.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <future>
#include <ostream>
#include <stdexcept>

#include "api/operations/operator_endpoints.hpp"
#include "runtime/http/body.hpp"
#include "runtime/http/server/error_response.hpp"
#include "runtime/http/server/parser.hpp"
#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "storage/registry/tables/installation.hpp"
#include "tests/support/until.hpp"

namespace herald::test {
namespace {

constexpr std::string_view proxy = "/api/v1/uac-proxy";

const schemas::json_value* member(const schemas::json_value& in, std::string_view name) {
    const auto* list = in.get_if<schemas::json_array>();
    if (!list) return in.find(name);
    const auto index = runtime::parse_decimal(name);
    return index && *index < list->size() ? &(*list)[*index] : nullptr;
}

machine& started(cluster& all, const preparation& prepare) {
    machine& on = all.start("alone");
    if (!prepare) return on;
    const auto view = on.store->view();
    storage::registry::state::state_changes changes(view.get());
    prepare(changes);
    if (!on.store->write(changes.changes())) throw std::runtime_error("the rows cannot be written");
    return all.start("alone");
}

}  // namespace

std::string reply::header(std::string_view name) const {
    for (const runtime::http::header& field : x_response.headers)
        if (field.name == name) return field.value;
    return {};
}

std::string reply::at(std::string_view path) const {
    const auto whole = schemas::parse_json(body());
    if (!whole) return {};
    const schemas::json_value* found = &*whole;
    while (found && !path.empty()) {
        const std::size_t end = std::min(path.find('.'), path.size());
        found = member(*found, path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    if (!found) return {};
    const std::string* text = found->get_if<std::string>();
    return text ? *text : schemas::to_json_text(*found);
}

void PrintTo(const reply& shown, std::ostream* out) { *out << shown.status() << " " << shown.body(); }

node_without_sockets::node_without_sockets(storage::node::node_kind kind,
                                           std::span<const api::calls::route> table,
                                           const preparation& prepare)
    : x_cluster(kind),
      x_machine(started(x_cluster, prepare)),
      x_services{*x_machine.node,
                 x_cluster.keys,
                 x_cluster.random,
                 x_cluster.scheduler.clock(),
                 nullptr,
                 {&x_of_registry, &x_of_deployment, &x_of_webhooks, &x_of_operations, &x_of_console},
                 {}},
      x_service(api::make_service(
          x_services, x_loops, {.table = table, .ready = [this](api::calls::ready_for what) {
                                    return api::operations::report_of(x_machine.node->state_now(), {}, what);
                                }})) {
    const auto log = storage::registry::tables::installation::find(*x_machine.store->view());
    artifacts.kept_owner = {runtime::uuid_text(log->log_id), log->generation};
}

node_without_sockets::~node_without_sockets() = default;

void node_without_sockets::on_loop(const std::function<void()>& work) {
    std::packaged_task<void()> task(work);
    x_loops[0].post([&task] { task(); });
    task.get_future().get();
}

/// As called by the server.
runtime::http::http_response node_without_sockets::answered(const runtime::http::server::request& received,
                                                            const runtime::http::server::plan& begun) {
    runtime::http::http_response out;
    std::exception_ptr thrown;
    bool is_done = false;  // only on the loop
    bool is_there = false;
    on_loop([&] {
        is_there = x_service->handle_now(received, begun, out);
        if (is_there) return;
        boost::asio::co_spawn(x_loops[0].context(), x_service->handle(received, begun),
                              [&](std::exception_ptr failure, runtime::http::http_response answer) {
                                  thrown = failure;
                                  out = std::move(answer);
                                  is_done = true;
                              });
    });
    const auto look = [&] {
        on_loop([this] { x_cluster.scheduler.settle(); });
        on_loop([&] { is_there = is_done; });  // after what that resumed
        return is_there;
    };
    if (!is_there && !eventually(look)) throw std::runtime_error("no answer came");
    if (thrown) std::rethrow_exception(thrown);
    if (out.stream) out.body = whole_body(*out.stream);
    return out;
}

/// The pieces of a body, as a client puts them together.
std::string node_without_sockets::whole_body(runtime::http::body_stream& stream) {
    std::string whole;
    for (bool is_over = false; !is_over;) {
        bool is_done = false;  // only on the loop
        std::exception_ptr thrown;
        const auto take = [&](std::exception_ptr failure, result<std::string_view> piece) {
            thrown = failure;
            is_over = failure || !piece || piece->empty();
            if (!failure && piece) whole += *piece;
            is_done = true;
        };
        on_loop([&] { boost::asio::co_spawn(x_loops[0].context(), stream.next(), take); });
        bool is_there = false;
        const auto look = [&] {
            on_loop([&] { is_there = is_done; });
            return is_there;
        };
        if (!eventually(look)) throw std::runtime_error("a piece did not come");
        if (thrown) std::rethrow_exception(thrown);
    }
    return whole;
}

reply node_without_sockets::ask(const caller* who, std::string_view method, std::string_view target,
                                std::string_view body, std::string_view more) {
    std::string bytes = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: herald\r\n";
    if (who)
        bytes +=
            "Grpc-Metadata-email: " + who->email + "\r\nGrpc-Metadata-developer_key: " + who->key + "\r\n";
    if (method != "GET") bytes += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    bytes += std::string(more) + "\r\n" + std::string(body);
    runtime::http::server::request_parser parser;
    runtime::http::server::plan plan;
    bool has_begun = false;
    const auto begin = [&] {
        if (!std::exchange(has_begun, true)) x_service->begin(parser.get(), plan);
    };
    std::string_view left = bytes;
    while (true) {
        switch (parser.advance()) {
            case runtime::http::server::request_parser::progress::need_more: {
                if (left.empty()) throw std::logic_error("the test sends no whole request");
                const std::span<char> space = parser.space();
                const std::size_t count = std::min(space.size(), left.size());
                std::copy_n(left.data(), count, space.data());
                parser.received(count);
                left.remove_prefix(count);
                break;
            }
            case runtime::http::server::request_parser::progress::head:
                begin();
                parser.allow_body(plan.body_bytes_max);
                break;
            case runtime::http::server::request_parser::progress::complete:
                begin();
                return reply(answered(parser.get(), plan));
            case runtime::http::server::request_parser::progress::failed:
                return reply(runtime::http::server::error_response(parser.failure()));
        }
    }
}

caller node_without_sockets::user(const std::string& email) {
    const reply made =
        post(std::string(proxy) + "/uac/createUser", R"({"info":{"email":")" + email + R"("}})");
    EXPECT_EQ(made.status(), 200) << made.body();
    return {email, made.at("info.dev_key")};
}

caller node_without_sockets::member_of(std::uint64_t group, const std::string& email) {
    const caller made = user(email);
    const std::string id =
        get(std::string(proxy) + "/uac/getUser?email=" + made.email).at("verta_info.user_id");
    const reply added = post("/api/v2/uac-proxy/organization/1/groups/" + std::to_string(group) + "/users",
                             R"({"user_id":[")" + id + R"("]})");
    EXPECT_EQ(added.status(), 200) << added.body();
    return made;
}

std::string node_without_sockets::model(const std::string& name) {
    const reply made =
        post("/api/v1/registry/workspaces/Default/registered_models", R"({"name":")" + name + R"("})");
    EXPECT_EQ(made.status(), 200) << made.body();
    return made.at("registered_model.id");
}

std::string node_without_sockets::version(const std::string& model, const std::string& name) {
    const reply made = post("/api/v1/registry/registered_models/" + model + "/model_versions",
                            R"({"version":")" + name + R"("})");
    EXPECT_EQ(made.status(), 200) << made.body();
    return made.at("model_version.id");
}

}  // namespace herald::test
