#include "settings.hpp"

#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

#include "runtime/limits.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"
#include "runtime/text.hpp"
#include "storage/node/genesis.hpp"

namespace herald {
namespace {

constexpr int wrong_use = 2;
constexpr std::uint64_t free_disk_mb_max = 1ull << 40;
constexpr std::uint64_t replication_max = 32;

/// The options as texts, before they are checked.
struct raw_settings {
    std::string data = "./herald-data";
    std::string listen;
    std::string metrics_listen;
    std::string allow_addresses;
    std::string header_prefix = "svc-";
    std::string require_approval_for = "PRODUCTION";
    std::vector<std::string> kafka_options;
    std::string replication = std::to_string(events::kafka::replicas_default);
    bool allow_http = false;
    std::string key_ring;
    std::string webhook_concurrency = std::to_string(limits::lane_concurrency_max);
    std::string free_disk_mb = std::to_string(limits::free_disk_bytes_min / (1024 * 1024));
};

std::string environment_name(const std::string& option) {
    std::string name = "HERALD_";
    for (const char c : option)
        name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return name;
}

std::string did_you_mean(std::string_view word, const std::set<std::string>& names) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view nearest = runtime::nearest(word, views);
    return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

// ---- the file

/// What an option takes in the file. Lists are one text with commas elsewhere; what is repeated is given
/// several times.
enum class value_kind : std::uint8_t { text, number, flag, list, repeated };

value_kind kind_of(const std::string& option) {
    static const std::map<std::string, value_kind> not_text{
        {"accept-clock", value_kind::flag},
        {"allow-http", value_kind::flag},
        {"log-requests", value_kind::flag},
        {"reset", value_kind::flag},
        {"verify", value_kind::flag},
        {"at", value_kind::number},
        {"free-disk-mb", value_kind::number},
        {"replication", value_kind::number},
        {"webhook-concurrency", value_kind::number},
        {"allow-addresses", value_kind::list},
        {"dns-servers", value_kind::list},
        {"header-prefix", value_kind::list},
        {"kafka", value_kind::list},
        {"require-approval-for", value_kind::list},
        {"kafka-option", value_kind::repeated},
    };
    const auto found = not_text.find(option);
    return found == not_text.end() ? value_kind::text : found->second;
}

std::string_view right_value_of(value_kind kind) {
    switch (kind) {
        case value_kind::text:
            return "a text in quotes";
        case value_kind::number:
            return "a whole number";
        case value_kind::flag:
            return "true or false";
        case value_kind::list:
            return "a text in quotes with commas, or a list of texts";
        case value_kind::repeated:
            return "a text in quotes, or a list of texts";
    }
    return "";
}

/// As it stands in the file, or what it is where that would be long.
std::string shown(const toml::node& value) {
    if (value.is_table()) return "a table";
    static constexpr std::size_t bytes_max = 80;
    std::ostringstream out;
    out << toml::toml_formatter(value);
    const std::string text = std::move(out).str();
    if (text.size() <= bytes_max && text.find('\n') == std::string::npos) return text;
    return value.is_array() ? "a long list" : "a long text";
}

std::optional<std::string> text_of(const toml::node& value, value_kind kind) {
    if (const auto text = value.value_exact<std::string>()) return text;
    if (const auto flag = value.value_exact<bool>(); flag && kind == value_kind::flag)
        return *flag ? "true" : "false";
    if (const auto number = value.value_exact<std::int64_t>(); number && kind == value_kind::number)
        return std::to_string(*number);
    return std::nullopt;
}

/// The values of an option in the file, as the command line would give them; an empty list is the empty
/// value. Errors: invalid_argument for a value of a kind that the option does not take.
result<std::vector<std::string>> values_in_file(const std::string& option, const toml::node& value) {
    const value_kind kind = kind_of(option);
    const auto wrong = [&](const std::string& what) {
        return runtime::invalid_argument(option + what + "; it must be " + std::string(right_value_of(kind)));
    };
    const bool may_be_array = kind == value_kind::list || kind == value_kind::repeated;
    if (!value.is_array() || !may_be_array) {
        auto text = text_of(value, kind);
        if (!text) return wrong(" is " + shown(value));
        return std::vector<std::string>{*std::move(text)};
    }
    std::vector<std::string> texts;
    for (const toml::node& element : *value.as_array()) {
        auto text = text_of(element, kind);
        if (!text) return wrong(" holds " + shown(element));
        texts.push_back(*std::move(text));
    }
    if (kind == value_kind::repeated) return texts;
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
    return std::vector<std::string>{joined};
}

/// Errors: invalid_argument saying why it cannot be read; toml::parse_error is thrown.
result<toml::table> parse_file(const std::string& path) {
    const auto unreadable = [&](const std::string& why) {
        return runtime::invalid_argument("--config " + path + " cannot be read: " + why);
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return unreadable("it is a folder, where a TOML file must be");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) return unreadable(std::generic_category().message(errno));
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad()) return unreadable(std::generic_category().message(errno));
    return toml::parse(text, path);
}

bool is_of_the_command_line_only(const std::string& option) { return option == "help"; }

/// Fills what the command line did not say from the environment, then from the file, which is checked.
void fill_from_elsewhere(CLI::App& command, const toml::table& file) {
    for (CLI::Option* option : command.get_options()) {
        if (option->get_lnames().empty() || option->count() > 0) continue;
        const std::string& name = option->get_lnames().front();
        if (is_of_the_command_line_only(name)) continue;
        std::vector<std::string> found;
        if (const char* value = std::getenv(environment_name(name).c_str()))
            found.emplace_back(value);
        else if (const toml::node* from_file = file.get(name))
            found = *values_in_file(name, *from_file);
        for (const std::string& value : found) option->add_result(value);
        if (!found.empty()) option->run_callback();
    }
}

// ---- from texts to values

result<std::optional<endpoint>> parse_endpoint(const std::string& option, const std::string& text) {
    if (text.empty()) return std::optional<endpoint>();
    const std::size_t colon = text.rfind(':');
    const auto port = runtime::parse_decimal(colon == std::string::npos ? "" : text.substr(colon + 1));
    if (!port || *port > 65'535)
        return runtime::invalid_argument(option + " is \"" + text +
                                         "\"; it must be ADDRESS:PORT, as in 127.0.0.1:8080");
    std::string address = text.substr(0, colon);
    if (address.empty())
        return runtime::invalid_argument(option + " is \"" + text + "\", without an address; 0.0.0.0" + text +
                                         " is every address of this machine, 127.0.0.1" + text +
                                         " is for itself only");
    if (address == "localhost") address = "127.0.0.1";
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        address = address.substr(1, address.size() - 2);
    boost::system::error_code not_literal;
    boost::asio::ip::make_address(address, not_literal);
    if (not_literal)
        return runtime::invalid_argument(option + " is \"" + text + "\"; \"" + address +
                                         "\" is not an IPv4 or IPv6 address, as in 127.0.0.1:8080");
    return std::optional<endpoint>(endpoint{std::move(address), static_cast<std::uint16_t>(*port)});
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');)
        if (!part.empty()) parts.push_back(part);
    return parts;
}

/// ADDRESS or ADDRESS:PORT; an IPv6 address that has a port is in brackets.
bool is_dns_server(const std::string& text) {
    std::string address = text;
    std::string port = "53";
    const std::size_t colon = text.find(':');
    const std::size_t bracket = text.find("]:");
    const bool is_bracketed = text.starts_with('[');
    if (is_bracketed && bracket != std::string::npos) {
        address = text.substr(1, bracket - 1);
        port = text.substr(bracket + 2);
    } else if (is_bracketed && text.ends_with(']')) {
        address = text.substr(1, text.size() - 2);
    } else if (colon != std::string::npos && colon == text.rfind(':')) {
        address = text.substr(0, colon);
        port = text.substr(colon + 1);
    }
    boost::system::error_code not_literal;
    const auto literal = boost::asio::ip::make_address(address, not_literal);
    const auto number = runtime::parse_decimal(port);
    return !not_literal && literal.is_v6() >= is_bracketed && number && *number > 0 && *number <= 65'535;
}

result<void> check_dns_servers(const std::string& text) {
    std::istringstream in(text);
    for (std::string server; std::getline(in, server, ',');)
        if (!is_dns_server(server))
            return runtime::invalid_argument(
                "--dns-servers names \"" + server +
                "\"; it must be ADDRESS:PORT with a port from 1 to 65535, as in 127.0.0.1:53 or [::1]:53");
    return {};
}

/// Secrets that are mounted as files, and what `echo` writes, end with one.
result<void> check_last_character(const std::string& what, const std::string& value) {
    if (!value.ends_with('\n')) return {};
    return runtime::invalid_argument(what + " ends with a newline; give it without");
}

/// Also where an installation is there already: nobody could sign in to one that began like this.
result<void> check_installation(const settings& checked) {
    if (const auto good = check_last_character("--admin-email", checked.admin_email); !good) return good;
    if (!checked.admin_email.empty())
        if (const auto good = storage::check_admin_email("--admin-email", checked.admin_email); !good)
            return good;
    if (const auto good = check_last_character("--organization", checked.organization); !good) return good;
    if (const auto good = storage::check_organization_name("--organization", checked.organization); !good)
        return good;
    const std::string& key = checked.admin_key;
    if (const auto good = check_last_character("the administrator's key", key); !good) return good;
    if (key.empty()) return {};
    const bool visible = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7F; });
    if (key.size() < 16 || key.size() > 128 || !visible)
        return runtime::invalid_argument(
            "the administrator's key must be 16 to 128 characters of visible ASCII");
    return {};
}

