// A node of one of two versions of Herald, for a test that has both in one program. Only what all versions
// share crosses over: the log, bytes, numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "runtime/error.hpp"
#include "runtime/random.hpp"
#include "tests/log/memory/memory_broker.hpp"
#include "tests/support/manual_scheduler.hpp"

namespace herald::upgrade {

inline constexpr std::string_view admin_key = "the administrator's key";

using rows = std::map<std::string, std::optional<std::string>, std::less<>>;

struct ground {
    events::log::memory::memory_broker& broker;
    test::manual_scheduler& scheduler;
    runtime::random_source& random;
};

/// The result of a write: an answer of apply (code 0, or an error code), or a refusal on arrival.
struct reply {
    bool is_there = false;
    bool was_applied = false;
    error_code code{};
    std::string message;
};

class member {
  public:
    virtual ~member() = default;  // a process that is killed
    virtual std::string hash() const = 0;
    virtual std::uint64_t next_offset() const = 0;
    virtual std::uint32_t level_in_force() const = 0;
    virtual bool is_ready() const = 0;
    /// Why it ended: "level_too_low", "" or another. Its exit code is that of the kind
    /// (program/parts/api_node.cpp).
    virtual std::string failure() const = 0;
    virtual rows state() const = 0;
    /// Says farewell; the caller lets time pass, then destroys it.
    virtual void drain() = 0;

    virtual std::shared_ptr<reply> create_model(const std::string& name) = 0;
    virtual std::shared_ptr<reply> create_webhook() = 0;
    /// The command that only the next version has; another version sends it with a number that it does not
    /// know.
    virtual std::shared_ptr<reply> describe_model(std::uint64_t id, const std::string& description) = 0;
    virtual std::optional<std::string> description_of(std::uint64_t model) const = 0;
    /// Bodies in the outbox, in order.
    virtual std::vector<std::string> events() const = 0;
};

}  // namespace herald::upgrade
