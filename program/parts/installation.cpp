#include "program/parts/installation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "runtime/crypto.hpp"
#include "runtime/random.hpp"

namespace herald::program {

storage::node::genesis_options with_admin_key(storage::node::genesis_options options) {
    if (options.admin_key.empty()) options.admin_key = runtime::to_hex(runtime::system_random().bytes(32));
    return options;
}

result<runtime::key_ring> ring_of(const std::filesystem::path& file,
                                  const std::function<result<bool>()>& is_new) {
    auto there = runtime::key_ring::load(file);
    if (there || there.error().code != error_code::not_found) return there;
    const auto may_be_made = is_new();
    if (!may_be_made) return may_be_made.error();
    // A new ring would take the place of the right one, and could open nothing.
    if (!*may_be_made)
        return runtime::failed_precondition({"the key ring ", file.string(),
                                             " is missing, but the installation was begun with one: restore "
                                             "the file, or name its place with --key-ring"});
    return runtime::key_ring::load_or_create(file, runtime::system_random());
}

result<std::filesystem::path> make_folder(const settings& chosen) {
    const std::filesystem::path folder = folder_of(chosen);
    std::error_code wrong;
    std::filesystem::create_directories(folder, wrong);
    if (!wrong) std::filesystem::permissions(folder, std::filesystem::perms::owner_all, wrong);
    if (wrong) return runtime::unavailable({"cannot make ", folder.string(), ": ", wrong.message()});
    return folder;
}

result<void> write_key_file(const std::filesystem::path& file, const std::string& email,
                            const std::string& key) {
    ::unlink(file.c_str());  // its mode may be different
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const std::string text = "email " + email + "\nkey " + key + "\n";
    const bool written =
        descriptor >= 0 && ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (descriptor >= 0) ::close(descriptor);
    if (!written) return runtime::unavailable({"cannot write ", file.string()});
    return {};
}

}  // namespace herald::program