/// Those that a version can be moved to.
std::string stages_text() {
    std::string all;
    for (const auto& [stage, name] : schemas::enum_names<schemas::stage>::all)
        if (stage != schemas::stage::unknown) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
}

/// From texts to values. Errors: invalid_argument naming the option.
result<void> check(settings& checked, const raw_settings& raw) {
    checked.data = raw.data;
    checked.key_ring = raw.key_ring;
    const auto listen = parse_endpoint("--listen", raw.listen);
    if (!listen) return listen.error();
    checked.listen = *listen;
    const auto metrics = parse_endpoint("--metrics-listen", raw.metrics_listen);
    if (!metrics) return metrics.error();
    checked.metrics_listen = *metrics;
    auto addresses = workers::address_policy::parse(raw.allow_addresses);
    if (!addresses) return runtime::invalid_argument("--allow-addresses: " + addresses.error().message);
    checked.addresses = *std::move(addresses);
    checked.addresses_text = raw.allow_addresses;
    if (raw.allow_http) checked.http_locations = workers::plain_http::allowed;
    checked.header_prefixes = split(raw.header_prefix);
    if (checked.header_prefixes.empty() ||
        !std::all_of(raw.header_prefix.begin(), raw.header_prefix.end(), [](char c) {
            return c == '-' || c == '_' || c == ',' || std::isalnum(static_cast<unsigned char>(c)) != 0;
        }))
        return runtime::invalid_argument("--header-prefix is \"" + raw.header_prefix +
                                         "\"; it must be one or more names of letters, digits, - and _");
    checked.require_approval_for.clear();
    for (const std::string& name : split(raw.require_approval_for)) {
        if (raw.require_approval_for == "none") break;
        const auto stage = schemas::from_name<schemas::stage>(name);
        if (!stage || *stage == schemas::stage::unknown)
            return runtime::invalid_argument("--require-approval-for names \"" + name +
                                             "\"; it must be one or more of " + stages_text() +
                                             ", or none alone: no stage needs an approval");
        checked.require_approval_for.push_back(*stage);
    }
    for (const std::string& option : raw.kafka_options) {
        const std::size_t equals = option.find('=');
        if (equals == std::string::npos)
            return runtime::invalid_argument("--kafka-option is \"" + option + "\"; it must be name=value");
        checked.kafka_options.emplace_back(option.substr(0, equals), option.substr(equals + 1));
    }
    const auto replication = runtime::parse_decimal(raw.replication);
    if (!replication || *replication < 1 || *replication > replication_max)
        return runtime::invalid_argument("--replication is \"" + raw.replication +
                                         "\"; it must be a number from 1 to " +
                                         std::to_string(replication_max));
    checked.replication = static_cast<std::int32_t>(*replication);
    const auto megabytes = runtime::parse_decimal(raw.free_disk_mb);
    if (!megabytes || *megabytes > free_disk_mb_max)
        return runtime::invalid_argument("--free-disk-mb is \"" + raw.free_disk_mb +
                                         "\"; it must be a number, at most " +
                                         std::to_string(free_disk_mb_max));
    checked.free_disk_bytes_min = *megabytes * 1024 * 1024;
    const auto concurrency = runtime::parse_decimal(raw.webhook_concurrency);
    if (!concurrency || *concurrency == 0 || *concurrency > limits::lane_concurrency_setting_max)
        return runtime::invalid_argument("--webhook-concurrency is \"" + raw.webhook_concurrency +
                                         "\"; it must be a number from 1 to " +
                                         std::to_string(limits::lane_concurrency_setting_max));
    checked.webhook_concurrency = *concurrency;
    if (!checked.reads.empty() && checked.reads != "linearizable" && checked.reads != "local" &&
        checked.reads != "log")
        return runtime::invalid_argument("--reads is \"" + checked.reads +
                                         "\"; it must be linearizable, local or log");
    if (const auto good = check_dns_servers(checked.dns_servers); !good) return good;
    return check_installation(checked);
}

