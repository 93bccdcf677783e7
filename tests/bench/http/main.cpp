// The server that tests/bench/http/run measures: one loop on core 0. Prints its port; ends when its input
// does.
#include <cstdio>
#include <string>

#include "runtime/http/server/server.hpp"

namespace {

using namespace herald;

class answers final : public runtime::http::server::request_handler {
  public:
    bool handle_now(const runtime::http::server::request& asked, const runtime::http::server::plan&,
                    runtime::http::http_response& out) override {
        if (asked.path != "/healthz") return false;
        out.body = "{\"status\":\"ok\"}";
        return true;
    }
    boost::asio::awaitable<runtime::http::http_response> handle(const runtime::http::server::request&,
                                                                const runtime::http::server::plan&) override {
        runtime::http::http_response out;
        out.body = std::string(1'000, ' ');
        co_return out;
    }
};

}  // namespace

int main() {
    answers handler;
    runtime::event_loops loops({.loops = 1, .cores = {0}});
    auto server =
        runtime::http::server::make_server({.log = runtime::http::server::request_log::off}, handler, loops);
    if (!server) {
        std::fprintf(stderr, "%s\n", server.error().message.c_str());
        return 1;
    }
    (*server)->start();
    std::printf("%d\n", (*server)->port());
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    (*server)->stop();
}
