// Protects scans in every state they can be in: what each report and each request does there.
#include <gtest/gtest.h>

#include "storage/registry/find/builds.hpp"
#include "tests/unit/storage/registry/scan_rules.hpp"

namespace herald::test {
namespace {

using namespace storage;
using namespace storage::registry::engine;
using namespace storage::registry::find;
using namespace storage::registry::state;
using namespace storage::registry::tables;

using schemas::safety_status;
using schemas::scan_status;

enum class met : std::uint8_t {
    unscanned,
    scanning,
    safe,
    unsafe,
    error,
    late,          // no report came in time
    unsafe_error,  // a report that said error and unsafe
    anew,          // scanning again what was once unsafe
    end
};
enum class then : std::uint8_t { taken, invalid, early, aborted };

struct scan_table : scan_rules {
    void bring_to(met state) {
        build = make_build("registry.example.org/m:1");
        if (state == met::unscanned) return;
        EXPECT_EQ(request(build.id).code, 0u);
        if (state == met::safe) report(scan_status::scanned, safety_status::safe);
        if (state == met::unsafe || state == met::anew) report(scan_status::scanned, safety_status::unsafe);
        if (state == met::error) report(scan_status::error, safety_status::unknown);
        if (state == met::unsafe_error) report(scan_status::error, safety_status::unsafe);
        if (state == met::anew) EXPECT_EQ(request(build.id).code, 0u);
        if (state != met::late) return;
        registry.now_ms += 24ll * 3'600'000 + 1'000;
        registry.run(schemas::commands::no_operation{});
    }
    /// With another URL than those that brought the scan there.
    schemas::commands::outcome report_anew(scan_status status, safety_status safety) {
        return registry.run(schemas::commands::report_scan{"default", build.id, status, safety,
                                                           "https://example.org/another"});
    }
    static error_code code_for(then what) {
        switch (what) {
            case then::taken:
                return error_code{};
            case then::invalid:
                return error_code::invalid_argument;
            case then::early:
                return error_code::failed_precondition;
            case then::aborted:
                return error_code::aborted;
        }
        return error_code::internal;
    }
};

TEST_F(scan_table, of_every_report_in_every_state) {
    using enum then;
    struct row {
        scan_status status;
        safety_status safety;
        // unscanned, scanning, safe, unsafe, error, late, unsafe_error, anew
        std::array<then, static_cast<std::size_t>(met::end)> expected;
    };
    const row rows[]{
        {scan_status::scanned,
         safety_status::safe,
         {early, taken, aborted, aborted, taken, taken, aborted, taken}},
        {scan_status::scanned,
         safety_status::unsafe,
         {taken, taken, taken, taken, taken, taken, taken, taken}},
        {scan_status::scanned,
         safety_status::unknown,
         {invalid, invalid, invalid, invalid, invalid, invalid, invalid, invalid}},
        {scan_status::error,
         safety_status::unknown,
         {early, taken, aborted, aborted, taken, taken, aborted, taken}},
        {scan_status::error,
         safety_status::safe,
         {early, taken, aborted, aborted, taken, taken, aborted, taken}},
        {scan_status::error, safety_status::unsafe, {taken, taken, taken, taken, taken, taken, taken, taken}},
    };
    for (const row& one : rows)
        for (std::size_t i = 0; i < one.expected.size(); ++i) {
            const auto state = static_cast<met>(i);
            const std::string where = std::string(name_of(one.status)) + " " +
                                      std::string(name_of(one.safety)) + " in state " + std::to_string(i);
            bring_to(state);
            const bool was_unsafe = static_cast<bool>(build_now().unsafe_scan_id);
            const std::string before = schemas::encode(build_now());
            const auto told = report_anew(one.status, one.safety);
            EXPECT_EQ(code_of(told), code_for(one.expected[i])) << where << ": " << told.message;
            if (told.code != 0) {
                EXPECT_EQ(schemas::encode(build_now()), before) << where;
                report(scan_status::scanned, safety_status::unsafe);
                continue;
            }
            EXPECT_EQ(report_anew(one.status, one.safety).body, told.body) << where << ", again";
            const auto kept = newest_scan(*registry.view(), build_now());
            EXPECT_EQ(kept->scan_status, one.status) << where;
            EXPECT_EQ(kept->safety_status, one.safety) << where;
            EXPECT_EQ(static_cast<bool>(build_now().unsafe_scan_id),
                      was_unsafe || one.safety == safety_status::unsafe)
                << where;
            const bool is_safe = one.status == scan_status::scanned && one.safety == safety_status::safe;
            EXPECT_EQ(has_safe_build(*registry.view(), version), is_safe && !was_unsafe) << where;
            report(scan_status::scanned, safety_status::unsafe);  // so that it does not count for the next
        }
}

TEST_F(scan_table, of_requests_in_every_state) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(met::end); ++i) {
        const auto state = static_cast<met>(i);
        bring_to(state);
        const bool is_running = state == met::scanning || state == met::anew;
        const auto asked = request(build.id);
        EXPECT_EQ(code_of(asked), is_running ? error_code::failed_precondition : error_code{}) << i;
        if (is_running) continue;
        const auto fresh = schemas::decode<schemas::scan>(asked.body);
        EXPECT_EQ(fresh->scan_status, scan_status::scanning) << i;
        EXPECT_EQ(fresh->message.empty(), !build_now().unsafe_scan_id) << i;
        EXPECT_EQ(scans_before(*registry.view(), build.id, fresh->id, 100).size(),
                  state == met::unscanned ? 0u : 1u)
            << i;
    }
}

}  // namespace
}  // namespace herald::test
