// The server that tests/bench/http/run measures: one loop on core 0. Prints its port; ends when its input
// does.
#include <cstdio>
#include <string>

#include "runtime/http/server/server.hpp"

namespace {

using namespace herald;

class answers final : public api::request_handler {
  public:
    bool handle_now(const api::request& asked, runtime::http_response& out) override {
        if (asked.path != "/healthz") return false;
        out.body = "{\"status\":\"ok\"}";
        return true;
    }
    boost::asio::awaitable<runtime::http_response> handle(const api::request&) override {
        runtime::http_response out;
        out.body = std::string(1'000, ' ');
        co_return out;
    }
};

}  // namespace

int main() {
    answers handler;
    runtime::event_loops loops({.loops = 1, .cores = {0}});
    auto server = api::make_server({.log = api::request_log::off}, handler, loops);
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
