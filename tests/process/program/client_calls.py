"""Property: the published client works unmodified: every call of its that has a route is taken as that client sends it, and
answers what that client reads, error texts and codes included (client_calls.md §0-3, 5, 6, 10)."""


import herald
from published_client import (ARTIFACTS, DEPLOYMENT, MODELS, PROXY, PublishedClient, REGISTRY, UNSET_MODEL, UNSET_VERSION, World,
                              as_message, as_put, quoted)

def a_session_finds_its_user_and_workspaces():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        assert client.must("GET", "/api/v1/modeldb/project/verifyConnection") == {"status": True}
        for one in ("Grpc-Metadata-developer_key", "Grpc-Metadata-developer-key"):  # either spelling will do
            half = PublishedClient(world.server.port)
            del half.headers[one]
            half.headers["Grpc-Metadata-organization-id"] = "1"
            assert half.must("GET", "/api/v1/modeldb/project/verifyConnection")
        wrong = PublishedClient(world.server.port, key="wrong")
        wrong.refused(401, 16, "", "GET", "/api/v1/modeldb/project/verifyConnection")
        token = PublishedClient(world.server.port)
        token.headers = {"Grpc-Metadata-source": "JWT", "Grpc-Metadata-bearer_access_token": "x", "Grpc-Metadata-bearer-access-token": "x"}
        token.refused(401, 16, "", "GET", "/api/v1/modeldb/project/verifyConnection")

        user = client.must("GET", f"{PROXY}/uac/getCurrentUser")
        home = user["verta_info"]["default_workspace_id"]
        assert int(home) > 0 and "dev_key" not in user
        workspace = client.must("GET", f"{PROXY}/workspace/getWorkspaceById?id={home}")
        assert workspace["org_name"] == "default" and "username" not in workspace
        assert client.must("GET", f"{PROXY}/workspace/getWorkspaceByName?name=default")["id"] == home
        for absent in ("getWorkspaceById?id=999", "getWorkspaceByName?name=nowhere", "getWorkspaceByName?name="):
            client.refused(404, 5, "not found", "GET", f"{PROXY}/workspace/{absent}")

        other = world.user("b b+c@example.com".replace(" ", "."))
        mine = other.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["default_workspace_id"]
        personal = other.must("GET", f"{PROXY}/workspace/getWorkspaceById?id={mine}")
        assert personal["username"] == "b.b+c@example.com" and "org_id" not in personal and "org_name" not in personal
        assert other.must("GET", f"{PROXY}/workspace/getWorkspaceByName?name=b.b%2Bc%40example.com")["id"] == mine
        other.refused(404, 5, "not found", "GET", f"{PROXY}/workspace/getWorkspaceByName?name=default")
        seen = client.must("GET", f"{PROXY}/workspace/getVisibleWorkspaces")["workspace"]
        assert next(one for one in seen if one.get("org_id"))["org_name"] == "default"
        assert [one.get("org_id") for one in other.must("GET", f"{PROXY}/workspace/getVisibleWorkspaces")["workspace"]] == ["1", None]
        assert client.call("GET", f"{PROXY}/organization/getOrganizationByName?org_name=default").status == 200
        client.refused(404, 5, "", "GET", f"{PROXY}/organization/getOrganizationByName?org_name=b.b%2Bc%40example.com")
        other.refused(404, 5, "", "GET", f"{PROXY}/organization/getOrganizationByName?org_name=b.b%2Bc%40example.com")

        for someone in (client, other):
            organization = someone.must("GET", "/api/v2/uac-proxy/organization")["organizations"][0]
            groups = someone.get(f"/api/v2/uac-proxy/organization/{organization['id']}/groups")["groups"]
            assert {"Admins", "All Users"} <= {group["name"] for group in groups if group["id"]}
            roles = someone.get(f"/api/v2/uac-proxy/organization/{organization['id']}/roles")["roles"]
            assert {"Super User", "Read/Write", "Read Only"} <= {role["name"] for role in roles if role["id"]}
            assert someone.get("/api/v2/uac-proxy/organization/99/groups") is None