class command_line {
  public:
    command_line() {
        x_app.require_subcommand(1);
        x_app.set_version_flag("--version", "herald " HERALD_VERSION);
        x_app.description(
            "Herald: a model registry that speaks. Every option is also HERALD_<OPTION> in the environment "
            "and a "
            "key of the TOML file given with --config.");
        add_standalone();
        add_api();
        add_worker();
        add_init();
        add_admin_key();
        add_raise_level();
        add_state_hash();
        add_groups();
        x_app.add_subcommand("version", "prints the version");
    }

    std::pair<std::optional<settings>, int> read(int count, const char* const* arguments) try {
        if (const auto wrong = check_verb(count > 1 ? arguments[1] : "--help"); !wrong)
            return refuse(wrong.error().message);
        x_app.parse(count, const_cast<char**>(arguments));
        CLI::App& command = *x_app.get_subcommands().front();
        const auto file = read_file(command);
        if (!file) return refuse(file.error().message);
        if (const auto good = check_file(*file); !good) return refuse(good.error().message);
        warn_about_environment();
        fill_from_elsewhere(command, *file);
        x_out.addresses_named = was_given(command, "--allow-addresses");
        x_out.http_named = was_given(command, "--allow-http");
        x_out.verb = verb_of(command.get_name());
        if (const auto good = check(x_out, x_raw); !good) return refuse(good.error().message);
        if (needs_kafka(x_out.verb) && x_out.kafka.empty()) return refuse("--kafka HOST:PORT is missing");
        if (((needs_kafka(x_out.verb) && x_out.verb != verb::groups) ||
             (x_out.verb == verb::admin_key && !x_out.kafka.empty())) &&
            x_out.key_ring.empty())
            return refuse("--key-ring FILE is missing");
        if (x_out.verb == verb::init && x_out.admin_email.empty()) return refuse("--admin-email is missing");
        return {std::move(x_out), 0};
    } catch (const CLI::ExtrasError&) {
        return refuse(about_surplus(*x_app.get_subcommands().front()));
    } catch (const CLI::ParseError& failure) {
        return {std::nullopt, x_app.exit(failure) == 0 ? 0 : wrong_use};
    } catch (const toml::parse_error& failure) {
        return refuse("--config " + x_config + ", line " + std::to_string(failure.source().begin.line) +
                      ": " + std::string(failure.description()));
    }

