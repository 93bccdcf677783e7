// Makes the files of an image from the environment of a version.
#pragma once

#include <string>
#include <vector>

#include "api/deployment/gzip_tar.hpp"
#include "schemas/registry.hpp"

namespace herald::api::deployment {

/// The Dockerfile, and the files under environment/ that it installs from. Errors: invalid_argument for an
/// environment that no Dockerfile can hold.
result<std::vector<archived_file>> docker_files(const schemas::model_version&);

/// The name of an artifact's file in the archive; a key cannot lead out of model/.
std::string file_of_artifact(const schemas::artifact&);

}  // namespace herald::api::deployment