def models_are_echoed_as_they_were_sent():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = client.create_model("my model")
        assert made["custom_permission"] == {"collaborator_type": "READ_ONLY", "can_deploy": "UNKNOWN", "can_predict": "UNKNOWN"}
        assert made["resource_visibility"] in (4, "WORKSPACE_DEFAULT")
        assert int(made["time_created"]) > 0 and int(made["id"]) > 0, made
        assert client.get(f"{MODELS}/my%20model")["registered_model"] == made
        read = client.get(f"{REGISTRY}/registered_models/{made['id']}")["registered_model"]
        assert read == made, "two reads of an unchanged record are identical"
        workspace = client.must("GET", f"{PROXY}/workspace/getWorkspaceById?id={read['workspace_id']}")
        assert workspace["org_name"] == "default" and int(read["workspace_service_id"]) == int(read["workspace_id"])
        client.refused(409, 6, "already exists", "POST", MODELS, {**UNSET_MODEL, "name": "my model"})

        sharing = {"visibility": 2, "resource_visibility": 2,
                   "custom_permission": {"collaborator_type": 1, "can_deploy": 2, "can_predict": 0}}
        shared = client.create_model("shared", **sharing)
        permission = {"collaborator_type": "READ_WRITE", "can_deploy": "FALSE", "can_predict": "UNKNOWN"}
        assert (shared["visibility"], shared["custom_permission"]) == ("ORG_SCOPED_PUBLIC", permission)
        assert shared["resource_visibility"] in (2, "ORG_CUSTOM")
        full = client.create_model("full", labels=["b", "a", "b", "B"], task_type=2, data_type=4, pii=True, description="d",
                                   attributes=[{"key": "k", "value": {"x": [1, None]}, "value_type": 0}])
        assert full["labels"] == ["B", "a", "b"] and full["pii"] is True and full["description"] == "d", full
        assert full["task_type"] in (2, "CLASSIFICATION") and full["data_type"] in (4, "TABULAR")
        assert full["attributes"][0]["value"] == {"x": [1, None]}

        names = ["7", "x", "123456789", "a b  c", "ä ö", "100%", "a/b", "a+b", "find", "count", "?", "#", "..", "[1]"]
        for name in names:
            model = client.create_model(name)
            assert client.get(f"{MODELS}/{quoted(name)}")["registered_model"] == model, name
        assert client.get(f"{MODELS}/nothing") is None and client.get(f"{REGISTRY}/registered_models/999999") is None
        assert client.get(f"{REGISTRY}/workspaces/nowhere/registered_models/x") is None
        times = [int(client.create_model(f"t{number}")["time_created"]) for number in range(20)]
        assert times == sorted(set(times)), "no two of one time"

        found = client.must("POST", f"{MODELS}/find", {"workspace_name": "default", "predicates": [], "sort_key": "", "ids": [],
                                                       "ascending": False, "pagination": {"page_number": 1, "page_limit": 1}})
        assert int(found["total_records"]) == 3 + len(names) + 20 and found["registered_models"][0]["name"] == "t19"
        everything = client.must("POST", f"{REGISTRY}/registered_models/find", {"pagination": {"page_number": 1, "page_limit": 100}})
        assert int(everything["total_records"]) == len(everything["registered_models"]) == 3 + len(names) + 20
        labelled = client.must("POST", f"{MODELS}/find", {"predicates": [{"key": "labels", "value": "a", "value_type": 0, "operator": 0}]})
        assert labelled["registered_models"] == [full]


