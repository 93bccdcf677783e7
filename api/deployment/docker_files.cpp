#include "api/deployment/docker_files.hpp"

#include <algorithm>

#include "runtime/text.hpp"
#include "schemas/json.hpp"

namespace herald::api::deployment {
namespace {

using schemas::json_array;
using schemas::json_value;

const json_value* find_in(const json_value* at, std::initializer_list<std::string_view> path) {
    for (const std::string_view name : path) at = at ? at->find(name) : nullptr;
    return at;
}

std::string text_at(const json_value* at, std::initializer_list<std::string_view> path) {
    const json_value* found = find_in(at, path);
    if (const std::string* text = found ? found->get_if<std::string>() : nullptr) return *text;
    return found && !found->is_null() ? schemas::to_json_text(*found) : std::string();
}

json_array list_at(const json_value* at, std::initializer_list<std::string_view> path) {
    const json_value* found = find_in(at, path);
    const json_array* list = found ? found->get_if<json_array>() : nullptr;
    return list ? *list : json_array();
}

bool has_only(std::string_view text, std::string_view more) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               more.find(c) != more.npos;
    });
}

error no_dockerfile(std::string_view what, std::string_view found) {
    return runtime::invalid_argument(
        {"the version's ", what, " is \"", found, "\", which no Dockerfile can hold"});
}

/// "numpy==1.23.0rc1"
std::string requirement(const json_value& one) {
    std::string out = text_at(&one, {"library"});
    const std::string constraint = text_at(&one, {"constraint"});
    if (constraint.empty()) return out;
    const auto part = [&](std::string_view name) {
        const std::string text = text_at(&one, {"version", name});
        return text.empty() ? std::string("0") : text;
    };
    return out + constraint + part("major") + "." + part("minor") + "." + part("patch") +
           text_at(&one, {"version", "suffix"});
}

std::string requirements(const json_value* python, std::string_view list, std::string_view raw) {
    std::string out;
    for (const json_value& one : list_at(python, {list})) out += requirement(one) + "\n";
    const std::string more = text_at(python, {raw});
    out += more;
    if (!more.empty() && !more.ends_with('\n')) out += '\n';
    return out;
}

/// A value of a Dockerfile's ENV, between double quotes.
std::string in_docker_quotes(std::string_view value) {
    std::string out = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\' || c == '$') out += '\\';
        out += c;
    }
    return out + "\"";
}

result<std::string> base_image(const json_value* environment) {
    const json_value* docker = find_in(environment, {"docker"});
    const std::string repository = text_at(docker, {"repository"});
    if (!repository.empty()) {
        const std::string tag = text_at(docker, {"tag"}), sha = text_at(docker, {"sha"});
        const std::string image =
            repository + (tag.empty() ? "" : ":" + tag) + (sha.empty() ? "" : "@sha256:" + sha);
        if (!has_only(image, "._-/:@")) return no_dockerfile("docker image", image);
        return image;
    }
    const std::string major = text_at(environment, {"python", "version", "major"});
    const std::string minor = text_at(environment, {"python", "version", "minor"});
    if (major.empty()) return std::string("python:3-slim");
    const std::string version = major + (minor.empty() ? "" : "." + minor);
    if (!has_only(version, ".")) return no_dockerfile("version of Python", version);
    return "python:" + version + "-slim";
}

result<std::string> lines_of_packages(const json_value* environment) {
    std::string names;
    for (const json_value& each : list_at(environment, {"apt", "packages"})) {
        const std::string name = text_at(&each, {});
        if (!has_only(name, ".+-:=~") || name.starts_with('-')) return no_dockerfile("apt package", name);
        names += " " + name;
    }
    if (names.empty()) return names;
    return "RUN apt-get update && apt-get install -y --no-install-recommends" + names +
           " && rm -rf /var/lib/apt/lists/*\n";
}

result<std::string> lines_of_variables(const json_value* environment) {
    std::string out;
    for (const json_value& each : list_at(environment, {"environment_variables"})) {
        const std::string name = text_at(&each, {"name"}), value = text_at(&each, {"value"});
        if (!has_only(name, "_")) return no_dockerfile("name of an environment variable", name);
        if (value.find_first_of("\r\n") != value.npos)
            return no_dockerfile("environment variable " + name, "of several lines");
        out += "ENV " + name + "=" + in_docker_quotes(value) + "\n";
    }
    return out;
}

}  // namespace

result<std::vector<archived_file>> docker_files(const schemas::model_version& version) {
    json_value environment;
    if (!version.environment.text.empty()) {
        auto parsed = schemas::parse_json(version.environment.text);
        if (!parsed) return parsed.error();
        environment = *std::move(parsed);
    }
    const auto image = base_image(&environment);
    if (!image) return image.error();
    const auto packages = lines_of_packages(&environment);
    if (!packages) return packages.error();
    const auto variables = lines_of_variables(&environment);
    if (!variables) return variables.error();
    const json_value* python = find_in(&environment, {"python"});
    std::string docker =
        "FROM " + *image + "\nWORKDIR /app\n" + *packages + "COPY environment/ environment/\n";
    if (python)
        docker +=
            "RUN pip install --no-cache-dir -r environment/requirements.txt -c "
            "environment/constraints.txt\n";
    docker += *variables + "COPY model/ model/\n";
    if (const json_array command = list_at(&environment, {"command_line"}); !command.empty())
        docker += "CMD " + schemas::to_json_text(json_value(command)) + "\n";
    return std::vector<archived_file>{
        {"Dockerfile", std::move(docker), {}},
        {"environment/environment.json", schemas::to_json_text(environment) + "\n", {}},
        {"environment/requirements.txt", requirements(python, "requirements", "raw_requirements"), {}},
        {"environment/constraints.txt", requirements(python, "constraints", "raw_constraints"), {}}};
}

std::string file_of_artifact(const schemas::artifact& artifact) {
    std::string name = artifact.key;
    const std::string extension = "." + artifact.filename_extension;
    if (extension.size() > 1 && !name.ends_with(extension)) name += extension;
    const bool is_dots = name.find_first_not_of('.') == name.npos;
    return "model/" +
           runtime::percent_encoded(name, is_dots ? [](char) { return false; } : runtime::is_unreserved);
}

}  // namespace herald::api::deployment
