#include "runtime/text_parts.hpp"

namespace herald::runtime {

std::string concat(std::initializer_list<text_part> parts) {
    std::size_t bytes = 0;
    for (const text_part& part : parts) bytes += part.text().size();
    std::string all;
    all.reserve(bytes);
    for (const text_part& part : parts) all += part.text();
    return all;
}

}  // namespace herald::runtime
