"""Property: each row of the published client's page (client_calls.md §0-5) is sent as that client sends it, defaults and all, and
answers what it reads. The rows stand in tests/support/client_page.py."""

import io
import json
import os
import zipfile

import herald
from client_page import shows
from published_client import (ARTIFACTS, Artifacts, CREATE, DELETE, DEPLOYMENT, LOCKS, MODELS, ORGANIZATION, PROXY, PublishedClient, READ,
                              REGISTRY, STAGES, Team, UNSET_MODEL, UNSET_VERSION, UPDATE, as_message, as_put, as_put_model, path_of, quoted,
                              stored_at)

UNASSIGNED = (5, "UNASSIGNED")
FIND = {"predicates": [], "pagination": {"page_number": 1, "page_limit": 100}, "ascending": False, "sort_key": "", "ids": []}
LINE = {"type": "verta.line.v1", "line": {"x": [1, 2.5, 3], "y": [0.5, -1, 7]}}
ENVIRONMENT = {"python": {"version": {"major": 3, "minor": 10, "patch": 4, "suffix": "rc1"},
                          "requirements": [{"library": "numpy", "constraint": "==", "version": {"major": 1, "minor": 23}}],
                          "constraints": [{"library": "six", "constraint": ">=", "version": {"major": 1}}],
                          "raw_requirements": "torch\n", "raw_constraints": "pip<23\n"},
               "environment_variables": [{"name": "A", "value": "b"}, {"name": "C", "value": ""}], "command_line": ["python", "-m", "x"],
               "apt": {"packages": ["git"]}}
DOCKER = {"request_port": 5000, "request_path": "/predict", "health_path": "/health"}


def _find(client, path, predicates=(), **more):
    answer = client.must("POST", path, {**FIND, "predicates": [{"value_type": 0, **one} for one in predicates], **more})
    assert int(answer["total_records"]) >= 0, answer
    return answer.get("registered_models", answer.get("model_versions"))


# ---- §0 transport

@shows("0 auth headers", "0 new TCP connection", "0 content types", "1 verifyConnection")
def each_call_comes_with_its_headers_on_a_connection_of_its_own():
    with herald.folder() as folder, Team(folder) as team:
        verify = "/api/v1/modeldb/project/verifyConnection"
        assert team.a.must("GET", verify) == {"status": True}
        for more in ({"Grpc-Metadata-organization-id": "1"}, {"Grpc-Metadata-organization-id": ""}, {"Content-Type": "application/json"}):
            assert team.a.must("GET", verify, headers=more) == {"status": True}
        for token in ({"Grpc-Metadata-bearer_access_token": "x", "Grpc-Metadata-bearer-access-token": "x"},
                      {"Grpc-Metadata-bearer_access_token": "x", "Grpc-Metadata-bearer_access_token_sig": "y",
                       "Grpc-Metadata-bearer-access-token": "x", "Grpc-Metadata-bearer-access-token-sig": "y"}):
            jwt = PublishedClient(team.server.port)
            jwt.headers = {"Grpc-Metadata-source": "JWT", **token}
            jwt.refused(401, 16, "Grpc-Metadata-bearer", "GET", verify)
        wrong = PublishedClient(team.server.port, key="0" * 32)
        wrong.refused(401, 16, "", "GET", verify)
        user = team.a.call("GET", f"{PROXY}/uac/getCurrentUser")
        assert "text/html" not in user.headers["content-type"], "that would mean that there is no user service"
        made = team.a.create_model("m")
        # A body on DELETE, with its type and without.
        assert team.a.must("DELETE", f"{REGISTRY}/registered_models/{made['id']}", {"id": made["id"]}) == {}
        made = team.a.create_model("m")
        assert team.a.call("DELETE", f"{REGISTRY}/registered_models/{made['id']}", raw=b"{}").status == 200


