"""Property: each event goes to exactly those webhooks that ask for it, says what it tells of as answers show it, and says where
to report; of a read only those hear who ask for reads, and never more than ten in a second."""

import json
import time
import urllib.parse

import herald

REGISTRY = "/api/v1/registry"
EVENTS = "/api/v1/uac-proxy/events"
ORGANIZATION = "/api/v2/uac-proxy/organization/1"


def hook(client, name, receiver, types, resources=(), workspace=None, all_events=False):
    body = {"name": name, "location": f"{receiver.url}/{name}", "event_types": list(types), "all_events": all_events,
            "resource_types": list(resources)}
    if workspace:
        body["workspace_id"] = workspace
    return client.must("POST", f"{EVENTS}/createWebhook", body)["id"]


def heard_by(receiver, name):
    """What came there: "CREATE REGISTERED_MODEL 1"."""
    told = []
    with receiver.lock:
        for one in receiver.deliveries:
            if one.path == f"/{name}":
                body = json.loads(one.body)
                entity = body.get("updated") or body.get("original")
                told.append(f"{one.type} {one.headers['svc-resource-type']} {entity.get('id') or entity.get('buildID')}")
    return sorted(told)


def build_of(client, workspace, version):
    return client.must("POST", f"/api/v1/deployment/workspace/{urllib.parse.quote(workspace)}/builds",
                       {"model_version_id": int(version), "external_location": "registry.example.com/m:1"})["id"]


def each_change_is_told_to_those_whom_it_concerns_as_answers_show_it():
    with herald.with_receiver() as (_, client, receiver):
        model_type, version_type = ({"registry_service_resource_type": f"REGISTERED_MODEL{rest}"} for rest in ("", "_VERSION"))
        other = client.must("POST", f"{ORGANIZATION}/workspaces", {"workspace": {"name": "other", "permissions": []}})["workspace"]["id"]
        hook(client, "all", receiver, [], all_events=True)
        hook(client, "created", receiver, ["CREATE"])
        hook(client, "versions", receiver, ["CREATE", "UPDATE", "DELETE"], [version_type])
        hook(client, "models", receiver, ["UPDATE", "DELETE"], [model_type])
        hook(client, "builds", receiver, ["CREATE", "UPDATE"], [{"deployment_service_resource_type": "BUILD"}])
        hook(client, "elsewhere", receiver, [], workspace=other, all_events=True)
        model = client.model("m")
        version = client.version(model, "v")
        build = build_of(client, "default", version)
        before = client.must("GET", f"{REGISTRY}/model_versions/{version}")["model_version"]
        client.must("PATCH", f"{REGISTRY}/registered_models/{model}/model_versions/{version}", {"archived": "TRUE", "labels": ["l"]})
        after = client.must("GET", f"{REGISTRY}/model_versions/{version}")["model_version"]
        client.must("PATCH", f"{REGISTRY}/registered_models/{model}", {"description": "d"})
        shown = client.must("GET", f"{REGISTRY}/registered_models/{model}")["registered_model"]
        client.must("DELETE", f"{REGISTRY}/registered_models/{model}")
        expected = {
            "created": [f"CREATE BUILD {build}", f"CREATE REGISTERED_MODEL {model}", f"CREATE REGISTERED_MODEL_VERSION {version}"],
            "versions": [f"{what} REGISTERED_MODEL_VERSION {version}" for what in ("CREATE", "DELETE", "UPDATE")],
            "models": [f"{what} REGISTERED_MODEL {model}" for what in ("DELETE", "UPDATE")],
            "builds": [f"CREATE BUILD {build}"],
        }
        for name, told in expected.items():
            herald.until(lambda: heard_by(receiver, name) == told, 30, f"{name} hears {told}, not {heard_by(receiver, name)}")
        whole = expected["created"] + expected["versions"] + expected["models"] + [f"DELETE BUILD {build}"]
        changes = lambda: [one for one in heard_by(receiver, "all") if not one.startswith("READ")]
        herald.until(lambda: changes() == sorted(set(whole)), 30, f"all is heard: {changes()}")
        assert heard_by(receiver, "elsewhere") == []
        said = {(one.type, one.headers["svc-resource-type"]): json.loads(one.body) for one in receiver.deliveries if one.path == "/all"}
        update = said["UPDATE", "REGISTERED_MODEL_VERSION"]
        assert (update["original"]["archived"], update["updated"]["archived"]) == ("FALSE", "TRUE"), update
        assert update["original"] == before and update["updated"] == after, update
        assert set(said["CREATE", "REGISTERED_MODEL"]) == {"id", "timestamp", "event_type", "resource_type", "workspaceID", "updated"}
        assert said["DELETE", "REGISTERED_MODEL_VERSION"]["original"] == after and "updated" not in said["DELETE", "REGISTERED_MODEL_VERSION"]
        told = said["UPDATE", "REGISTERED_MODEL"]["updated"]
        assert {name: value for name, value in told.items() if name in shown} == {name: shown[name] for name in told if name in shown}
        assert said["UPDATE", "REGISTERED_MODEL"]["original"]["description"] == ""


