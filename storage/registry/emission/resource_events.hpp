// CREATE and UPDATE events of resources: the REQUEST_SCAN envelope with the entity (wire.md "Events").
#pragma once

#include "schemas/views.hpp"
#include "storage/registry/emission/emission.hpp"

namespace herald::storage::registry::emission {

template <class Entity>
void emit_created(context::rule_context& context, schemas::resource_type type, std::uint64_t id,
                  schemas::workspace_id workspace, const Entity& entity) {
    emit(
        context,
        {schemas::event_type::create, type, std::to_string(id), workspace, {}, [&](const event_draft& draft) {
             return event_envelope(context, draft, {}, view_of(entity));
         }});
}

template <class Entity>
void emit_updated(context::rule_context& context, schemas::resource_type type, std::uint64_t id,
                  schemas::workspace_id workspace, const Entity& original, const Entity& updated) {
    emit(
        context,
        {schemas::event_type::update, type, std::to_string(id), workspace, {}, [&](const event_draft& draft) {
             return event_envelope(context, draft, view_of(original), view_of(updated));
         }});
}

}  // namespace herald::storage::registry::emission