@shows("0 request framing", "0 null, NaN", "0 integers", "0 enums", "0 defaults", "0 presence")
def bodies_are_taken_in_each_form_that_the_client_writes():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        model = client.create_model("m")
        body = json.dumps({**UNSET_VERSION, "registered_model_id": model["id"], "version": "streamed"}).encode()
        versions = f"{REGISTRY}/registered_models/{model['id']}/model_versions"
        plain = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        streamed = client.call("POST", versions, raw=body, headers=plain, chunked=True)
        assert streamed.status == 200, streamed
        version = streamed.json["model_version"]
        for name in ("id", "registered_model_id", "time_created", "time_updated", "version_number"):
            assert isinstance(version[name], str) and int(version[name]) > 0, (name, version[name])
        assert version["stage"] in STAGES and version["lock_level"] in LOCKS and version["archived"] in ("UNKNOWN", "TRUE", "FALSE")
        for name, value in (("numbers", int(model["id"])), ("strings", model["id"]), ("unset", "0"), ("unset too", 0)):
            assert client.create_version(model["id"], name, id=value if "unset" in name else "0",
                                         registered_model_id=value)["registered_model_id"] == model["id"]
        null = client.must("POST", versions, {**UNSET_VERSION, "version": "null", "description": None, "labels": None, "attributes": None,
                                              "environment": None, "model": None, "stage": None, "lock_level": None})["model_version"]
        assert null["labels"] == [] and null["description"] == "" and "environment" not in null and null["stage"] in UNASSIGNED
        for token in ("NaN", "Infinity", "-Infinity"):
            client.refused(400, 3, token.lstrip("-"), "PATCH", path_of(version),
                           raw=f'{{"attributes":[{{"key":"k","value":{token}}}]}}'.encode(), headers=plain)
        # An empty object is there, but no model is without a key.
        assert not client.patch(version, model={}).get("model", {}).get("key")
        assert client.patch(version, environment={"python": {}})["environment"] == {"python": {}}, "present, though empty"
        assert client.patch(version, environment={"docker": {}})["environment"] == {"docker": {}}
        bare = client.must("POST", MODELS, {"name": "bare"})["registered_model"]
        full = client.create_model("full")
        for name in set(bare) - {"id", "name", "time_created", "time_updated"}:
            assert bare[name] == full[name], f"{name}: a default says nothing"


@shows("0 redirects", "0 error body", "0 get calls", "0 bodies of writes", "0 retries")
def refusals_have_a_code_and_a_message_and_writes_a_body():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        model = client.create_model("m")
        version = client.create_version(model["id"], "v")
        for path in (f"{REGISTRY}/registered_models/9999", f"{MODELS}/nothing", f"{REGISTRY}/model_versions/9999",
                     f"{REGISTRY}/workspaces/nowhere/registered_models/m", f"{ORGANIZATION}/99/groups", f"{ORGANIZATION}/99/roles"):
            assert client.get(path) is None and client.call("GET", path).status == 404, path
        for path in ("/nothing/at/all", f"{REGISTRY}/registered_models/", f"{REGISTRY}/", "/api/v1/registry//model_versions/1"):
            client.refused(404, 5, "", "GET", path)
        for path in (f"{REGISTRY}/registered_models/{model['id']}", f"{MODELS}/m", stored_at(version)):
            assert team.b.get(path) is None
        # A create that is sent again after a lost answer.
        client.refused(409, 6, "already exists", "POST", MODELS, {**UNSET_MODEL, "name": "m"})
        for answer in (client.call("PATCH", path_of(version), {"description": "d"}), client.call("PUT", path_of(version), as_put(version)),
                       client.call("PUT", f"{stored_at(version)}/lock", {"lock_level": 1}), client.call("DELETE", stored_at(version))):
            assert answer.status == 200 and isinstance(answer.json, dict), answer


@shows("0 cache")
def a_read_after_a_write_shows_it():
    with herald.folder() as folder, Team(folder) as team:
        model = team.a.create_model("m")
        version = team.a.create_version(model["id"], "v")
        for number in range(50):
            team.a.patch(version, description=str(number))
            assert team.a.version(version["id"])["description"] == str(number)


# ---- §1 identity

@shows("1 getCurrentUser", "1 getWorkspaceById", "1 getWorkspaceByName", "1 getVisibleWorkspaces", "1 getOrganizationByName", "1 organizations",
       "1 groups", "1 roles")
def a_client_is_opened():
    with herald.folder() as folder, Team(folder) as team:
        team.shared("shared one", [READ])
        for client, own in ((team.a, "default"), (team.b, "b@example.com")):
            home = client.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["default_workspace_id"]
            assert int(home) > 0
            shown = client.must("GET", f"{PROXY}/workspace/getWorkspaceById?id={home}")
            assert shown["username" if "@" in own else "org_name"] == own and ("username" in shown) != ("org_name" in shown), shown
            assert client.must("GET", f"{PROXY}/workspace/getWorkspaceByName?name={quoted(own)}")["id"] == home
            first = next(one for one in client.must("GET", f"{PROXY}/workspace/getVisibleWorkspaces")["workspace"] if one.get("org_id"))
            assert client.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name={quoted(first['org_name'])}").status == 200
            organization = client.must("GET", ORGANIZATION)["organizations"][0]
            assert organization["name"] == "default" and first["org_id"] == organization["id"]
            groups = client.get(f"{ORGANIZATION}/{organization['id']}/groups")["groups"]
            assert {"Admins", "All Users"} <= {group["name"] for group in groups if group["id"]}
            assert "Super User" in {role["name"] for role in client.get(f"{ORGANIZATION}/{organization['id']}/roles")["roles"] if role["id"]}
        assert team.a.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name=shared%20one").status == 200
        for nobodys in ("b%40example.com", "nowhere"):
            assert team.b.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name={nobodys}").status == 404
            assert team.a.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name={nobodys}").status == 404
        assert team.a.get(f"{PROXY}/workspace/getWorkspaceByName?name=nowhere") is None


