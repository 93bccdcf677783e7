#include "program/options/options_file.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include "program/options/did_you_mean.hpp"
#include "program/options/limits.hpp"
#include "program/options/options.hpp"

namespace herald::program {
namespace {

std::string_view right_value_of(option_kind kind) {
    switch (kind) {
        case option_kind::text:
            return "a text in quotes";
        case option_kind::number:
            return "a whole number";
        case option_kind::flag:
        case option_kind::yes_or_no:
            return "true or false";
        case option_kind::list:
            return "a text in quotes with commas, or a list of texts";
        case option_kind::repeated:
            return "a text in quotes, or a list of texts";
    }
    return "";
}

/// The value as written in the file, or its kind if that would be long.
std::string shown(const toml::node& value) {
    if (value.is_table()) return "a table";
    static constexpr std::size_t bytes_max = 80;
    std::ostringstream out;
    out << toml::toml_formatter(value);
    const std::string text = std::move(out).str();
    if (text.size() <= bytes_max && text.find('\n') == std::string::npos) return text;
    return value.is_array() ? "a long list" : "a long text";
}

std::optional<std::string> text_of(const toml::node& value, option_kind kind) {
    if (const auto text = value.value_exact<std::string>()) return text;
    const bool may_be_truth = kind == option_kind::flag || kind == option_kind::yes_or_no;
    if (const auto truth = value.value_exact<bool>(); truth && may_be_truth) return *truth ? "true" : "false";
    if (const auto number = value.value_exact<std::int64_t>(); number && kind == option_kind::number)
        return std::to_string(*number);
    return std::nullopt;
}

/// Errors: invalid_argument for a value of a kind that the option does not take.
result<std::vector<std::string>> values_of(const option& one, const toml::node& value) {
    const option_kind kind = one.value.kind;
    const auto wrong = [&](const std::string& what) {
        return runtime::invalid_argument({one.name, what, "; it must be ", right_value_of(kind)});
    };
    const bool may_be_array = kind == option_kind::list || kind == option_kind::repeated;
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
    if (kind == option_kind::repeated) return texts;
    std::string joined;
    for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
    return std::vector<std::string>{joined};
}

/// Errors: invalid_argument saying why it cannot be read, or which line is wrong.
result<toml::table> parse_file(const std::string& path) try {
    const auto unreadable = [&](const std::string& why) {
        return runtime::invalid_argument({"--config ", path, " cannot be read: ", why});
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return unreadable("it is a folder, where a TOML file must be");
    const auto kind = std::filesystem::status(path, ignored);
    if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind))
        return unreadable("it must be a regular file");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    if (!in) return unreadable(std::generic_category().message(errno));
    std::string text(limits::options_file_bytes_max + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return unreadable(std::generic_category().message(errno));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > limits::options_file_bytes_max)
        return unreadable("it must be at most " + std::to_string(limits::options_file_bytes_max) + " bytes");
    return toml::parse(text, path);
} catch (const toml::parse_error& failure) {
    return runtime::invalid_argument(
        {"--config ", path, ", line ", failure.source().begin.line, ": ", failure.description()});
}

}  // namespace

result<std::map<std::string, std::vector<std::string>>> read_options_file(const std::string& path) {
    const auto file = parse_file(path);
    if (!file) return file.error();
    const auto wrong = [&](const std::string& what) {
        return runtime::invalid_argument({"--config ", path, ": ", what});
    };
    std::vector<std::string> names;
    for (const option& one : all_options())
        if (one.name != "config") names.push_back(one.name);  // a file cannot name another file
    std::map<std::string, std::vector<std::string>> said;
    for (const auto& [key, value] : *file) {
        const std::string name(key.str());
        if (std::find(names.begin(), names.end(), name) == names.end())
            return wrong("there is no option \"" + name + "\"" + did_you_mean(name, names));
        const auto option_of_name = std::find_if(all_options().begin(), all_options().end(),
                                                 [&](const option& one) { return one.name == name; });
        auto values = values_of(*option_of_name, value);
        if (!values) return wrong(values.error().message);
        said.emplace(name, *std::move(values));
    }
    return said;
}

}  // namespace herald::program
