#include "runtime/version.hpp"

namespace herald::runtime {

std::string_view version() { return HERALD_VERSION; }

}  // namespace herald::runtime
