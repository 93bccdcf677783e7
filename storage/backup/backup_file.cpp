#include "storage/backup/backup_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <optional>
#include <system_error>

#include "runtime/files.hpp"
#include "runtime/text.hpp"
#include "schemas/binary.hpp"
#include "schemas/stored_format.hpp"
#include "storage/backup/limits.hpp"
#include "storage/registry/tables/content.hpp"

namespace herald::storage::backup {
namespace {

namespace fs = std::filesystem;
using registry::tables::content;
using schemas::commands::restore_rows;

constexpr std::string_view magic = "HERALD BACKUP ";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t buffer_bytes = 256 * 1024;
constexpr char header_kind = 'H', rows_kind = 'R', records_kind = 'D', end_kind = 'E';

error damaged(const fs::path& file, const std::string& how) {
    return runtime::failed_precondition({"the backup ", file.string(), " is damaged: ", how});
}

struct part {
    char kind = 0;
    std::string bytes;
};

/// Reads parts in order and sums up what it reads.
class backup_reader {
  public:
    explicit backup_reader(const fs::path& file) : x_file(file), x_in(file, std::ios::binary) {}

    result<void> open() {
        std::error_code failure;
        if (!x_in) return runtime::not_found({"there is no backup ", x_file.string()});
        x_left = x_size = fs::file_size(x_file, failure);
        const auto begins = take(magic.size());
        if (failure || !begins || *begins != magic)
            return runtime::failed_precondition({x_file.string(), " is not a backup of Herald"});
        std::string format;
        for (auto next = take(1); next && *next != "\n" && format.size() < limits::backup_format_digits_max;
             next = take(1))
            format += *next;
        return schemas::check_stored_format("the backup " + x_file.string(),
                                            runtime::parse_decimal(format).value_or(0));
    }
    std::uint64_t size() const noexcept { return x_size; }
    std::uint64_t left() const noexcept { return x_left; }

    result<part> next() {
        const auto head = take(9);
        if (!head) return head.error();
        const std::uint64_t length = schemas::read_big_endian(std::string_view(*head).substr(1));
        if (length > limits::backup_part_bytes_max) return damaged(x_file, "a part is too long");
        auto bytes = take(static_cast<std::size_t>(length));
        if (!bytes) return bytes.error();
        return part{head->front(), *std::move(bytes)};
    }

    /// The next part; empty for one with rows or records, which is passed over. Errors: as next().
    result<std::optional<part>> next_but_content() {
        const auto head = take(9);
        if (!head) return head.error();
        const std::uint64_t length = schemas::read_big_endian(std::string_view(*head).substr(1));
        if (length > limits::backup_part_bytes_max || length > x_left)
            return damaged(x_file, "a part is too long");
        if (head->front() == rows_kind || head->front() == records_kind) {
            x_in.seekg(static_cast<std::streamoff>(length), std::ios::cur);
            x_left -= length;
            return std::optional<part>();
        }
        auto bytes = take(static_cast<std::size_t>(length));
        if (!bytes) return bytes.error();
        return std::optional<part>(part{head->front(), *std::move(bytes)});
    }
    /// The last bytes, which are not compared.
    result<std::string> told_digest() { return take(digest_bytes); }

    /// Errors: failed_precondition unless the digest follows, and nothing after it.
    result<void> end() {
        const std::string found(runtime::as_bytes(x_sum.finish()));
        const auto told = take(digest_bytes);
        if (!told) return told.error();
        if (*told != found) return damaged(x_file, "its digest is wrong");
        if (x_left != 0) return damaged(x_file, "it goes on behind its end");
        return {};
    }

    template <class What>
    result<What> read(const part& from) const {
        auto what = schemas::decode<What>(from.bytes);
        if (!what) return damaged(x_file, "a part cannot be read");
        return *std::move(what);
    }

