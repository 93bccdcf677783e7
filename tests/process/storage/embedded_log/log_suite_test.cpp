// Protects the guarantees of every log in the embedded one.
#include "tests/support/log_suite.hpp"

#include <filesystem>

#include "tests/process/storage/embedded_log/embedded_log.hpp"

namespace herald::test {
namespace {

namespace fs = std::filesystem;

class embedded_fixture final : public log_fixture {
  public:
    explicit embedded_fixture(std::size_t recent_bytes_max) : x_options(without_lag(recent_bytes_max)) {
        open();
    }
    events::log::partitioned_log& log() override { return *x_log; }
    bool restart() override {
        x_log.reset();
        return open();
    }
    /// A copy of the files while the log is open equals what kill -9 leaves.
    bool hard_stop() override {
        const fs::path before = path();
        ++x_generation;
        fs::copy(before, path(), fs::copy_options::recursive);
        x_log.reset();
        return open();
    }
    bool compact() override {
        x_log->maintain();
        return restart();  // what is in memory is not compacted
    }

  private:
    fs::path path() const { return x_folder / std::to_string(x_generation); }
    bool open() {
        auto opened = storage::embedded_log::make_embedded_log(path(), x_options, runtime::system_clock());
        EXPECT_TRUE(opened) << opened.error().message;
        x_log = std::move(*opened);
        return true;
    }

    const storage::embedded_log::embedded_log_options x_options;
    temporary_folder x_folder;
    int x_generation = 0;
    std::unique_ptr<storage::embedded_log::embedded_log> x_log;
};

log_factory embedded_factory(const std::string& name, std::size_t recent_bytes_max) {
    return {
        name, [=] {
            return result<std::unique_ptr<log_fixture>>(std::make_unique<embedded_fixture>(recent_bytes_max));
        }};
}

INSTANTIATE_TEST_SUITE_P(embedded, log_suite,
                         ::testing::Values(embedded_factory("from_memory", 16 * 1024 * 1024),
                                           embedded_factory("from_disk", 0)),
                         log_name);

}  // namespace
}  // namespace herald::test