def a_delivery_says_in_which_workspace_and_where_to_report():
    with herald.with_receiver() as (server, client, receiver):
        name = "Fließband 1"
        client.must("POST", f"{ORGANIZATION}/workspaces", {"workspace": {"name": name, "permissions": []}})
        workspace = client.must("GET", f"/api/v1/uac-proxy/workspace/getWorkspaceByName?name={urllib.parse.quote(name)}")["id"]
        hook(client, "w", receiver, ["CREATE", "PROMOTE", "REQUEST_SCAN"], workspace=workspace)
        place = f"/workspaces/{urllib.parse.quote(name)}"
        model = client.must("POST", f"{REGISTRY}{place}/registered_models", {"name": "m"})["registered_model"]["id"]
        version = client.version(model, "v")
        build = build_of(client, name, version)
        client.must("POST", f"/api/v1/deployment/workspace/{urllib.parse.quote(name)}/builds/{build}/scan", {"scan_external": True})
        client.promote(client.second_admin(), version)
        for kind, count in (("REQUEST_SCAN", 1), ("PROMOTE", 1), ("CREATE", 3)):
            receiver.wait_for(count, kind)
        for one in receiver.deliveries:
            assert one.headers["svc-workspace"] == urllib.parse.quote(name), one
            assert ("svc-report-url" in one.headers) == (one.type != "CREATE"), one
        base = f"http://127.0.0.1:{server.port}"
        scan, promotion = (receiver.of_type(kind)[0].headers["svc-report-url"] for kind in ("REQUEST_SCAN", "PROMOTE"))
        assert scan == f"{base}/api/v1/deployment/workspace/{urllib.parse.quote(name)}/builds/{build}/scan", scan
        assert promotion == f"{base}{REGISTRY}/registered_models/{model}/model_versions/{version}", promotion
        # A receiver needs nothing else to report.
        report = {"scan_status": "scanned", "scan_external_results": {"safety_status": "safe", "url": "https://scanner.example.com/1"}}
        assert client.must("PUT", scan[len(base):], report)["safety_status"] == "safe"
        body = json.loads(receiver.of_type("PROMOTE")[0].body)
        client.must("PUT", promotion[len(base):], {**body, "redirect_metadata": "https://production.example.com/1"})
        assert client.must("GET", f"{REGISTRY}/model_versions/{version}/promotion")["status"] == "COMPLETE"


def the_public_url_is_where_receivers_report():
    with herald.with_receiver("--public-url", "https://models.example.com/herald") as (_, client, receiver):
        hook(client, "w", receiver, ["REQUEST_SCAN"])
        build = build_of(client, "default", client.version(client.model("m"), "v"))
        client.must("POST", f"/api/v1/deployment/workspace/default/builds/{build}/scan", {"scan_external": True})
        receiver.wait_for(1, "REQUEST_SCAN")
        told = receiver.of_type("REQUEST_SCAN")[0].headers["svc-report-url"]
        assert told == f"https://models.example.com/herald/api/v1/deployment/workspace/default/builds/{build}/scan", told


