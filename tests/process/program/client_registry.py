"""Property: the published client may edit, lock, log and delete models and versions, and reads what it expects, error texts and
codes included (client_calls.md §2, 3, 10)."""

import json

import herald
from published_client import LOCKS, MODELS, PROXY, REGISTRY, UNSET_VERSION, World, as_put, as_put_model

def models_are_edited_and_written_back():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        made = client.create_model("m", labels=["z", "a"], description="d")
        path = f"{REGISTRY}/registered_models/{made['id']}"
        last = made

        def changed(body, method="PATCH", at=path):
            nonlocal last
            now = client.must(method, at, body)["registered_model"]
            assert int(now["time_updated"]) > int(last["time_updated"]) and now["time_created"] == made["time_created"]
            assert client.get(path)["registered_model"] == now
            last = now
            return now
        assert client.must("PATCH", path, {})["registered_model"] == made
        assert changed({"labels": ["b", "a", "B"]})["labels"] == ["B", "a", "b", "z"]
        assert changed({"description": "ü ☃"})["description"] == "ü ☃"
        assert changed({"task_type": 2})["task_type"] in (2, "CLASSIFICATION")
        assert changed({"data_type": 4})["data_type"] in (4, "TABULAR")
        changed({"attributes": [{"key": "b", "value": 1}, {"key": "a", "value": {"x": []}}]})
        changed({"attributes": [{"key": "c", "value": None}, {"key": "b", "value": "one"}]})
        assert [(one["key"], one["value"]) for one in last["attributes"]] == [("b", "one"), ("a", {"x": []}), ("c", None)]
        changed({"pii": True, "readme_text": "# m"}, at=f"{MODELS}/m")

        assert client.must("PUT", path, as_put_model(last))["registered_model"] == last, "what was read changes nothing"
        assert client.must("PUT", f"{MODELS}/m", as_put_model(last))["registered_model"] == last
        fewer = as_put_model(last)
        for key in ("labels", "description", "pii", "attributes", "name"):
            fewer.pop(key)
        cleared = changed(fewer, "PUT")
        assert cleared["labels"] == cleared["attributes"] == [] and not cleared["pii"] and cleared["description"] == "", cleared
        assert cleared["name"] == "m" and cleared["task_type"] == made["task_type"] or cleared["task_type"] == "CLASSIFICATION"
        owned = {**as_put_model(last), "id": "999", "owner": "77", "time_created": "5", "workspace_id": "9"}
        answer = client.call("PUT", path, owned, warned=True)
        assert answer.json["registered_model"] == last and "owner" in answer.headers["svc-warning"], answer.headers
        strict = client.call("PUT", path, owned, headers={"Prefer": "handling=strict"}, warned=True)
        assert strict.status == 400, strict

        client.create_model("taken")
        client.refused(409, 6, "already exists", "PATCH", path, {"name": "taken"})
        client.refused(409, 6, "already exists", "PUT", path, {**as_put_model(last), "name": "taken"})
        client.refused(400, 3, "name is empty", "PATCH", path, {"name": ""})
        assert changed({"name": "12"})["name"] == "12"
        assert client.get(f"{MODELS}/12")["registered_model"] == last and client.get(f"{MODELS}/m") is None
        changed({"labels": ["by name"]}, at=f"{MODELS}/12")
        changed({**as_put_model(last), "labels": []}, "PUT", f"{MODELS}/12")
        client.create_model("m")
        for wrong in ({"labels": [""]}, {"labels": 1}, {"task_type": 99}, {"attributes": [{"key": "", "value": 1}]}, {"pii": "x"}):
            for method in ("PATCH", "PUT"):
                client.refused(400, 3, "", method, path, wrong)
        assert client.get(path)["registered_model"] == last
        client.refused(404, 5, "not found", "PATCH", f"{REGISTRY}/registered_models/999", {})
        client.refused(404, 5, "not found", "PUT", f"{MODELS}/nothing", {})


