// The window of one partition.
#include "workers/delivery_tracker.hpp"

#include <algorithm>
#include <utility>

#include "events/log/limits.hpp"
#include "runtime/assert.hpp"
#include "runtime/text.hpp"
#include "workers/limits.hpp"

namespace herald::workers {

namespace {

/// "position known open open …": `known`, and the offset of each open record, are relative to the one before;
/// an open record is "offset.part.part…", and "offset.part.part…*count" as many of which the same parts are
/// open, each directly behind the one before.
constexpr char between_words = ' ';
constexpr char before_part = '.';
constexpr char before_count = '*';
constexpr std::size_t bytes_for_count = 6;  // with its star

std::optional<std::uint64_t> take_number(std::string_view& text) {
    const std::size_t end = text.find_first_of(" .*");
    const auto number = runtime::parse_decimal(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size()));
    return number;
}

bool take_letter(std::string_view& text, char letter) {
    if (!text.starts_with(letter)) return false;
    text.remove_prefix(1);
    return true;
}

/// False when the text is malformed.
bool take_open(std::string_view text, std::int64_t offset, progress& found) {
    const auto known = take_number(text);
    if (!known) return false;
    found.known_until = offset + static_cast<std::int64_t>(*known);
    while (take_letter(text, between_words)) {
        const auto further = take_number(text);
        if (!further) return false;
        offset += static_cast<std::int64_t>(*further);
        std::vector<std::size_t> parts;
        while (take_letter(text, before_part)) {
            const auto part = take_number(text);
            if (!part) return false;
            parts.push_back(*part);
        }
        const auto count = take_letter(text, before_count) ? take_number(text) : 1;
        if (!count || *count < 1 || *count > limits::worker_window_records_max) return false;
        for (std::uint64_t more = 0; more < *count; ++more) found.open[offset + std::int64_t(more)] = parts;
        offset += static_cast<std::int64_t>(*count) - 1;
    }
    return text.empty();
}

}  // namespace

progress read_progress(const commit_point& committed) {
    const std::string_view text = committed.metadata;
    const std::size_t end = text.find(between_words);
    progress found{committed.next_offset, {}, std::string(text.substr(0, end))};
    if (end != std::string_view::npos && !take_open(text.substr(end + 1), committed.next_offset, found))
        return {committed.next_offset, {}, {}};
    return found;
}

delivery_tracker::delivery_tracker(const commit_point& committed)
    : x_before(read_progress(committed)),
      x_next_offset(committed.next_offset),
      x_read_until(committed.next_offset),
      x_position(x_before.position) {}

std::vector<std::size_t> delivery_tracker::parts_left(std::int64_t offset, std::size_t parts) const {
    std::vector<std::size_t> left;
    if (!had(offset)) {
        for (std::size_t part = 0; part < parts; ++part) left.push_back(part);
    } else if (const auto found = x_before.open.find(offset); found != x_before.open.end()) {
        for (const std::size_t part : found->second)
            if (part < parts) left.push_back(part);
    }
    return left;
}

void delivery_tracker::opened(std::int64_t offset, const std::vector<std::size_t>& parts,
                              std::string position) {
    HERALD_ASSERT(offset >= x_read_until);
    x_read_until = offset + 1;
    x_parts_open += parts.size();
    x_has_advanced = true;
    if (!parts.empty() || !x_entries.empty()) {
        x_entries.push_back({offset, parts, std::move(position)});
    } else {
        x_next_offset = offset + 1;
        x_position = std::move(position);
    }
}

void delivery_tracker::part_done(std::int64_t offset, std::size_t part) {
    const auto found =
        std::lower_bound(x_entries.begin(), x_entries.end(), offset,
                         [](const entry& one, std::int64_t wanted) { return one.offset < wanted; });
    HERALD_ASSERT(found != x_entries.end() && found->offset == offset);
    const auto open = std::find(found->open.begin(), found->open.end(), part);
    HERALD_ASSERT(open != found->open.end());
    found->open.erase(open);
    --x_parts_open;
    x_has_advanced = true;
    while (!x_entries.empty() && x_entries.front().open.empty()) {
        x_next_offset = x_entries.front().offset + 1;
        x_position = std::move(x_entries.front().position);
        x_entries.pop_front();
    }
}

namespace {

/// Names the open parts of records behind an offset, as far as they fit.
class open_words {
  public:
    explicit open_words(std::int64_t from) : x_named(from) {}
    /// False when there is no room for it.
    bool add(std::int64_t offset, const std::vector<std::size_t>& open) {
        if (open.empty()) return true;
        if (x_count > 0 && offset == x_named + 1 && open == x_parts && x_count < count_max) {
            ++x_count;
            x_named = offset;
            return true;
        }
        std::string word = between_words + std::to_string(offset - x_named);
        for (const std::size_t part : open) word += before_part + std::to_string(part);
        const std::string so_far = text();
        if (so_far.size() + word.size() + bytes_for_count + limits::position_bytes_max >
            limits::commit_metadata_bytes_max)
            return false;
        x_text = so_far + word;
        x_parts = open;
        x_count = 1;
        x_named = offset;
        return true;
    }
    std::string text() const {
        return x_count < 2 ? x_text : x_text + before_count + std::to_string(x_count);
    }

  private:
    static constexpr std::size_t count_max = limits::worker_window_records_max;
    static_assert(count_max < 100'000, "bytes_for_count");

    std::string x_text;                // without the count of its last word
    std::vector<std::size_t> x_parts;  // of its last word
    std::size_t x_count = 0;           // of the records that its last word stands for
    std::int64_t x_named;              // the last of them
};

}  // namespace

std::optional<commit_point> delivery_tracker::take_commit() {
    if (!x_has_advanced) return std::nullopt;
    const std::string* position = &x_position;
    open_words open(x_next_offset);
    std::int64_t known_until = x_next_offset;
    bool fits = true;
    for (const entry& one : x_entries) {
        fits = open.add(one.offset, one.open);
        if (!fits) break;
        known_until = one.offset + 1;
        position = &one.position;
    }
    if (x_read_until < x_before.known_until) {
        // What was known before and has not been read again is still true. Were there no room for it, a
        // commit would record less than the last one did.
        for (auto left = x_before.open.lower_bound(x_read_until); fits && left != x_before.open.end(); ++left)
            fits = open.add(left->first, left->second);
        if (!fits) return std::nullopt;
        known_until = x_before.known_until;
        position = &x_before.position;
    }
    x_has_advanced = false;
    commit_point point{x_next_offset, *position};
    if (known_until > x_next_offset)
        point.metadata += between_words + std::to_string(known_until - x_next_offset) + open.text();
    return point;
}

}  // namespace herald::workers
