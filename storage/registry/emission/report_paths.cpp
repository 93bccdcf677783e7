#include "storage/registry/emission/report_paths.hpp"

#include "runtime/crypto.hpp"
#include "runtime/text.hpp"

namespace herald::storage::registry::emission {
namespace {

std::string path_of_build(std::string_view workspace_name, schemas::build_id build) {
    return "/api/v1/deployment/workspace/" + runtime::percent_encoded(workspace_name) + "/builds/" +
           std::to_string(build.value);
}

}  // namespace

std::string path_of_scan_report(std::string_view workspace_name, schemas::build_id build) {
    return path_of_build(workspace_name, build) + "/scan";
}

std::string path_of_image(std::string_view workspace_name, schemas::build_id build, std::string_view digest) {
    return path_of_build(workspace_name, build) + "/image?digest=sha256:" + runtime::to_hex(digest);
}

std::string path_of_completion(schemas::model_id model, schemas::version_id version) {
    return "/api/v1/registry/registered_models/" + std::to_string(model.value) + "/model_versions/" +
           std::to_string(version.value);
}

}  // namespace herald::storage::registry::emission