def a_model_is_named_count_and_models_are_counted():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        count = f"{REGISTRY}/registered_models/count?workspace_name=default"
        assert client.must("GET", count) == {"count": "0"}
        for name in ("count", "find", "full_body"):
            model = client.create_model(name)
            at = f"{MODELS}/{name}"
            assert client.get(at)["registered_model"] == model
            model = client.must("PATCH", at, {"description": "d"})["registered_model"]
            model = client.must("PUT", at, {**as_put_model(model), "pii": True})["registered_model"]
            model = client.must("PATCH", f"{at}/full_body", {"registered_model": {"labels": ["x"]}})["registered_model"]
            assert (model["name"], model["description"], model["pii"], model["labels"]) == (name, "d", True, ["x"])
        assert client.must("GET", count) == {"count": "3"}
        client.must("DELETE", f"{MODELS}/count")
        assert client.must("GET", count) == {"count": "2"}
        client.refused(404, 5, "not found", "GET", f"{REGISTRY}/registered_models/count?workspace_name=nowhere")
        client.refused(400, 3, "workspace_name", "GET", f"{REGISTRY}/registered_models/count")
        client.refused(404, 5, "counts", "GET", f"{REGISTRY}/registered_models/counts")
        world.user("b@example.com").refused(404, 5, "not found", "GET", count)


def full_bodies_replace_what_their_mask_names():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m", labels=["a", "b"], attributes=[{"key": "k", "value": 1}], description="d")
        path = f"{REGISTRY}/registered_models/{model['id']}/full_body"
        now = client.must("PATCH", path, {"id": model["id"], "registered_model": {"labels": ["c"], "description": "not named"},
                                          "update_mask": {"paths": ["labels", "attributes"]}})["registered_model"]
        assert (now["labels"], now["attributes"], now["description"]) == (["c"], [], "d")
        now = client.must("PATCH", path, {"registered_model": {"labels": ["x"]}})["registered_model"]
        assert (now["labels"], now["description"]) == (["x"], "d")
        assert client.must("PATCH", path, {})["registered_model"] == now
        client.refused(400, 3, "update_mask.paths[1] is \"lable\"; it must be one of", "PATCH", path,
                       {"registered_model": {}, "update_mask": {"paths": ["labels", "lable"]}})
        client.refused(400, 3, "update_mask", "PATCH", path, {"registered_model": {}, "update_mask": "labels"})
        client.refused(400, 3, "name is empty", "PATCH", path, {"registered_model": {}, "update_mask": {"paths": ["name"]}})
        ignored = client.call("PATCH", path, {"registered_model": {}, "update_mask": {"paths": ["owner"]}}, warned=True)
        assert ignored.json["registered_model"] == now and "owner" in ignored.headers["svc-warning"]

        version = client.create_version(model["id"], "v 1", labels=["a"], attributes=[{"key": "k", "value": 1}])
        environment = {"python": {"version": {"major": 3, "minor": 10}, "raw_requirements": "numpy\n"},
                       "environment_variables": [{"name": "A", "value": "b"}]}
        path = f"{REGISTRY}/registered_models/{model['id']}/model_versions/{version['id']}/full_body"
        body = {"model_version": {"environment": environment}, "update_mask": {"paths": ["environment"]}}
        now = client.must("PATCH", path, body)["model_version"]
        assert now["environment"] == environment and now["labels"] == ["a"] and now == client.version(version["id"])
        docker = {"request_port": 8080, "request_path": "/p", "health_path": "/h"}
        now = client.must("PATCH", path, {"model_version": {"environment": environment, "docker_metadata": docker},
                                          "update_mask": {"paths": ["docker_metadata", "environment"]}})["model_version"]
        assert now["docker_metadata"] == docker and now["environment"] == environment
        now = client.must("PATCH", path, {"model_version": {}, "update_mask": {"paths": ["environment", "labels"]}})["model_version"]
        assert "environment" not in now and now["docker_metadata"] == docker and now["labels"] == []
        assert now["attributes"] == version["attributes"]
        long = f"{MODELS}/m/model_versions/v%201/full_body"
        named = client.must("PATCH", long, {"model_version": {"labels": ["l"]}})["model_version"]
        assert named["labels"] == ["l"] and named["id"] == version["id"]
        for ignored in ("stage", "lock_level", "id"):
            answer = client.call("PATCH", path, {"model_version": {}, "update_mask": {"paths": [ignored]}}, warned=True)
            assert answer.json["model_version"] == named and ignored in answer.headers["svc-warning"]
        client.refused(400, 3, "must be one of", "PATCH", path, {"model_version": {}, "update_mask": {"paths": ["model.key"]}})
        client.must("PUT", f"{REGISTRY}/model_versions/{version['id']}/lock", {"lock_level": 2})
        client.refused(403, 7, "locked for changes", "PATCH", path, body)
        client.refused(404, 5, "not found", "PATCH", f"{REGISTRY}/registered_models/999/model_versions/{version['id']}/full_body", {})