def reads_are_told_to_those_who_ask_for_them_and_to_nobody_else():
    with herald.with_receiver() as (server, client, receiver):
        hook(client, "writes", receiver, ["CREATE", "UPDATE", "DELETE"])
        hook(client, "reads", receiver, ["READ"])
        hook(client, "builds", receiver, ["READ"], [{"deployment_service_resource_type": "BUILD"}])
        model = client.model("m")
        version = client.version(model, "v")
        build = build_of(client, "default", version)
        places = (f"{REGISTRY}/registered_models/{model}", f"{REGISTRY}/model_versions/{version}",
                  f"/api/v1/deployment/workspace/default/builds/{build}")
        commands = herald.metric(server.port, "herald_log_offset")
        shown = [client.must("GET", place) for place in places]
        receiver.wait_for(3, "READ")
        assert client.call("GET", f"{REGISTRY}/model_versions/99").status == 404
        assert client.call("HEAD", places[0]).status == 200
        herald.until(lambda: len(heard_by(receiver, "reads")) == 4, 30, f"four reads: {heard_by(receiver, 'reads')}")
        assert heard_by(receiver, "reads") == [f"READ BUILD {build}", f"READ REGISTERED_MODEL {model}", f"READ REGISTERED_MODEL {model}",
                                               f"READ REGISTERED_MODEL_VERSION {version}"]
        assert heard_by(receiver, "builds") == [f"READ BUILD {build}"]
        assert not any(one.startswith("READ") for one in heard_by(receiver, "writes"))
        assert herald.metric(server.port, "herald_log_offset") <= commands + 1, "a read is no command"  # a heartbeat may be
        body = next(json.loads(one.body) for one in receiver.of_type("READ") if one.headers["svc-resource-type"] == "REGISTERED_MODEL_VERSION")
        assert body["original"] == shown[1]["model_version"] and "updated" not in body and body["event_type"] == "READ", body
        assert receiver.of_type("READ")[0].headers["svc-workspace"] == "default"


def endpoints_are_told_of_by_their_uuid_from_the_first_to_the_last():
    with herald.with_receiver() as (server, client, receiver):
        hook(client, "endpoints", receiver, ["CREATE", "READ", "UPDATE", "DELETE"], [{"deployment_service_resource_type": "ENDPOINT"}])
        hook(client, "builds", receiver, ["CREATE", "READ", "UPDATE", "DELETE"], [{"deployment_service_resource_type": "BUILD"}])
        place = "/api/v1/deployment/workspace/default/endpoints"
        made = client.must("POST", place, {"path": "/x", "description": "d"})
        client.must("POST", f"{place}/{made['id']}/stages", {"name": "production"})
        shown = client.must("GET", f"{place}/{made['id']}")
        receiver.wait_for(1, "READ")
        client.must("DELETE", f"{place}/{made['id']}")
        expected = sorted(f"{kind} ENDPOINT {made['id']}" for kind in ("CREATE", "READ", "UPDATE", "DELETE"))
        herald.until(lambda: heard_by(receiver, "endpoints") == expected, 30, f"all is heard: {heard_by(receiver, 'endpoints')}")
        assert heard_by(receiver, "builds") == []
        said = {one.type: json.loads(one.body) for one in receiver.deliveries if one.path == "/endpoints"}
        assert said["READ"]["original"] == said["DELETE"]["original"] == said["UPDATE"]["updated"]
        assert said["READ"]["original"] == {name: shown[name] for name in shown if name != "full_url"}



def one_webhook_is_told_of_ten_reads_in_a_second_and_the_rest_is_counted():
    with herald.with_receiver() as (server, client, receiver):
        hook(client, "reads", receiver, ["READ"])
        place = f"{REGISTRY}/registered_models/{client.model('m')}"
        dropped = herald.metric(server.port, "herald_read_events_dropped_total") or 0
        begin = time.monotonic()
        for _ in range(300):
            client.must("GET", place)
        seconds = time.monotonic() - begin
        dropped = herald.metric(server.port, "herald_read_events_dropped_total") - dropped
        assert 10 <= 300 - dropped <= 10 * (seconds + 1), f"{300 - dropped} sent in {seconds:.2f} s"
        herald.until(lambda: len(receiver.of_type("READ")) == 300 - dropped, 30, "those that were sent arrive")


def a_read_that_its_receiver_refuses_is_not_told_again():
    with herald.with_receiver(answer=lambda delivery: 500 if delivery.type == "READ" else 200) as (server, client, receiver):
        hook(client, "w", receiver, ["READ", "CREATE"])
        model = client.model("m")
        client.must("GET", f"{REGISTRY}/registered_models/{model}")
        receiver.wait_for(1, "READ")
        time.sleep(7)  # the first retry would come after 5 s
        assert len(receiver.of_type("READ")) == 1 and len(receiver.of_type("CREATE")) == 1
        assert herald.metric(server.port, "herald_worker_dead_total") in (None, 0)


if __name__ == "__main__":
    herald.run()
