#include "api/calls/tell_read.hpp"

#include "api/calls/call.hpp"
#include "schemas/views.hpp"

namespace herald::api::calls {
namespace {

template <class Row>
void tell(const reading_call& call, schemas::resource_type type, const Row& row,
          const std::function<std::string()>& entity) {
    storage::deliveries::read_events* const reads = call.with().reads;
    if (reads == nullptr) return;
    const std::string_view trace = call.received().header("traceparent").value_or("");
    reads->tell(call.reading(), {type, row.id.value, row.workspace_id, trace, entity});
}

}  // namespace

void tell_read(const reading_call& call, const schemas::registered_model& model) {
    tell(call, schemas::resource_type::registered_model, model, [&] { return view_of(model); });
}

void tell_read(const reading_call& call, const schemas::model_version& version) {
    tell(call, schemas::resource_type::registered_model_version, version,
         [&] { return named_view_of(version); });
}

void tell_read(const reading_call& call, const schemas::build& build) {
    tell(call, schemas::resource_type::build, build, [&] { return view_of(build); });
}

}  // namespace herald::api::calls