@shows("1 updateUser", "1 create role", "1 create workspace", "1 delete workspace", "1 delete role")
def roles_and_workspaces_are_made_used_at_once_and_deleted():
    with herald.folder() as folder, Team(folder) as team:
        for singular, (workspaces, roles) in enumerate((("workspaces", "roles"), ("workspace", "role"))):
            name = f"team {singular}"
            workspace, role = team.shared(name, [READ, UPDATE])
            made = team.a.create_model("m", workspace=name)
            assert team.b.get(f"{REGISTRY}/workspaces/{quoted(name)}/registered_models/m")["registered_model"] == made
            me = team.b.must("GET", f"{PROXY}/uac/getCurrentUser")
            team.b.must("POST", f"{PROXY}/uac/updateUser", {"info": me, "default_workspace_id": workspace}, warned=True)
            assert team.b.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["default_workspace_id"] == workspace
            team.a.must("DELETE", f"{REGISTRY}/registered_models/{made['id']}")
            assert team.a.must("DELETE", f"{ORGANIZATION}/1/{workspaces}/{workspace}") == {}, "its role is still there"
            assert team.a.must("DELETE", f"{ORGANIZATION}/1/{roles}/{role}") == {}
        resources = [{"resource_type": kind, "allowed_actions": list(range(1, 9))} for kind in range(1, 7)]
        made = team.role("everything", resources)
        listed = next(role for role in team.b.get(f"{ORGANIZATION}/1/roles")["roles"] if role["id"] == made)
        assert len(listed["resource_actions"]) == 6 and listed["resource_actions"][5]["allowed_actions"][6:] == ["DEPLOY", "PREDICT"], listed


@shows("1 rights: none", "1 rights: READ", "1 rights: READ, UPDATE", "1 rights: CREATE, READ, UPDATE, DELETE", "1 rights: Admins, own workspace")
def rights_follow_from_the_role_of_all_users():
    with herald.folder() as folder, Team(folder) as team:
        second = team.server.client().second_admin()
        second = PublishedClient(team.server.port, "second@example.com", second.headers["Grpc-Metadata-developer_key"])
        own = f"{DEPLOYMENT}/workspace/b%40example.com/builds"
        for number, actions in enumerate(([], [READ], [READ, UPDATE], [CREATE, READ, UPDATE, DELETE])):
            name = f"team {number}"
            team.shared(name, actions)
            model = team.a.create_model("m", workspace=name)
            version = team.a.create_version(model["id"], "v")
            reads = (f"{REGISTRY}/registered_models/{model['id']}", stored_at(version), f"{REGISTRY}/workspaces/{quoted(name)}/registered_models/m")
            writes = (("PATCH", path_of(version), {"description": "d"}), ("PATCH", path_of(version), {"labels": ["l"]}),
                      ("PUT", f"{stored_at(version)}/lock", {"lock_level": 3}), ("PATCH", reads[0], {"labels": ["l"]}))
            creates = (("POST", f"{REGISTRY}/workspaces/{quoted(name)}/registered_models", {**UNSET_MODEL, "name": f"b{number}"}),
                       ("POST", f"{REGISTRY}/registered_models/{model['id']}/model_versions", {**UNSET_VERSION, "version": "w"}))
            for path in reads:
                assert (team.b.get(path) is not None) == bool(actions), (actions, path)
            for needed, calls in ((UPDATE, writes), (CREATE, creates), (DELETE, (("DELETE", reads[0]),))):
                for call in calls:
                    answer = second.call(*call) if needed == UPDATE else None
                    assert answer is None or answer.status == 200, (call, answer)
                    if needed in actions:
                        assert team.b.call(*call).status == 200, (actions, call)
                    else:
                        team.b.refused(*((403, 7, "") if actions else (404, 5, "not found")), *call)
            if not actions:
                # As a reference inside another call.
                team.b.refused(404, 5, "Couldn't find modelVersion", "POST", own, {"model_version_id": int(version["id"])})
        mine = team.b.create_model("mine", workspace="b@example.com")
        version = team.b.create_version(mine["id"], "v")
        for level in (2, 3, 1):
            team.b.must("PUT", f"{stored_at(version)}/lock", {"lock_level": level})
        team.b.must("POST", f"{REGISTRY}/stage/updateStage", {"model_version_id": version["id"], "stage": 3, "comment": ""})
        assert team.a.get(f"{REGISTRY}/registered_models/{mine['id']}") is None
        assert team.b.must("DELETE", f"{REGISTRY}/registered_models/{mine['id']}") == {}


