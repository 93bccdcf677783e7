#include "storage/node/record_ring.hpp"

#include <algorithm>

#include "runtime/assert.hpp"
#include "storage/node/limits.hpp"

namespace herald::storage::node {
namespace {

runtime::sha256_digest digest_of(std::string_view bytes) {
    runtime::sha256_digest digest{};
    HERALD_ASSERT(bytes.size() == digest.size());
    std::copy(bytes.begin(), bytes.end(), digest.begin());
    return digest;
}

}  // namespace

record_ring::record_ring() : x_slots(limits::records_remembered_max) {}

void record_ring::add(const registry::engine::engine_position& at) {
    const std::uint64_t offset = at.last_record_offset;
    if (is_empty())
        x_oldest = offset;
    else if (offset - x_oldest >= x_slots.size())
        x_oldest = offset - x_slots.size() + 1;
    x_newest = offset;
    x_slots[offset % x_slots.size()] = {offset, digest_of(at.last_record_hash), digest_of(at.hash)};
}

const record_ring::entry* record_ring::find(std::uint64_t offset) const {
    const entry& slot = x_slots[offset % x_slots.size()];
    return slot.offset == offset ? &slot : nullptr;
}

std::uint64_t record_ring::first_from(std::uint64_t offset) const {
    while (find(offset) == nullptr) ++offset;
    return offset;
}

}  // namespace herald::storage::node
