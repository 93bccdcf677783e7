// Reads RocksDB's write-ahead log. Its format (RocksDB's wiki, "Write Ahead Log File Format"): blocks of 32
// KiB of fragments; a block's last bytes, too few for a header, are zeros.
//   fragment: masked CRC-32C of type and payload (4 bytes, little-endian) ‖ length (2) ‖ type ‖ payload
//   batch:    sequence (8 bytes) ‖ count (4) ‖ entries, whole in one fragment or in first, middle …, last
#include "storage/embedded_log/torn_end.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace herald::storage::embedded_log {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t block_bytes = 32 * 1024;
constexpr std::size_t fragment_head_bytes = 7;
constexpr std::size_t sector_bytes = 512;
constexpr std::size_t batch_head_bytes = 12;
constexpr char log_data_entry = 3;  // WriteBatch::PutLogData, followed by length and bytes

enum class fragment_type : unsigned char { none = 0, full = 1, first = 2, middle = 3, last = 4 };

struct fragment {
    fragment_type type = fragment_type::none;
    std::string_view payload;
};

constexpr std::array<std::uint32_t, 256> make_crc_table() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
        table[byte] = crc;
    }
    return table;
}

std::uint32_t masked_crc(std::string_view bytes) {
    static constexpr auto table = make_crc_table();
    std::uint32_t crc = ~0u;
    for (const char each : bytes) crc = table[(crc ^ static_cast<unsigned char>(each)) & 0xff] ^ crc >> 8;
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

std::uint32_t little_endian(std::string_view bytes) {
    std::uint32_t number = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
    return number;
}

std::size_t block_end(std::string_view file, std::size_t at) {
    return std::min(file.size(), at / block_bytes * block_bytes + block_bytes);
}

/// The fragment that begins at `at`; empty when there is none.
std::optional<fragment> fragment_at(std::string_view file, std::size_t at) {
    const std::string_view block = file.substr(at, block_end(file, at) - at);
    if (block.size() < fragment_head_bytes) return std::nullopt;
    const std::size_t length = little_endian(block.substr(4, 2));
    const auto type = static_cast<fragment_type>(block[6]);
    if (type == fragment_type::none || type > fragment_type::last ||
        length > block.size() - fragment_head_bytes)
        return std::nullopt;
    if (masked_crc(block.substr(6, 1 + length)) != little_endian(block.substr(0, 4))) return std::nullopt;
    return fragment{type, block.substr(fragment_head_bytes, length)};
}

bool begins_synced_batch(std::string_view payload) {
    const std::string mark =
        std::string{log_data_entry, static_cast<char>(synced_mark.size())} + std::string(synced_mark);
    return payload.size() > batch_head_bytes && payload.substr(batch_head_bytes).starts_with(mark);
}

/// Whether the range contains a whole sector of zeros; the file's incomplete last sector counts as one.
bool has_zero_sector(std::string_view file, std::size_t from, std::size_t to) {
    for (std::size_t at = from / sector_bytes * sector_bytes; at < to; at += sector_bytes) {
        const std::string_view sector = file.substr(at, sector_bytes);
        if (sector.find_first_not_of('\0') == std::string_view::npos) return true;
    }
    return false;
}

/// Reads the files in order.
class examination {
  public:
    void take(std::string_view file) {
        for (std::size_t at = 0; at < file.size() && !x_is_refuted;) {
            const std::size_t end = block_end(file, at);
            const std::size_t left = end - at;
            const auto found = fragment_at(file, at);
            if (found) {
                take(*found);
                at += fragment_head_bytes + found->payload.size();
            } else if (left < fragment_head_bytes) {
                at = end;
            } else {
                if (!x_is_damaged) x_is_refuted = !has_zero_sector(file, at, end);
                x_is_damaged = true;
                x_in_synced_batch = false;
                ++at;  // what follows may be whole
            }
        }
        x_in_synced_batch = false;
    }
    bool is_torn() const { return x_is_damaged && !x_is_refuted; }

  private:
    void take(const fragment& found) {
        const bool is_begin = found.type == fragment_type::full || found.type == fragment_type::first;
        if (is_begin) x_in_synced_batch = begins_synced_batch(found.payload);
        const bool is_end = found.type == fragment_type::full || found.type == fragment_type::last;
        if (is_end && x_in_synced_batch && x_is_damaged) x_is_refuted = true;
    }

    bool x_is_damaged = false;
    bool x_is_refuted = false;
    bool x_in_synced_batch = false;  // every part so far is complete
};

}  // namespace

bool has_torn_end(const fs::path& folder) {
    std::error_code failed;
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder, failed))
        if (each.path().extension() == ".log") files.push_back(each.path());
    std::sort(files.begin(), files.end());  // file names have numbers with leading zeros
    examination all;
    for (const fs::path& each : files) {
        std::ifstream in(each, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        if (!in) return false;
        all.take(bytes);
    }
    return !failed && all.is_torn();
}

}  // namespace herald::storage::embedded_log