def versions_are_read_patched_and_put_back():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m")["id"]
        made = client.create_version(model, "first version", labels=["z", "a"], lock_level=1)
        assert made["stage"] in (5, "UNASSIGNED") and made["lock_level"] in (1, "OPEN") and "experiment_run_id" not in made, made
        assert made["labels"] == ["a", "z"] and "environment" not in made and "model" not in made
        assert client.version(made["id"]) == made
        versions = f"{REGISTRY}/registered_models/{model}/model_versions"
        client.refused(409, 6, "already exists", "POST", versions, {**UNSET_VERSION, "version": "first version"})
        client.refused(404, 5, "not found", "POST", versions, {**UNSET_VERSION, "version": "r", "experiment_run_id": "0a1b"})
        assert client.get(f"{REGISTRY}/model_versions/999999") is None
        assert client.create_version(model, "unlocked", lock_level=0)["lock_level"] in (1, "OPEN")
        for name in ("7", "x", "a b", "2024-01-01 10:00", "ä/ö"):
            one = client.create_version(model, name)
            long = f"{MODELS}/m/model_versions/{quoted(name)}"
            assert client.get(long)["model_version"] == one == client.version(one["id"]), name

        last = made
        def changed(now):
            nonlocal last
            assert int(now["time_updated"]) > int(last["time_updated"]), "every change has a later time"
            assert client.version(now["id"]) == now
            last = now
            return now
        assert client.patch(made) == made, "{} changes nothing"
        assert client.call("PATCH", f"{versions}/{made['id']}", raw=b"").json["model_version"] == made
        assert changed(client.patch(made, labels=["b", "a", "B"]))["labels"] == ["B", "a", "b", "z"]
        assert changed(client.patch(made, description="ü \u2603 \U0001F600"))["description"] == "ü \u2603 \U0001F600"
        assert changed(client.patch(made, input_description="i", hide_input_label=True))["hide_input_label"] is True
        changed(client.patch(made, attributes=[{"key": "b", "value": 1}, {"key": "a", "value": "x"}]))
        line = {"type": "verta.line.v1", "line": {"x": [1, 2.5, 1e-7], "y": [0, -1, None]}}
        changed(client.patch(made, attributes=[{"key": "c", "value": line}, {"key": "b", "value": [{}, [], "", False, 0]}]))
        assert last["attributes"] == [{"key": "b", "value": [{}, [], "", False, 0]}, {"key": "a", "value": "x"},
                                      {"key": "c", "value": line}], "upsert by key, in the order of insertion"
        artifact = {"key": "model", "path": "ab12/model.pkl", "artifact_type": 1, "filename_extension": "pkl",
                    "serialization": "cloudpickle", "artifact_subtype": "sklearn"}
        assert as_message(changed(client.patch(made, model=artifact))["model"], {"artifact_type": ARTIFACTS}) == artifact
        again = client.put(made, as_put(last))
        assert {**again, "time_updated": ""} == {**last, "time_updated": ""}, "a PUT of what was read loses nothing"
        last = again

        fewer = as_put(last)
        for key in ("labels", "attributes", "model", "description", "input_description", "hide_input_label"):
            fewer.pop(key)
        fewer.update(stage=3, lock_level=2, id="999", time_created="5", owner="77", version_number="9")
        cleared = changed(client.put(made, fewer, warned=True))
        assert cleared["labels"] == cleared["attributes"] == [] and "model" not in cleared and cleared["description"] == "", cleared
        assert cleared["input_description"] == "" and cleared["hide_input_label"] is False
        for owned in ("stage", "lock_level", "id", "time_created", "owner", "version_number", "version"):
            assert cleared[owned] == made[owned], f"{owned} is the server's"
        grown = {**as_put(last), "artifacts": [{"key": "model_api.json", "path": "1/model_api.json", "artifact_type": 4,
                                                "filename_extension": "json"}],
                 "environment": {"python": {"version": {"major": 3, "minor": 10}, "raw_requirements": "numpy\n"}},
                 "model": {}}
        changed(client.put(made, grown))
        assert last["environment"] == grown["environment"] and not last.get("model", {}).get("key"), last
        assert as_message(last["artifacts"][0], {"artifact_type": ARTIFACTS}) == grown["artifacts"][0]
        grown.pop("environment")
        assert "environment" not in changed(client.put(made, grown))