  private:
    static bool needs_kafka(verb which) {
        return which == verb::api || which == verb::worker || which == verb::init || which == verb::groups;
    }

    static verb verb_of(const std::string& name) {
        if (name == "standalone") return verb::standalone;
        if (name == "api") return verb::api;
        if (name == "worker") return verb::worker;
        if (name == "init") return verb::init;
        if (name == "admin-key") return verb::admin_key;
        if (name == "raise-level") return verb::raise_level;
        if (name == "state-hash") return verb::state_hash;
        if (name == "groups") return verb::groups;
        return verb::version;
    }

    std::pair<std::optional<settings>, int> refuse(const std::string& why) {
        std::cerr << "herald: " << why << "\n";
        return {std::nullopt, wrong_use};
    }

    static bool was_given(CLI::App& command, const char* option) {
        const CLI::Option* found = command.get_option_no_throw(option);
        return found != nullptr && found->count() > 0;
    }

    static std::set<std::string> options_of(const CLI::App& command, const std::string& prefix = {}) {
        std::set<std::string> names;
        for (const CLI::Option* option : command.get_options())
            for (const std::string& name : option->get_lnames()) names.insert(prefix + name);
        return names;
    }
    /// Of all verbs: one file, one environment may serve several.
    std::set<std::string> all_options() const {
        std::set<std::string> names;
        for (const CLI::App* command : x_app.get_subcommands({})) names.merge(options_of(*command));
        std::erase_if(names, is_of_the_command_line_only);
        return names;
    }

