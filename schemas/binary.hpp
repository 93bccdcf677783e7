// The binary form of described types, used in the log and the databases.
//
//   message := field*                       in ascending order of number; defaults are left out
//   field   := varint(number · 4 + kind) payload     absent: zero, whatever the C++ default is
//   kind 0  := varint (bool, enum, unsigned, id; signed ones zigzag)
//   kind 1  := 8 bytes little-endian (double)
//   kind 2  := varint length, bytes (text, bytes, nested message; a list repeats the field)
//
// The same value always gives the same bytes, on every machine and in every version: hashes are computed from
// them. Fields unknown to the reader are skipped (an older node reads what a newer one wrote).
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "runtime/error.hpp"
#include "schemas/describe.hpp"

namespace herald::schemas {

void append_varint(std::string& out, std::uint64_t value);
/// Takes a varint from the front of `in`; false when there is none.
bool take_varint(std::string_view& in, std::uint64_t& value) noexcept;
void append_big_endian(std::string& out, std::uint64_t value);  // 8 bytes: keys sort like the numbers
std::string big_endian(std::uint64_t value);
std::uint64_t read_big_endian(std::string_view eight_bytes) noexcept;

template <described T>
std::string encode(const T& value);
template <described T>
void append_encoded(std::string& out, const T& value);
/// invalid_argument when the bytes are not a valid T.
template <described T>
result<T> decode(std::string_view bytes);
/// False when the bytes are not a valid T. `fresh` is as T{} makes it.
template <described T>
bool decode_into(T& fresh, std::string_view bytes);

namespace detail {

constexpr std::size_t usual_bytes = 240;  // most rows and commands take fewer

enum class field_kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2 };

constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

struct encoder {
    std::string& out;

    void head(unsigned number, field_kind kind);
    void bytes(unsigned number, std::string_view value);
    void number_field(unsigned number, std::uint64_t value);
    void fraction(unsigned number, double value);
    /// The length of the message that began behind its head, at `place`; most take one byte for it.
    std::size_t end_message(std::size_t place);

    template <class T>
    void operator()(unsigned number, std::string_view, const T& value, shown = shown::always) {
        if constexpr (optional_field<T>) {
            if (value) write(number, *value);
        } else if constexpr (vector_field<T>) {
            for (const auto& element : value) write(number, element);
        } else if constexpr (described<T>) {
            const std::size_t before = out.size();
            if (message(number, value) == 0) out.resize(before);
        } else {
            if (!(value == T{})) write(number, value);
        }
    }

    /// Returns the length of the message.
    template <class T>
    std::size_t message(unsigned number, const T& value) {
        static_assert(describes_every_member<T>, "a member of this type is not described");
        head(number, field_kind::bytes);
        const std::size_t place = out.size();
        out += '\0';
        T::describe(value, *this);
        return end_message(place);
    }

    template <class T>
    void write(unsigned number, const T& value) {
        if constexpr (std::same_as<T, bool>) {
            number_field(number, value ? 1 : 0);
        } else if constexpr (std::is_enum_v<T> || unsigned_number<T>) {
            number_field(number, static_cast<std::uint64_t>(value));
        } else if constexpr (numeric_id<T>) {
            number_field(number, value.value);
        } else if constexpr (signed_number<T>) {
            number_field(number, zigzag(value));
        } else if constexpr (std::same_as<T, double>) {
            fraction(number, value);
        } else if constexpr (std::same_as<T, std::string>) {
            bytes(number, value);
        } else if constexpr (std::same_as<T, json_text>) {
            bytes(number, value.text);
        } else if constexpr (std::same_as<T, binary_text>) {
            bytes(number, value.bytes);
        } else if constexpr (byte_array<T>) {
            bytes(number, {reinterpret_cast<const char*>(value.data()), value.size()});
        } else {
            static_assert(described<T>, "this type has no binary form");
            message(number, value);
        }
    }
};

/// One pass: both the described fields and those in the bytes ascend.
struct decoder {
    std::string_view in;
    bool good = true;
    static constexpr std::uint64_t none = UINT64_MAX;
    std::uint64_t number_ahead = 0;  // none: at the end, and when the bytes are not good
    field_kind kind_ahead = field_kind::varint;
    std::uint64_t varint_ahead = 0;
    std::string_view bytes_ahead{};