def a_locked_version_takes_what_is_no_change_of_its_ingredients():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m")["id"]
        ingredients = {
            "attributes": [{"key": "whole", "value": 1.0, "value_type": 0}, {"key": "text", "value": "x", "value_type": 0},
                           {"key": "line", "value": {"type": "verta.line.v1", "line": {"x": [1.5, 2.0], "y": [True, None]}}, "value_type": 0},
                           {"key": "none", "value": None, "value_type": 0}, {"key": "big", "value": 1e20, "value_type": 0}],
            "artifacts": [{"key": "a", "path": "1/a.zip", "path_only": False, "artifact_type": 4, "linked_artifact_id": "",
                           "filename_extension": "zip", "serialization": "", "artifact_subtype": "", "upload_completed": False}],
            "model": {"key": "model", "path": "1/model.pkl", "artifact_type": 1},
            "datasets": [{"key": "d", "path_only": True, "artifact_type": 3, "linked_artifact_id": "17"}],
            "environment": {"python": {"version": {"major": 3, "minor": 9, "patch": 1}, "requirements": []}},
            "code_blob_map": {"a": {"git": {"repo": "r", "hash": "h"}}, "b": {"git": {"repo": "s"}}}}

        def values(version):
            return [(attribute["key"], attribute["value"]) for attribute in version["attributes"]]

        for level in (2, 3, 1):
            for kept in ({}, ingredients):
                made = client.create_version(model, f"v{level}{len(kept)}", lock_level=level, **kept)
                body = {**as_put(client.version(made["id"])), "labels": ["l"], "description": "d"}
                after = client.put(made, body)
                assert after["labels"] == ["l"] and after["description"] == "d" and values(after) == values(made), after
                body.pop("labels")
                assert client.put(made, body)["labels"] == []
                assert client.patch(made, labels=["m"], description="e")["labels"] == ["m"]
                assert client.patch(made)["description"] == "e"
        made = client.create_version(model, "closed", lock_level=2, **ingredients)
        path = f"{REGISTRY}/registered_models/{model}/model_versions/{made['id']}"
        for change in ({"attributes": [{"key": "whole", "value": 2}]}, {"attributes": [{"key": "new", "value": 1}]},
                       {"attributes": [{"key": "line", "value": {"type": "verta.line.v1", "line": {"x": [2.0, 1.5], "y": [True, None]}}}]},
                       {"model": {"key": "model", "path": "2/model.pkl", "artifact_type": 1}}):
            client.refused(403, 7, "locked for changes", "PATCH", path, change)
        for gone in ingredients:
            body = as_put(made)
            body.pop(gone)
            client.refused(403, 7, "locked for changes", "PUT", path, body)
        assert client.version(made["id"]) == made