    result<void> check_verb(const std::string& word) const {
        std::set<std::string> verbs;
        for (const CLI::App* command : x_app.get_subcommands({})) verbs.insert(command->get_name());
        if (word.starts_with('-') || verbs.contains(word)) return {};
        std::string all;
        for (const std::string& verb : verbs) all += (all.empty() ? "" : ", ") + verb;
        return runtime::invalid_argument("there is no \"" + word + "\"" + did_you_mean(word, verbs) +
                                         " The verbs are " + all);
    }

    static std::string about_surplus(const CLI::App& command) {
        const std::vector<std::string> surplus = command.remaining();
        const std::string word = surplus.empty() ? "" : surplus.front();
        return command.get_name() + " takes no \"" + word + "\"" +
               did_you_mean(word.substr(0, word.find('=')), options_of(command, "--"));
    }

    result<void> check_file(const toml::table& file) const {
        std::set<std::string> names = all_options();
        names.erase("config");  // a file does not name another
        for (const auto& [key, value] : file) {
            const std::string name(key.str());
            if (!names.contains(name))
                return runtime::invalid_argument("--config " + x_config + ": there is no option \"" + name +
                                                 "\"" + did_you_mean(name, names));
            if (const auto good = values_in_file(name, value); !good)
                return runtime::invalid_argument("--config " + x_config + ": " + good.error().message);
        }
        return {};
    }

    /// Not refused: other programs put names there, too (a Kubernetes service called herald, HERALD_PORT).
    void warn_about_environment() const {
        static constexpr std::string_view prefix = "HERALD_";
        std::set<std::string> names;
        for (const std::string& option : all_options()) names.insert(environment_name(option));
        for (char** variable = environ; *variable != nullptr; ++variable) {
            const std::string_view whole(*variable);
            const std::string name(whole.substr(0, whole.find('=')));
            if (!name.starts_with(prefix) || names.contains(name)) continue;
            // What they have in common would make any two names alike.
            std::vector<std::string_view> ends;
            for (const std::string& known : names)
                ends.push_back(std::string_view(known).substr(prefix.size()));
            const std::string_view nearest = runtime::nearest(name.substr(prefix.size()), ends);
            runtime::log(runtime::log_level::warning, runtime::log_events::environment_unknown,
                         {{"name", name},
                          {"nearest", nearest.empty() ? "" : std::string(prefix) + std::string(nearest)}});
        }
    }

    result<toml::table> read_file(CLI::App& command) {
        const CLI::Option* option = command.get_option_no_throw("--config");
        if (option && option->count() == 0)
            if (const char* from_environment = std::getenv("HERALD_CONFIG")) x_config = from_environment;
        return x_config.empty() ? toml::table() : parse_file(x_config);
    }

    CLI::App& add(const char* name, const char* what) {
        CLI::App& command = *x_app.add_subcommand(name, what);
        command.add_option("--config", x_config, "TOML file with options");
        return command;
    }
    void add_serving(CLI::App& command) {
        command.add_option("--data", x_raw.data, "folder for Herald's files, in DIR/herald");
        command.add_option("--metrics-listen", x_raw.metrics_listen,
                           "address for /metrics (else on the main address)");
        command.add_option("--header-prefix", x_raw.header_prefix,
                           "of the service's own headers; several: svc-,other-");
        command.add_option("--tls-cert", x_out.tls_certificate, "PEM");
        command.add_option("--tls-key", x_out.tls_key, "PEM");
        command.add_option("--log-requests", x_out.log_requests, "one line a request (true)");
        command.add_option("--free-disk-mb", x_raw.free_disk_mb, "below it writes are refused (2048)");
        command.add_flag("--verify", x_out.verify, "reads the whole state database before serving");
    }
    void add_sending(CLI::App& command) {
        command.add_option("--allow-addresses", x_raw.allow_addresses,
                           "CIDR,… that deliveries may connect to, beside the public ones");
        command.add_flag("--allow-http", x_raw.allow_http,
                         "webhooks may have http locations; --allow-http=false");
        command.add_option("--extra-ca", x_out.extra_ca_file, "PEM, trusted beside the system's");
        command.add_option("--dns-servers", x_out.dns_servers, "ADDRESS:PORT,… (the system's)");
    }
    void add_kafka(CLI::App& command) {
        command.add_option("--kafka", x_out.kafka, "HOST:PORT,… of the brokers");
        command.add_option("--kafka-option", x_raw.kafka_options,
                           "librdkafka property name=value; may be repeated");
        command.add_option("--topic-prefix", x_out.topic_prefix, "before every topic's name (herald.)");
        command.add_option("--key-ring", x_raw.key_ring, "file; the same for every node and worker");
    }
    void add_first_administrator(CLI::App& command) {
        command.add_option("--admin-email", x_out.admin_email, "of the first administrator");
        command.add_option("--admin-key", x_out.admin_key,
                           "of the first administrator; better HERALD_ADMIN_KEY");
        command.add_option("--organization", x_out.organization, "name of the first organization (default)");
        command.add_option("--require-approval-for", x_raw.require_approval_for,
                           "stages, or none (PRODUCTION)");
    }

