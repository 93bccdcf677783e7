// Parts of the OpenAPI document that are not in the table of routes: paths that are answered without it.
#pragma once

#include <map>
#include <string>

namespace herald::api::calls {

/// Each by its name in the document, as JSON text. The names must differ from those of the table's rows.
struct document_part {
    std::map<std::string, std::string> paths;
    std::map<std::string, std::string> schemas;
    std::map<std::string, std::string> responses;
    std::map<std::string, std::string> security_schemes;
};

}  // namespace herald::api::calls