def finds_page_filter_and_agree_with_reads():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model, other = client.create_model("m")["id"], client.create_model("n")["id"]
        made = [client.create_version(model, f"v{number}", labels=["all", f"l{number % 3}"], description=f"d{number}",
                                      attributes=[{"key": "k", "value": number, "value_type": 0}]) for number in range(25)]
        client.create_version(other, "v3")
        of_model, everywhere = f"{REGISTRY}/registered_models/{model}/model_versions/find", f"{REGISTRY}/model_versions/find"

        def find(path=of_model, predicates=(), page=None, **more):
            body = {"predicates": [{"value_type": 0, **one} for one in predicates], **more}
            if page:
                body["pagination"] = {"page_number": page[0], "page_limit": page[1]}
            return client.must("POST", path, body)

        def names(*predicates):
            found = find(predicates=predicates, ascending=True)
            assert int(found["total_records"]) == len(found["model_versions"])
            assert all(one in made for one in found["model_versions"]), "field for field as a read"
            return [one["version"] for one in found["model_versions"]]

        empty = find(predicates=[{"key": "version", "value": "nothing", "operator": 0}])
        assert empty["model_versions"] == [] and int(empty["total_records"]) == 0
        assert names({"key": "version", "value": "v3", "operator": 0}) == ["v3"]
        assert int(find(page=(1, 1))["total_records"]) == 25
        pages = [find(page=(number, 10)) for number in (1, 2, 3)]
        assert [len(page["model_versions"]) for page in pages] == [10, 10, 5]
        assert [one["id"] for page in pages for one in page["model_versions"]] == [one["id"] for one in reversed(made)]
        assert find(page=(4, 10))["model_versions"] == [] and int(find(page=(10 ** 12, 100))["total_records"]) == 25
        assert find(page=(3, 1))["model_versions"] == [made[-3]] and find(page=(3, 1), ascending=True)["model_versions"] == [made[2]]
        assert len(find(page=(0, 0))["model_versions"]) == 25 and len(find(page=(1, -1))["model_versions"]) == 25
        assert len(find(page=("2", "10"))["model_versions"]) == 10 and len(client.must("POST", of_model, raw=b"")["model_versions"]) == 25
        wide = client.must("POST", everywhere, {"workspace_name": "", "id": {"registered_model_id": "0"}, "predicates": [],
                                                "pagination": {"page_number": 1, "page_limit": 100}, "sort_key": "", "ids": []})
        assert int(wide["total_records"]) == 26
        assert int(client.must("POST", f"{REGISTRY}/workspaces/default/model_versions/find", {})["total_records"]) == 26
        assert int(client.must("POST", everywhere, {"id": {"named_id": {"workspace_name": "default"}}})["total_records"]) == 26
        assert int(client.must("POST", everywhere, {"id": {"registered_model_id": model}})["total_records"]) == 25

        assert names({"key": "labels", "value": "l1", "operator": 0}) == [one["version"] for one in made if "l1" in one["labels"]]
        assert len(names({"key": "labels", "value": "all", "operator": 0}, {"key": "labels", "value": "l2", "operator": 0})) == 8
        fifth = made[5]
        for key, value in (("id", fifth["id"]), ("id", int(fifth["id"])), ("id", float(fifth["id"])), ("time_created", int(fifth["time_created"])),
                           ("time_updated", fifth["time_updated"]), ("description", "d5"), ("attributes.k", 5)):
            assert names({"key": key, "value": value, "operator": 0}) == ["v5"], key
        assert len(names({"key": "registered_model_id", "value": float(model), "operator": 0})) == 25
        before, upto = int(fifth["time_created"]), [one["version"] for one in made]
        for operator, expected in ((1, upto[:5] + upto[6:]), (2, upto[6:]), (3, upto[5:]), (4, upto[:5]), (5, upto[:6])):
            assert names({"key": "time_created", "value": before, "operator": operator}) == expected, operator
        assert names({"key": "version", "value": "v2", "operator": 6}) == ["v2", *upto[20:]]
        for text in ("unassigned", "UNASSIGNED", "Unassigned"):
            assert len(names({"key": "stage", "value": text, "operator": 0})) == 25
        assert names({"key": "stage", "value": "production", "operator": 0}) == []
        assert len(names({"key": "stage", "value": "production", "operator": 1})) == 25
        assert names({"key": "experiment_run_id", "value": "17", "operator": 0}) == []
        changed = client.patch(made[0], labels=["fresh"])
        assert find(predicates=[{"key": "labels", "value": "fresh", "operator": 0}])["model_versions"] == [changed], "one's own write is read"


