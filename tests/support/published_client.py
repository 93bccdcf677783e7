"""The published client (client_calls.md), as far as tests need it: what it sends, and how it reads. Standard library only."""

import http.client
import json
import urllib.parse

import client_page
import herald

REGISTRY = "/api/v1/registry"
PROXY = "/api/v1/uac-proxy"
DEPLOYMENT = "/api/v1/deployment"
MODELS = f"{REGISTRY}/workspaces/default/registered_models"

# What the client's create calls send for fields that nobody set.
UNSET_MODEL = {"id": "0", "name": "", "workspace_id": "0", "labels": [], "owner": "", "owner_id": "0", "time_created": "0",
               "time_updated": "0", "description": "", "readme_text": "", "attributes": [], "visibility": 0, "version_number": "0",
               "resource_visibility": 4, "custom_permission": {"collaborator_type": 0, "can_deploy": 0, "can_predict": 0},
               "workspace_service_id": "0", "task_type": 0, "data_type": 0, "pii": False}
UNSET_VERSION = {"id": "0", "registered_model_id": "0", "version": "", "labels": [], "time_created": "0", "time_updated": "0",
                 "description": "", "readme_text": "", "owner": "", "owner_id": "0", "artifacts": [], "datasets": [], "attributes": [],
                 "code_blob_map": {}, "apis": [], "archived": 0, "stage": 0, "lock_level": 1, "version_number": "0",
                 "external_deployments": [], "input_description": "", "output_description": "", "hide_input_label": False,
                 "hide_output_label": False}
STAGES = ["UNKNOWN", "DEVELOPMENT", "STAGING", "PRODUCTION", "ARCHIVED", "UNASSIGNED"]
LOCKS = ["UNKNOWN", "OPEN", "CLOSED", "REDACT"]
ARTIFACTS = ["IMAGE", "MODEL", "TENSORBOARD", "DATA", "BLOB", "STRING", "CODE", "CONTAINER"]
VISIBILITIES = ["PRIVATE", "PUBLIC", "ORG_SCOPED_PUBLIC", "ORG_DEFAULT"]
SHARING = ["UNKNOWN", "ORG_DEFAULT", "ORG_CUSTOM", "PRIVATE", "WORKSPACE_DEFAULT"]
TASKS = ["UNKNOWN", "OTHER", "CLASSIFICATION", "CLUSTERING", "DETECTION", "REGRESSION", "TRANSCRIPTION", "TRANSLATION"]
DATA = ["UNKNOWN", "OTHER", "AUDIO", "IMAGE", "TABULAR", "TEXT", "VIDEO"]
TERNARY = ["UNKNOWN", "TRUE", "FALSE"]

ORGANIZATION = "/api/v2/uac-proxy/organization"
REGISTERED_MODEL = 3  # as a type of resources
READ, UPDATE, CREATE, DELETE = 1, 2, 3, 4


class PublishedClient:
    """Sends as that client does: a new connection for each call, no Accept, integers for enums; reads as it does."""

    def __init__(self, port, email=herald.ADMIN_EMAIL, key=herald.ADMIN_KEY):
        self.port = port
        self.headers = {"User-Agent": "python-urllib3/1.26", "Connection": "keep-alive", "Grpc-Metadata-source": "PythonClient",
                        "Grpc-Metadata-email": email, "Grpc-Metadata-developer_key": key, "Grpc-Metadata-developer-key": key}

    def call(self, method, path, body=None, raw=None, headers=None, chunked=False, warned=False):
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = dict(self.headers)
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            if chunked:
                data = iter([data[:7], data[7:]])
            connection.request(method, path, data, sent, encode_chunked=chunked)
            response = connection.getresponse()
            assert warned or "svc-warning" not in response.headers, f"{method} {path}: {response.headers['svc-warning']}"
            client_page.saw(method, path, body)
            return _as_the_client_reads(herald.Answer(response.status, response.headers, response.read()), method)
        finally:
            connection.close()

    def must(self, method, path, body=None, **more):
        answer = self.call(method, path, body, **more)
        assert answer.status == 200 and answer.body, f"{method} {path}: {answer}"
        return answer.json

    def get(self, path):
        """A call marked G: None when the thing is absent."""
        answer = self.call("GET", path)
        if (answer.status, answer.json.get("code")) in ((404, 5), (403, 7)):
            assert isinstance(answer.json["message"], str)
            return None
        assert answer.status == 200, f"GET {path}: {answer}"
        return answer.json

    def refused(self, status, code, text, *call, **more):
        answer = self.call(*call, **more)
        assert answer.status == status, f"{call[:2]}: {answer}"
        body = answer.json
        assert isinstance(body["code"], int) and body["code"] == code and isinstance(body["message"], str), f"{call[:2]}: {answer}"
        assert text in body["message"], f"{call[:2]}: \"{body['message']}\" does not say \"{text}\""

    # ---- what the client's own functions do
    def create_model(self, name, workspace="default", **fields):
        return self.must("POST", f"{REGISTRY}/workspaces/{quoted(workspace)}/registered_models",
                         {**UNSET_MODEL, "name": name, **fields})["registered_model"]

    def create_version(self, of_model, name, **fields):
        return self.must("POST", f"{REGISTRY}/registered_models/{of_model}/model_versions",
                         {**UNSET_VERSION, "registered_model_id": of_model, "version": name, **fields})["model_version"]

    def version(self, version):
        return self.get(f"{REGISTRY}/model_versions/{version}")["model_version"]

    def update(self, method, version, body, **more):
        path = f"{REGISTRY}/registered_models/{version['registered_model_id']}/model_versions/{version['id']}"
        return self.must(method, path, body, **more)["model_version"]

    def patch(self, version, **body):
        return self.update("PATCH", version, body)

    def put(self, version, body, **more):
        return self.update("PUT", version, body, **more)


