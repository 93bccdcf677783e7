#include "api/serving/route_table.hpp"

#include <algorithm>
#include <cstring>

namespace herald::api::serving {
namespace {

std::uint64_t first_eight(const std::uint8_t* bytes) noexcept {
    std::uint64_t out = 0;
    std::memcpy(&out, bytes, sizeof out);
    return out;
}

/// FNV-1a with a last mix: request ids of callers may differ in their last digit only.
std::uint64_t place_of(std::string_view request_id) noexcept {
    std::uint64_t hash = 14695981039346656037ull;
    for (const char each : request_id) {
        hash ^= static_cast<unsigned char>(each);
        hash *= 1099511628211ull;
    }
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdull;
    hash ^= hash >> 33;
    return hash;
}

std::size_t shard_of(std::size_t hash) noexcept {
    // Not the low bits, by which the maps choose their buckets.
    return (hash >> 24) % route_table::shards;
}

}  // namespace

const component_route* stage_route::component_for(std::string_view request_id) const noexcept {
    if (components.empty()) return nullptr;
    if (components.size() == 1) return &components.front();
    const std::uint64_t place = place_of(request_id) % schemas::whole_ppm;
    for (const component_route& each : components)
        if (place < each.share_ends_ppm) return &each;
    return &components.back();
}

const stage_route* endpoint_route::stage_of(const runtime::sha256_digest& token) const noexcept {
    const auto found = std::ranges::lower_bound(tokens, token, {}, &token_route::hash);
    return found != tokens.end() && found->hash == token ? &stages[found->stage] : nullptr;
}

std::size_t route_table::id_hash::operator()(const schemas::uuid& id) const noexcept {
    // Ids come with commands: mixed, so that chosen ones do not meet in one shard.
    return std::hash<std::string_view>{}({reinterpret_cast<const char*>(id.data()), id.size()});
}

std::size_t route_table::digest_hash::operator()(const runtime::sha256_digest& digest) const noexcept {
    return first_eight(digest.data());
}

/// A copy of a snapshot that shares each shard until it is written.
class route_table::editor {
  public:
    explicit editor(const route_table& from) : x_table(std::make_shared<route_table>(from)) {}

    void remove(const entry& old) {
        of(x_table->x_paths, text_hash{}(old->path)).erase(old->path);
        of(x_table->x_names, text_hash{}(old->v2_name)).erase(old->v2_name);
        of(x_table->x_ids, id_hash{}(old->id)).erase(old->id);
        for (const token_route& token : old->tokens) {
            by_token& shard = of(x_table->x_tokens, digest_hash{}(token.hash));
            const auto [begin, end] = shard.equal_range(token.hash);
            const auto its = std::find_if(begin, end, [&](const auto& each) { return each.second == old; });
            if (its != end) shard.erase(its);
        }
        --x_table->x_size;
    }

    void add(const entry& now) {
        of(x_table->x_paths, text_hash{}(now->path)).insert_or_assign(now->path, now);
        of(x_table->x_names, text_hash{}(now->v2_name)).insert_or_assign(now->v2_name, now);
        of(x_table->x_ids, id_hash{}(now->id)).insert_or_assign(now->id, now);
        for (const token_route& token : now->tokens)
            of(x_table->x_tokens, digest_hash{}(token.hash)).emplace(token.hash, now);
        ++x_table->x_size;
    }

    std::shared_ptr<const route_table> take() { return std::move(x_table); }

  private:
    /// A shard to write to: copied once.
    template <class Map>
    Map& of(sharded<Map>& all, std::size_t hash) {
        std::shared_ptr<const Map>& shard = all[shard_of(hash)];
        for (const std::shared_ptr<void>& mine : x_written)
            if (mine.get() == shard.get()) return *static_cast<Map*>(mine.get());
        const auto copy = std::make_shared<Map>(*shard);
        shard = copy;
        x_written.push_back(copy);
        return *copy;
    }

    std::shared_ptr<route_table> x_table;
    std::vector<std::shared_ptr<void>> x_written;
};

route_table::route_table() {
    x_paths.fill(std::make_shared<const by_text>());
    x_names.fill(std::make_shared<const by_text>());
    x_ids.fill(std::make_shared<const by_id>());
    x_tokens.fill(std::make_shared<const by_token>());
}

const route_table::entry* route_table::find(std::string_view path) const noexcept {
    const by_text& shard = *x_paths[shard_of(text_hash{}(path))];
    const auto found = shard.find(path);
    return found == shard.end() ? nullptr : &found->second;
}

const route_table::entry* route_table::find_v2(std::string_view name) const noexcept {
    const by_text& shard = *x_names[shard_of(text_hash{}(name))];
    const auto found = shard.find(name);
    return found == shard.end() ? nullptr : &found->second;
}

const route_table::entry* route_table::find_id(const schemas::uuid& id) const noexcept {
    const by_id& shard = *x_ids[shard_of(id_hash{}(id))];
    const auto found = shard.find(id);
    return found == shard.end() ? nullptr : &found->second;
}

bool route_table::has_token(const runtime::sha256_digest& token) const noexcept {
    return x_tokens[shard_of(digest_hash{}(token))]->contains(token);
}

void route_table::each(const std::function<void(const entry&)>& visit) const {
    for (const auto& shard : x_ids)
        for (const auto& [id, endpoint] : *shard) visit(endpoint);
}

std::shared_ptr<const route_table> route_table::with(const std::vector<change>& changes) const {
    editor next(*this);
    // All that go before all that come: a path may pass from one endpoint to another.
    for (const change& each : changes)
        if (const entry* const old = find_id(each.endpoint)) next.remove(*old);
    for (const change& each : changes)
        if (each.now) next.add(each.now);
    return next.take();
}

}  // namespace herald::api::serving
