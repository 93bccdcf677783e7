// A node with something behind every path of the route table, and a sample of every request.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "api/routes/routes.hpp"
#include "tests/unit/api/node_without_sockets.hpp"

namespace herald::test {

/// Whether it is asked without credentials; a signed URL needs none.
inline bool is_open(const api::calls::route& row) { return !row.needs_key(); }

class route_world : public ::testing::Test {
  protected:
    explicit route_world(const preparation& prepare = {})
        : node(storage::node::node_kind::standalone, api::routes::all_routes(), [&](auto& state) {
              add_served_endpoint(state);
              if (prepare) prepare(state);
          }) {}
    void SetUp() override;

    /// The path, with existing ids and names in its parameters.
    std::string path_of(const api::calls::route&) const;
    reply ask(const caller* who, const api::calls::route&, std::string_view body, std::string_view query = "",
              std::string_view more = "");
    /// Sends a request that suits the row: its sample, or the document's example.
    reply ask_sample(const caller* who, const api::calls::route&, std::string_view more = "");
    /// "?stage=PRODUCTION"; "" for a row that needs none.
    std::string query_of_sample(const api::calls::route&) const;

    /// Expects the error form of wire.md §1; the message must contain the text.
    static void expect_error(const reply& got, int status, error_code code, const std::string& text,
                             const api::calls::route&);

    const schemas::json_value& document();
    /// The schema of the body; only of rows that has_body() is true of.
    const schemas::json_value& schema_of_body(const api::calls::route&);

    node_without_sockets node;
    caller second{};  // another administrator
    caller third{};   // likewise; requests what is to be approved
    caller stranger{};
    caller keeper{};  // has two keys; asks in everybody's place where the caller's own key would end

  private:
    void add_people();
    void add_samples_of_people();
    void open_transitions(const std::string& version, const std::string& other);
    void promote(const std::string& version);
    void upload(const std::string& version);
    void add_endpoints(const std::string& model);
    void add_deliveries(const std::string& version);
    std::string version_with_model(const std::string& model);

    static constexpr schemas::uuid served_endpoint{7};
    static constexpr schemas::build_id served_build{2};
    static constexpr schemas::build_id imaged_build{1'000};
    static void add_served_endpoint(storage::registry::state::state_changes&);

    struct sample {
        std::string body, query, more;  // more: header lines
        std::map<std::string, std::string, std::less<>> segments;
        const caller* by = nullptr;
    };
    std::map<std::string_view, sample> x_samples;
    std::map<std::string, std::string, std::less<>> x_people;  // and what is theirs: ids by a name
    std::map<std::string, std::string, std::less<>> x_segments;
    std::optional<schemas::json_value> x_document;
};

/// The member at the end of the path; throws std::logic_error when there is none.
const schemas::json_value& member(const schemas::json_value& at, const std::vector<std::string_view>& path);
/// Why the value does not match the schema; "" when it does: no member more, none less, each of its type.
std::string misfit(const schemas::json_value& document, const schemas::json_value& schema,
                   const schemas::json_value& value, const std::string& where);

}  // namespace herald::test
