#include "program/command_line.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

#include "program/options/build_commit.hpp"
#include "program/options/did_you_mean.hpp"
#include "program/options/options.hpp"
#include "program/options/options_file.hpp"
#include "runtime/assert.hpp"
#include "runtime/log.hpp"
#include "runtime/log_events.hpp"

namespace herald::program {
namespace {

using said_options = std::map<std::string, std::vector<std::string>>;

// ---- the help

constexpr std::size_t help_width = 100;
constexpr std::size_t help_indent = 10;

std::string wrapped(const std::string& text) {
    std::istringstream words(text);
    std::string lines;
    std::string line;
    const auto end_line = [&] {
        lines += std::string(help_indent, ' ') + line + "\n";
        line.clear();
    };
    for (std::string word; words >> word;) {
        if (!line.empty() && help_indent + line.size() + 1 + word.size() > help_width) end_line();
        line += (line.empty() ? "" : " ") + word;
    }
    end_line();
    return lines;
}

/// An option on one line, its meaning on the next: names and operands are too long for two columns.
class option_help final : public CLI::Formatter {
  public:
    std::string make_option(const CLI::Option* one, bool) const override {
        std::string text = "  " + one->get_name(false, true);
        if (!one->get_type_name().empty()) text += " " + one->get_type_name();
        text += "\n";
        std::istringstream paragraphs(one->get_description());
        for (std::string each; std::getline(paragraphs, each);) text += wrapped(each);
        return text;
    }
    /// With an empty line before it.
    std::string make_group(std::string name, bool is_positional,
                           std::vector<const CLI::Option*> options) const override {
        const bool is_first = name == heading_of(option_group::file);
        const std::string text =
            CLI::Formatter::make_group(std::move(name), is_positional, std::move(options));
        return is_first ? text : text.substr(1);
    }
};

std::string default_shown(const verb& of, const option& one) {
    const std::string& value = of.default_of(one);
    if (one.value.kind == option_kind::flag) return value == "true" ? "on" : "off";
    return value.empty() ? one.default_meaning : value;
}

std::string help_of(const verb& of, const option& one) {
    const std::string shown = default_shown(of, one);
    return one.help + (shown.empty() ? "" : "\ndefault: " + shown);
}

// ---- the environment

/// Not refused: other programs set such names, too (a Kubernetes service called herald sets HERALD_PORT).
void warn_about_environment() {
    static constexpr std::string_view prefix = "HERALD_";
    std::vector<std::string> names;
    for (const option& one : all_options()) names.push_back(environment_name(one.name));
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view whole(*variable);
        const std::string name(whole.substr(0, whole.find('=')));
        if (!name.starts_with(prefix) || std::find(names.begin(), names.end(), name) != names.end()) continue;
        // The common prefix would make any two names look alike.
        std::vector<std::string_view> ends;
        for (const std::string& known : names) ends.push_back(std::string_view(known).substr(prefix.size()));
        const std::string_view nearest = runtime::nearest(name.substr(prefix.size()), ends);
        runtime::log(
            runtime::log_level::warning, runtime::log_events::environment_unknown,
            {{"name", name}, {"nearest", nearest.empty() ? "" : std::string(prefix) + std::string(nearest)}});
    }
}

/// Adds to what the command line gave.
void add_from_environment(const verb& of, said_options& said) {
    for (const option& one : all_options())
        if (of.takes(one))
            if (const char* value = std::getenv(environment_name(one.name).c_str()))
                said.try_emplace(one.name, 1, value);
}

// ---- the tables as a command line

class command_line {
  public:
    command_line() {
        x_app.require_subcommand(1);
        x_app.set_version_flag("--version", version_text(), "prints the version");
        x_app.set_help_flag("-h,--help", "prints this; herald VERB --help lists the options of the verb");
        x_app.description("Herald: a model registry that speaks.");
        x_app.formatter(std::make_shared<option_help>());
        x_app.get_formatter()->label("SUBCOMMAND", "VERB");
        x_app.get_formatter()->label("Subcommands", "Verbs");
        for (const verb& each : all_verbs()) add(each);
    }