# ---- §2 models

@shows("2 create model", "2 get model by name", "2 get model", "2 patch model", "2 put model", "2 delete model", "2 find models")
def a_model_lives_as_the_client_lets_it():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        made = client.create_model("a model")
        assert made["resource_visibility"] in (4, "WORKSPACE_DEFAULT") and "WORKSPACE_DEFAULT" in made.values(), made
        path = f"{REGISTRY}/registered_models/{made['id']}"
        for name in ("id", "name", "description", "labels", "time_created", "time_updated", "task_type", "data_type", "pii", "visibility",
                     "resource_visibility", "custom_permission", "workspace_id", "workspace_service_id", "attributes", "readme_text"):
            assert name in made, name
        for _ in range(2):
            assert client.get(path)["registered_model"] == made == client.get(f"{MODELS}/a%20model")["registered_model"]
        for can_deploy in (1, 2):
            sharing = {"visibility": 2, "resource_visibility": 2,
                       "custom_permission": {"collaborator_type": 1, "can_deploy": can_deploy, "can_predict": 0}}
            shared = client.create_model(f"shared {can_deploy}", **sharing)
            assert shared["custom_permission"] == {"collaborator_type": "READ_WRITE", "can_deploy": ["", "TRUE", "FALSE"][can_deploy],
                                                   "can_predict": "UNKNOWN"}, shared
            assert (shared["visibility"], shared["resource_visibility"]) == ("ORG_SCOPED_PUBLIC", "ORG_CUSTOM"), shared
            kept = client.must("PUT", f"{REGISTRY}/registered_models/{shared['id']}", as_put_model(shared))["registered_model"]
            assert kept == shared
        client.refused(409, 6, "already exists", "POST", MODELS, {**UNSET_MODEL, "name": "a model"})
        for name in ("12345", "1", "a b c"):
            assert client.get(f"{MODELS}/{quoted(name)}") is None
            numbered = client.create_model(name)
            assert client.get(f"{MODELS}/{quoted(name)}")["registered_model"] == numbered

        for body in ({"labels": ["b", "a"]}, {"description": "d"}, {"task_type": 2}, {"data_type": 4},
                     {"attributes": [{"key": "line", "value": LINE, "value_type": 3}]}, {"labels": ["c", "a"]}):
            now = client.must("PATCH", path, body)["registered_model"]
            assert client.get(path)["registered_model"] == now
        assert now["labels"] == ["a", "b", "c"] and now["description"] == "d" and now["attributes"][0]["value"] == LINE
        record = as_put_model(now)
        assert "pii" not in record and isinstance(record["task_type"], int)
        assert client.must("PUT", path, record)["registered_model"] == now
        record["labels"] = ["a"]
        del record["description"]
        now = client.must("PUT", path, record)["registered_model"]
        assert now["labels"] == ["a"] and now["description"] == "" and now["attributes"][0]["value"] == LINE
        with_pii = client.must("PUT", path, {**as_put_model(now), "pii": True})["registered_model"]
        assert with_pii["pii"] is True and client.must("PUT", path, as_put_model(now))["registered_model"]["pii"] is False

        theirs = team.b.create_model("b's", workspace="b@example.com")
        found = client.must("POST", f"{MODELS}/find", {**FIND, "workspace_name": "default"})
        assert int(found["total_records"]) == 6 == len(found["registered_models"])
        everywhere = client.must("POST", f"{REGISTRY}/registered_models/find", FIND)
        assert int(everywhere["total_records"]) == 6 and theirs["id"] not in [one["id"] for one in everywhere["registered_models"]]

        closed = client.create_version(made["id"], "closed", lock_level=2)
        redact = client.create_version(made["id"], "redact", lock_level=3)
        client.refused(403, 7, "locked for changes", "DELETE", stored_at(closed))
        assert client.must("DELETE", path) == {}, "locked versions do not keep their model"
        for gone in (path, stored_at(closed), stored_at(redact)):
            assert client.get(gone) is None


