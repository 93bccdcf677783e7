"""The published client's page of calls (client_calls.md §0-7) as a table: a row's title, and each call that it stands for
with the members that the client sends in it. A test says with `@shows` which rows it holds; it fails when it has not sent
their calls in exactly this form. tests/lint/check_client_rows says which rows no test shows.

In a path `*` is one segment or value, `**` one segment or more. Members are named to the second level, `role.name`; a last `...` lets others come
along. A row without calls is a rule: its test says how it is held.
"""

import functools
import re

REGISTRY, PROXY, ORGANIZATION = "/api/v1/registry", "/api/v1/uac-proxy", "/api/v2/uac-proxy/organization"
MODEL, VERSION, STORED = f"{REGISTRY}/registered_models/*", f"{REGISTRY}/registered_models/*/model_versions/*", f"{REGISTRY}/model_versions/*"
NEW_MODEL = ("id", "name", "workspace_id", "labels", "owner", "owner_id", "time_created", "time_updated", "description", "readme_text",
             "attributes", "visibility", "version_number", "resource_visibility", "custom_permission.collaborator_type",
             "custom_permission.can_deploy", "custom_permission.can_predict", "workspace_service_id", "task_type", "data_type", "pii")
NEW_VERSION = ("id", "registered_model_id", "version", "labels", "time_created", "time_updated", "description", "readme_text", "owner",
               "owner_id", "artifacts", "datasets", "attributes", "code_blob_map", "apis", "archived", "stage", "lock_level",
               "version_number", "external_deployments", "input_description", "output_description", "hide_input_label",
               "hide_output_label")
ROLE = tuple(f"role.{name}" for name in ("org_id", "name", "resource_actions", "id", "built_in", "description"))
WORKSPACE = tuple(f"workspace.{name}" for name in ("org_id", "name", "permissions", "namespace", "id", "description", "built_in",
                                                   "created_timestamp", "updated_timestamp"))
FIND = ("predicates", "pagination.page_number", "pagination.page_limit", "ascending", "sort_key", "ids")
URL = ("model_version_id", "key", "method", "artifact_type", "part_number")
SPACE = "/api/v1/deployment/workspace/*"
ENDPOINT, STAGE = f"{SPACE}/endpoints/*", f"{SPACE}/endpoints/*/stages/*"
READ_VERSION = ("id", "registered_model_id", "version", "stage", "lock_level", "time_created", "time_updated", "...")

