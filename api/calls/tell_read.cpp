#include "api/calls/tell_read.hpp"

#include "api/calls/call.hpp"
#include "schemas/views.hpp"

namespace herald::api::calls {
namespace {

template <class Row>
void tell(const reading_call& call, schemas::resource_type type, const Row& row, std::string id,
          const std::function<std::string()>& entity) {
    storage::deliveries::read_events* const reads = call.with().reads;
    if (reads == nullptr) return;
    const std::string_view trace = call.received().header("traceparent").value_or("");
    reads->tell(call.reading(), {type, std::move(id), row.workspace_id, trace, entity});
}

}  // namespace

void tell_read(const reading_call& call, const schemas::registered_model& model) {
    tell(call, schemas::resource_type::registered_model, model, std::to_string(model.id.value),
         [&] { return view_of(model); });
}

void tell_read(const reading_call& call, const schemas::model_version& version) {
    tell(call, schemas::resource_type::registered_model_version, version, std::to_string(version.id.value),
         [&] { return view_of(version); });
}

void tell_read(const reading_call& call, const schemas::build& build) {
    tell(call, schemas::resource_type::build, build, std::to_string(build.id.value),
         [&] { return view_of(build); });
}

void tell_read(const reading_call& call, const schemas::endpoint& endpoint) {
    tell(call, schemas::resource_type::endpoint, endpoint, runtime::uuid_text(endpoint.id),
         [&] { return view_of(endpoint); });
}

}  // namespace herald::api::calls
