// Checks of what a client sent, shared by the rules. Each error names the field, what is wrong and what would
// be right. Texts and bounds are a part of the rules (rules.hpp).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/feature_flags.hpp"
#include "schemas/limits.hpp"
#include "schemas/views.hpp"
#include "storage/registry/context/rule_context.hpp"

namespace herald::storage::registry::rules {

/// 1 to `bytes_max` bytes of UTF-8, at least one of them of a character that shows, without control
/// characters (including those that change the writing direction).
result<void> check_name(std::string_view field, std::string_view value, std::size_t bytes_max);
/// As check_name, but may be empty: a word that is not needed.
result<void> check_optional_name(std::string_view field, std::string_view value, std::size_t bytes_max);
/// At most limits::email_bytes_max bytes, with one @ inside.
result<void> check_email(std::string_view field, std::string_view email);
/// At most `bytes_max` bytes of UTF-8 without NUL.
result<void> check_text(std::string_view field, std::string_view value, std::size_t bytes_max);
/// Absolute http or https URL of at most limits::url_bytes_max bytes, with a port that there is, if any.
result<void> check_url(std::string_view field, std::string_view value);
/// Of a URL that check_url has passed: also its host is one.
result<void> check_host(std::string_view field, std::string_view url);
/// What is between a URL's scheme and its path: user, host and port.
std::string_view authority_of(std::string_view url);
/// A value that is echoed as it came must be a JSON object. Absent is allowed.
result<void> check_object(std::string_view field, const schemas::json_text&);
/// Limits the number and size of labels and attributes.
result<void> check_labels(const std::vector<std::string>&);
result<void> check_attributes(const std::vector<schemas::key_value>&);
/// invalid_argument when the row's bytes are over limits::entity_bytes_max.
result<void> check_entity_size(std::string_view what, std::string_view encoded);
/// invalid_argument when the JSON form's bytes are over limits::entity_json_bytes_max.
result<void> check_json_size(std::string_view what, std::size_t bytes);
/// Both checks, for an entity that events contain.
template <class Entity>
result<void> check_entity_size(std::string_view what, const Entity& entity, std::string_view encoded) {
    if (encoded.size() <= limits::entity_short_bytes_max) return {};
    if (const auto good = check_entity_size(what, encoded); !good) return good;
    return check_json_size(what, view_of(entity).size());
}

/// Sorted, without duplicates (client_calls.md §3).
std::vector<std::string> sorted_labels(std::vector<std::string>);
/// Adds the changes, or puts them in place of the entries with their keys; insertion order is kept. Where a
/// key is there twice, the first one counts.
template <class Entry, class Key>
void merge_by_key(std::vector<Entry>& into, const std::vector<Entry>& changes, Key Entry::*key) {
    std::map<std::string, std::size_t, std::less<>> places;
    for (std::size_t i = 0; i < into.size(); ++i) places.emplace(into[i].*key, i);
    for (const Entry& change : changes) {
        const auto [place, is_new] = places.emplace(change.*key, into.size());
        if (is_new)
            into.push_back(change);
        else
            into[place->second] = change;
    }
}
template <class Entry>
void merge_by_key(std::vector<Entry>& into, const std::vector<Entry>& changes) {
    merge_by_key(into, changes, &Entry::key);
}
/// `old` with `changes` added, or replaced where the key exists; insertion order is kept.
std::vector<schemas::key_value> merged_attributes(std::vector<schemas::key_value> old,
                                                  const std::vector<schemas::key_value>& changes);

using schemas::flag_name;
bool is_flag_on(const state::state_view&, flag_name);

}  // namespace herald::storage::registry::rules
