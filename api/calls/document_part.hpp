// What the OpenAPI document tells beside the table of routes: paths that are answered without it.
#pragma once

#include <map>
#include <string>

namespace herald::api::calls {

/// Each by its name in the document, as JSON text. No name may be one that the table's rows bring.
struct document_part {
    std::map<std::string, std::string> paths;
    std::map<std::string, std::string> schemas;
    std::map<std::string, std::string> responses;
    std::map<std::string, std::string> security_schemes;
};

}  // namespace herald::api::calls
