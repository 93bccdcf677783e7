#include "storage/artifacts/store_owner.hpp"

#include "runtime/text.hpp"

namespace herald::storage::artifacts {
namespace {

constexpr std::string_view log_word = "log ", generation_word = "generation ";

std::string named(const store_owner& one) {
    return "generation " + std::to_string(one.generation) + " of the log " + one.log_id;
}

}  // namespace

result<owner_step> judge_store(const std::optional<store_owner>& found, const store_owner& mine,
                               bool has_blobs, store_taking taking) {
    if (found == mine) return owner_step::use;
    const bool is_accepted = taking == store_taking::accepted;
    if (!found) {
        if (!has_blobs || is_accepted) return owner_step::mark;
        return runtime::failed_precondition(
            "the store of artifacts does not belong to this installation, which has artifacts: check that "
            "its disk is mounted, and is the right one. To use this store, and to upload again what it "
            "lacks, start once with --accept-artifacts");
    }
    if (found->generation >= mine.generation)
        return runtime::failed_precondition({"the store of artifacts belongs to ", named(*found),
                                             ", and this is ", named(mine),
                                             ": give this installation a store of its own"});
    if (is_accepted) return owner_step::mark;
    return runtime::failed_precondition(
        {"the store of artifacts belongs to ", named(*found), ", and this is ", named(mine),
         ": two must not share one. If the older has ended for good, start once with --accept-artifacts"});
}

result<void> check_still(const std::optional<store_owner>& found, const store_owner& mine) {
    if (!found) return runtime::unavailable("the store of artifacts is not there: it lacks its mark");
    if (*found == mine) return {};
    return runtime::failed_precondition({"the store of artifacts has been taken over: it belongs to ",
                                         named(*found), ", and this is ", named(mine)});
}

std::string text_of(const store_owner& owner) {
    return std::string(log_word) + owner.log_id + "\n" + std::string(generation_word) +
           std::to_string(owner.generation) + "\n";
}

result<store_owner> read_owner(std::string_view text) {
    const std::size_t line = text.find('\n');
    const std::size_t end = line == text.npos ? line : text.find('\n', line + 1);
    if (text.starts_with(log_word) && end != text.npos) {
        const std::string_view second = text.substr(line + 1, end - line - 1);
        if (second.starts_with(generation_word))
            if (const auto number = runtime::parse_decimal(second.substr(generation_word.size()));
                number && *number <= UINT32_MAX)
                return store_owner{std::string(text.substr(log_word.size(), line - log_word.size())),
                                   static_cast<std::uint32_t>(*number)};
    }
    return runtime::internal("the store of artifacts has a mark of its owner that cannot be read");
}

}  // namespace herald::storage::artifacts
