#include "runtime/key_ring.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/crypto.hpp"
#include "runtime/files.hpp"

namespace herald::runtime {
namespace {

/// Written completely or not at all, even if the machine stops; if several processes do it at once, the first
/// one's file counts.
result<void> create_file(const std::filesystem::path& file, random_source& random) {
    const std::filesystem::path draft = file.string() + "." + uuid_text(random.uuid());
    const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) return failed_precondition({"cannot create the key ring ", file.string()});
    const std::string line = "k1 " + to_base64(random.bytes(seal_key_bytes)) + "\n";
    const bool written = ::write(descriptor, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
                         ::fsync(descriptor) == 0;
    ::close(descriptor);
    const bool placed = written && (::link(draft.c_str(), file.c_str()) == 0 || errno == EEXIST);
    ::unlink(draft.c_str());
    if (!placed) return failed_precondition({"cannot write the key ring ", file.string()});
    (void)make_durable(std::filesystem::absolute(file).parent_path());
    return {};
}

error unreadable(const std::filesystem::path& file, int why) {
    return failed_precondition(
        {"the key ring ", file.string(), " cannot be read: ", std::generic_category().message(why)});
}

bool is_group_of_ours(gid_t group) {
    if (group == ::getegid()) return true;
    std::vector<gid_t> ours(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
    const int count = ::getgroups(static_cast<int>(ours.size()), ours.data());
    return count > 0 && std::find(ours.begin(), ours.begin() + count, group) != ours.begin() + count;
}

/// Kubernetes gives a Secret to a pod as a file of root's that a group of the pod's may read (fsGroup), and
/// makes it so whatever mode was asked for.
result<void> check_readers(const std::filesystem::path& file, const struct stat& info) {
    const mode_t others = info.st_mode & 077;
    const bool is_for_our_group = others == S_IRGRP && (info.st_uid == 0 || info.st_uid == ::geteuid()) &&
                                  is_group_of_ours(info.st_gid);
    if (others == 0 || is_for_our_group) return {};
    if (others == S_IRGRP)
        return failed_precondition({"the key ring ", file.string(),
                                    " can be read by a group of others; run: chmod 600 ", file.string(),
                                    " (or give it to root or this user, and to a group of this user)"});
    return failed_precondition(
        {"the key ring ", file.string(), " can be read by others; run: chmod 600 ", file.string()});
}

}  // namespace

result<key_ring> key_ring::load(const std::filesystem::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) {
        if (errno == ENOENT) return not_found({"no key ring at ", file.string()});
        return unreadable(file, errno);
    }
    if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode))
        return failed_precondition({"the key ring ", file.string(), " is ",
                                    (S_ISDIR(info.st_mode) ? "a folder" : "a device or a socket"),
                                    "; it must be a file"});
    if (const auto safe = check_readers(file, info); !safe) return safe.error();
    errno = 0;
    std::ifstream in(file);
    if (!in) return unreadable(file, errno);
    key_ring ring;
    std::string line;
    while (std::getline(in, line)) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string name;
        std::string text;
        words >> name >> text;
        const auto key = from_base64(text);
        if (name.empty() || name.size() > 32 || !key || key->size() != seal_key_bytes)
            return failed_precondition(
                {"the key ring ", file.string(), " has a line that is not `name base64-of-32-bytes`"});
        ring.x_keys[name] = *key;
        if (ring.x_oldest.empty()) ring.x_oldest = name;
        if (name != ring.x_current) ring.x_before = std::exchange(ring.x_current, name);
    }
    if (in.bad()) return unreadable(file, EIO);  // some keys may be missing
    if (ring.x_keys.empty()) return failed_precondition({"the key ring ", file.string(), " holds no key"});
    return ring;
}

result<key_ring> key_ring::load_or_create(const std::filesystem::path& file, random_source& random) {
    auto loaded = load(file);
    if (loaded || loaded.error().code != error_code::not_found) return loaded;
    if (const auto created = create_file(file, random); !created) return created.error();
    return load(file);
}

key_ring key_ring::of(std::string name, std::string key) {
    key_ring ring;
    ring.x_current = ring.x_oldest = name;
    ring.x_keys.emplace(std::move(name), std::move(key));
    return ring;
}

std::string key_ring::check_value() const {
    return std::string(as_bytes(hmac_sha256(x_keys.find(x_oldest)->second, "herald key check")));
}

std::string key_ring::signing_seed() const {
    return std::string(as_bytes(hmac_sha256(x_keys.find(x_oldest)->second, "herald signing key")));
}

std::vector<key_ring::webhook_key> key_ring::webhook_keys() const {
    std::vector<webhook_key> all;
    for (const std::string& name : {x_current, x_before}) {
        const auto key = x_keys.find(name);
        if (key != x_keys.end())
            all.push_back({name, std::string(as_bytes(hmac_sha256(key->second, "webhook-signing-ed25519")))});
    }
    return all;
}

std::string key_ring::seal(std::string_view bound_to, std::string_view plain, random_source& random) const {
    const std::string nonce = random.bytes(seal_nonce_bytes);
    return x_current + '\0' + runtime::seal(x_keys.find(x_current)->second, nonce, bound_to, plain);
}

result<std::string> key_ring::unseal(std::string_view bound_to, std::string_view sealed) const {
    const std::size_t end = sealed.find('\0');
    if (end == std::string_view::npos) return invalid_argument("sealed secret names no key");
    const auto key = x_keys.find(sealed.substr(0, end));
    if (key == x_keys.end())
        return failed_precondition({"the key ring has no key \"", sealed.substr(0, end), "\""});
    return runtime::unseal(key->second, bound_to, sealed.substr(end + 1));
}

result<std::string> key_ring::mint(std::string_view key_name, std::string_view command_id,
                                   std::string_view purpose) const {
    const auto key = x_keys.find(key_name);
    if (key == x_keys.end()) return failed_precondition({"the key ring has no key \"", key_name, "\""});
    const sha256_digest digest = hmac_sha256(key->second, std::string(command_id) + std::string(purpose));
    std::string text = to_base64(as_bytes(digest));
    text.pop_back();  // 32 bytes leave one padding character
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

result<std::string> key_ring::sign(std::string_view key_name, std::string_view purpose,
                                   std::string_view text) const {
    const auto key = x_keys.find(key_name);
    if (key == x_keys.end()) return failed_precondition({"the key ring has no key \"", key_name, "\""});
    const sha256_digest own = hmac_sha256(key->second, "herald signs " + std::string(purpose));
    return to_hex(as_bytes(hmac_sha256(as_bytes(own), text)));
}

}  // namespace herald::runtime
