#include "storage/registry/audit/subject.hpp"

#include <algorithm>
#include <array>

#include "runtime/random.hpp"
#include "runtime/text.hpp"
#include "schemas/commands/all.hpp"
#include "storage/registry/audit/limits.hpp"
#include "storage/registry/tables/audit.hpp"
#include "storage/registry/tables/endpoints.hpp"
#include "storage/registry/tables/users.hpp"
#include "storage/registry/tables/workspaces.hpp"

namespace herald::storage::registry::audit {
namespace {

using schemas::commands::command_envelope;
using state::state_view;

/// "version" of version_id.
template <class Id>
consteval std::string_view kind_of_id() {
    constexpr std::string_view name = __PRETTY_FUNCTION__;  // "… [Id = herald::schemas::id<…version_kind>]"
    constexpr std::size_t end = name.rfind("_kind");
    static_assert(end != std::string_view::npos);
    constexpr std::size_t begin = name.find_last_of(" :<", end) + 1;
    return name.substr(begin, end - begin);
}

/// If a command has several ids, the one of the narrowest thing is its subject; a kind that is not listed is
/// narrower than these.
constexpr std::array<std::string_view, 7> widest_first{"workspace", "organization", "role",   "group",
                                                       "user",      "model",        "version"};
constexpr std::size_t narrowness(std::string_view kind) {
    return static_cast<std::size_t>(std::ranges::find(widest_first, kind) - widest_first.begin());
}

/// A member of a command, or of the command in its member `update`, that says what the command is about.
struct telling_member {
    unsigned number = 0;
    std::string_view kind;  // of the id; empty: a text
    std::string_view name;
    bool is_list = false;
    bool is_direction = false;  // of two that the command can do
    bool is_endpoint = false;   // its UUID
    const std::array<telling_member, 12>* inside = nullptr;
};
using telling_members = std::array<telling_member, 12>;

/// Texts that name the thing; of several the last one counts, as in workspace_name, model_name.
constexpr bool is_naming(std::string_view name) {
    return name == "name" || name == "who" || name == "email" ||
           (name.ends_with("_name") && name != "key_name" && name != "full_name");
}

constexpr bool is_direction(std::string_view name) {
    return name == "is_admin" || name == "approve" || name == "secondary";
}

template <class Command>
consteval telling_members collect_members();
template <class Command>
inline constexpr telling_members members_of = collect_members<Command>();

struct member_collector {
    telling_members& found;
    std::size_t& count;