ROWS = {
    "0 auth headers": (),
    "0 content types": (),
    "0 new TCP connection": (),
    "0 request framing": (),
    "0 redirects": (),
    "0 retries": (),
    "0 error body": (),
    "0 get calls": (),
    "0 bodies of writes": (),
    "0 integers": (),
    "0 enums": (),
    "0 null, NaN": (),
    "0 defaults": (),
    "0 presence": (),
    "0 cache": (),

    "1 verifyConnection": (("GET", "/api/v1/modeldb/project/verifyConnection"),),
    "1 getCurrentUser": (("GET", f"{PROXY}/uac/getCurrentUser"),),
    "1 getWorkspaceById": (("GET", f"{PROXY}/workspace/getWorkspaceById?id=*"),),
    "1 getWorkspaceByName": (("GET", f"{PROXY}/workspace/getWorkspaceByName?name=*"),),
    "1 getVisibleWorkspaces": (("GET", f"{PROXY}/workspace/getVisibleWorkspaces"),),
    "1 getOrganizationByName": (("GET", f"{PROXY}/organization/getOrganizationByName?org_name=*"),),
    "1 updateUser": (("POST", f"{PROXY}/uac/updateUser", "info.email", "info.verta_info", "default_workspace_id", "..."),),
    "1 organizations": (("GET", ORGANIZATION),),
    "1 groups": (("GET", f"{ORGANIZATION}/*/groups"),),
    "1 roles": (("GET", f"{ORGANIZATION}/*/roles"),),
    "1 create role": (("POST", f"{ORGANIZATION}/*/roles", *ROLE),),
    "1 delete role": (("DELETE", f"{ORGANIZATION}/*/role/*"), ("DELETE", f"{ORGANIZATION}/*/roles/*")),
    "1 create workspace": (("POST", f"{ORGANIZATION}/*/workspaces", *WORKSPACE),),
    "1 delete workspace": (("DELETE", f"{ORGANIZATION}/*/workspace/*"), ("DELETE", f"{ORGANIZATION}/*/workspaces/*")),
    "1 rights: none": (),
    "1 rights: READ": (),
    "1 rights: READ, UPDATE": (),
    "1 rights: CREATE, READ, UPDATE, DELETE": (),
    "1 rights: Admins, own workspace": (),

    "2 create model": (("POST", f"{REGISTRY}/workspaces/*/registered_models", *NEW_MODEL),),
    "2 get model by name": (("GET", f"{REGISTRY}/workspaces/*/registered_models/*"),),
    "2 get model": (("GET", MODEL),),
    "2 patch model": tuple(("PATCH", MODEL, name) for name in ("labels", "description", "task_type", "data_type", "attributes")),
    "2 put model": (("PUT", MODEL, "id", "name", "time_created", "time_updated", "owner", "workspace_id", "resource_visibility", "..."),),
    "2 delete model": (("DELETE", MODEL),),
    "2 find models": (("POST", f"{REGISTRY}/workspaces/*/registered_models/find", "workspace_name", *FIND),
                      ("POST", f"{REGISTRY}/registered_models/find", *FIND)),

    "3 create version": (("POST", f"{MODEL}/model_versions", *NEW_VERSION),
                         ("POST", f"{MODEL}/model_versions", "experiment_run_id", *NEW_VERSION)),
    "3 get version": (("GET", STORED),),
    "3 patch version": (("PATCH", VERSION), *(("PATCH", VERSION, name) for name in (
        "labels", "description", "attributes", "input_description", "output_description", "hide_input_label", "hide_output_label")),
        ("PATCH", VERSION, "model.key", "model.path", "model.artifact_type", "model.filename_extension", "model.serialization",
         "model.artifact_subtype")),
    "3 full_body": (("PATCH", f"{VERSION}/full_body", "model_version.environment", "update_mask.paths"),
                    ("PATCH", f"{VERSION}/full_body", "model_version.docker_metadata", "model_version.environment", "update_mask.paths")),
    "3 put version": (("PUT", VERSION, *READ_VERSION),),
    "3 lock": (("PUT", f"{STORED}/lock", "lock_level"),),
    "3 delete version": (("DELETE", STORED),),
    "3 updateStage": (("POST", f"{REGISTRY}/stage/updateStage", "model_version_id", "stage", "comment"),),
    "3 logDatasets": (("POST", f"{STORED}/logDatasets", "model_version_id", "datasets"),),
    "3 logCodeBlobInModelVersion": (("POST", f"{STORED}/logCodeBlobInModelVersion", "model_version_id", "code_blob_map.*", "..."),),
    "3 labels": (),
    "3 attributes": (),
    "3 lock outcomes": (),

    "4 artifact as sent": (),
    "4 step 1": (("POST", f"{STORED}/getUrlForArtifact", *URL),),
    "4 step 2a": (("PUT", f"{REGISTRY}/artifact_bytes/*"),),
    "4 step 2b": (),
    "4 step 2c": (("POST", f"{STORED}/commitArtifactPart", "model_version_id", "key", "artifact_part.part_number", "artifact_part.etag"),),
    "4 step 2d": (("POST", f"{STORED}/commitMultipartArtifact", "model_version_id", "key"),),
    "4 read": (("GET", f"{REGISTRY}/artifact_bytes/*"),),
    "4 delete": (("PUT", VERSION, *READ_VERSION),),
    "4 environment": (("PUT", VERSION, *READ_VERSION), ("PATCH", f"{VERSION}/full_body", "model_version.environment", "update_mask.paths")),

    "5 URLs for versions": (("POST", f"{MODEL}/model_versions/find", "id.registered_model_id", *FIND),
                            ("POST", f"{REGISTRY}/workspaces/*/model_versions/find", "id.named_id", *FIND),
                            ("POST", f"{REGISTRY}/model_versions/find", "id.registered_model_id", *FIND)),
    "5 by-name look-up": (("POST", f"{MODEL}/model_versions/find", "id.registered_model_id", "predicates"),),
    "5 length": (),
    "5 operators": (),
    "5 keys": (),
    "5 labels == x": (),
    "5 stage == production": (),
    "5 results": (),

    "6 create endpoint": (("POST", f"{SPACE}/endpoints", "path", "description", "custom_permission.collaborator_type", "visibility",
                           "resource_visibility"),),
    "6 endpoints": (("GET", f"{SPACE}/endpoints"),),
    "6 get endpoint": (("GET", ENDPOINT),),
    "6 delete endpoint": (("DELETE", ENDPOINT),),
    "6 create stage": (("POST", f"{ENDPOINT}/stages", "name"),),
    "6 stages": (("GET", f"{ENDPOINT}/stages"),),
    "6 get stage": (("GET", STAGE),),
    "6 update": (("PUT", f"{STAGE}/update", "build_id", "strategy"),
                 ("PUT", f"{STAGE}/update", "build_id", "strategy", "canary_strategy.progress_interval_seconds",
                  "canary_strategy.progress_step", "canary_strategy.rules"),
                 ("PUT", f"{STAGE}/update", "build_id", "strategy", "resources.cpu_millis", "resources.memory", "resources.nvidia_gpu",
                  "autoscaling.quantities", "autoscaling.metrics", "env")),
    "6 stage status": (("GET", f"{STAGE}/status"),),
    "6 access tokens": (("GET", f"{STAGE}/accesstokens"), ("POST", f"{STAGE}/accesstokens", "value")),
    "6 stage logs": (("GET", f"{STAGE}/logs"),),
    "6 kafka": (("GET", "/api/v1/deployment/stages/*/kafka"),),
    "6 create build": (("POST", f"{SPACE}/builds", "model_version_id"), ("POST", f"{SPACE}/builds", "run_id"),
                       ("POST", f"{SPACE}/builds", "model_version_id", "hardware_compatibility.nvidia_gpu"),
                       ("POST", f"{SPACE}/builds", "external_location", "model_version_id", "requires_root", "scan_external",
                        "self_contained")),
    "6 get build": (("GET", f"{SPACE}/builds/*"),),
    "6 builds": (("GET", "/api/v1/deployment/builds?model_version_id=*"),),
    "6 build message": (("PUT", "/api/v1/deployment/builds/*/message"),),
    "6 scan": (("POST", f"{SPACE}/builds/*/scan", "scan_external"), ("GET", "/api/v1/deployment/builds/*/scan")),
    "6 docker context": (("POST", "/api/v1/deployment/builds/dockercontext", "model_version_id", "self_contained"),
                         ("POST", "/api/v1/deployment/builds/dockercontext", "run_id", "self_contained")),
    "6 manifest": (("POST", "/api/v1/deployment/operations/manifest", "endpoint.path", "name", "update.strategy", "update.env",
                    "workspace_name"),),
    "6 reference data": (("POST", "/api/v1/monitoring/ingest/reference/endpoint/*", "bucket", "path"),),
    "6 ids and times": (),

    "7 predict": (("POST", "/api/v1/predict/**", "..."),),
    "7 batch-predict": (("POST", "/api/v1/batch-predict/**", "index", "columns", "data"),),
}