    command_line_reading read(int count, const char* const* arguments) try {
        if (count < 2) return refuse(verb_missing());
        if (const auto wrong = check_verb(arguments[1]); !wrong) return refuse(wrong.error());
        x_app.parse(count, const_cast<char**>(arguments));
        const verb& chosen = verb_of(*x_app.get_subcommands().front());
        auto said = all_said(chosen);
        if (!said) return refuse(said.error());
        const std::vector<std::string>& words = x_operands[chosen.name];
        if (const auto good = check_operands(chosen, words); !good) return refuse(good.error());
        settings checked;
        checked.operands = words;
        if (const auto good = fill(checked, chosen, *said); !good) return refuse(good.error());
        return {invocation{chosen, std::move(checked)}, process_end::done};
    } catch (const CLI::RequiredError&) {
        return refuse(verb_missing());
    } catch (const CLI::ExtrasError&) {
        return refuse(runtime::invalid_argument(about_surplus(*x_app.get_subcommands().front())));
    } catch (const CLI::ParseError& failure) {
        return {std::nullopt, x_app.exit(failure) == 0 ? process_end::done : process_end::wrong_use};
    }

  private:
    void add(const verb& which) {
        CLI::App& command = *x_app.add_subcommand(which.name, which.help);
        command.set_help_flag("-h,--help", "prints this");
        command.group("Verbs");
        command.footer(
            which.groups.empty()
                ? ""
                : "Each option is also HERALD_<OPTION> in the environment and a key of the file given with "
                  "--config.\nThe command line wins, then the environment, then the file.");
        std::vector<std::string>& words = x_operands[which.name];
        words.resize(which.operands.size());
        for (std::size_t i = 0; i < words.size(); ++i) command.add_option(which.operands[i], words[i]);
        for (const option& one : all_options())
            if (which.takes(one)) add(command, one, help_of(which, one));
    }

    static void add(CLI::App& command, const option& one, const std::string& help) {
        const std::string name = "--" + one.name;
        CLI::Option* added = nullptr;
        if (one.value.kind == option_kind::flag)
            added = command.add_flag(name, help);
        else
            added = command.add_option(name, CLI::callback_t(), help)->type_name(one.operand);
        if (one.value.kind == option_kind::repeated)
            added->expected(1, -1);
        else if (one.value.kind != option_kind::flag)
            added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);  // all_said() refuses a second
        added->group(std::string(heading_of(one.group)));
    }

    static const verb& verb_of(const CLI::App& command) {
        const auto found = std::find_if(all_verbs().begin(), all_verbs().end(),
                                        [&](const verb& each) { return each.name == command.get_name(); });
        HERALD_ASSERT(found != all_verbs().end());
        return *found;
    }

    command_line_reading refuse(const error& why) {
        std::cerr << "herald: " << why.message << "\n";
        return {std::nullopt, process_end::wrong_use};
    }