DATASET = {"key": "train", "path": "", "path_only": True, "artifact_type": 3, "linked_artifact_id": "7", "filename_extension": "",
           "serialization": "", "artifact_subtype": "", "upload_completed": False}
LOGS = {
    "logDatasets": {"datasets": [DATASET, {**DATASET, "key": "test", "linked_artifact_id": "8"}]},
    "logCodeBlobInModelVersion": {"code_blob_map": {"a": {"git": {"repo": "r", "hash": "h", "branch": "", "tag": "", "is_dirty": 1}},
                                                    "b": {"notebook": {"path": {"path": "n.ipynb", "size": "12"}, "git_repo": {"repo": "r"}}}}},
    "logAttributes": {"attributes": [{"key": "auc", "value": 1.0, "value_type": 0}, {"key": "none", "value": None, "value_type": 0}]},
    "logDockerMetadata": {"docker_metadata": {"request_port": 8080, "request_path": "/p", "health_path": ""}},
}


def what_is_logged_is_merged_and_may_be_written_back_at_every_level():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m")["id"]
        for call, body in LOGS.items():
            for level in (1, 3, 2):
                made = client.create_version(model, f"{call} {level}", labels=["l"], attributes=[{"key": "k", "value": [1, 2.5]}])
                at = f"{REGISTRY}/model_versions/{made['id']}"
                client.must("POST", f"{at}/{call}", {"model_version_id": made["id"], **body})
                logged = client.version(made["id"])
                assert int(logged["time_updated"]) > int(made["time_updated"]) and logged["labels"] == ["l"]
                client.must("POST", f"{at}/{call}", {"model_version_id": made["id"], **body})
                assert client.version(made["id"]) == logged, "the same again changes nothing"
                assert client.must("PUT", f"{at}/lock", {"lock_level": level}) == {}
                last = client.version(made["id"])
                assert client.put(made, as_put(last)) == last, (call, level)
                client.must("POST", f"{at}/{call}", {"model_version_id": made["id"], **body})
                assert client.version(made["id"]) == last, (call, level)
                if level == 2:
                    client.refused(403, 7, "locked for changes", "POST", f"{at}/logAttributes", {"attributes": [{"key": "new", "value": 1}]})
                client.refused(400, 3, "the path names", "POST", f"{at}/{call}", {"model_version_id": "999", **body})
        client.refused(404, 5, "not found", "POST", f"{REGISTRY}/model_versions/999/logDatasets", LOGS["logDatasets"])

        made = client.create_version(model, "merged")
        at = f"{REGISTRY}/model_versions/{made['id']}"
        client.must("POST", f"{at}/logDatasets", {"datasets": [{"key": "b", "path_only": True, "linked_artifact_id": "1"}]})
        client.must("POST", f"{at}/logDatasets", {"datasets": [{"key": "a"}, {"key": "b", "path_only": True, "linked_artifact_id": "2"}]})
        now = client.version(made["id"])
        assert [(one["key"], one.get("linked_artifact_id")) for one in now["datasets"]] == [("b", "2"), ("a", None)], now["datasets"]
        client.must("POST", f"{at}/logCodeBlobInModelVersion", {"code_blob_map": {"x": {"git": {"repo": "1"}}, "y": {"git": {}}}})
        client.must("POST", f"{at}/logCodeBlobInModelVersion", {"code_blob_map": {"z": {"git": {}}, "x": {"git": {"repo": "2"}}}})
        now = client.version(made["id"])
        assert json.dumps(now["code_blob_map"]) == '{"x": {"git": {"repo": "2"}}, "y": {"git": {}}, "z": {"git": {}}}'
        fewer = as_put(now)
        del fewer["datasets"]
        assert client.put(made, fewer)["datasets"] == []


