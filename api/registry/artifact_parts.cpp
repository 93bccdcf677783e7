#include "api/registry/artifact_parts.hpp"

#include "runtime/crypto.hpp"
#include "schemas/answers/artifacts.hpp"
#include "schemas/commands/artifacts.hpp"
#include "schemas/limits.hpp"
#include "schemas/requests/artifacts.hpp"
#include "storage/registry/access/artifacts.hpp"
#include "storage/registry/find/artifacts.hpp"

namespace herald::api::registry {

using calls::answered;
using calls::reading_call;
using calls::response;
using calls::writing_call;
namespace access = storage::registry::access;
namespace answers = schemas::answers;
namespace requests = schemas::requests;

result<void> check_part_number(std::uint64_t number) {
    if (number <= limits::artifact_parts_max) return {};
    return runtime::invalid_argument(
        {"part_number is ", number, "; it must be 1 to ", limits::artifact_parts_max});
}

response commit_part(writing_call& call) {
    const auto body = call.body<requests::commit_artifact_part>();
    if (!body) co_return body.error();
    const auto id = version_of(call, *body);
    if (!id) co_return id.error();
    const auto good = check_part_number(body->artifact_part.part_number);
    if (!good) co_return good.error();
    schemas::commands::commit_artifact_part command;
    command.model_version_id = *id;
    command.key = body->key;
    command.part_number = static_cast<std::uint32_t>(body->artifact_part.part_number);
    command.etag = body->artifact_part.etag;
    co_return co_await call.write(std::move(command), answers::done());
}

response commit_multipart(writing_call& call) {
    const auto body = call.body<requests::commit_multipart_artifact>();
    if (!body) co_return body.error();
    const auto id = version_of(call, *body);
    if (!id) co_return id.error();
    if (body->artifact_parts.size() > limits::artifact_parts_max)
        co_return runtime::invalid_argument({"artifact_parts names ", body->artifact_parts.size(),
                                             " parts; an artifact has at most ", limits::artifact_parts_max});
    schemas::commands::commit_multipart_artifact command{*id, body->key, {}};
    for (const requests::artifact_part& each : body->artifact_parts) {
        const auto good = check_part_number(each.part_number);
        if (!good) co_return good.error();
        command.parts.push_back({static_cast<std::uint32_t>(each.part_number), each.etag});
    }
    co_return co_await call.write(std::move(command), answers::done());
}

response delete_artifact(writing_call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) co_return id.error();
    const schemas::commands::delete_artifact command{*id, call.path("key")};
    co_return co_await call.write(command, answers::done());
}

answered get_parts(reading_call& call) {
    const auto id = call.path_id<schemas::version_id>("version");
    if (!id) return id.error();
    const auto readable = access::readable_version(call.state(), call.user().id, *id);
    if (!readable) return readable.error();
    const auto key = call.find_query("key");
    if (!key)
        return runtime::invalid_argument("the query parameter key is missing; it must be an artifact's key");
    const auto version = access::version_with_artifact(call.state(), call.user().id, *id, *key);
    if (!version) return version.error();
    answers::committed_parts answer;
    for (const schemas::uploaded_part& each :
         storage::registry::find::committed_parts(call.state(), version->row, *key))
        answer.records.push_back({each.part_number, in_quotes(runtime::to_hex(each.part.digest))});
    answer.total_records = answer.records.size();
    return call.answer(answer);
}

}  // namespace herald::api::registry
