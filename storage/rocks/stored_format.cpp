#include "storage/rocks/stored_format.hpp"

#include <fstream>
#include <string>

#include "runtime/files.hpp"
#include "schemas/stored_format.hpp"

namespace herald::storage::rocks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_name = "herald-format";

}  // namespace

result<void> check_stored_format(const fs::path& folder, std::string_view what) {
    std::error_code failure;
    const bool has_number = fs::exists(folder / file_name, failure);
    if (!has_number && !fs::exists(folder / "CURRENT", failure)) return put_stored_format(folder);
    std::uint64_t found = 0;
    if (std::ifstream file(folder / file_name); !(file >> found)) found = 0;
    return schemas::check_stored_format(std::string(what) + " in " + folder.string(), found);
}

result<void> put_stored_format(const fs::path& folder) {
    const fs::path unfinished = folder / (std::string(file_name) + ".new");
    std::ofstream file(unfinished);
    file << schemas::stored_format << '\n';
    file.close();
    std::error_code failure;
    if (!file) failure = std::make_error_code(std::errc::io_error);
    if (!failure) failure = runtime::make_durable(unfinished);
    if (!failure) fs::rename(unfinished, folder / file_name, failure);
    if (!failure) failure = runtime::make_durable(folder);
    if (!failure) return {};
    return runtime::unavailable(
        {"the file ", (folder / file_name).string(), " cannot be written: ", failure.message()});
}

}  // namespace herald::storage::rocks