def _as_the_client_reads(answer, method):
    """What holds for each answer (client_calls.md §0)."""
    assert answer.status not in (301, 302, 303, 307, 308), answer
    if answer.status >= 400 and method != "HEAD":
        assert answer.headers["content-type"].startswith("application/json"), answer
        assert isinstance(answer.json["code"], int) and isinstance(answer.json["message"], str), answer
    return answer


def quoted(name):
    return urllib.parse.quote(name, safe="")


def as_value(value):
    """A JSON value after the client held it as a protobuf Value: whole numbers without fraction, members in any order."""
    if isinstance(value, float) and value == value and abs(value) != float("inf") and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [as_value(item) for item in value]
    if isinstance(value, dict):
        return {key: as_value(value[key]) for key in sorted(value, reverse=True)}
    return value


def as_message(record, enums):
    """A message as the client writes it back: what is at its default left out, enums as integers."""
    out = {}
    for key, value in record.items():
        value = enums[key].index(value) if key in enums and isinstance(value, str) else value
        if value not in ("", "0", 0, [], None):
            out[key] = value
    return out


def as_put(version):
    """The record that the client last read, as its PUT carries it."""
    out = as_message(version, {"stage": STAGES, "lock_level": LOCKS})
    artifacts = {"artifact_type": ARTIFACTS}
    for key in ("artifacts", "datasets"):
        if key in out:
            out[key] = [as_message(artifact, artifacts) for artifact in out[key]]
    if "model" in out:
        out["model"] = as_message(out["model"], artifacts)
    if not out.get("code_blob_map"):
        out.pop("code_blob_map", None)
    if "attributes" in out:
        out["attributes"] = [{**as_message(attribute, {}), "value": as_value(attribute["value"])} for attribute in out["attributes"]]
    for key in ("environment", "code_blob_map"):
        if key in out:
            out[key] = as_value(out[key])
    return out


def as_put_model(model):
    """The record that the client last read, as its PUT carries it."""
    out = as_message(model, {"visibility": VISIBILITIES, "resource_visibility": SHARING, "task_type": TASKS, "data_type": DATA})
    if out.get("pii") is False:
        del out["pii"]
    if "custom_permission" in out:
        out["custom_permission"] = as_message(out["custom_permission"], {"collaborator_type": ["READ_ONLY", "READ_WRITE"],
                                                                         "can_deploy": TERNARY, "can_predict": TERNARY})
    return out


def path_of(version):
    return f"{REGISTRY}/registered_models/{version['registered_model_id']}/model_versions/{version['id']}"


def stored_at(version):
    return f"{REGISTRY}/model_versions/{version['id']}"


class World:
    def __init__(self, folder):
        self.server = herald.Standalone(folder)
        self.client = PublishedClient(self.server.port)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            assert self.server.process.alive and herald.readiness(self.server.port)
            assert self.server.stop() == 0

    def user(self, email):
        other, _ = self.server.client().user(email)
        return PublishedClient(self.server.port, email, other.headers["Grpc-Metadata-developer_key"])

    def second_admin(self):
        other = self.server.client().second_admin()
        return PublishedClient(self.server.port, "second@example.com", other.headers["Grpc-Metadata-developer_key"])


