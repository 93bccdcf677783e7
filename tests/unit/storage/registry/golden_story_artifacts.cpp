// Of the golden log: the bytes of artifacts.
#include "runtime/crypto.hpp"
#include "storage/registry/tables/tables.hpp"
#include "tests/unit/storage/registry/golden_story.hpp"

namespace herald::test {
namespace {

using namespace schemas::commands;
using std::string;

// Versions of this chapter, whose rows are written directly; and one that there is none of.
constexpr schemas::version_id opened{901}, closed{902}, redact{903}, none{999};

string digest_of(std::string_view bytes) { return string(runtime::as_bytes(runtime::sha256(bytes))); }
string path_digest_of(std::string_view path) { return digest_of(path).substr(0, 16); }

schemas::artifact entry(const string& key) {
    schemas::artifact made;
    made.key = key;
    made.path = "path/" + key;
    made.artifact_type = schemas::artifact_type::blob;
    return made;
}

void put_version(golden_writer& log, schemas::version_id id, schemas::lock_level lock) {
    schemas::model_version row;
    row.id = id;
    row.registered_model_id.value = 1;
    row.workspace_id.value = 1;
    row.version = "of artifacts " + std::to_string(id.value);
    row.version_number = id.value;
    row.time_created = row.time_updated = 1'700'000'000'000;
    row.lock_level = lock;
    row.model = entry("model");
    row.artifacts = {entry("first"), entry("second")};
    using storage::registry::tables::key_of, storage::registry::tables::table;
    log.put_before_next(key_of(table::version).number(id), schemas::encode(row));
}

store_blob blob_of(const string& bytes, const string& object) {
    return {digest_of(bytes), bytes.size(), object};
}
set_artifact_bytes bytes_of(schemas::version_id version, const string& key, const string& bytes) {
    return {version, key, path_digest_of("path/" + key), digest_of(bytes)};
}
put_artifact_part part_of(schemas::version_id version, std::uint32_t number, const string& bytes) {
    return {version, "first", path_digest_of("path/first"), number, digest_of(bytes)};
}
commit_artifact_part commit_of(schemas::version_id version, std::uint32_t number, const string& bytes) {
    return {version, "first", number, "\"" + runtime::to_hex(digest_of(bytes)) + "\""};
}

void tell_of_blobs(golden_writer& log) {
    log.refused(store_blob{"short", 5, "object"}, "with half a digest");
    log.refused(blob_of("a", ""), "without an object");
    log.done(blob_of("a", "object of a"), "a");
    log.done(blob_of("a", "object of a"), "the same again");
    log.done(blob_of("a", "another object of a"), "whose bytes are known");
    log.refused(blob_of("b", "object of a"), "in an object that is to be erased");
    log.done(blob_of("b", "object of b"), "b");
    for (int i = 0; i < 20; ++i) log.done(blob_of(std::to_string(i), "object " + std::to_string(i)));
}

void tell_of_bytes(golden_writer& log) {
    log.refused(bytes_of(none, "first", "a"), "of a version that there is none of");
    log.refused(bytes_of(opened, "third", "a"), "of an artifact that there is none of");
    set_artifact_bytes command = bytes_of(opened, "first", "a");
    command.path_digest = path_digest_of("elsewhere");
    log.refused(command, "for another path");
    command = bytes_of(opened, "first", "a");
    command.replaced = "an ETag";
    log.refused(command, "in place of other bytes than there are");
    log.refused(bytes_of(opened, "first", "unknown"), "that are not stored");
    log.refused(bytes_of(closed, "first", "a"), "of what is CLOSED");
    log.user = ann;
    permit_everybody(log, read_only);
    log.refused(bytes_of(closed, "first", "a"), "of what is CLOSED, by somebody who may only read");
    log.refused(bytes_of(opened, "first", "a"), "by somebody who may only read");
    permit_everybody(log, read_write);
    log.refused(bytes_of(redact, "first", "a"), "of what is REDACT, by somebody who is no workspace admin");
    log.done(bytes_of(opened, "first", "a"), "by somebody who may update");
    log.user = admin;
    permit_everybody(log, read_only);
    log.done(bytes_of(redact, "first", "a"), "of what is REDACT");
    log.done(bytes_of(opened, "model", "a"));
    log.done(bytes_of(opened, "first", "a"), "the same again");
    log.done(blob_of("a", "third object of a"), "that is referred to");
    log.done(bytes_of(opened, "first", "b"), "in place of others");
}

void tell_of_parts(golden_writer& log) {
    log.refused(part_of(none, 1, "a"), "of a version that there is none of");
    log.refused(part_of(opened, 0, "a"), "0");
    log.refused(part_of(opened, 1'001, "a"), "1001");
    log.refused(part_of(opened, 1, "unknown"), "that is not stored");
    log.refused(commit_multipart_artifact{opened, "first", {}}, "of which there are no parts");
    log.refused(commit_of(opened, 1'001, "a"), "1001");
    log.refused(commit_of(opened, 2, "a"), "that was not uploaded");
    log.refused(commit_of(opened, 1, "a"), "1, and all that was sent is something else");
    log.done(part_of(opened, 2, "a"), "2");
    log.refused(commit_multipart_artifact{opened, "first", {}}, "without part 1");
    log.done(commit_of(opened, 1, "b"), "1, which was sent as if it were all");
    log.refused(commit_of(opened, 2, "b"), "with another etag");
    log.refused(commit_multipart_artifact{opened, "first", {}}, "of which part 2 is not committed");
    log.done(part_of(opened, 2, "0"), "2 again");
    commit_artifact_part bare = commit_of(opened, 2, "0");
    bare.etag = bare.etag.substr(1, 64);
    log.done(bare, "2, without the quotes of the etag");
    log.done(commit_multipart_artifact{opened, "first", {}});
    for (std::uint32_t i = 0; i < 20; ++i) {
        log.done(part_of(opened, i + 1, std::to_string(i)));
        log.done(commit_of(opened, i + 1, std::to_string(i)));
    }
    log.done(commit_multipart_artifact{opened, "first", {}}, "of twenty parts");
    log.done(bytes_of(opened, "first", "a"), "in place of twenty parts");
    log.done(no_operation{}, "when they are released");
    store_blob large = blob_of("large", "object of much");
    large.bytes = 3'000'000'000;
    log.done(large);
    for (const std::uint32_t number : {1u, 2u}) {
        log.done(part_of(opened, number, "large"));
        log.done(commit_of(opened, number, "large"));
    }
    log.refused(commit_multipart_artifact{opened, "first", {}}, "that is too large");
    log.done(part_of(opened, 1, "a"), "1 again, which asks for the others again");
    log.done(commit_of(opened, 1, "a"));
    log.refused(commit_multipart_artifact{opened, "first", {}}, "of which part 2 may be another upload's");
    const auto named = [](std::uint32_t number, const char* bytes) {
        return commit_multipart_artifact::named_part{number, commit_of(opened, number, bytes).etag};
    };
    log.refused(commit_multipart_artifact{opened, "first", {named(2, "large")}},
                "of named parts without the first");
    log.refused(commit_multipart_artifact{opened, "first", {named(1, "b")}},
                "of a named part with another etag");
    log.refused(commit_multipart_artifact{opened, "first", {named(1, "a"), named(2, "large"), named(3, "a")}},
                "of a named part that was not uploaded");
    log.done(commit_multipart_artifact{opened, "first", {named(1, "a")}}, "of the named part alone");
}

update_version update_of(std::vector<schemas::artifact> artifacts) {
    update_version command;
    command.id = opened;
    command.mode = update_mode::replace;
    command.version.version = "of artifacts";
    command.version.model = entry("model");
    command.version.artifacts = std::move(artifacts);
    return command;
}

void tell_of_records(golden_writer& log) {
    log.refused(update_of({entry("model")}), "with the model's key among the artifacts");
    log.refused(update_of({entry("first"), entry("first")}), "with a key twice");
    create_version twice;
    twice.registered_model_id.value = 1;
    twice.version.version = "with a key twice";
    twice.version.artifacts = {entry("first"), entry("first")};
    log.refused(twice, "with a key twice");
    log.done(bytes_of(opened, "second", "0"));
    log.done(update_of({entry("first"), entry("second")}), "that keeps what is uploaded");
    schemas::artifact moved = entry("first");
    moved.path = "another path";
    log.done(update_of({moved, entry("second")}), "that gives one another path");
    put_artifact_part part = part_of(opened, 1, "b");
    part.path_digest = path_digest_of("another path");
    log.done(part, "of an entry that has another path");
}

void tell_of_deletions(golden_writer& log) {
    log.refused(delete_artifact{opened, "third"}, "that there is none of");
    log.refused(delete_artifact{closed, "first"}, "of what is CLOSED");
    log.done(delete_artifact{opened, "second"});
    log.done(delete_artifact{opened, "model"});
    log.done(no_operation{}, "when their bytes are released");
}

void tell_of_the_collector(golden_writer& log) {
    claim job;
    job.job = schemas::job_name(schemas::job::artifact_collector);
    job.node = "new";
    job.boot[0] = 1;
    log.refused(find_stray_objects{{}, 1}, "without the claim");
    log.refused(forget_erased_objects{{}, 1}, "without the claim");
    const std::uint64_t token = log.done(job);
    schemas::blob stray;
    stray.digest = digest_of("stray");
    stray.object = "object of a stray";
    schemas::blob known;
    known.digest = digest_of("a");
    known.object = "third object of a";
    log.done(find_stray_objects{{stray, known}, token});
    log.refused(find_stray_objects{std::vector(301, stray), token}, "too many");
    log.done(forget_erased_objects{{"object of a stray", "another object of a"}, token});
    log.refused(forget_erased_objects{std::vector<string>(301, "object"), token}, "too many");
    log.now_ms += day_ms + 1'000;
    log.done(no_operation{}, "a day later, when unused bytes and unfinished uploads are dropped");
    log.done(no_operation{});
    log.now_ms += day_ms + 1'000;
    log.done(no_operation{}, "again a day later");
    log.done(no_operation{});
}

}  // namespace

void tell_of_artifacts(golden_writer& log) {
    put_version(log, opened, schemas::lock_level::open);
    put_version(log, closed, schemas::lock_level::closed);
    put_version(log, redact, schemas::lock_level::redact);
    tell_of_blobs(log);
    tell_of_bytes(log);
    tell_of_parts(log);
    tell_of_records(log);
    tell_of_deletions(log);
    tell_of_the_collector(log);
}

}  // namespace herald::test
