// The names of the log's events (runtime/log.hpp): an interface for operators, so they are all here.
#pragma once

#include <string_view>

namespace herald::runtime::log_events {

/// A coroutine ended with an exception: a bug. Fields: task, reason.
inline constexpr std::string_view task_failed = "task_failed";
/// One HTTP request was answered. Fields: method, path, status, bytes, duration_us, request_id, remote.
inline constexpr std::string_view request = "request";
/// A handler threw: a bug; the caller got 500. Fields: method, path, request_id, reason.
inline constexpr std::string_view request_failed = "request_failed";
/// No connection can be accepted for a moment, mostly for want of file descriptors. Fields: reason, wait_ms.
inline constexpr std::string_view accept_paused = "accept_paused";

}  // namespace herald::runtime::log_events