def locks_are_raised_lowered_and_refuse():
    with herald.folder() as folder, World(folder) as world:
        client, stranger = world.client, world.user("b@example.com")
        model = client.create_model("m")["id"]
        made = client.create_version(model, "v")
        at = f"{REGISTRY}/model_versions/{made['id']}"
        for level in (3, 2, 2, 1, 2):
            assert client.must("PUT", f"{at}/lock", {"lock_level": level}) == {}
            assert client.version(made["id"])["lock_level"] in (level, LOCKS[level])
        for wrong in ({"lock_level": 0}, {}, {"lock_level": 4}, {"lock_level": "SHUT"}, {"lock_level": None}):
            client.refused(400, 3, "lock_level", "PUT", f"{at}/lock", wrong)
        stranger.refused(404, 5, "not found", "PUT", f"{at}/lock", {"lock_level": 1})
        stranger.refused(404, 5, "not found", "DELETE", at)
        client.refused(404, 5, "not found", "PUT", f"{REGISTRY}/model_versions/999/lock", {"lock_level": 1})
        client.refused(403, 7, "locked for changes", "DELETE", at)
        path = f"{REGISTRY}/registered_models/{model}/model_versions/{made['id']}"
        for body in ({"attributes": [{"key": "k", "value": 1}]}, {"model": {"key": "model", "path": "p"}}, {"environment": {"a": 1}},
                     {"artifacts": [{"key": "a"}]}, {"datasets": [{"key": "a"}]}, {"docker_metadata": {"a": 1}}, {"code_blob_map": {"a": {}}}):
            client.refused(403, 7, "locked for changes", "PATCH", path, body)
        assert client.patch(made, description="d", labels=["l"])["labels"] == ["l"]
        assert client.put(made, {**as_put(client.version(made["id"])), "labels": []})["labels"] == []
        client.must("PUT", f"{at}/lock", {"lock_level": 3})
        assert client.patch(made, attributes=[{"key": "k", "value": 1}])["attributes"], "an admin may"
        assert client.must("DELETE", at) == {}


