"""Property: each row of the published client's page about endpoints, stages, tokens and builds (client_calls.md §6) is sent as that
client sends it, and answers what it reads. The rows stand in tests/support/client_page.py."""

import gzip
import http.client
import io
import json
import re
import tarfile
import time

import herald
from client_page import saw, shows
from published_client import Artifacts, DEPLOYMENT, World

SPACE = f"{DEPLOYMENT}/workspace/default"
NEW = {"description": None, "custom_permission": {"collaborator_type": "READ_ONLY"}, "visibility": "PRIVATE",
       "resource_visibility": "WORKSPACE_DEFAULT"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(\d{3}|\d{6})Z")
MODEL = {"key": "model", "path": "a/model.pkl", "artifact_type": 1, "filename_extension": "pkl", "serialization": "cloudpickle",
         "artifact_subtype": "class"}


def _endpoint(client, path, **more):
    return client.must("POST", f"{SPACE}/endpoints", {"path": path, **NEW, **more})


def _stage(client, endpoint, name="production"):
    stages = f"{SPACE}/endpoints/{endpoint['id']}/stages"
    made = client.must("POST", stages, {"name": name})
    return made, f"{stages}/{made['id']}"


def _tokens(client, place):
    return [each["creator_request"]["value"] for each in client.must("GET", f"{place}/accesstokens")["tokens"]]


def _version(client, name, **fields):
    model = client.create_model(f"model of {name}")
    return client.create_version(model["id"], name, **fields)


def _build(client, version, **more):
    return client.must("POST", f"{SPACE}/builds", {"model_version_id": int(version["id"]), **more})


# ---- endpoints

@shows("6 create endpoint", "6 endpoints", "6 get endpoint", "6 delete endpoint", "6 ids and times")
def an_endpoint_is_made_found_by_its_path_and_ended():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        assert client.must("GET", f"{SPACE}/endpoints") == {"endpoints": [], "total_records": 0, "next_page_token": ""}
        for number, sharing in enumerate((NEW, {"description": "d", "custom_permission": {"collaborator_type": "READ_WRITE"},
                                                "visibility": "ORG_SCOPED_PUBLIC", "resource_visibility": "ORG_CUSTOM"})):
            sent = {"path": f"/some-path_{number}", **sharing}
            made = client.must("POST", f"{SPACE}/endpoints", sent)
            assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", made["id"])
            assert made["creator_request"] == sent, "echoed as a whole"
            assert TIME.fullmatch(made["date_created"]) and TIME.fullmatch(made["date_updated"])
            assert made["full_url"] == f"http://127.0.0.1:{client.port}/api/v1/predict/some-path_{number}"
            assert client.must("GET", f"{SPACE}/endpoints/{made['id']}") == made
        listed = client.must("GET", f"{SPACE}/endpoints")["endpoints"]
        assert {each["creator_request"]["path"] for each in listed} == {"/some-path_0", "/some-path_1"}
        assert made in listed
        bare = client.must("POST", f"{SPACE}/endpoints", {"path": "bare"})
        assert bare["creator_request"] == {"path": "/bare"}, "the client looks for it with its slash"
        for path in ("/some-path_0", "some-path_0"):
            client.refused(409, 6, "already in use", "POST", f"{SPACE}/endpoints", {**sent, "path": path})
        client.refused(400, 3, "path", "POST", f"{SPACE}/endpoints", {**sent, "path": "/a b"})
        client.refused(400, 3, "path is missing", "POST", f"{SPACE}/endpoints", NEW)
        for unknown in ("00000000-0000-0000-0000-000000000001", "7", "nothing"):
            client.refused(404, 5, unknown, "GET", f"{SPACE}/endpoints/{unknown}")
        assert client.must("DELETE", f"{SPACE}/endpoints/{made['id']}") == {"unconfirmed": []}
        client.refused(404, 5, "not found", "GET", f"{SPACE}/endpoints/{made['id']}")
        client.refused(404, 5, "not found", "DELETE", f"{SPACE}/endpoints/{made['id']}")
        assert made["id"] not in [each["id"] for each in client.must("GET", f"{SPACE}/endpoints")["endpoints"]]
        _endpoint(client, "/some-path_1")


def an_endpoint_is_printed_with_a_command_that_can_be_pasted():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = _endpoint(client, "/team/churn")
        answer = client.call("GET", f"{SPACE}/endpoints/{made['id']}", headers={"Accept": "text/plain"})
        assert answer.headers["content-type"].startswith("text/plain")
        path, identity, command = answer.body.decode().splitlines()
        assert path == "path: /team/churn" and identity == f"id: {made['id']}"
        assert command.startswith(f"curl: curl -X POST '{made['full_url']}' ")
        assert "-H 'Content-Type: application/json'" in command and "-H 'Access-token: <ACCESS_TOKEN>'" in command
        for accept in ("*/*", "application/json", "application/json, text/plain;q=0.5"):
            same = client.call("GET", f"{SPACE}/endpoints/{made['id']}", headers={"Accept": accept})
            assert same.json == made, accept


def many_endpoints_are_listed_piece_by_piece():
    with herald.folder() as folder, World(folder) as world:
        client = world.server.client()
        made = {client.must("POST", f"{SPACE}/endpoints", {"path": f"p/{number}", "description": "x" * 10_000})["id"]
                for number in range(150)}
        answer = client.must("GET", f"{SPACE}/endpoints")
        assert answer["total_records"] == 150 and {each["id"] for each in answer["endpoints"]} == made


def who_may_not_read_an_endpoint_does_not_find_it():
    with herald.folder() as folder, World(folder) as world:
        made = _endpoint(world.client, "/hidden")
        _, place = _stage(world.client, made)
        stranger = world.user("b@example.com")
        stranger.refused(404, 5, "not found", "GET", f"{SPACE}/endpoints")
        stranger.refused(404, 5, "not found", "POST", f"{SPACE}/endpoints", {"path": "/x", **NEW})
        for path in (f"{SPACE}/endpoints/{made['id']}", place, f"{place}/accesstokens", f"{place}/logs", f"{place}/status"):
            stranger.refused(404, 5, "not found", "GET", path)
        own = f"{DEPLOYMENT}/workspace/b%40example.com/endpoints"
        stranger.refused(404, 5, "not found", "GET", f"{own}/{made['id']}")
        stranger.refused(409, 6, "already in use", "POST", own, {"path": "/hidden", **NEW})
        stranger.must("POST", own, {"path": "/mine", **NEW})


# ---- stages and tokens

@shows("6 create stage", "6 stages", "6 get stage", "6 stage logs", "6 kafka")
def a_stage_is_there_at_once_with_a_token_and_without_components():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = _endpoint(client, "/x")
        stages = f"{SPACE}/endpoints/{made['id']}/stages"
        assert client.must("GET", stages)["stages"] == []
        stage, place = _stage(client, made)
        assert type(stage["id"]) is int
        assert len(_tokens(client, place)) == 1, "from this moment"
        assert client.must("GET", stages)["stages"] == [stage]
        assert client.must("GET", place) == stage
        assert stage["status"] == "inactive" and stage["components"] == []
        assert TIME.fullmatch(stage["date_created"]) and TIME.fullmatch(stage["date_updated"])
        entries = client.must("GET", f"{place}/logs")["entries"]
        assert entries and all(isinstance(each["message"], str) and each["id"] for each in entries)
        client.refused(403, 7, "", "GET", f"{DEPLOYMENT}/stages/{stage['id']}/kafka")
        other = _endpoint(client, "/y")
        for wrong in (f"{stages}/999", f"{SPACE}/endpoints/{other['id']}/stages/{stage['id']}", f"{stages}/production"):
            client.refused(404, 5, "", "GET", wrong)
        client.refused(409, 6, "already exists", "POST", stages, {"name": "production"})
        quiet = client.must("POST", stages, {"name": "quiet", "autocreate_token": False})
        assert _tokens(client, f"{stages}/{quiet['id']}") == []
        client.must("DELETE", f"{SPACE}/endpoints/{made['id']}")
        client.refused(404, 5, "not found", "GET", place)


@shows("6 access tokens")
def tokens_are_chosen_or_made_listed_ended_and_revoked():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        _, place = _stage(client, _endpoint(client, "/x"))
        default, = _tokens(client, place)
        assert re.fullmatch(r"[\w-]{43}", default)
        chosen = client.must("POST", f"{place}/accesstokens", {"value": "any!text~of-$mine"})
        assert chosen["creator_request"] == {"value": "any!text~of-$mine"} and type(chosen["id"]) is int
        client.must("DELETE", f"{place}/accesstokens/{chosen['id']}")
        named = client.must("POST", f"{place}/accesstokens", {"value": "mine", "label": "l", "expires": "2099-01-31T00:00:00Z"})
        assert named["creator_request"] == {"value": "mine", "label": "l", "expires": "2099-01-31T00:00:00Z"}
        minted = client.must("POST", f"{place}/accesstokens", {})
        assert re.fullmatch(r"[\w-]{43}", minted["creator_request"]["value"]) and minted["creator_request"]["value"] != default
        assert _tokens(client, place) == [default, "mine", minted["creator_request"]["value"]]
        client.refused(409, 6, "already exists", "POST", f"{place}/accesstokens", {"value": "mine"})
        for value in ("x" * 257, "ä", "a b", "a\n"):
            client.refused(400, 3, "value", "POST", f"{place}/accesstokens", {"value": value})
        for expires in ("tomorrow", "2001-01-01T00:00:00Z", -1, True, "2099-02-30T00:00:00Z"):
            client.refused(400, 3, "expires", "POST", f"{place}/accesstokens", {"value": "v", "expires": expires})
        ends = int(time.time() * 1000) + 1500
        client.must("POST", f"{place}/accesstokens", {"value": "short", "expires": ends})
        assert "short" in _tokens(client, place)
        herald.until(lambda: "short" not in _tokens(client, place), 10, "the token ends")
        client.must("POST", f"{place}/accesstokens", {"value": "short"})
        assert client.must("DELETE", f"{place}/accesstokens/{named['id']}") == {"unconfirmed": []}
        assert "mine" not in _tokens(client, place)
        client.refused(404, 5, "not found", "DELETE", f"{place}/accesstokens/{named['id']}")


def a_repeat_of_a_minted_token_answers_the_first_one_and_its_value_stands_nowhere_in_the_clear():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        _, place = _stage(client, _endpoint(client, "/x"))
        key = {"Idempotency-Key": "once"}
        first = client.must("POST", f"{place}/accesstokens", {}, headers=key)
        assert client.must("POST", f"{place}/accesstokens", {}, headers=key) == first
        assert len(_tokens(client, place)) == 2
        secret = "a-value-to-be-looked-for-in-every-file"
        client.must("POST", f"{place}/accesstokens", {"value": secret, "label": "visible-label"})
        assert world.server.stop() == 0
        files = [each.read_bytes() for each in folder.rglob("*") if each.is_file()]
        assert any(b"visible-label" in each for each in files), "the search finds what is there"
        assert not any(secret.encode() in each for each in files)
        world.server.start()
        assert secret in _tokens(client, place)


def who_may_only_read_sees_no_values_of_tokens():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = _endpoint(client, "/x")
        _, place = _stage(client, made)
        reader = world.user("reader@example.com")
        roles = client.must("GET", "/api/v2/uac-proxy/organization/1/roles")["roles"]
        groups = client.must("GET", "/api/v2/uac-proxy/organization/1/groups")["groups"]
        read_only = next(each["id"] for each in roles if each["name"] == "Read Only")
        everybody = next(each["id"] for each in groups if each["name"] == "All Users")
        client.must("POST", "/api/v2/uac-proxy/organization/1/workspaces",
                    {"workspace": {"id": "1", "org_id": "1", "name": "default",
                                   "permissions": [{"group_id": everybody, "role_id": read_only}]}})
        tokens = reader.must("GET", f"{place}/accesstokens")["tokens"]
        assert len(tokens) == 1 and "value" not in tokens[0]["creator_request"]
        assert reader.must("GET", f"{SPACE}/endpoints")["total_records"] == 1
        for call in (("POST", f"{place}/accesstokens", {"value": "v"}), ("DELETE", f"{place}/accesstokens/{tokens[0]['id']}"),
                     ("DELETE", f"{SPACE}/endpoints/{made['id']}"), ("POST", f"{SPACE}/endpoints", {"path": "/y", **NEW}),
                     ("POST", f"{SPACE}/endpoints/{made['id']}/stages", {"name": "s"})):
            reader.refused(403, 7, "permission", *call)


# ---- updates

def _settled(client, place):
    def ended():
        stage = client.must("GET", place)
        return stage if stage["status"] in ("active", "error") else None
    return herald.until(ended, 60, "the update ends")


@shows("6 update", "6 stage status")
def an_update_shows_its_build_at_once_and_echoes_its_body():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        stage, place = _stage(client, _endpoint(client, "/x"))
        assert client.must("GET", f"{place}/status")["update_request"] == {}
        build = _build(client, _version(client, "v"), external_location="registry.example.com/x:1")["id"]
        rules = [{"rule_id": 1005, "rule_parameters": [{"name": "threshold", "value": "0.8"}]},
                 {"rule_id": 1007, "rule_parameters": [{"name": "threshold", "value": "0.1"}]}]
        canary = {"build_id": build, "strategy": "canary",
                  "canary_strategy": {"progress_interval_seconds": 10, "progress_step": 0.2, "rules": rules}}
        large = {"build_id": build, "strategy": "rollout",
                 "resources": {"cpu_millis": 250, "memory": "512Mi", "nvidia_gpu": {"number": 1, "model": "T4"}},
                 "autoscaling": {"quantities": {"min_replicas": 1, "max_replicas": 2, "min_scale": 0.5, "max_scale": 2},
                                 "metrics": [{"metric_id": 1001, "name": "cpu_utilization",
                                              "parameters": [{"name": "target", "value": "0.5"}]}]},
                 "env": [{"name": "A", "value": "b"}, {"name": "C", "value": ""}]}
        for sent in ({"build_id": build, "strategy": "rollout"}, canary, large):
            client.must("PUT", f"{place}/update", sent, warned=True)
            now = client.must("GET", place)
            assert build in [each["build_id"] for each in now["components"]], now
            assert set(now["components"][-1]) >= {"build_id", "ratio", "status", "message"}
            assert client.must("GET", f"{place}/status")["update_request"] == sent, "echoed as it came"
            # An image made elsewhere has no runtime: the update ends, and says why.
            ended = _settled(client, place)
            assert ended["status"] == "error" and ended["components"][-1]["message"], ended
        printed = client.call("GET", place[:place.index("/stages/")], headers={"Accept": "text/plain"}).body.decode()
        assert printed.splitlines()[3:] == [f"stage production, build {build}: {ended['components'][-1]['message']}"], printed
        client.refused(404, 5, "", "PUT", f"{place}/update", {"build_id": 999, "strategy": "rollout"})
        client.must("PUT", f"{place}/update", {"build_id": build, "strategy": "rollout", "resources": {}, "autoscaling": {}, "env": []})
        for name, wrong, text in (("resources", [], "resources is"), ("autoscaling", "two", "autoscaling is"), ("env", {"A": "b"}, "env is"),
                                  ("env", ["A"], "env[0] is"), ("env", [{"name": "A", "value": "b"}, {"name": "C"}], "env[1].value is missing"),
                                  ("env", [{"name": "A", "value": 7}], "env[0].value is 7")):
            client.refused(400, 3, text, "PUT", f"{place}/update", {"build_id": build, "strategy": "rollout", name: wrong})


# ---- builds

@shows("6 create build", "6 get build", "6 builds", "6 build message", "6 scan")
def builds_are_made_read_commented_and_scanned():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        version = _version(client, "v")
        identity = int(version["id"])
        external = {"external_location": "registry.example.com/x:1", "model_version_id": identity, "requires_root": True,
                    "scan_external": True, "self_contained": True}
        made = client.must("POST", f"{SPACE}/builds", external)
        assert made["status"] == "finished" and made["creator_request"] == external and type(made["id"]) is int
        assert (made["requires_root"], made["scan_external"], made["self_contained"]) == (True, True, True)
        assert made["location"] == external["external_location"] and TIME.fullmatch(made["date_created"])
        assert client.must("GET", f"{SPACE}/builds/{made['id']}") == made
        bare = client.must("POST", f"{SPACE}/builds", {"model_version_id": identity})
        for_gpu = client.must("POST", f"{SPACE}/builds", {"model_version_id": identity,
                                                          "hardware_compatibility": {"nvidia_gpu": {"T4": True}}})
        for build in (bare, for_gpu):
            ended = herald.until(lambda: (now := client.must("GET", f"{SPACE}/builds/{build['id']}"))["status"] != "building" and now,
                                 60, "the build ends")
            assert ended["status"] == "error" and ended["message"], "there is nothing to build it from"
        listed = client.must("GET", f"{DEPLOYMENT}/builds?model_version_id={identity}")["builds"]
        assert [each["id"] for each in listed] == [for_gpu["id"], bare["id"], made["id"]], "newest first"
        assert len({each["date_created"] for each in listed}) == 3
        client.refused(404, 5, "not found", "POST", f"{SPACE}/builds", {"run_id": "abc"})
        client.refused(404, 5, "Couldn't find modelVersion", "POST", f"{SPACE}/builds", {"model_version_id": 999})
        client.must("PUT", f"{DEPLOYMENT}/builds/{made['id']}/message", raw=b'"looked at"')
        assert client.must("GET", f"{SPACE}/builds/{made['id']}")["message"] == "looked at"
        scan = client.must("POST", f"{SPACE}/builds/{made['id']}/scan", {"scan_external": True})
        for read in (scan, client.must("GET", f"{DEPLOYMENT}/builds/{made['id']}/scan")):
            assert (read["scan_status"], read["safety_status"]) == ("scanning", "unknown") and TIME.fullmatch(read["date_updated"])


# ---- tools

def _context(client, body):
    """Its one error that is no JSON cannot be read as the others are."""
    saw("POST", f"{DEPLOYMENT}/builds/dockercontext", body)
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    try:
        connection.request("POST", f"{DEPLOYMENT}/builds/dockercontext", json.dumps(body).encode(), client.headers)
        response = connection.getresponse()
        return herald.Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


@shows("6 docker context")
def a_docker_context_holds_what_an_image_is_made_of():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        version = _version(client, "v")
        body = {"model_version_id": int(version["id"]), "self_contained": False}
        missing = _context(client, body)
        assert missing.status == 404 and missing.headers["content-type"].startswith("text/plain")
        assert missing.body == b"missing artifact model"
        version = client.patch(version, model=MODEL)
        assert _context(client, body).body == b"missing artifact model", "before its bytes are there"
        artifacts = Artifacts(client, version)
        model = bytes(range(256)) * 1000
        artifacts.upload("model", model, 1)
        long_key = "k" * 120 + "/../x"
        for key, extension, data in (("custom_modules", "zip", b"zip"), (long_key, "", b"y" * 70_000)):
            artifacts.record(key, {"key": key, "path": f"b/{key[:9]}", "artifact_type": 4, "filename_extension": extension})
            if key == long_key:
                assert _context(client, body).body == f"missing artifact {long_key}".encode()
            artifacts.upload(key, data)
        environment = {"python": {"version": {"major": 3, "minor": 10, "patch": 4},
                                  "requirements": [{"library": "numpy", "constraint": "==", "version": {"major": 1, "minor": 23}}],
                                  "raw_requirements": "torch\n"},
                       "environment_variables": [{"name": "A", "value": 'b "c" $d'}], "apt": {"packages": ["git"]}}
        read = client.version(version["id"])
        client.must("PATCH", f"/api/v1/registry/registered_models/{read['registered_model_id']}/model_versions/{read['id']}/full_body",
                    {"model_version": {"environment": environment}, "update_mask": {"paths": ["environment"]}})
        answer = _context(client, body)
        assert answer.status == 200 and answer.headers["content-type"] == "application/octet-stream", answer
        assert _context(client, body).body == answer.body, "the same files make the same bytes"
        gzip.decompress(answer.body)
        with tarfile.open(fileobj=io.BytesIO(answer.body), mode="r:gz") as tar:
            files = {each.name: tar.extractfile(each).read() for each in tar.getmembers()}
            assert all(each.isfile() and each.mtime == 0 for each in tar.getmembers())
        docker = files["Dockerfile"].decode()
        assert docker.startswith("FROM python:3.10-slim\n") and "COPY model/ model/" in docker and " git " in docker
        assert 'ENV A="b \\"c\\" \\$d"' in docker
        assert files["model/model.pkl"] == model and files["model/custom_modules.zip"] == b"zip"
        assert files["model/" + "k" * 120 + "%2F..%2Fx"] == b"y" * 70_000
        assert files["environment/requirements.txt"] == b"numpy==1.23.0\ntorch\n"
        client.refused(404, 5, "Couldn't find modelVersion", "POST", f"{DEPLOYMENT}/builds/dockercontext",
                       {"model_version_id": 999, "self_contained": False})
        client.refused(404, 5, "not found", "POST", f"{DEPLOYMENT}/builds/dockercontext", {"run_id": "abc", "self_contained": False})
        stranger = world.user("b@example.com")
        stranger.refused(404, 5, "Couldn't find modelVersion", "POST", f"{DEPLOYMENT}/builds/dockercontext", body)


@shows("6 manifest")
def a_manifest_carries_the_variables_as_they_were_sent():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        env = [{"name": "A", "value": "b"}, {"name": "C", "value": ""}]
        body = {"endpoint": {"path": "/x"}, "name": "x", "update": {"strategy": "rollout", "env": env}, "workspace_name": "default"}
        manifest = client.must("POST", f"{DEPLOYMENT}/operations/manifest", body)
        assert manifest["kind"] == "Endpoint"
        pod = manifest["spec"]["function"]["spec"]["templates"]["deployment"]["spec"]["template"]["spec"]
        assert pod["containers"][0]["env"] == env
        without = {**body, "update": {"strategy": "rollout"}}
        pod = client.must("POST", f"{DEPLOYMENT}/operations/manifest", without)["spec"]["function"]["spec"]["templates"]
        assert pod["deployment"]["spec"]["template"]["spec"]["containers"][0]["env"] == []
        client.refused(400, 3, "env", "POST", f"{DEPLOYMENT}/operations/manifest", {**body, "update": {"env": "A=b"}})
        client.refused(404, 5, "nowhere", "POST", f"{DEPLOYMENT}/operations/manifest", {**body, "workspace_name": "nowhere"})


@shows("6 reference data")
def reference_data_is_looked_at_once_a_version_with_some_is_deployed():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = _endpoint(client, "/x")
        _, place = _stage(client, made)
        ingest = f"/api/v1/monitoring/ingest/reference/endpoint/{made['id']}"
        client.refused(400, 9, "reference_data", "POST", ingest, {"bucket": "b", "path": "p"})
        version = _version(client, "v")
        Artifacts(client, version).record("reference_data", {"key": "reference_data", "path": "r/reference_data.csv", "artifact_type": 4,
                                                             "filename_extension": "csv"})
        build = _build(client, version, external_location="registry.example.com/x:1")["id"]
        client.must("PUT", f"{place}/update", {"build_id": build, "strategy": "rollout"})
        assert client.must("POST", ingest, {"bucket": "b", "path": "p"}) == {}
        client.refused(404, 5, "not found", "POST", "/api/v1/monitoring/ingest/reference/endpoint/00000000-0000-0000-0000-000000000001",
                       {"bucket": "b", "path": "p"})


if __name__ == "__main__":
    herald.run()
