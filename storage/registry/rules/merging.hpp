// How the content of a model or a version changes by an update (wire.md §3).
#pragma once

#include <algorithm>
#include <concepts>
#include <string>
#include <vector>

#include "schemas/commands/models.hpp"
#include "storage/registry/rules/checks.hpp"

namespace herald::storage::registry::rules {

/// What a PATCH makes of the members in `present`: labels are added, what has keys merges by key, everything
/// else is set. Of PATCH …/full_body nothing merges.
template <class Content>
void merge_content(Content& into, const Content& sent, const std::vector<std::string>& present,
                   schemas::commands::update_mode mode) {
    const bool merges = mode == schemas::commands::update_mode::merge;
    schemas::each_of_both(into, sent, [&]<class T>(std::string_view name, T& mine, const T& theirs) {
        if (std::ranges::count(present, name) == 0) return;
        if constexpr (requires { mine.front().key; }) {
            if (!merges) mine.clear();
            merge_by_key(mine, theirs);
        } else if constexpr (std::same_as<T, std::vector<std::string>>) {
            if (!merges || name != "labels") mine.clear();
            mine.insert(mine.end(), theirs.begin(), theirs.end());
        } else {
            mine = theirs;
        }
    });
}

}  // namespace herald::storage::registry::rules