_sent = []


def saw(method, target, body):
    """A call of the published client, as it went out."""
    _sent.append((method, target.split("?signature=")[0], members_of(body)))


def members_of(body):
    if not isinstance(body, dict):
        return frozenset()
    return frozenset(f"{name}.{inner}" if inner else name for name, value in body.items()
                     for inner in (value if isinstance(value, dict) and value else [""]))


def _is(sent, call):
    method, pattern, *members = call
    form = re.escape(pattern).replace(r"\*\*", "[^?&]+").replace(r"\*", "[^/?&]+")
    if sent[0] != method or not re.fullmatch(form, sent[1]):
        return False
    there, more = sent[2], "..." in members
    for member in members:
        if member == "...":
            continue
        found = {one for one in there if re.fullmatch(re.escape(member).replace(r"\*", ".+"), one) or one.startswith(f"{member}.")}
        if not found:
            return False
        there = there - found
    return more or not there


def shows(*titles):
    """The decorator of a test that holds these rows."""
    unknown = set(titles) - set(ROWS)
    assert not unknown, f"no rows of the client's page: {unknown}"

    def of(test):
        @functools.wraps(test)
        def checked():
            _sent.clear()
            test()
            for title in titles:
                for call in ROWS[title]:
                    assert any(_is(sent, call) for sent in _sent), f"row \"{title}\": no call {call} was sent"
        return checked
    return of