# ---- §3 versions

@shows("3 create version", "3 get version", "3 patch version", "3 full_body", "3 put version", "3 delete version", "3 labels", "3 attributes")
def a_version_lives_as_the_client_lets_it():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        model = client.create_model("m")["id"]
        versions = f"{REGISTRY}/registered_models/{model}/model_versions"
        for level in (0, 1, 2, 3):
            made = client.create_version(model, f"level {level}", lock_level=level)
            assert made["lock_level"] == LOCKS[level or 1] and made["stage"] in UNASSIGNED and "experiment_run_id" not in made
        made = client.create_version(model, "v", labels=["z", "B", "a", "z"], attributes=[{"key": "k", "value": 1, "value_type": 0}],
                                     description="d", input_description="i", hide_input_label=True, output_description="o",
                                     hide_output_label=True)
        assert made["labels"] == ["B", "a", "z"] and made["hide_input_label"] is True is made["hide_output_label"], made
        assert (made["description"], made["input_description"], made["output_description"]) == ("d", "i", "o")
        assert client.version(made["id"]) == made == client.version(made["id"])
        client.refused(409, 6, "already exists", "POST", versions, {**UNSET_VERSION, "registered_model_id": model, "version": "v"})
        client.refused(404, 5, "not found", "POST", versions,
                       {**UNSET_VERSION, "registered_model_id": model, "version": "run", "experiment_run_id": "8c3f"})
        assert client.get(f"{REGISTRY}/model_versions/999999") is None

        assert client.patch(made) == made
        entry = {"key": "model", "path": f"{'0' * 64}/model.pkl", "artifact_type": 1, "filename_extension": "pkl", "serialization": "cloudpickle",
                 "artifact_subtype": "sklearn"}
        for body in ({"labels": ["c", "a"]}, {"description": "e"}, {"attributes": [{"key": "l", "value": LINE, "value_type": 0}]}, {"model": entry},
                     {"input_description": "j"}, {"output_description": "p"}, {"hide_input_label": False}, {"hide_output_label": False}):
            now = client.patch(made, **body)
            assert client.version(made["id"]) == now, body
        assert now["labels"] == ["B", "a", "c", "z"] and now["description"] == "e" and now["hide_input_label"] is False
        assert as_message(now["model"], {"artifact_type": ARTIFACTS}) == entry
        now = client.patch(made, attributes=[{"key": "n", "value": [1, {"x": None}, True, "s"]}, {"key": "k", "value": {"a": {}}}])
        assert [(one["key"], one["value"]) for one in now["attributes"]] == [("k", {"a": {}}), ("l", LINE), ("n", [1, {"x": None}, True, "s"])]
        assert client.put(made, as_put(now)) == now, "what was read is no change"

        for names in (["environment"], ["docker_metadata", "environment"]):
            record = {"environment": ENVIRONMENT, "docker_metadata": DOCKER}
            client.must("PATCH", f"{path_of(made)}/full_body", {"model_version": {name: record[name] for name in names}, "update_mask": {"paths": names}})
        now = client.version(made["id"])
        assert now["environment"] == ENVIRONMENT and now["docker_metadata"] == DOCKER
        assert client.put(made, as_put(now)) == now
        for gone in ("docker_metadata", "environment", "model", "attributes", "labels", "description", "input_description"):
            record = as_put(client.version(made["id"]))
            assert record.pop(gone)
            assert not client.put(made, record).get(gone), gone
        assert client.must("DELETE", stored_at(made)) == {} and client.get(stored_at(made)) is None


