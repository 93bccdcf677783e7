#include "runtime/http/client/client.hpp"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "runtime/http/client/running_exchange.hpp"

namespace herald::runtime::http::client {
namespace {

class handle final : public exchange {
  public:
    explicit handle(std::shared_ptr<running_exchange> started) : x_running(std::move(started)) {}
    ~handle() override { x_running->cancel(); }
    handle(const handle&) = delete;
    handle& operator=(const handle&) = delete;
    bool on_the_wire() const noexcept override { return x_running->on_the_wire(); }
    void read(piece_callback call_back) override { x_running->read(std::move(call_back)); }

  private:
    std::shared_ptr<running_exchange> x_running;
};

class pooling_client final : public client {
  public:
    pooling_client(boost::asio::io_context& io, client_options options)
        : x_shared(std::make_shared<client_parts>(io, std::move(options))) {}
    ~pooling_client() override { x_shared->pool->close(); }
    pooling_client(const pooling_client&) = delete;
    pooling_client& operator=(const pooling_client&) = delete;

    std::unique_ptr<exchange> start(request asked, callback call_back) override {
        auto started = std::make_shared<running_exchange>(x_shared, std::move(asked), std::move(call_back));
        started->start();
        return std::make_unique<handle>(std::move(started));
    }

  private:
    std::shared_ptr<client_parts> x_shared;
};

}  // namespace

std::unique_ptr<client> make_client(boost::asio::io_context& io, client_options options) {
    return std::make_unique<pooling_client>(io, std::move(options));
}

}  // namespace herald::runtime::http::client