def who_may_not_read_is_told_that_there_is_nothing():
    with herald.folder() as folder, World(folder) as world:
        client, other = world.client, world.user("b@example.com")
        model = client.create_model("m")["id"]
        version = client.create_version(model, "v")
        build = client.must("POST", f"{DEPLOYMENT}/workspace/default/builds", {"model_version_id": int(version["id"]), "external_location": "x"})
        for path in (f"{REGISTRY}/registered_models/{model}", f"{MODELS}/m", f"{REGISTRY}/model_versions/{version['id']}",
                     f"{MODELS}/m/model_versions/v", f"{DEPLOYMENT}/workspace/default/builds/{build['id']}",
                     f"{DEPLOYMENT}/builds?model_version_id={version['id']}", f"{DEPLOYMENT}/builds/{build['id']}/scan"):
            assert other.get(path) is None, path
        path = f"{REGISTRY}/registered_models/{model}/model_versions"
        for method, place, body in (("POST", MODELS, {**UNSET_MODEL, "name": "x"}), ("POST", path, {**UNSET_VERSION, "version": "x"}),
                                    ("PATCH", f"{path}/{version['id']}", {"description": "x"}), ("PUT", f"{path}/{version['id']}", as_put(version)),
                                    ("POST", f"{REGISTRY}/stage/createTransition", {"model_version_id": version["id"], "desired_stage": 3}),
                                    ("POST", f"{DEPLOYMENT}/workspace/default/builds/{build['id']}/scan", {"scan_external": True}),
                                    ("POST", f"{DEPLOYMENT}/workspace/default/builds", {"model_version_id": int(version["id"])})):
            other.refused(404, 5, "not found", method, place, body)
        own = f"{DEPLOYMENT}/workspace/b%40example.com/builds"
        for identity in (int(version["id"]), 999999):
            other.refused(404, 5, "Couldn't find modelVersion", "POST", own, {"model_version_id": identity, "external_location": "x"})
        other.refused(404, 5, "not found", "POST", own, {"run_id": "0a1b"})
        for place in (f"{REGISTRY}/registered_models/find", f"{REGISTRY}/model_versions/find"):
            assert int(other.must("POST", place, {})["total_records"]) == 0
        mine = other.create_model("mine", "b@example.com")
        assert int(other.must("POST", f"{REGISTRY}/registered_models/find", {})["total_records"]) == 1
        # The own default workspace is its user's alone: another is told the same, an administrator too.
        assert client.get(f"{REGISTRY}/registered_models/{mine['id']}") is None
        admin = world.second_admin()
        changed = admin.patch(version, description="by another admin")
        assert changed["description"] == "by another admin" and changed["owner"] == version["owner"]
        for method, place, body in (("POST", f"{PROXY}/events/createWebhook", {"name": "w", "location": "https://example.com/", "all_events": True}),
                                    ("DELETE", f"{PROXY}/events/deleteWebhook", {"ids": [1]}),
                                    ("POST", f"{PROXY}/uac/createUser", {"info": {"email": "c@example.com"}}),
                                    ("PUT", f"{PROXY}/feature-flags/scan_events", {"enabled": False})):
            other.refused(403, 7, "system administrator", method, place, body)
        other.refused(404, 5, "not found", "POST", f"{PROXY}/events/triggerTest", {"webhook_id": 1})


def builds_are_told_apart_and_scanned():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        version = client.create_version(client.create_model("m")["id"], "v")["id"]
        builds = f"{DEPLOYMENT}/workspace/default/builds"
        made = []
        for number in range(30):
            sent = {"external_location": f"registry.example.com/m:{number}", "model_version_id": int(version), "requires_root": number % 2 == 0,
                    "scan_external": True, "self_contained": False, "hardware_compatibility": {"nvidia_gpu": {"T4": True}}}
            build = client.must("POST", builds, sent)
            assert isinstance(build["id"], int) and build["creator_request"] == sent, build
            assert (build["status"], build["location"], build["message"]) == ("finished", sent["external_location"], ""), build
            assert (build["requires_root"], build["scan_external"], build["self_contained"]) == (number % 2 == 0, True, False)
            assert client.get(f"{builds}/{build['id']}") == build
            made.append(build)
        dates = [build["date_created"] for build in made]
        assert dates == sorted(set(dates)) and all(date.endswith("Z") and len(date.split(".")[1]) == 4 for date in dates), dates
        assert client.must("GET", f"{DEPLOYMENT}/builds?model_version_id={version}")["builds"] == made[::-1]
        for nothing in ("999999", "0"):
            client.refused(404, 5, "not found", "GET", f"{DEPLOYMENT}/builds?model_version_id={nothing}")
        assert client.call("GET", f"{builds}/999999").status == 404

        identity = made[0]["id"]
        scan, read = f"{builds}/{identity}/scan", f"{DEPLOYMENT}/builds/{identity}/scan"
        before = client.must("GET", read)
        assert (before["scan_status"], before["safety_status"]) == ("unscanned", "unknown") and before["date_updated"].endswith("Z")
        report = {"scan_external_results": {"safety_status": "safe", "url": "https://scanner.example.com/1"}, "scan_status": "scanned"}
        client.refused(400, 9, "", "PUT", scan, report)
        asked = client.must("POST", scan, {"scan_external": True})
        assert asked["scan_status"] == "scanning" and client.must("GET", read)["scan_status"] == "scanning"
        done = client.must("PUT", scan, report)
        assert (done["scan_status"], done["safety_status"], done["scan_external_status"]) == ("scanned", "safe", report["scan_external_results"])
        assert client.must("PUT", scan, report) == done and client.must("GET", read)["date_updated"] == done["date_updated"]
        client.refused(409, 10, "", "PUT", scan, {**report, "scan_status": "error"})
        again = client.must("POST", scan, {"scan_external": True})
        assert again["id"] != asked["id"] and [old["id"] for old in client.must("GET", read)["history"]] == [asked["id"]]