@shows("3 lock", "3 lock outcomes")
def locks_hold_against_editors_and_admins():
    with herald.folder() as folder, Team(folder) as team:
        team.shared("team", [CREATE, READ, UPDATE, DELETE])
        model = team.a.create_model("m", workspace="team")["id"]

        def changes(version, number):
            record = as_put(team.a.version(version["id"]))
            return [("PATCH", path_of(version), {"attributes": [{"key": "k", "value": number}]}),
                    ("PATCH", path_of(version), {"model": {"key": "model", "path": f"{number}/model.pkl", "artifact_type": 1}}),
                    ("PATCH", f"{path_of(version)}/full_body", {"model_version": {"environment": {"python": {"raw_requirements": f"{number}"}}},
                                                              "update_mask": {"paths": ["environment"]}}),
                    ("PUT", path_of(version), {**record, "artifacts": [{"key": "a", "path": f"{number}", "artifact_type": 4}]}),
                    ("POST", f"{stored_at(version)}/logDatasets", {"model_version_id": version["id"], "datasets": [{"key": f"{number}", "path_only": True}]}),
                    ("POST", f"{stored_at(version)}/logCodeBlobInModelVersion",
                     {"model_version_id": version["id"], "code_blob_map": {f"{number}": {"git": {"repo": "r"}}}})]

        def harmless(client, version):
            assert client.patch(version, description="d", labels=["l"])["labels"] == ["l"]
            assert client.put(version, {**as_put(client.version(version["id"])), "labels": []})["labels"] == []
            assert client.patch(version, input_description="i", hide_input_label=True)["input_description"] == "i"

        version = team.b.create_version(model, "closed")
        for call in changes(version, 1):
            assert team.b.call(*call).status == 200, call
        assert team.b.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 3}) == {}
        for call in changes(version, 2):
            team.b.refused(403, 7, "", *call)
            assert "locked for changes" not in team.b.call(*call).json["message"]
        for call in changes(version, 3):
            assert team.a.call(*call).status == 200, call
        for client in (team.a, team.b):
            harmless(client, version)
        team.b.refused(403, 7, "", "PUT", f"{stored_at(version)}/lock", {"lock_level": 1})
        team.b.refused(403, 7, "", "DELETE", stored_at(version))
        assert team.b.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 2}) == {}
        for client in (team.a, team.b):
            for call in [*changes(version, 4), ("DELETE", stored_at(version))]:
                client.refused(403, 7, "locked for changes", *call)
            harmless(client, version)
        for level in (1, 3):
            team.b.refused(403, 7, "", "PUT", f"{stored_at(version)}/lock", {"lock_level": level})
        assert team.a.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 3}) == {}
        assert team.a.version(version["id"])["lock_level"] in (3, "REDACT")
        assert team.a.must("DELETE", stored_at(version)) == {}


@shows("3 updateStage", "3 logDatasets", "3 logCodeBlobInModelVersion")
def stages_change_and_datasets_and_code_are_logged():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        version = client.create_version(client.create_model("m")["id"], "v")
        client.must("PUT", f"{REGISTRY}/workspaces/default/policies", {"require_approval_for": []})
        for stage in (1, 2, 3, 4, 5):
            client.must("POST", f"{REGISTRY}/stage/updateStage", {"model_version_id": version["id"], "stage": stage, "comment": "c"})
            assert client.version(version["id"])["stage"] == STAGES[stage]
        link = {"key": "train", "path": "", "path_only": True, "artifact_type": 3, "linked_artifact_id": "71", "filename_extension": "",
                "serialization": "", "artifact_subtype": "", "upload_completed": False}
        for datasets in ([link, {**link, "key": "test"}], [{**link, "linked_artifact_id": "72"}]):
            client.must("POST", f"{stored_at(version)}/logDatasets", {"model_version_id": version["id"], "datasets": datasets})
        now = client.version(version["id"])
        assert [(one["key"], one["linked_artifact_id"], one["artifact_type"]) for one in now["datasets"]] == [("train", "72", "DATA"), ("test", "71", "DATA")]
        blobs = {"lib": {"git": {"repo": "r", "hash": "h", "branch": "b", "tag": "t", "is_dirty": 1}},
                 "book": {"notebook": {"path": {"path": "n.ipynb", "size": "7"}, "git_repo": {"repo": "r"}}}}
        client.must("POST", f"{stored_at(version)}/logCodeBlobInModelVersion", {"model_version_id": version["id"], "code_blob_map": blobs})
        more = {"lib": {"git": {"repo": "s"}}}
        client.must("POST", f"{stored_at(version)}/logCodeBlobInModelVersion", {"model_version_id": version["id"], "code_blob_map": more})
        now = client.version(version["id"])
        assert now["code_blob_map"] == {**blobs, **more}
        record = as_put(now)
        record["datasets"] = record["datasets"][1:]
        assert [one["key"] for one in client.put(version, record)["datasets"]] == ["test"]


# ---- §4 artifacts

