// Answers about the installation (wire.md §7).
#pragma once

#include "schemas/answers/answer.hpp"

namespace herald::schemas::answers {

struct feature_flag {
    bool enabled = true;
    std::string content;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "enabled", self.enabled);
        field(2, "content", self.content);
    }
};

struct known_flags {
    feature_flag promote_events;
    feature_flag scan_events;

    static constexpr void describe(auto& self, auto&& field) {
        field(1, "promote_events", self.promote_events);
        field(2, "scan_events", self.scan_events);
    }
};

struct feature_flags {
    known_flags feature_flags_;

    static constexpr integers style = integers::as_numbers;
    static constexpr void describe(auto& self, auto&& field) {
        field(1, "feature_flags", self.feature_flags_);
    }
};

}  // namespace herald::schemas::answers