def bodies_come_in_every_form_that_json_and_http_allow():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m")["id"]
        versions = f"{REGISTRY}/registered_models/{model}/model_versions"
        made = client.create_version(model, "v")
        path = f"{versions}/{made['id']}"
        special = client.call("PATCH", path, raw=b'{"attributes":[{"key":"n","value":["NaN","\\u0000NaN",{"NaN":1}]}]}')
        assert special.json["model_version"]["attributes"][0]["value"] == ["NaN", "\x00NaN", {"NaN": 1}], special
        for refused in (b'{"description":NaN}', b'{NaN:1}', b'{"a":-NaN}', b'{"a":NaN1}', b'{"a":nan}', b'{"a":1e400}', b'{"a":+1}', b'{"a":01}',
                        b'{"a":.5}', b'{"a":0x10}', b'{"a":1.}', b'{"a":--Infinity}', b'{"a":"\\ud800"}', b'{"a":"\\udc00"}', b'{"a":"\\ud800\\u0041"}',
                        b'{"a":"\xed\xa0\x80"}', b'{"a":"\x01"}', b'\xff\xfe{\x00}\x00'):
            client.refused(400, 3, "", "PATCH", path, raw=refused)
        # The client writes whole numbers as integers of any length.
        for text in (b"100000000000000000000", b"-100000000000000000000", b"18446744073709551615", b"9" * 300, b"-0", b"1e308", b"5e-324"):
            answer = client.call("PATCH", path, raw=b'{"attributes":[{"key":"big","value":' + text + b"}]}")
            assert answer.status == 200, (text, answer)
            assert float(answer.json["model_version"]["attributes"][1]["value"]) == float(text), (text, answer)

        for kind in ({}, {"Content-Type": "application/json; charset=utf-8"}, {"Content-Type": "text/plain"},
                     {"Content-Type": "application/octet-stream"}, {"Content-Type": ""}):
            answer = client.call("PATCH", path, raw=b'{"labels":["x"]}', headers=kind)
            assert answer.status == 200, (kind, answer)
            chunked = client.call("PATCH", path, raw=b'{"labels":["chunked"]}', headers=kind, chunked=True)
            assert chunked.status == 200 and "chunked" in chunked.json["model_version"]["labels"], (kind, chunked)
        before = client.version(made["id"])
        assert client.call("PATCH", path, raw=b"").json["model_version"] == before
        assert client.call("PATCH", path, raw=b"{}", chunked=True).json["model_version"] == before
        assert client.call("PATCH", path).json["model_version"] == before, "no body at all is no change"
        assert client.call("PATCH", path, raw=b" \r\n\t{ } ").json["model_version"] == before
        bom = client.call("PATCH", path, raw=b"\xef\xbb\xbf{}")
        assert bom.status in (200, 400), bom
        assert client.patch(made, labels=None, description=None, model=None, attributes=None) == before, "null is unset"
        unknown = client.call("PATCH", path, {"nothing": {"a": [1]}}, warned=True)
        assert unknown.json["model_version"] == before and unknown.headers["svc-warning"] == "nothing is unknown", unknown.headers
        for wrong in ({"environment": 5}, {"environment": []}, {"docker_metadata": "x"}, {"code_blob_map": [1]}, {"model": []}, {"attributes": {}},
                      {"attributes": [7]}, {"attributes": [{"value": 1}]}, {"labels": [["x"]]}, {"labels": [None]}, {"artifacts": [{"key": 1}]},
                      {"hide_input_label": "yes"}, {"apis": [1]}, {"labels": [""]}, {"datasets": [{"key": "\0"}]}):
            client.refused(400, 3, "", "PATCH", path, wrong)
        for wrong in ({"custom_permission": 5}, {"visibility": []}, {"task_type": 99}, {"resource_visibility": "ALL"}):
            client.refused(400, 3, "", "POST", MODELS, {**UNSET_MODEL, "name": "w", **wrong})
        assert client.version(made["id"]) == before
        assert client.call("HEAD", f"{REGISTRY}/model_versions/{made['id']}").status == 200
        assert client.call("OPTIONS", f"{REGISTRY}/model_versions/{made['id']}").status == 405
        assert client.get(f"{REGISTRY}/model_versions/{made['id']}?unknown=1&also=%ff")["model_version"] == before
        answer = client.call("GET", f"{REGISTRY}/model_versions/{made['id']}")
        assert answer.headers["svc-request-id"] and answer.headers["content-type"].startswith("application/json")


