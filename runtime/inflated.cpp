#include "runtime/inflated.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace herald::runtime {
namespace {

/// The largest window; the data show whether the form is gzip or zlib.
constexpr int window_bits = 15 + 32;
constexpr std::size_t first_bytes = 16 * 1024;

class inflating {
  public:
    inflating() { x_is_ready = inflateInit2(&x_stream, window_bits) == Z_OK; }
    ~inflating() {
        if (x_is_ready) inflateEnd(&x_stream);
    }
    inflating(const inflating&) = delete;
    inflating& operator=(const inflating&) = delete;

    bool is_ready() const noexcept { return x_is_ready; }
    z_stream& stream() noexcept { return x_stream; }

  private:
    z_stream x_stream{};
    bool x_is_ready = false;
};

error too_long(std::size_t bytes_max) {
    return {error_code::resource_exhausted,
            "the body is more than " + std::to_string(bytes_max) + " bytes once it is inflated; send less",
            413};
}

error not_compressed() {
    return invalid_argument(
        "the body is not what its Content-Encoding says: it is not whole gzip or zlib data");
}

}  // namespace

result<std::string> inflated(std::string_view compressed, std::size_t bytes_max) {
    if (compressed.size() > std::numeric_limits<uInt>::max()) return too_long(bytes_max);
    inflating work;
    if (!work.is_ready()) return resource_exhausted("no memory to inflate the body; try again");
    z_stream& stream = work.stream();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));  // it is only read
    stream.avail_in = static_cast<uInt>(compressed.size());
    std::string out(std::min(first_bytes, bytes_max + 1), '\0');
    std::size_t size = 0;
    for (;;) {
        if (size == out.size()) {
            if (size > bytes_max) return too_long(bytes_max);
            out.resize(std::min(out.size() * 2, bytes_max + 1));
        }
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
        stream.avail_out = static_cast<uInt>(std::min<std::size_t>(out.size() - size, 1u << 30));
        const uInt room = stream.avail_out;
        const int outcome = inflate(&stream, Z_NO_FLUSH);
        size += room - stream.avail_out;
        if (size > bytes_max) return too_long(bytes_max);
        if (outcome == Z_STREAM_END) {
            if (stream.avail_in == 0) break;
            if (inflateReset(&stream) != Z_OK) return not_compressed();
        } else if (outcome == Z_MEM_ERROR) {
            return resource_exhausted("no memory to inflate the body; try again");
        } else if (outcome != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
            return not_compressed();
        }
    }
    out.resize(size);
    return out;
}

std::uint32_t crc32_after(std::uint32_t before, std::string_view piece) noexcept {
    return static_cast<std::uint32_t>(
        crc32_z(before, reinterpret_cast<const Bytef*>(piece.data()), piece.size()));
}

}  // namespace herald::runtime