    static result<void> check_verb(const std::string& word) {
        std::vector<std::string> verbs;
        for (const verb& each : all_verbs()) verbs.push_back(each.name);
        if (word.starts_with('-') || std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
        const std::string meant = did_you_mean(word, verbs);
        return runtime::invalid_argument(
            {"there is no verb \"", word, "\"", (meant.empty() ? "." : meant), " ", verbs_text()});
    }

    static std::string verbs_text() {
        std::string all;
        for (const verb& each : all_verbs()) all += (all.empty() ? "" : ", ") + each.name;
        return "The verbs are " + all;
    }

    static error verb_missing() {
        return runtime::invalid_argument({"a verb is missing, such as `herald standalone`. ", verbs_text(),
                                          "; herald VERB --help lists the options of a verb"});
    }

    static std::string about_surplus(const CLI::App& command) {
        const std::vector<std::string> surplus = command.remaining();
        const std::string word = surplus.empty() ? "" : surplus.front();
        std::vector<std::string> names{"--help"};
        for (const option& one : all_options())
            if (verb_of(command).takes(one)) names.push_back("--" + one.name);
        return command.get_name() + " takes no \"" + word + "\"" +
               did_you_mean(word.substr(0, word.find('=')), names);
    }

    static result<void> check_operands(const verb& chosen, const std::vector<std::string>& words) {
        std::string usage = "herald " + chosen.name;
        for (const std::string& each : chosen.operands) usage += " " + each;
        for (std::size_t i = 0; i < words.size(); ++i) {
            const bool is_value = std::isupper(static_cast<unsigned char>(chosen.operands[i].front())) != 0;
            if (words[i].empty())
                return runtime::invalid_argument({chosen.operands[i], " is missing, as in `", usage, "`"});
            if (!is_value && words[i] != chosen.operands[i])
                return runtime::invalid_argument(
                    {chosen.name, " takes no \"", words[i], "\", but `", usage, "`"});
        }
        return {};
    }

    /// From the command line, the environment and the file; the last two may have options of other verbs.
    result<said_options> all_said(const verb& chosen) {
        const CLI::App& command = *x_app.get_subcommands().front();
        said_options said;
        for (const option& one : all_options())
            if (const CLI::Option* found = command.get_option_no_throw("--" + one.name);
                found && found->count() > 0) {
                const bool may_repeat =
                    one.value.kind == option_kind::repeated || one.value.kind == option_kind::flag;
                if (found->count() > 1 && !may_repeat) return given_again(one, found->results());
                said.emplace(one.name, found->results());
            }
        add_from_environment(chosen, said);
        const auto file = said.find("config");
        if (file != said.end() && !file->second.back().empty()) {
            auto in_file = read_options_file(file->second.back());
            if (!in_file) return in_file.error();
            said.merge(*in_file);
        }
        warn_about_environment();
        return said;
    }

    /// Errors: those of the options' readers; invalid_argument for a missing option.
    static result<void> fill(settings& all, const verb& chosen, const said_options& said) {
        for (const option& one : all_options()) {
            if (const std::string& value = chosen.default_of(one); !value.empty()) {
                const auto good = one.value.read(all, {one.name, {value}});
                HERALD_ASSERT(good.has_value());
            }
            const auto own = said.find(one.name);
            if (!chosen.takes(one) || own == said.end() || own->second.empty()) continue;
            if (const auto good = one.value.read(all, {one.name, own->second}); !good) return good;
        }
        for (const std::string& name : chosen.needs) {
            const auto own = said.find(name);
            if (own == said.end() || own->second.empty() || own->second.back().empty()) return missing(name);
        }
        if (const auto good = check_tls(all); !good) return good;
        if (const auto good = runtime::http::client::check_certificate(all.transport.certificate_file,
                                                                       all.transport.certificate_key_file);
            !good)
            return runtime::invalid_argument(
                {"--client-cert and --client-key cannot be used: ", good.error().message});
        return check_addresses(all);
    }

    static result<void> check_tls(const settings& all) {
        const bool has_certificate = !all.server.tls_certificate_file.empty();
        if (has_certificate != all.server.tls_key_file.empty()) return {};
        return runtime::invalid_argument(
            has_certificate ? "--tls-cert needs --tls-key: the certificate's key is missing"
                            : "--tls-key needs --tls-cert: the key's certificate is missing");
    }

    static error given_again(const option& one, const std::vector<std::string>& values) {
        std::string all;
        for (const std::string& value : values) all += (all.empty() ? "\"" : " and \"") + value + "\"";
        const bool is_list = one.value.kind == option_kind::list;
        return runtime::invalid_argument({"--", one.name, " is given ", values.size(), " times: ", all,
                                          "; give it once",
                                          (is_list ? ", with commas between the values" : "")});
    }

    static result<void> check_addresses(const settings& all) {
        const auto& main = all.listen;
        const auto& metrics = all.metrics_listen;
        const bool are_same = main && metrics && main->port != 0 && main->port == metrics->port &&
                              main->address == metrics->address;
        if (!are_same) return {};
        return runtime::invalid_argument(
            "--metrics-listen must differ from --listen; give it another address, or leave it out: /metrics "
            "is then on the main address");
    }

    static error missing(const std::string& name) {
        const auto found = std::find_if(all_options().begin(), all_options().end(),
                                        [&](const option& one) { return one.name == name; });
        HERALD_ASSERT(found != all_options().end());
        return runtime::invalid_argument({"--", name, " ", found->operand, " is missing"});
    }

    CLI::App x_app;
    std::map<std::string, std::vector<std::string>> x_operands;  // by verb
};

}  // namespace

command_line_reading read_command_line(int argument_count, const char* const* arguments) {
    command_line line;
    return line.read(argument_count, arguments);
}

}  // namespace herald::program
