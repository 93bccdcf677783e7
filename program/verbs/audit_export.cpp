#include "program/verbs/audit_export.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/crypto.hpp"
#include "runtime/signing.hpp"
#include "schemas/json_codec.hpp"

namespace herald::program {
namespace {

using runtime::failed_precondition;
using schemas::audit_row;
using schemas::audit_seal;

std::string text_of(std::uint64_t number) { return std::to_string(number); }

/// The chain as far as it was read.
class chain {
  public:
    /// The first error counts: what follows it says nothing more.
    result<void> add(const audit_row& row, std::uint64_t line) {
        if (const auto good = check_place(row, line); !good) return good;
        if (x_rows == 0) x_first = row.sequence;
        if (x_rows > 0 || row.sequence == 1)
            if (const auto good = check_hash(row, x_hash, line); !good) return good;
        if (x_rows == 0) x_first_row = row;
        ++x_rows;
        x_last = row.sequence;
        x_last_ms = row.time;
        x_hash = row.hash.bytes;
        return {};
    }

    /// Whether these are the rows that were sealed.
    result<void> end(const audit_seal& seal) const {
        const schemas::audit_head& head = seal.head;
        const std::uint64_t sealed = head.last + 1 - head.first;
        if (x_rows == 0 && sealed == 0) return {};
        if (x_rows == 0) return missing(head.first, head.last);
        if (x_first > head.first) return missing(head.first, x_first - 1);
        if (x_first < head.first)
            return failed_precondition(
                {"row ", text_of(x_first), " was added: the export begins with row ", text_of(head.first)});
        if (const auto good = check_hash(x_first_row, head.before.bytes, 1); !good) return good;
        if (x_last < head.last) return missing(x_last + 1, head.last);
        if (x_last > head.last)
            return failed_precondition({"row ", text_of(head.last + 1),
                                        " was added: the export ends with row ", text_of(head.last)});
        if (x_hash != head.hash.bytes)
            return failed_precondition(
                {"row ", text_of(x_last), " or one before it was changed: its hash is not the sealed one"});
        return {};
    }

    std::uint64_t rows() const noexcept { return x_rows; }
    std::int64_t last_row_ms() const noexcept { return x_last_ms; }
    /// What is wrong with a place where row `found` stands, if `is_later` says that row `expected` comes
    /// later.
    static error wrong_place(std::uint64_t expected, std::uint64_t found, std::uint64_t line, bool is_later) {
        if (is_later)
            return failed_precondition({"row ", text_of(found), " stands at another place: in line ",
                                        text_of(line), ", before row ", text_of(expected)});
        return missing(expected, found - 1);
    }
    std::uint64_t next() const noexcept { return x_rows == 0 ? 0 : x_last + 1; }

  private:
    static error missing(std::uint64_t from, std::uint64_t to) {
        if (from == to) return failed_precondition({"row ", text_of(from), " was removed"});
        return failed_precondition({"rows ", text_of(from), " to ", text_of(to), " were removed"});
    }

    result<void> check_place(const audit_row& row, std::uint64_t line) const {
        if (x_rows == 0 || row.sequence > x_last) return {};
        return failed_precondition({"row ", text_of(row.sequence),
                                    " was added or stands at another place: in "
                                    "line ",
                                    text_of(line), ", behind row ", text_of(x_last)});
    }

    static result<void> check_hash(const audit_row& row, std::string_view previous, std::uint64_t line) {
        if (schemas::hash_of(previous, row) == row.hash.bytes) return {};
        return failed_precondition({"row ", text_of(row.sequence), " was changed: in line ", text_of(line),
                                    ", its hash does not match its content"});
    }