  private:
    result<std::string> take(std::size_t bytes) {
        if (bytes > x_left) return damaged(x_file, "its end is missing");
        std::string taken(bytes, '\0');
        x_in.read(taken.data(), static_cast<std::streamsize>(bytes));
        if (!x_in) return runtime::unavailable({"the backup ", x_file.string(), " cannot be read"});
        x_left -= bytes;
        x_sum.add(taken);
        return taken;
    }

    const fs::path x_file;
    std::ifstream x_in;
    runtime::sha256_stream x_sum;
    std::uint64_t x_size = 0;
    std::uint64_t x_left = 0;
};

/// Counts what is read, in the form of backup_end.
struct tally {
    backup_end found;
    void add(const restore_rows& piece) {
        ++found.pieces;
        found.rows += piece.rows.size();
        found.rows_digest = content::digest_after(found.rows_digest, piece.rows);
    }
    bool agrees(const backup_end& told) const {
        return found.pieces == told.pieces && found.rows == told.rows && found.records == told.records &&
               found.rows_digest == told.rows_digest && found.records_digest == told.records_digest;
    }
};

}  // namespace

std::string records_digest_after(const std::string& before, const std::string& encoded) {
    runtime::sha256_stream sum;
    sum.add(before);
    sum.add(encoded);
    return std::string(runtime::as_bytes(sum.finish()));
}

backup_writer::backup_writer(fs::path file, std::stop_token stop)
    : x_file(std::move(file)), x_stop(std::move(stop)) {}

backup_writer::~backup_writer() {
    if (x_descriptor >= 0) ::close(x_descriptor);
    if (!x_unfinished.empty()) ::unlink(x_unfinished.c_str());
}

error backup_writer::failed(int number) const {
    if (number == ENOSPC || number == EDQUOT)
        return runtime::unavailable(
            {"the backup ", x_file.string(), " cannot be written: there is no room on its disk"});
    return runtime::unavailable(
        {"the backup ", x_file.string(), " cannot be written: ", std::generic_category().message(number)});
}

result<void> backup_writer::begin(const backup_header& header) {
    std::error_code failure;
    if (fs::exists(x_file, failure))
        return runtime::already_exists({"there is a file ", x_file.string(), " already: name another"});
    std::string unfinished = x_file.string() + std::string(unfinished_suffix) + "XXXXXX";
    x_descriptor = ::mkostemp(unfinished.data(), O_CLOEXEC);  // for its owner alone
    if (x_descriptor < 0) return failed(errno);
    x_unfinished = std::move(unfinished);
    const std::string beginning = std::string(magic) + std::to_string(schemas::stored_format) + "\n";
    if (const auto begun = write(beginning); !begun) return begun;
    return put(header_kind, schemas::encode(header));
}

result<void> backup_writer::add(const restore_rows& piece) { return put(rows_kind, schemas::encode(piece)); }

result<void> backup_writer::add(const carried_records& some) {
    return put(records_kind, schemas::encode(some));
}

result<std::uint64_t> backup_writer::finish(const backup_end& end) {
    if (const auto put_end = put(end_kind, schemas::encode(end)); !put_end) return put_end.error();
    if (const auto closed = write(std::string(runtime::as_bytes(x_sum.finish()))); !closed)
        return closed.error();
    if (const auto flushed = flush(); !flushed) return flushed.error();
    if (::fsync(x_descriptor) != 0) return failed(errno);
    // Unlike a rename, it takes nobody else's file away.
    if (::link(x_unfinished.c_str(), x_file.c_str()) != 0) {
        if (errno == EEXIST)
            return runtime::already_exists(
                {"there is a file ", x_file.string(), " by now: another backup was written there"});
        return failed(errno);
    }
    ::unlink(x_unfinished.c_str());
    x_unfinished.clear();
    const fs::path folder = x_file.has_parent_path() ? x_file.parent_path() : fs::path(".");
    if (const auto why = runtime::make_durable(folder)) return failed(why.value());
    return x_bytes;
}

result<void> backup_writer::put(char kind, const std::string& bytes) {
    std::string head(1, kind);
    schemas::append_big_endian(head, static_cast<std::uint64_t>(bytes.size()));
    if (const auto headed = write(head); !headed) return headed;
    return write(bytes);
}

result<void> backup_writer::write(const std::string& bytes) {
    if (x_stop.stop_requested()) return runtime::aborted("the backup was interrupted");
    x_sum.add(bytes);
    x_bytes += bytes.size();
    x_buffer += bytes;
    if (x_buffer.size() < buffer_bytes) return {};
    return flush();
}

result<void> backup_writer::flush() {
    std::string_view left = x_buffer;
    while (!left.empty()) {
        const ssize_t written = ::write(x_descriptor, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(errno);
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    x_buffer.clear();
    return {};
}

result<backup_summary> verify_backup(const fs::path& file) {
    backup_reader reader(file);
    if (const auto opened = reader.open(); !opened) return opened.error();
    backup_summary all;
    std::error_code ignored;
    all.bytes = fs::file_size(file, ignored);
    tally counted;
    for (bool is_first = true;; is_first = false) {
        const auto next = reader.next();
        if (!next) return next.error();
        if (is_first != (next->kind == header_kind)) return damaged(file, "its parts are in disorder");
        if (next->kind == header_kind) {
            const auto header = reader.read<backup_header>(*next);
            if (!header) return header.error();
            all.header = *header;
        } else if (next->kind == rows_kind) {
            const auto piece = reader.read<restore_rows>(*next);
            if (!piece) return piece.error();
            counted.add(*piece);
        } else if (next->kind == records_kind) {
            const auto some = reader.read<carried_records>(*next);
            if (!some) return some.error();
            counted.found.records += some->records.size();
            counted.found.records_digest = records_digest_after(counted.found.records_digest, next->bytes);
        } else if (next->kind == end_kind) {
            const auto end = reader.read<backup_end>(*next);
            if (!end) return end.error();
            all.end = *end;
            break;
        } else {
            return damaged(file, "a part is of an unknown kind");
        }
    }
    if (const auto ended = reader.end(); !ended) return ended.error();
    if (!counted.agrees(all.end)) return damaged(file, "it does not hold what its end says");
    return all;
}

result<backup_look> look_at_backup(const fs::path& file) {
    backup_reader reader(file);
    if (const auto opened = reader.open(); !opened) return opened.error();
    backup_look seen;
    seen.summary.bytes = reader.size();
    for (bool is_ended = false; !is_ended;) {
        const auto next = reader.next_but_content();
        if (!next) return next.error();
        if (!*next) continue;
        is_ended = (*next)->kind == end_kind;
        if (is_ended) {
            auto end = reader.read<backup_end>(**next);
            if (!end) return end.error();
            seen.summary.end = *std::move(end);
        } else if ((*next)->kind == header_kind) {
            auto header = reader.read<backup_header>(**next);
            if (!header) return header.error();
            seen.summary.header = *std::move(header);
        } else {
            return damaged(file, "a part is of an unknown kind");
        }
    }
    auto digest = reader.told_digest();
    if (!digest) return digest.error();
    seen.digest = *std::move(digest);
    if (reader.left() != 0) return damaged(file, "it goes on behind its end");
    return seen;
}

result<void> visit_backup(const fs::path& file, const backup_visitor& visitor) {
    backup_reader reader(file);
    if (const auto opened = reader.open(); !opened) return opened;
    for (;;) {
        const auto next = reader.next();
        if (!next) return next.error();
        if (next->kind == end_kind) return {};
        if (next->kind == rows_kind) {
            const auto piece = reader.read<restore_rows>(*next);
            if (!piece) return piece.error();
            if (const auto done = visitor.rows(*piece); !done) return done;
        } else if (next->kind == records_kind) {
            const auto some = reader.read<carried_records>(*next);
            if (!some) return some.error();
            if (const auto done = visitor.records(*some); !done) return done;
        }
    }
}

}  // namespace herald::storage::backup