def stages_webhooks_and_flags_take_integers_and_strings():
    with herald.folder() as folder, World(folder) as world:
        client, admin = world.client, world.second_admin()
        model = client.create_model("m")["id"]
        version = client.create_version(model, "v")
        stage = f"{REGISTRY}/stage"
        asked = client.must("POST", f"{stage}/createTransition", {"model_version_id": version["id"], "desired_stage": 2, "comment": ""})["activity"]
        assert asked["transition"]["source_stage"] in (5, "UNASSIGNED") and asked["transition"]["state"] in (3, "PENDING"), asked
        client.refused(403, 7, "", "POST", f"{stage}/approveTransition", {"transition_id": asked["id"], "comment": ""})
        assert admin.must("POST", f"{stage}/approveTransition", {"transition_id": int(asked["id"])})["activity"]["activity_state"] in (1, "APPROVED")
        client.must("POST", f"{stage}/commitTransition", {"transition_id": asked["id"]})
        now = client.version(version["id"])
        assert now["stage"] in (2, "STAGING") and int(now["time_updated"]) > int(version["time_updated"])
        found = client.must("POST", f"{REGISTRY}/model_versions/find", {"predicates": [{"key": "stage", "value": "staging", "value_type": 0, "operator": 0}]})
        assert found["model_versions"] == [now]
        for wrong in (0, 6, "LIVE", None, -1, 3.5):
            client.refused(400, 3, "", "POST", f"{stage}/createTransition", {"model_version_id": version["id"], "desired_stage": wrong})

        receiver = herald.Receiver()
        body = {"name": "w", "location": receiver.url, "event_types": [4, "REQUEST_SCAN"], "all_events": False, "mutual_secret": "",
                "workspace_id": "1", "resource_types": [{"registry_service_resource_type": "REGISTERED_MODEL_VERSION"}]}
        hook = client.must("POST", f"{PROXY}/events/createWebhook", body, warned=True)
        assert isinstance(hook["id"], int) and hook["workspace_id"] == 1 and hook["mutual_secret"] == "", hook
        assert hook["event_types"] == ["PROMOTE", "REQUEST_SCAN"]
        client.refused(409, 6, "already exists", "POST", f"{PROXY}/events/createWebhook", body)
        for wanted in ({"ids": [hook["id"]]}, {"ids": [str(hook["id"])]}, {"names": ["w"]}, {"workspace_id": [1]}, {}):
            assert [one["id"] for one in client.must("POST", f"{PROXY}/events/findWebhook", wanted)["webhooks"]] == [hook["id"]], wanted
        assert client.must("DELETE", f"{PROXY}/events/deleteWebhook", {"ids": [str(hook["id"])]}) == {}
        assert client.must("POST", f"{PROXY}/events/findWebhook", {})["webhooks"] == []
        client.refused(404, 5, "", "DELETE", f"{PROXY}/events/deleteWebhook", {"ids": [hook["id"]]})
        receiver.stop()

        flags = client.must("GET", f"{PROXY}/feature-flags")["feature_flags"]
        assert {name: flag["enabled"] for name, flag in flags.items()} == {"promote_events": True, "scan_events": True}
        assert client.must("PUT", f"{PROXY}/feature-flags/scan_events", {"enabled": False})["enabled"] is False
        assert client.must("GET", f"{PROXY}/feature-flags")["feature_flags"]["scan_events"]["enabled"] is False


if __name__ == "__main__":
    herald.run()
