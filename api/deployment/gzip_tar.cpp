#include "api/deployment/gzip_tar.hpp"

#include <string_view>

#include "api/serving/images/limits.hpp"
#include "api/serving/images/tar.hpp"
#include "runtime/inflated.hpp"

namespace herald::api::deployment {
namespace {

using serving::images::tar_block_bytes;
using serving::images::tar_header;
using serving::images::tar_padding;

constexpr std::size_t stored_block_bytes = 65'535;  // RFC 1951 §3.2.4

void append_little_endian(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

std::string beginning_of(const archived_file& file) {
    std::string out;
    if (file.name.size() > limits::tar_name_bytes_max) {
        const std::string name = file.name + '\0';
        out += tar_header("././@LongLink", name.size(), 'L') + name + tar_padding(name.size());
    }
    out += tar_header(file.name, file.bytes(), '0');
    if (file.objects.empty()) out += file.text + tar_padding(file.text.size());
    return out;
}

class archive_stream final : public runtime::http::body_stream {
  public:
    archive_stream(storage::artifacts::artifact_store& store, std::vector<archived_file> files,
                   calls::transfer_places::place place)
        : x_store(store), x_files(std::move(files)), x_place(std::move(place)) {}

    boost::asio::awaitable<result<std::string_view>> next() override {
        while (x_waiting.empty() && !x_is_whole) {
            const auto good = co_await advance();
            if (!good) co_return good.error();
        }
        x_piece.clear();
        if (x_is_ended) co_return std::string_view();
        if (!x_is_begun) {
            x_is_begun = true;
            x_piece.assign("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);  // RFC 1952: no name, no time
        }
        if (x_waiting.empty())
            end();
        else
            store_block();
        co_return std::string_view(x_piece);
    }

  private:
    /// One step of the tar: the next bytes are in x_waiting.
    boost::asio::awaitable<result<void>> advance() {
        if (x_open) {
            const auto piece = co_await x_open->next();
            if (!piece) co_return piece.error();
            x_waiting = *piece;
            if (piece->empty()) {
                x_open.reset();
                hold(tar_padding(x_files[x_next - 1].bytes()));
            }
        } else if (x_next < x_files.size()) {
            archived_file& file = x_files[x_next++];
            hold(beginning_of(file));
            if (!file.objects.empty()) {
                const storage::artifacts::byte_range all{0, file.bytes()};
                auto opened = co_await storage::artifacts::read_joined(x_store, file.objects, all);
                if (!opened) co_return opened.error();
                x_open = std::move(*opened);
            }
        } else if (!x_has_end_of_tar) {
            x_has_end_of_tar = true;
            hold(std::string(2 * tar_block_bytes, '\0'));
        } else {
            x_is_whole = true;
        }
        co_return result<void>();
    }

    void hold(std::string bytes) {
        x_held = std::move(bytes);
        x_waiting = x_held;
    }

    void store_block() {
        const std::string_view bytes = x_waiting.substr(0, stored_block_bytes);
        x_waiting.remove_prefix(bytes.size());
        x_crc = runtime::crc32_after(x_crc, bytes);
        x_bytes += bytes.size();
        x_piece += '\0';
        append_little_endian(x_piece, bytes.size(), 2);
        append_little_endian(x_piece, ~bytes.size(), 2);
        x_piece += bytes;
    }

    void end() {
        x_piece += '\x01';
        append_little_endian(x_piece, 0, 2);
        append_little_endian(x_piece, 0xFFFF, 2);
        append_little_endian(x_piece, x_crc, 4);
        append_little_endian(x_piece, x_bytes, 4);
        x_is_ended = true;
    }

    storage::artifacts::artifact_store& x_store;
    std::vector<archived_file> x_files;
    const calls::transfer_places::place x_place;
    std::size_t x_next = 0;
    std::shared_ptr<runtime::http::body_stream> x_open;
    std::string x_held;
    std::string_view x_waiting;  // of x_held, or of a piece of x_open
    std::string x_piece;
    std::uint32_t x_crc = 0;
    std::uint64_t x_bytes = 0;
    bool x_has_end_of_tar = false;
    bool x_is_whole = false;
    bool x_is_begun = false;
    bool x_is_ended = false;
};

}  // namespace

std::uint64_t archived_file::bytes() const noexcept {
    std::uint64_t sum = objects.empty() ? text.size() : 0;
    for (const storage::artifacts::stored_object& each : objects) sum += each.bytes;
    return sum;
}

std::shared_ptr<runtime::http::body_stream> gzip_tar(storage::artifacts::artifact_store& store,
                                                     std::vector<archived_file> files,
                                                     calls::transfer_places::place place) {
    return std::make_shared<archive_stream>(store, std::move(files), std::move(place));
}

}  // namespace herald::api::deployment
