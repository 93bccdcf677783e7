// Texts put together from parts: concat({"port is ", port, "; it must be 1 to ", port_max}).
#pragma once

#include <charconv>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>

namespace herald::runtime {

/// A text, or an integer in decimal digits. It refers to the text, so it lives no longer than its expression.
class text_part {
  public:
    text_part(const char* text) : x_text(text) {}
    text_part(std::string_view text) : x_text(text) {}
    text_part(const std::string& text) : x_text(text) {}
    template <std::integral T>
        requires(!std::same_as<T, char> && !std::same_as<T, bool>)
    text_part(T number) : x_digits_end(std::to_chars(x_digits, x_digits + sizeof x_digits, number).ptr) {}

    std::string_view text() const { return x_digits_end ? std::string_view(x_digits, x_digits_end) : x_text; }

  private:
    std::string_view x_text;
    char x_digits[20];  // of an integer of 64 bits, with its sign
    const char* x_digits_end = nullptr;
};

std::string concat(std::initializer_list<text_part> parts);

}  // namespace herald::runtime