def deleted_versions_and_models_are_gone_at_once():
    with herald.folder() as folder, World(folder) as world:
        client = world.client
        model = client.create_model("m")
        versions = [client.create_version(model["id"], name) for name in ("a", "b b", "7", "last")]
        client.must("DELETE", f"{REGISTRY}/model_versions/{versions[0]['id']}")
        client.must("DELETE", f"{MODELS}/m/model_versions/b%20b", {"ignored": True})
        client.must("DELETE", f"{REGISTRY}/registered_models/{model['id']}/model_versions/{versions[2]['id']}")
        for gone in versions[:3]:
            assert client.get(f"{REGISTRY}/model_versions/{gone['id']}") is None
            client.refused(404, 5, "not found", "DELETE", f"{REGISTRY}/model_versions/{gone['id']}")
        found = client.must("POST", f"{REGISTRY}/registered_models/{model['id']}/model_versions/find", {})
        assert found["model_versions"] == [versions[3]] and found["total_records"] == "1"
        again = client.create_version(model["id"], "a")
        assert int(again["version_number"]) == 5, "a number is never reused"
        shadow = client.create_version(model["id"], again["id"])
        client.refused(400, 9, shadow["id"], "DELETE", f"{MODELS}/m/model_versions/{again['id']}")

        client.must("PUT", f"{REGISTRY}/model_versions/{again['id']}/lock", {"lock_level": 2})
        client.must("PUT", f"{REGISTRY}/model_versions/{shadow['id']}/lock", {"lock_level": 3})
        build = client.must("POST", "/api/v1/deployment/workspace/default/builds",
                            {"model_version_id": int(again["id"]), "external_location": "registry.example.org/m"})
        scan = f"/api/v1/deployment/workspace/default/builds/{build['id']}"
        client.must("POST", f"{scan}/scan", {"scan_external": True})
        transition = client.must("POST", f"{REGISTRY}/stage/createTransition", {"model_version_id": again["id"], "desired_stage": 2})
        world.user("b@example.com").refused(404, 5, "not found", "DELETE", f"{REGISTRY}/registered_models/{model['id']}")
        assert client.must("DELETE", f"{REGISTRY}/registered_models/{model['id']}") == {}
        assert client.get(f"{REGISTRY}/registered_models/{model['id']}") is None and client.get(f"{MODELS}/m") is None
        for gone in (again, shadow, versions[3]):
            assert client.get(f"{REGISTRY}/model_versions/{gone['id']}") is None
            assert client.get(f"{REGISTRY}/model_versions/{gone['id']}/promotion") is None
            client.refused(404, 5, "not found", "PATCH", f"{REGISTRY}/registered_models/{model['id']}/model_versions/{gone['id']}", {})
        assert client.get(scan) is None and client.get(f"/api/v1/deployment/builds/{build['id']}/scan") is None
        client.refused(404, 5, "", "GET", f"/api/v1/deployment/builds?model_version_id={again['id']}")
        client.refused(404, 5, "", "POST", f"{scan}/scan", {"scan_external": True})
        client.refused(404, 5, "", "POST", f"{REGISTRY}/stage/commitTransition", {"transition_id": transition["activity"]["id"]})
        for find in (f"{REGISTRY}/registered_models/find", f"{MODELS}/find", f"{REGISTRY}/model_versions/find"):
            assert client.must("POST", find, {})["total_records"] == "0", find
        client.refused(404, 5, "", "POST", f"{REGISTRY}/registered_models/{model['id']}/model_versions", {**UNSET_VERSION, "version": "x"})
        assert client.create_model("m")["id"] != model["id"]
        client.must("DELETE", f"{MODELS}/m")
        client.refused(404, 5, "not found", "DELETE", f"{MODELS}/m")


def every_deletion_is_told_with_what_was_there():
    with herald.folder() as folder, World(folder) as world:
        client, receiver = world.client, herald.Receiver()
        client.must("POST", f"{PROXY}/events/createWebhook", {"name": "w", "location": receiver.url, "event_types": [3, "UPDATE"],
                                                              "mutual_secret": ""}, warned=True)
        model = client.create_model("m")
        versions = [client.create_version(model["id"], f"v{number}") for number in range(5)]
        build = client.must("POST", "/api/v1/deployment/workspace/default/builds",
                            {"model_version_id": int(versions[1]["id"]), "external_location": "registry.example.org/m"})
        client.must("PUT", f"{REGISTRY}/model_versions/{versions[1]['id']}/lock", {"lock_level": 2})
        client.must("DELETE", f"{REGISTRY}/model_versions/{versions[0]['id']}")
        client.must("DELETE", f"{REGISTRY}/registered_models/{model['id']}")

        def told():
            bodies = [json.loads(one.body) for one in list(receiver.deliveries)]
            return {(one["resource_type"], str(one["original"]["id"])): one for one in bodies if one["event_type"] == "DELETE"}
        herald.until(lambda: len(told()) == 7, 30, "seven events DELETE, of a model, five versions and a build")
        assert told()["REGISTERED_MODEL", model["id"]]["original"]["name"] == "m"
        assert told()["REGISTERED_MODEL_VERSION", versions[4]["id"]]["original"]["version"] == "v4"
        assert told()["BUILD", str(build["id"])]["original"]["location"] == "registry.example.org/m"
        assert all("updated" not in one for one in told().values())
        updates = [json.loads(one.body) for one in receiver.deliveries if b'"UPDATE"' in one.body]
        assert [(one["original"]["lock_level"], one["updated"]["lock_level"]) for one in updates] == [("OPEN", "CLOSED")]
        receiver.stop()


if __name__ == "__main__":
    herald.run()
