#include "schemas/stored_format.hpp"

#include <string>

namespace herald::schemas {

result<void> check_stored_format(std::string_view what, std::uint64_t found) {
    if (found == stored_format) return {};
    return runtime::failed_precondition(
        {what, (found < stored_format
                    ? " was made by an earlier unreleased build: choose an empty --data"
                    : " was made by a later build: install that one, or choose an empty --data")});
}

}  // namespace herald::schemas
