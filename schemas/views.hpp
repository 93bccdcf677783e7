// How things look in answers and event bodies where the JSON form is not the plain one of their description
// (wire.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "schemas/deployment.hpp"
#include "schemas/identity.hpp"
#include "schemas/registry.hpp"
#include "schemas/webhooks.hpp"

namespace herald::schemas {

/// Registry dialect: with owner_id and workspace_service_id beside owner and workspace_id.
std::string view_of(const registered_model&);
std::string view_of(const model_version&);
std::string view_of(const activity&);
/// {email, full_name, [dev_key,] verta_info {user_id, username, default_workspace_id}}; dev_key only when
/// given.
std::string view_of(const user&, std::string_view dev_key = {});
/// v1 form: {id, org_id, org_name} of an organisation's, {id, user_id, username} of a personal one.
std::string view_of(const workspace&);
/// Deployment dialect: ids are numbers, times ISO-8601.
std::string view_of(const build&);
/// `history`: the build's earlier scans, oldest first. A build without any scan is shown by an empty
/// `newest`.
std::string view_of(const build&, const scan& newest, std::span<const scan> history);
/// The PROMOTE body: exactly the eleven fields of spec.md §2.3, all texts.
std::string promote_body(const model_version&);

}  // namespace herald::schemas