    bool has_next() const noexcept { return number_ahead != none; }
    /// Reads the next field, if there is one, into the *_ahead members.
    void advance() noexcept;
    /// Skips the fields before that number, and says whether the next one has it.
    bool is_next(unsigned number) noexcept {
        while (number_ahead < number) advance();
        return number_ahead == number;
    }

    template <class T>
    void operator()(unsigned number, std::string_view, T& value, shown = shown::always) {
        // What is absent is zero, also where T{} is not. Texts and lists are empty in every fresh value.
        if constexpr (described<T>) {
            if (!is_next(number)) decode_into(value, {});
        } else if constexpr (std::is_trivially_copyable_v<T>) {
            value = T{};
        }
        while (is_next(number)) {
            if constexpr (optional_field<T>) {
                read(value.emplace());
            } else if constexpr (vector_field<T>) {
                read(value.emplace_back());
            } else {
                read(value);
            }
            advance();
        }
    }

    template <class T>
    void read(T& value) {
        if constexpr (std::same_as<T, bool> || std::is_enum_v<T> || unsigned_number<T>) {
            good = kind_ahead == field_kind::varint;
            value = static_cast<T>(varint_ahead);
            if constexpr (unsigned_number<T>)
                good = good && static_cast<std::uint64_t>(value) == varint_ahead;
        } else if constexpr (numeric_id<T>) {
            good = kind_ahead == field_kind::varint;
            value.value = varint_ahead;
        } else if constexpr (signed_number<T>) {
            good = kind_ahead == field_kind::varint;
            value = static_cast<T>(unzigzag(varint_ahead));
        } else if constexpr (std::same_as<T, double>) {
            good = kind_ahead == field_kind::fixed64;
            value = std::bit_cast<double>(varint_ahead);
        } else {
            good = kind_ahead == field_kind::bytes;
            if (!good) return;
            if constexpr (std::same_as<T, std::string>) {
                value.assign(bytes_ahead);
            } else if constexpr (std::same_as<T, json_text>) {
                value.text.assign(bytes_ahead);
            } else if constexpr (std::same_as<T, binary_text>) {
                value.bytes.assign(bytes_ahead);
            } else if constexpr (byte_array<T>) {
                good = bytes_ahead.size() == value.size();
                if (good) std::memcpy(value.data(), bytes_ahead.data(), value.size());
            } else {
                static_assert(described<T>, "this type has no binary form");
                value = T{};
                good = decode_into(value, bytes_ahead);
            }
        }
    }
};

}  // namespace detail

template <described T>
void append_encoded(std::string& out, const T& value) {
    static_assert(detail::describes_every_member<T>, "a member of this type is not described");
    T::describe(value, detail::encoder{out});
}

template <described T>
std::string encode(const T& value) {
    std::string out;
    out.reserve(detail::usual_bytes);
    append_encoded(out, value);
    return out;
}

template <described T>
bool decode_into(T& fresh, std::string_view bytes) {
    static_assert(detail::describes_every_member<T>, "a member of this type is not described");
    detail::decoder decoder{bytes};
    decoder.advance();
    T::describe(fresh, decoder);
    while (decoder.has_next()) decoder.advance();
    return decoder.good;
}

template <described T>
result<T> decode(std::string_view bytes) {
    result<T> value;
    if (!decode_into(*value, bytes))
        return runtime::invalid_argument("these bytes are not a well-formed record");
    return value;
}

}  // namespace herald::schemas