class Team:
    """User A in Admins, user B only in All Users."""

    def __init__(self, folder):
        self.server = herald.Standalone(folder)
        self.a = PublishedClient(self.server.port)
        made = self.a.must("POST", f"{PROXY}/uac/createUser", {"info": {"email": "b@example.com"}})["info"]
        self.b = PublishedClient(self.server.port, "b@example.com", made["dev_key"])
        self.b_id = made["verta_info"]["user_id"]

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.server.stop()

    def group(self, name):
        groups = self.a.get(f"{ORGANIZATION}/1/groups")["groups"]
        return next(group["id"] for group in groups if group["name"] == name)

    def role(self, name, resource_actions):
        sent = {"role": {"org_id": "1", "name": name, "resource_actions": resource_actions, "id": "", "built_in": False,
                         "description": ""}}
        made = self.a.must("POST", f"{ORGANIZATION}/1/roles", sent)["role"]
        assert made["org_id"] == "1" and made["name"] == name, made
        return made["id"]

    def workspace(self, name, permissions):
        sent = {"workspace": {"org_id": "1", "name": name, "permissions": permissions, "namespace": "cluster--namespace", "id": "0",
                              "description": "", "built_in": False, "created_timestamp": "0", "updated_timestamp": "0"}}
        made = self.a.must("POST", f"{ORGANIZATION}/1/workspaces", sent)["workspace"]
        assert int(made["id"]) > 0 and (made["org_id"], made["name"], made["namespace"]) == ("1", name, "cluster--namespace"), made
        return made["id"]

    def shared(self, name, actions):
        """As the client makes a workspace that others share: a role of its own, given to All Users."""
        role = self.role(f"{name} users", [{"resource_type": REGISTERED_MODEL, "allowed_actions": actions}] if actions else [])
        super_user = next(role["id"] for role in self.a.get(f"{ORGANIZATION}/1/roles")["roles"] if role["name"] == "Super User")
        permissions = [{"group_id": self.group("Admins"), "role_id": super_user}]
        if actions:
            permissions.append({"group_id": self.group("All Users"), "role_id": role})
        return self.workspace(name, permissions), role


PART = 64_000_000


class Artifacts:
    """Uploads and downloads as the client's own functions do."""

    def __init__(self, client, version):
        self.client = client
        self.version = version
        self.path = stored_at(version)

    def record(self, key, entry):
        """The metadata come first."""
        if key == "model":
            return self.client.patch(self.version, model=entry)
        read = as_put(self.client.version(self.version["id"]))
        kept = [one for one in read.get("artifacts", []) if one["key"] != key]
        return self.client.put(self.version, {**read, "artifacts": [*kept, entry]})

    def ask(self, key, method, part, kind=4, **more):
        body = {"model_version_id": self.version["id"], "key": key, "method": method, "artifact_type": kind, "part_number": str(part)}
        return self.client.call("POST", f"{self.path}/getUrlForArtifact", body, **more)

    def url(self, key, method, part=0, kind=4):
        answer = self.ask(key, method, part, kind)
        assert answer.status == 200, answer
        said = answer.json
        address = urllib.parse.urlsplit(said["url"])
        assert address.scheme == "http" and address.port == self.client.port and set(said) == {"url", "multipart_upload_ok", "fields"}, said
        return said

    def send(self, method, url, data=None):
        """The client's headers go along, and no Content-Type."""
        address = urllib.parse.urlsplit(url)
        target = f"{address.path}?{address.query}"
        connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
        try:
            client_page.saw(method, target, None)
            connection.request(method, target, data, {**self.client.headers, "Accept-Encoding": "identity"})
            response = connection.getresponse()
            return herald.Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def upload(self, key, data, kind=4):
        said = self.url(key, "PUT", 1, kind)
        if said["multipart_upload_ok"]:
            return self.upload_parts(key, [data[at:at + PART] for at in range(0, len(data), PART)], kind)
        assert said["fields"] == {}, "Herald serves its URLs itself: no form is needed"
        assert 200 <= self.send("PUT", said["url"], data).status < 300

    def upload_parts(self, key, parts, kind=4):
        for number, data in enumerate(parts, 1):
            answer = self.send("PUT", self.url(key, "PUT", number, kind)["url"], data)
            assert answer.status == 200 and answer.headers["ETag"].startswith('"'), answer
            self.client.must("POST", f"{self.path}/commitArtifactPart",
                             {"model_version_id": self.version["id"], "key": key,
                              "artifact_part": {"part_number": str(number), "etag": answer.headers["ETag"]}})
        self.client.must("POST", f"{self.path}/commitMultipartArtifact", {"model_version_id": self.version["id"], "key": key})

    def download(self, key):
        return self.send("GET", self.url(key, "GET")["url"])