def _zipped(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


@shows("4 artifact as sent", "4 step 1", "4 step 2a", "4 step 2b", "4 read", "4 delete")
def artifacts_are_recorded_uploaded_read_replaced_and_removed():
    with herald.folder() as folder, Team(folder) as team:
        version = team.a.create_version(team.a.create_model("m")["id"], "v")
        artifacts = Artifacts(team.a, version)
        sent = {}
        for key, extension, kind, more in (
                ("model", "pkl", 1, {"serialization": "cloudpickle", "artifact_subtype": "sklearn"}), ("model_api.json", "json", 4, {}),
                ("custom_modules", "zip", 4, {}), ("setup_script", "py", 4, {}), ("reference_data", "csv", 4, {}), ("model_schema.json", "json", 4, {}),
                ("folder", "dir.zip", 4, {}), ("raw", None, 4, {})):
            data = _zipped("a.py", b"x = 1\n") if "zip" in (extension or "") else os.urandom(10_000)
            entry = {"key": key, "path": f"{'ab' * 32}/{key}.{extension}", "artifact_type": kind, **({"filename_extension": extension} if extension else {}), **more}
            refused = artifacts.ask(key, "PUT", 1, kind)
            assert (refused.status, refused.json["code"]) == (404, 5), refused
            artifacts.record(key, entry)
            artifacts.upload(key, data, kind)
            sent[key] = (entry, data)
        record = team.a.version(version["id"])
        for key, (entry, data) in sent.items():
            stored = record["model"] if key == "model" else next(one for one in record["artifacts"] if one["key"] == key)
            assert stored["upload_completed"] is True
            assert as_message({**stored, "upload_completed": None}, {"artifact_type": ARTIFACTS}) == entry, stored
            got = artifacts.download(key)
            assert got.status == 200 and got.body == data, key
        artifacts.upload("folder", b"second")
        assert artifacts.download("folder").body == b"second", "at once"
        kept = as_put(team.a.version(version["id"]))
        kept["artifacts"] = [one for one in kept["artifacts"] if one["key"] != "folder"]
        team.a.put(version, kept)
        assert artifacts.ask("folder", "GET", 0).status == 404
        kept.pop("model")
        assert "model" not in team.a.put(version, kept)
        assert artifacts.ask("model", "GET", 0, 1).status == 404 and artifacts.download("raw").body == sent["raw"][1]
        # Of other models, the subtypes that were seen.
        for subtype in ("class", "custom", "callable", "torch", "tensorflow", "xgboost", ""):
            entry = {"key": "model", "path": "cd/model.pkl", "artifact_type": 1, "serialization": "cloudpickle", "filename_extension": "pkl",
                     **({"artifact_subtype": subtype} if subtype else {})}
            now = team.a.patch(version, model=entry)["model"]
            assert (now["artifact_subtype"], now["serialization"], now["artifact_type"]) == (subtype, "cloudpickle", "MODEL"), now


@shows("4 step 2c", "4 step 2d")
def artifacts_may_be_sent_in_parts():
    with herald.folder() as folder, Team(folder) as team:
        version = team.a.create_version(team.a.create_model("m")["id"], "v")
        artifacts = Artifacts(team.a, version)
        artifacts.record("model", {"key": "model", "path": "ef/model.pkl", "artifact_type": 1, "filename_extension": "pkl"})
        artifacts.url("model", "PUT", 1, 1)  # this one goes unused
        parts = [os.urandom(300_000), os.urandom(300_000), b"the last one is shorter"]
        artifacts.upload_parts("model", parts, 1)
        assert artifacts.download("model").body == b"".join(parts)


@shows("4 environment")
def an_environment_comes_back_exactly():
    with herald.folder() as folder, Team(folder) as team:
        version = team.a.create_version(team.a.create_model("m")["id"], "v")
        for environment in (ENVIRONMENT, {"python": {"version": {"major": 3, "minor": 7}, "raw_requirements": "x\n"}},
                            {"docker": {"repository": "r", "tag": "t", "sha": "s"}, "environment_variables": [], "apt": {"packages": []}}):
            body = {"model_version": {"environment": environment}, "update_mask": {"paths": ["environment"]}}
            assert team.a.must("PATCH", f"{path_of(version)}/full_body", body)["model_version"]["environment"] == environment
            record = as_put(team.a.version(version["id"]))
            assert team.a.put(version, record)["environment"] == environment == team.a.version(version["id"])["environment"]
        record.pop("environment")
        assert "environment" not in team.a.put(version, record) and "environment" not in team.a.version(version["id"])


# ---- §5 finds

@shows("5 URLs for versions", "5 by-name look-up", "5 length", "5 operators", "5 keys", "5 labels == x", "5 stage == production", "5 results")
def finds_are_asked_as_the_client_asks_them():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        models = [client.create_model(name, labels=labels) for name, labels in (("first", ["a", "b"]), ("second", ["b"]), ("12", []))]
        model = models[0]["id"]
        made = [client.create_version(model, f"v{number}", labels=["all", f"l{number % 2}"]) for number in range(7)]
        client.create_version(models[1]["id"], "v0")
        of_model = f"{REGISTRY}/registered_models/{model}/model_versions/find"
        in_model = {"id": {"registered_model_id": model}}
        for path, identity, count in ((of_model, in_model["id"], 7),
                                      (f"{REGISTRY}/workspaces/default/model_versions/find", {"named_id": {"workspace_name": "default"}}, 8),
                                      (f"{REGISTRY}/model_versions/find", {"registered_model_id": "0"}, 8),
                                      (f"{REGISTRY}/model_versions/find", {"registered_model_id": model}, 7)):
            found = client.must("POST", path, {**FIND, "id": identity})
            assert int(found["total_records"]) == count == len(found["model_versions"]), (path, identity)
            assert found["model_versions"] == [client.version(one["id"]) for one in found["model_versions"]], "field for field as a read"

        for name, count in (("v3", 1), ("nothing", 0), ("3", 0)):
            body = {**in_model, "predicates": [{"key": "version", "value": name, "operator": 0}]}
            found = client.must("POST", of_model, body)
            assert len(found["model_versions"]) == count == int(found["total_records"])

        def page(number, limit, ascending=False):
            return client.must("POST", of_model, {**FIND, **in_model, "ascending": ascending, "pagination": {"page_number": number, "page_limit": limit}})
        assert int(page(1, 1)["total_records"]) == 7
        seen, number = [], 1
        while True:
            answer = page(number, 3)
            seen += answer["model_versions"]
            if 3 * number >= int(answer["total_records"]):
                break
            number += 1
        assert [one["id"] for one in seen] == [one["id"] for one in reversed(made)]
        for index in range(7):
            assert page(index + 1, 1)["model_versions"] == [made[6 - index]] and page(index + 1, 1, True)["model_versions"] == [made[index]]

        def names(*predicates):
            return {one["version"] for one in _find(client, of_model, predicates, **in_model)}
        middle, all_names = made[3], [one["version"] for one in made]
        for operator, expected in ((0, all_names[3:4]), (1, all_names[:3] + all_names[4:]), (2, all_names[4:]), (3, all_names[3:]),
                                   (4, all_names[:3]), (5, all_names[:4])):
            for key in ("id", "time_created", "time_updated"):
                for value in (float(middle[key]), middle[key]):
                    assert names({"key": key, "value": value, "operator": operator}) == set(expected), (key, value, operator)
            assert names({"key": "version", "value": "v3", "operator": operator}) == set(expected), operator
        assert names({"key": "version", "value": "3", "operator": 6}) == {"v3"}
        assert names({"key": "registered_model_id", "value": float(model), "operator": 0}) == set(all_names)
        assert names({"key": "experiment_run_id", "value": "0a", "operator": 0}) == set()
        assert names({"key": "labels", "value": "l1", "operator": 0}) == {"v1", "v3", "v5"}
        assert names({"key": "labels", "value": "all", "operator": 0}, {"key": "labels", "value": "l0", "operator": 0}) == {"v0", "v2", "v4", "v6"}
        client.must("POST", f"{REGISTRY}/stage/updateStage", {"model_version_id": middle["id"], "stage": 2, "comment": ""})
        for written in ("staging", "STAGING", "Staging"):
            assert names({"key": "stage", "value": written, "operator": 0}) == {"v3"}
        assert names({"key": "stage", "value": "production", "operator": 0}) == set() and len(names({"key": "stage", "value": "unassigned", "operator": 0})) == 6

        def of_models(*predicates):
            return {one["name"] for one in _find(client, f"{MODELS}/find", predicates, workspace_name="default")}
        first = models[0]
        for key in ("id", "name", "time_created", "time_updated"):
            assert of_models({"key": key, "value": first[key], "operator": 0}) == {"first"}, key
        assert of_models({"key": "name", "value": "12", "operator": 0}) == {"12"} == of_models({"key": "name", "value": 12.0, "operator": 0})
        assert of_models({"key": "name", "value": "s", "operator": 6}) == {"first", "second"}
        assert of_models({"key": "labels", "value": "b", "operator": 0}) == {"first", "second"}
        changed = client.must("PATCH", f"{REGISTRY}/registered_models/{model}", {"labels": ["fresh"]})["registered_model"]
        assert _find(client, f"{MODELS}/find", [{"key": "labels", "value": "fresh", "operator": 0}], workspace_name="default") == [changed]


if __name__ == "__main__":
    herald.run()