    std::uint64_t x_rows = 0;
    std::uint64_t x_first = 0;
    std::uint64_t x_last = 0;
    std::int64_t x_last_ms = 0;
    audit_row x_first_row;
    std::string x_hash;
};

/// Takes a member out of an object and reads its hexadecimal digits: JSON's reader takes none. Empty when
/// there is none, or it is something else.
std::string take_bytes(schemas::json_value& from, std::string_view name) {
    auto* members = from.get_if<schemas::json_object>();
    if (!members) return {};
    for (auto each = members->begin(); each != members->end(); ++each) {
        if (each->first != name) continue;
        const auto* text = each->second.get_if<std::string>();
        auto bytes = text ? runtime::from_hex(*text) : result<std::string>(std::string());
        members->erase(each);
        return bytes ? *std::move(bytes) : std::string();
    }
    return {};
}

schemas::json_value* member_of(schemas::json_value& object, std::string_view name) {
    if (auto* members = object.get_if<schemas::json_object>())
        for (auto& [known, value] : *members)
            if (known == name) return &value;
    return nullptr;
}

template <schemas::described T>
result<T> read_line(const schemas::json_value& value, std::uint64_t line) {
    schemas::unknown_members unknown{schemas::unknown_told::all, {}};
    auto read = schemas::from_json<T>(value, &unknown);
    if (!read) return failed_precondition({"line ", text_of(line), " was changed: ", read.error().message});
    if (!unknown.found.empty())
        return failed_precondition(
            {"line ", text_of(line), " was changed: ", unknown.found.front().path, " was added to it"});
    return read;
}

result<audit_row> read_row(schemas::json_value value, std::uint64_t line) {
    std::string hash = take_bytes(value, "hash");
    auto row = read_line<audit_row>(value, line);
    if (row) row->hash.bytes = std::move(hash);
    return row;
}

result<audit_seal> read_seal(schemas::json_value value, std::uint64_t line) {
    const std::string log_id = take_bytes(value, "log_id");
    std::string signature = take_bytes(value, "signature"), hash, before;
    if (schemas::json_value* head = member_of(value, "head")) {
        hash = take_bytes(*head, "hash");
        before = take_bytes(*head, "before");
    }
    auto seal = read_line<audit_seal>(value, line);
    if (!seal) return seal;
    if (log_id.size() != seal->log_id.size())
        return failed_precondition({"line ", text_of(line), " was changed: log_id is not an id"});
    std::copy(log_id.begin(), log_id.end(), seal->log_id.begin());
    seal->signature.bytes = std::move(signature);
    seal->head.hash.bytes = std::move(hash);
    seal->head.before.bytes = std::move(before);
    return seal;
}

/// Whether one of the lines that are left is this row.
bool comes_later(std::istream& lines, std::uint64_t sequence) {
    for (std::string text; std::getline(lines, text);) {
        const auto value = schemas::parse_json(text);
        if (!value || !value->get_if<schemas::json_object>()) continue;
        const auto row = read_row(*value, 0);
        if (row && row->sequence == sequence) return true;
    }
    return false;
}

/// A copy that was restored from a backup has the same key ring, and so the same key.
result<void> check_log(const audit_seal& seal, std::string_view wanted) {
    const std::string sealed = log_id_text(seal);
    if (wanted.empty() || sealed == runtime::to_hex(wanted)) return {};
    return failed_precondition({"it is of the log ", sealed, ", not of ", runtime::to_hex(wanted),
                                ": it comes from another installation with the same key"});
}

}  // namespace

std::string log_id_text(const audit_seal& seal) { return runtime::to_hex(runtime::as_bytes(seal.log_id)); }

result<verified_export> verify_audit_export(std::istream& lines, std::string_view public_key,
                                            std::string_view log_id) {
    chain read;
    std::optional<audit_seal> seal;
    std::uint64_t line = 0;
    for (std::string text; std::getline(lines, text);) {
        ++line;
        if (seal) return failed_precondition({"line ", text_of(line), " was added behind the signed end"});
        const auto value = schemas::parse_json(text);
        if (!value || !value->get_if<schemas::json_object>())
            return failed_precondition({"line ", text_of(line), " was changed: it is not a JSON object"});
        if (value->find("signature")) {
            auto last = read_seal(*value, line);
            if (!last) return last.error();
            seal = *std::move(last);
            continue;
        }
        const auto row = read_row(*value, line);
        if (!row) return row.error();
        if (read.next() != 0 && row->sequence > read.next()) {
            const std::uint64_t expected = read.next();
            return chain::wrong_place(expected, row->sequence, line, comes_later(lines, expected));
        }
        if (const auto good = read.add(*row, line); !good) return good.error();
    }
    if (!seal) return failed_precondition("the end is cut off: the last line is not the signed one");
    if (!runtime::is_signed_by(public_key, schemas::signed_text(*seal), seal->signature.bytes))
        return failed_precondition(
            "the signature of the last line does not match this key: either the line was changed, or the key "
            "is that of "
            "another installation");
    if (const auto good = check_log(*seal, log_id); !good) return good.error();
    if (const auto good = read.end(*seal); !good) return good.error();
    const std::int64_t last_row_ms = read.last_row_ms();
    return verified_export{*std::move(seal), read.rows(), last_row_ms};
}

}  // namespace herald::program
