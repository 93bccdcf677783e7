// CREATE, UPDATE and DELETE events of resources: the REQUEST_SCAN envelope with the entity (wire.md
// "Events").
#pragma once

#include "runtime/random.hpp"
#include "schemas/views.hpp"
#include "storage/registry/emission/emission.hpp"
#include "storage/registry/tables/outbox.hpp"

namespace herald::storage::registry::emission {

/// A resource's number, or its UUID as text.
class resource_id {
  public:
    resource_id(std::uint64_t number) : x_text(std::to_string(number)) {}
    resource_id(const schemas::uuid& id) : x_text(runtime::uuid_text(id)) {}
    operator const std::string&() const noexcept { return x_text; }

  private:
    std::string x_text;
};

template <class Entity>
void emit_created(context::rule_context& context, schemas::resource_type type, const resource_id& id,
                  schemas::workspace_id workspace, const Entity& entity) {
    emit(context, {schemas::event_type::create, type, id, workspace, {}, [&](const event_draft& draft) {
                       return event_envelope(context, draft, {}, view_of(entity));
                   }});
}

template <class Entity>
void emit_updated(context::rule_context& context, schemas::resource_type type, const resource_id& id,
                  schemas::workspace_id workspace, const Entity& original, const Entity& updated) {
    emit(context, {schemas::event_type::update, type, id, workspace, {}, [&](const event_draft& draft) {
                       return event_envelope(context, draft, view_of(original), view_of(updated));
                   }});
}

/// It is the last event of the resource: what its events were numbered with goes with it.
template <class Entity>
void emit_deleted(context::rule_context& context, schemas::resource_type type, const resource_id& id,
                  schemas::workspace_id workspace, const Entity& entity, audiences& known) {
    emit(context,
         {schemas::event_type::delete_,
          type,
          id,
          workspace,
          {},
          [&](const event_draft& draft) { return event_envelope(context, draft, view_of(entity), {}); }},
         known);
    tables::outbox::forget(context.state, type, static_cast<const std::string&>(id));
}

}  // namespace herald::storage::registry::emission
