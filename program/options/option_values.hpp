// Readers of option values, for the table of options. A path of members names the setting that a value
// becomes: text(&settings::server, &server_options::tls_key_file).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program/options/settings.hpp"
#include "runtime/error.hpp"

namespace herald::program {

/// The form on the command line and in the file. A list is one text with commas; a repeatable option is given
/// several times; in the file, both may be lists.
enum class option_kind : std::uint8_t { text, number, flag, yes_or_no, list, repeated };

/// The given value of an option, from any source.
struct given {
    std::string_view option;         // without the two dashes
    std::vector<std::string> texts;  // one; several for a flag (the last counts) and for a repeatable option

    const std::string& text() const { return texts.back(); }
};

/// Errors: invalid_argument, naming the option, what it holds and what would be right.
using option_reader = std::function<result<void>(settings&, const given&)>;

struct option_value {
    option_kind kind = option_kind::text;
    option_reader read;
};

/// `--option is "text"; it must be …`
error must_be(const given&, const std::string& what_would_be_right);
std::optional<std::uint64_t> parse_number(const std::string&, std::uint64_t min, std::uint64_t max);
/// true, yes, on, 1, and their opposites.
std::optional<bool> parse_truth(const std::string&);
/// Errors: as an option_reader.
result<endpoint> parse_endpoint(const given&);

template <class... Path>
option_value text(Path... path) {
    return {option_kind::text, [=](settings& all, const given& said) -> result<void> {
                (all.*....*path) = said.text();
                return {};
            }};
}

struct number_bounds {
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::uint64_t unit = 1;  // the member is the operator's number times this
};

template <class... Path>
option_value number(number_bounds bounds, Path... path) {
    return {option_kind::number, [=](settings& all, const given& said) -> result<void> {
                const auto value = parse_number(said.text(), bounds.min, bounds.max);
                if (!value)
                    return must_be(said, "a number from " + std::to_string(bounds.min) + " to " +
                                             std::to_string(bounds.max));
                auto& member = (all.*....*path);
                member = static_cast<std::remove_reference_t<decltype(member)>>(*value * bounds.unit);
                return {};
            }};
}

template <class Value, class... Path>
option_value truth(option_kind kind, Value off, Value on, Path... path) {
    return {kind, [=](settings& all, const given& said) -> result<void> {
                const auto value = parse_truth(said.text());
                if (!value) return must_be(said, "true or false");
                (all.*....*path) = *value ? on : off;
                return {};
            }};
}
/// Takes no value on the command line, except in the form --option=false.
template <class Value, class... Path>
option_value flag(Value off, Value on, Path... path) {
    return truth(option_kind::flag, off, on, path...);
}
template <class Value, class... Path>
option_value yes_or_no(Value off, Value on, Path... path) {
    return truth(option_kind::yes_or_no, off, on, path...);
}

/// One of these names; an empty text means the first.
template <class Value, class... Path>
option_value choice(std::vector<std::pair<std::string, Value>> names, Path... path) {
    return {option_kind::text, [=](settings& all, const given& said) -> result<void> {
                std::string known;
                for (const auto& [name, value] : names) {
                    if (said.text() == name || said.text().empty()) {
                        (all.*....*path) = value;
                        return {};
                    }
                    known += (known.empty() ? "" : &name == &names.back().first ? " or " : ", ") + name;
                }
                return must_be(said, known);
            }};
}

/// ADDRESS:PORT; an empty text sets nothing.
template <class... Path>
option_value address_and_port(Path... path) {
    return {option_kind::text, [=](settings& all, const given& said) -> result<void> {
                if (said.text().empty()) return {};
                auto where = parse_endpoint(said);
                if (!where) return where.error();
                (all.*....*path) = *std::move(where);
                return {};
            }};
}

// Each reads one option whose effect is more than copying its text.
result<void> read_data(settings&, const given&);
result<void> read_artifacts(settings&, const given&);
result<void> read_artifacts_region(settings&, const given&);
result<void> read_artifacts_endpoint(settings&, const given&);
result<void> read_extra_ca(settings&, const given&);
result<void> read_header_prefixes(settings&, const given&);
result<void> read_egress_proxy(settings&, const given&);
result<void> read_allowed_addresses(settings&, const given&);
result<void> read_upstream_addresses(settings&, const given&);
result<void> read_dns_servers(settings&, const given&);
result<void> read_public_url(settings&, const given&);
result<void> read_kafka_properties(settings&, const given&);
result<void> read_worker_id(settings&, const given&);
result<void> read_public_key(settings&, const given&);
result<void> read_log_id(settings&, const given&);
result<void> read_admin_email(settings&, const given&);
result<void> read_admin_key(settings&, const given&);
result<void> read_organization(settings&, const given&);
result<void> read_approvals(settings&, const given&);
result<void> read_skips(settings&, const given&);

}  // namespace herald::program