    void add_standalone() {
        CLI::App& command = add("standalone", "everything in one process, without Kafka");
        command.add_option("--listen", x_raw.listen, "ADDRESS:PORT (127.0.0.1:8080)");
        command.add_option("--key-ring", x_raw.key_ring, "file (DIR/herald/key-ring)");
        command.add_flag("--accept-clock", x_out.accept_clock,
                         "the clock is right though the newest data is over 30 days old");
        command.add_option("--webhook-concurrency", x_raw.webhook_concurrency,
                           "attempts at one webhook at a time, at most (32)");
        add_serving(command);
        add_sending(command);
        add_first_administrator(command);
    }
    void add_api() {
        CLI::App& command = add("api", "an API node on Kafka");
        command.add_option("--listen", x_raw.listen, "ADDRESS:PORT (127.0.0.1:8080)");
        command.add_option("--node-id", x_out.node_id, "name in the cluster (random, kept in the data)");
        command.add_option("--reads", x_out.reads, "linearizable, local or log");
        add_kafka(command);
        add_serving(command);
        add_sending(command);
    }
    void add_worker() {
        CLI::App& command = add("worker", "a delivery worker on Kafka");
        command.add_option("--listen", x_raw.listen, "ADDRESS:PORT for health and metrics");
        command.add_option("--header-prefix", x_raw.header_prefix, "of the service's own headers");
        command.add_option("--webhook-concurrency", x_raw.webhook_concurrency,
                           "attempts at one webhook at a time, at most (32)");
        add_kafka(command);
        add_sending(command);
    }
    void add_init() {
        CLI::App& command = add("init", "makes topics, GENESIS and the first administrator on Kafka");
        add_kafka(command);
        command.add_option("--replication", x_raw.replication, "copies of each topic (3)");
        add_first_administrator(command);
    }
    void add_admin_key() {
        CLI::App& command = add("admin-key", "a new key for an administrator whose key was lost");
        command.add_option("--data", x_raw.data, "of a stopped standalone");
        command.add_option("--admin-email", x_out.admin_email, "whose key (of the first administrator)");
        add_kafka(command);
    }

    void add_raise_level() {
        CLI::App& command =
            add("raise-level", "after an upgrade of all nodes: lets the new version begin at once");
        command.add_option("--data", x_raw.data, "of a stopped standalone");
        add_kafka(command);
    }

    void add_state_hash() {
        CLI::App& command =
            add("state-hash", "the hash of the state that the log gives, to compare with /readyz");
        command.add_option("--data", x_raw.data, "of a stopped standalone");
        command.add_option("--at", x_out.at_offset, "next_offset as /readyz shows it (the end of the log)");
        add_kafka(command);
    }

    void add_groups() {
        CLI::App& command = add("groups", "where consumer groups have lost their place in Kafka");
        command.add_flag("--reset", x_out.reset_groups, "lets them go on at what the log still has");
        add_kafka(command);
    }

    CLI::App x_app;
    settings x_out;
    raw_settings x_raw;
    std::string x_config;
};

}  // namespace

std::pair<std::optional<settings>, int> read_settings(int argument_count, const char* const* arguments) {
    command_line line;
    return line.read(argument_count, arguments);
}

}  // namespace herald