    template <class T>
    constexpr void operator()(unsigned number, std::string_view name, const T&, auto...) {
        if constexpr (schemas::numeric_id<T>) {
            // Another workspace than that of what the command is about, if it is there at all.
            if (name != "default_workspace_id") add({number, kind_of_id<T>(), name});
        } else if constexpr (std::same_as<T, bool>) {
            if (is_direction(name)) add({number, {}, name, false, true});
        } else if constexpr (std::same_as<T, schemas::uuid>) {
            if (name == "endpoint_id" || name == "id") add({number, {}, name, false, false, true});
        } else if constexpr (std::same_as<T, schemas::commands::update_version>) {
            add({number, {}, name, false, false, false, &members_of<T>});
        } else if constexpr (schemas::vector_field<T>) {
            if constexpr (schemas::numeric_id<typename T::value_type>)
                add({number, kind_of_id<typename T::value_type>(), name, true});
        } else if constexpr (std::same_as<T, std::string>) {
            if (is_naming(name)) add({number, {}, name});
        }
    }
    constexpr void add(telling_member member) {
        if (count < found.size()) found[count++] = member;
    }
};

template <class Command>
consteval telling_members collect_members() {
    telling_members found{};
    std::size_t count = 0;
    Command::describe(schemas::detail::no_value<Command>.value, member_collector{found, count});
    return found;
}

template <class... Commands>
const telling_members* find_members(schemas::commands::command_type type,
                                    schemas::commands::command_list<Commands...>) {
    const telling_members* found = nullptr;
    ((type == Commands::type && (found = &members_of<Commands>)) || ...);
    return found;
}

std::string type_text(std::string_view kind) {
    if (kind == "model") return "REGISTERED_MODEL";
    if (kind == "version") return "REGISTERED_MODEL_VERSION";
    std::string text(kind.substr(0, limits::audit_word_bytes_max));
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

/// At most limits::audit_text_bytes_max bytes of it, whole characters; empty when it is not UTF-8.
std::string shortened(std::string_view text) {
    if (!runtime::is_valid_utf8(text)) return {};
    std::size_t bytes = std::min(text.size(), limits::audit_text_bytes_max);
    while (bytes < text.size() && bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80)
        --bytes;
    return std::string(text.substr(0, bytes));
}

/// The content of the members: the narrowest id, the workspace, the last name.
struct told {
    std::string_view kind;
    std::uint64_t id = 0;
    schemas::workspace_id workspace;
    std::string_view workspace_name;
    std::string_view name;
    std::string_view direction;
    std::string_view endpoint;  // its UUID
    std::string parts;          // of it: "stage_id=3,token_id=7"
    std::string list;           // "user_id=3,7": of a list of ids
    std::size_t listed = 0;
    std::size_t left_out = 0;  // ids for which the list has no room
};

/// An id of the kind that the command names by its noun is never too wide.
void take_id(told& out, const telling_member& member, std::string_view noun, std::uint64_t id) {
    if (id == 0) return;
    if (member.kind == "workspace" && !member.is_list) out.workspace.value = id;
    if (out.id != 0 && out.kind == noun && member.kind != noun) return;
    if (member.kind != noun && out.id != 0 &&
        (member.is_list || narrowness(member.kind) < narrowness(out.kind)))
        return;
    out.kind = member.kind;
    out.id = id;
}

void list_id(told& out, std::string_view name, std::uint64_t id) {
    const std::string text = (out.listed++ == 0 ? std::string(name) + "=" : ",") + std::to_string(id);
    if (out.left_out > 0 || out.list.size() + text.size() > limits::audit_list_bytes_max)
        ++out.left_out;
    else
        out.list += text;
}

void read_members(told& out, const telling_members& members, std::string_view noun, std::string_view body) {
    schemas::detail::decoder fields{body};
    for (fields.advance(); fields.has_next(); fields.advance())
        for (const telling_member& member : members) {
            if (member.number != fields.number_ahead) continue;
            const bool is_text = fields.kind_ahead == schemas::detail::field_kind::bytes;
            if (member.is_endpoint) {
                if (is_text) out.endpoint = fields.bytes_ahead;
            } else if (!out.endpoint.empty() && !member.kind.empty() && !is_text) {
                out.parts += (out.parts.empty() ? "" : ",") + std::string(member.name) + "=" +
                             std::to_string(fields.varint_ahead);
            } else if (member.inside) {
                if (is_text) read_members(out, *member.inside, noun, fields.bytes_ahead);
            } else if (member.is_direction) {
                if (!is_text && fields.varint_ahead != 0) out.direction = member.name;
            } else if (!member.kind.empty() && !is_text) {
                if (member.is_list) list_id(out, member.name, fields.varint_ahead);
                take_id(out, member, noun, fields.varint_ahead);
            } else if (member.kind.empty() && is_text)
                (member.name == "workspace_name" ? out.workspace_name : out.name) = fields.bytes_ahead;
        }
}

/// The command's variant: "is_admin=true"; or its other ids: "user_id=3,7", if more than the subject's id is
/// there.
std::string direction_of(const telling_members& members, const told& what) {
    if (what.left_out > 0) return what.list + "+" + std::to_string(what.left_out);
    const bool is_said = what.listed == 1 && what.list.ends_with("=" + std::to_string(what.id)) &&
                         what.list.starts_with("ids=");
    if (!what.list.empty() && !is_said) return what.list;
    for (const telling_member& member : members)
        if (member.is_direction)
            return std::string(member.name) + (what.direction == member.name ? "=true" : "=false");
    return {};
}

/// Other words for a user in names of commands.
std::string_view noun_of(std::string_view action) {
    const std::string_view noun = action.substr(std::min(action.find('_') + 1, action.size()));
    if (noun == "system_admin" || noun == "admin_key" || noun == "service_account" ||
        noun == "organization_user" || noun == "key")
        return "user";
    if (action == "update_stage") return "version";
    if (action == "set_policies") return "workspace";
    return noun;
}

/// The id of a user whom the command names by e-mail, or who is the sender.
void find_user(told& what, const state_view& state, const command_envelope& command,
               std::string_view action) {
    const bool names_sender = action == "add_key" || action == "remove_key" || action == "update_user";
    const bool names_another = action == "set_system_admin" || action == "renew_admin_key";
    if (what.kind == "user") return;
    std::optional<schemas::user_id> found;
    if (names_sender) found = command.request.principal;
    if (names_another) found = tables::users::with_email(state, what.name);
    if (!found) return;
    what.kind = "user";
    what.id = found->value;
}

/// Things that commands name by one word, behind their verb: create_model, update_version.
constexpr std::array<std::string_view, 14> nouns{
    "model",   "version",      "build", "webhook",      "user",      "group",    "role",
    "session", "organization", "stage", "feature_flag", "workspace", "endpoint", "replay"};

/// For commands about an endpoint or a part of it; empty for all others.
std::optional<subject> endpoint_in(const told& what, const state_view& state) {
    schemas::uuid id{};
    if (what.endpoint.size() != id.size()) return std::nullopt;
    std::copy(what.endpoint.begin(), what.endpoint.end(), id.begin());
    subject out;
    out.type = "ENDPOINT";
    out.kind = "endpoint";
    out.id = runtime::uuid_text(id);
    out.direction = what.parts;
    if (const auto row = tables::endpoints::find(state, id)) {
        out.workspace = row->workspace_id;
    } else if (const auto named = tables::workspaces::named(state, what.workspace_name)) {
        out.workspace = *named;
    } else if (const auto number = runtime::parse_plain_decimal(what.workspace_name)) {
        const schemas::workspace_id meant{*number};
        if (meant && tables::workspaces::has(state, meant)) out.workspace = meant;
    }
    return out;
}

}  // namespace

schemas::workspace_id workspace_of(const state_view& state, std::string_view kind, std::uint64_t id) {
    std::optional<schemas::workspace_id> found;
    if (kind == "workspace") found = schemas::workspace_id{id};
    if (kind == "model") found = tables::workspace_of_row(state, schemas::model_id{id});
    if (kind == "version") found = tables::workspace_of_row(state, schemas::version_id{id});
    if (kind == "build") found = tables::workspace_of_row(state, schemas::build_id{id});
    if (kind == "webhook") found = tables::workspace_of_row(state, schemas::webhook_id{id});
    if (kind == "replay") found = tables::workspace_of_row(state, schemas::replay_id{id});
    return found.value_or(schemas::workspace_id{});
}

std::string name_of(const state_view& state, std::string_view kind, std::string_view id) {
    if (kind == "endpoint") {
        const auto uuid = runtime::parse_uuid(id);
        const auto row = uuid ? tables::endpoints::find(state, *uuid) : std::nullopt;
        return row ? shortened(row->path) : std::string();
    }
    const auto number = runtime::parse_plain_decimal(id);
    return number ? shortened(tables::name_of_row(state, kind, *number)) : std::string();
}

namespace {

/// Without names.
subject subject_in(const state_view& state, const command_envelope& command) {
    subject out;
    const telling_members* members = find_members(command.type, schemas::commands::all_commands{});
    if (!members) return out;
    const std::string_view action = schemas::commands::find_command(command.type)->name;
    const std::string_view noun = noun_of(action);
    told what;
    read_members(what, *members, noun, command.body);
    if (auto endpoint = endpoint_in(what, state)) return *std::move(endpoint);
    find_user(what, state, command, action);
    out.direction = direction_of(*members, what);
    if (what.kind == "activity") {
        const auto version = tables::version_of_entry(state, schemas::activity_id{what.id});
        what.kind = version ? "version" : "transition";  // of one that there is not, no more is known
        if (version) what.id = version->value;
    }
    out.workspace = what.workspace ? what.workspace : workspace_of(state, what.kind, what.id);
    if (!out.workspace && !what.workspace_name.empty())
        out.workspace = tables::workspaces::named(state, what.workspace_name).value_or(out.workspace);
    if (noun == "workspace" && what.id == 0 && out.workspace) {
        what.kind = noun;
        what.id = out.workspace.value;
    }
    const bool is_other = what.kind != noun && std::ranges::find(nouns, noun) != nouns.end();
    out.is_in_answer = is_other && noun != "feature_flag";
    if (is_other) {
        out.type = type_text(noun);
        out.kind = noun;
        out.id = shortened(what.name.empty() && noun == "workspace" ? what.workspace_name : what.name);
        out.name = out.id;
    } else if (what.id != 0) {
        out.type = type_text(what.kind);
        out.kind = what.kind;
        out.id = std::to_string(what.id);
    }
    return out;
}

}  // namespace

subject subject_of(const state_view& state, const command_envelope& command) {
    subject out = subject_in(state, command);
    if (out.name.empty() && !out.is_in_answer) out.name = name_of(state, out.kind, out.id);
    if (out.workspace) out.workspace_name = name_of(state, "workspace", std::to_string(out.workspace.value));
    return out;
}

}  // namespace herald::storage::registry::audit
