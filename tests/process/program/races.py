"""Property: callers who come at the same moment, and rights that end while something is under way, break no promise: one outcome
of one Idempotency-Key (P1), one event of one cause (P2), and nothing is done by whom it is no longer allowed."""

import collections
import json
import socket
import threading
import urllib.parse

import herald
from artifact_client import stored_files
from published_client import (Artifacts, CREATE, DELETE, DEPLOYMENT, MODELS, ORGANIZATION, PROXY, PublishedClient, READ, REGISTRY, Team,
                              UNSET_VERSION, UPDATE, path_of, stored_at)

STAGE = f"{REGISTRY}/stage"


def _at_once(count, call):
    """What `count` callers get who all begin together; call(number)."""
    answers, begin = [None] * count, threading.Barrier(count)

    def caller(number):
        begin.wait()
        answers[number] = call(number)
    threads = [threading.Thread(target=caller, args=[number]) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _statuses(answers):
    return collections.Counter(answer.status for answer in answers)


def _second_admin(team):
    made = team.server.client().second_admin()
    return PublishedClient(team.server.port, "second@example.com", made.headers["Grpc-Metadata-developer_key"])


def callers_with_one_key_get_one_outcome():
    with herald.folder() as folder, Team(folder) as team:
        def create(name, key):
            return team.a.call("POST", MODELS, {"name": name}, headers={"Idempotency-Key": key})
        same = _at_once(24, lambda _: create("one", "first"))
        assert _statuses(same) == {200: 24} and len({answer.body for answer in same}) == 1
        others = _at_once(24, lambda number: create(f"one of {number}", "second"))
        assert _statuses(others) == {200: 1, 409: 23}, _statuses(others)
        keys = _at_once(8, lambda _: team.a.call("POST", f"{PROXY}/uac/createUser", {"info": {"email": "c@example.com"}},
                                                 headers={"Idempotency-Key": "third"}))
        assert len({answer.json["info"]["dev_key"] for answer in keys}) == 1, "a minted key is the same in each repeat"
        assert team.a.must("POST", f"{MODELS}/find", {})["total_records"] == "2"


def commits_that_come_together_promote_once():
    with herald.folder() as folder, Team(folder) as team:
        second, receiver = _second_admin(team), herald.Receiver()
        team.server.client().webhook("w", receiver.url)
        model, promoted = team.a.create_model("m")["id"], 0
        for number in range(8):
            version = team.a.create_version(model, f"v{number}")["id"]
            asked = _at_once(4, lambda caller: (team.a, second)[caller % 2].call(
                "POST", f"{STAGE}/createTransition", {"model_version_id": version, "desired_stage": 3, "comment": ""}))
            assert _statuses(asked) == {200: 1, 409: 3}, "one open transition to a stage"
            opened = next(answer.json["activity"] for answer in asked if answer.status == 200)
            reviewer = second if opened["author_id"] == "1" else team.a
            transition = {"transition_id": opened["id"], "comment": ""}

            def act(caller):
                if caller == 0:
                    return reviewer.call("POST", f"{STAGE}/approveTransition", transition)
                if caller == 1 and number % 4 == 3:
                    return reviewer.call("POST", f"{STAGE}/rejectTransition", transition)
                if caller == 2 and number % 2:
                    return team.a.call("POST", f"{STAGE}/updateStage", {"model_version_id": version, "stage": 1, "comment": ""})
                return team.a.call("POST", f"{STAGE}/commitTransition", transition)
            answers = _at_once(12, act)
            commits = [answer for answer in answers if answer.status == 200
                       and answer.json["activity"].get("update") == {"stage": "PRODUCTION"}]
            assert len(commits) <= 1 and not [answer for answer in answers if answer.status not in (200, 400, 409)], answers
            promoted += len(commits)
            status = team.a.must("GET", f"{REGISTRY}/model_versions/{version}/promotion")["status"]
            assert status == "NONE" if not commits else status in ("IN_PROGRESS", "FAILED")
        # What comes after them in the order of events.
        version = team.a.create_version(model, "last")["id"]
        last = team.server.client().promote(herald.Client(team.server.port, "second@example.com", second.headers["Grpc-Metadata-developer_key"]), version)
        herald.until(lambda: len({one.event for one in receiver.of_type("PROMOTE")}) >= promoted + 1, 30, f"{promoted + 1} events")
        assert last and len({one.id for one in receiver.of_type("PROMOTE")}) == promoted + 1
        receiver.stop()


def scans_that_are_asked_for_together_are_one_and_unsafe_stays():
    with herald.folder() as folder, Team(folder) as team:
        receiver = herald.Receiver()
        team.server.client().webhook("w", receiver.url)
        version = int(team.a.create_version(team.a.create_model("m")["id"], "v")["id"])
        builds = f"{DEPLOYMENT}/workspace/default/builds"
        scans = []
        for number in range(4):
            build = team.a.must("POST", builds, {"model_version_id": version, "external_location": f"x:{number}"})["id"]
            asked = _at_once(8, lambda _: team.a.call("POST", f"{builds}/{build}/scan", {"scan_external": True}))
            assert _statuses(asked) == {200: 1, 400: 7}, _statuses(asked)
            scans.append(build)

            def report(caller):
                results = {"safety_status": "unsafe" if caller == number else "safe", "url": "https://scanner.example.com/"}
                return team.a.call("PUT", f"{builds}/{build}/scan", {"scan_status": "scanned", "scan_external_results": results})
            reported = _at_once(8, report)
            assert reported[number].status == 200, "a report that a build is unsafe is always taken"
            assert team.a.must("GET", f"{DEPLOYMENT}/builds/{build}/scan")["safety_status"] == "unsafe"
        receiver.wait_for(4, "REQUEST_SCAN")
        told = [json.loads(one.body)["updated"]["buildID"] for one in receiver.of_type("REQUEST_SCAN")]
        assert sorted(told) == scans, told
        receiver.stop()


def a_model_that_is_deleted_under_its_writers_leaves_nothing_to_be_found():
    with herald.folder() as folder, Team(folder) as team:
        client = team.a
        for _ in range(4):
            model = client.create_model("m")["id"]
            version = client.create_version(model, "v")
            artifacts = Artifacts(client, version)
            artifacts.record("f", {"key": "f", "path": "p", "artifact_type": 4})
            url = artifacts.url("f", "PUT", 1)["url"]

            def act(caller):
                if caller == 7:
                    return client.call("DELETE", f"{REGISTRY}/registered_models/{model}")
                return (lambda: client.call("POST", f"{REGISTRY}/registered_models/{model}/model_versions", {**UNSET_VERSION, "version": f"n{caller}"}),
                        lambda: client.call("POST", f"{STAGE}/createTransition", {"model_version_id": version["id"], "desired_stage": 1 + caller % 4}),
                        lambda: artifacts.send("PUT", url, b"x" * 100_000),
                        lambda: client.call("POST", f"{DEPLOYMENT}/workspace/default/builds",
                                            {"model_version_id": int(version["id"]), "external_location": "x"}))[caller % 4]()
            answers = _at_once(16, act)
            assert answers[7].status == 200 and not [answer for answer in answers if answer.status not in (200, 404, 409, 503)], answers
            for path in (f"{REGISTRY}/registered_models/find", f"{REGISTRY}/model_versions/find", f"{STAGE}/findTransitions"):
                assert client.must("POST", path, {})["total_records"] == "0", path
            assert client.get(stored_at(version)) is None and artifacts.send("PUT", url, b"late").status == 404


def _begun_upload(url, size):
    """A PUT of which the first half has gone out."""
    address = urllib.parse.urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port), timeout=30)
    connection.sendall(f"PUT {address.path}?{address.query} HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode() + b"n" * (size // 2))
    return connection


def _ended(connection, size):
    with connection:
        connection.sendall(b"n" * (size // 2))
        return connection.recv(4_000)


def rights_that_end_during_an_upload_count_when_its_bytes_have_arrived():
    with herald.folder() as folder, Team(folder) as team:
        _, role = team.shared("team", [READ, UPDATE])

        def allow(*actions):
            resources = [{"resource_type": 3, "allowed_actions": list(actions)}] if actions else []
            team.a.must("POST", f"{ORGANIZATION}/1/roles", {"role": {"org_id": "1", "id": role, "name": "team users", "resource_actions": resources}})
        version = team.a.create_version(team.a.create_model("m", workspace="team")["id"], "v")
        artifacts = Artifacts(team.b, version)
        artifacts.record("f", {"key": "f", "path": "p", "artifact_type": 4})
        artifacts.upload("f", b"before")
        put, get = artifacts.url("f", "PUT", 1)["url"], artifacts.url("f", "GET")["url"]
        size = 4_000_000

        def under_way():
            herald.until(lambda: any("temporary" in file.parts for file in stored_files(team.server)), 10, "the upload is under way")
        running = _begun_upload(put, size)
        under_way()
        allow(READ)
        assert _ended(running, size).startswith(b"HTTP/1.1 403 ") and artifacts.send("GET", get).body == b"before"
        allow()
        assert artifacts.send("GET", get).status == 404 == artifacts.send("PUT", put, b"x").status
        allow(READ, UPDATE)
        running = _begun_upload(put, size)
        under_way()
        team.a.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 2})
        assert b"locked for changes" in _ended(running, size)
        team.a.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 1})
        running = _begun_upload(put, size)
        under_way()
        team.a.must("POST", f"{PROXY}/uac/deleteUser", {"user_id": team.b_id})
        assert _ended(running, size).startswith(b"HTTP/1.1 404 "), "who is removed writes nothing any more"
        again = team.a.must("POST", f"{PROXY}/uac/createUser", {"info": {"email": "b@example.com"}})["info"]
        assert artifacts.send("PUT", put, b"x").status == 404, "another of the same e-mail is another"
        assert Artifacts(PublishedClient(team.server.port, "b@example.com", again["dev_key"]), version).download("f").body == b"before"


def what_a_removed_user_has_done_no_longer_counts():
    with herald.folder() as folder, Team(folder) as team:
        second = _second_admin(team)
        identity = second.must("GET", f"{PROXY}/uac/getCurrentUser")["verta_info"]["user_id"]
        version = team.a.create_version(team.a.create_model("m")["id"], "v")
        transition = team.a.must("POST", f"{STAGE}/createTransition", {"model_version_id": version["id"], "desired_stage": 3})["activity"]["id"]
        approval = ("POST", f"{STAGE}/approveTransition", {"transition_id": transition})
        assert second.call(*approval, headers={"Idempotency-Key": "approval"}).status == 200
        session = second.must("POST", f"{PROXY}/session/createSession", {"verta_user_id": identity, "session_name": "s", "ttl_seconds": "600"})
        team.a.must("POST", f"{PROXY}/uac/deleteUser", {"user_id": identity})
        team.a.refused(400, 9, "0 of 1 approvals", "POST", f"{STAGE}/commitTransition", {"transition_id": transition})
        second.refused(401, 16, "", *approval, headers={"Idempotency-Key": "approval"})
        guest = PublishedClient(team.server.port, "second@example.com", session["session_secret_key"])
        guest.refused(401, 16, "", "GET", f"{PROXY}/uac/getCurrentUser")
        for path, body in ((f"{PROXY}/uac/addDevKeyForUser", {"user_id": identity}), (f"{PROXY}/uac/deleteUser", {"user_id": identity}),
                           (f"{ORGANIZATION}/1/groups/1/users", {"user_id": [identity]}), (f"{PROXY}/system_admin/addSystemAdmin", {"share_with": identity}),
                           (f"{PROXY}/session/createSession", {"verta_user_id": identity, "session_name": "t", "ttl_seconds": "60"})):
            team.a.refused(404, 5, "not found", "POST", path, body)


INGREDIENTS = {"attributes": [{"key": "k", "value": 1.0, "value_type": 0}], "artifacts": [{"key": "a", "path": "p", "artifact_type": 4}],
               "model": {"key": "model", "path": "p", "artifact_type": 1}, "environment": {"python": {"version": {"major": 3}}},
               "code_blob_map": {"x": {"git": {"repo": "r"}}}, "datasets": [{"key": "d", "path_only": True}]}


def what_closed_forbids_is_forbidden_in_every_form():
    with herald.folder() as folder, Team(folder) as team:
        team.shared("team", [READ, UPDATE, CREATE, DELETE])
        version = team.b.create_version(team.a.create_model("m", workspace="team")["id"], "v", **INGREDIENTS)
        artifacts = Artifacts(team.b, version)
        url = artifacts.url("a", "PUT", 1)["url"]
        etag = artifacts.send("PUT", artifacts.url("a", "PUT", 2)["url"], b"part").headers["ETag"]
        team.a.must("PUT", f"{stored_at(version)}/lock", {"lock_level": 2})
        before = team.a.version(version["id"])
        full = f"{path_of(version)}/full_body"

        def with_mask(paths, **members):
            return ("PATCH", full, {"model_version": members, "update_mask": {"paths": paths}})

        def patched(**members):
            return ("PATCH", path_of(version), members)
        forbidden = [patched(model={}), patched(environment={}), patched(code_blob_map={}), patched(docker_metadata={}),
                     patched(attributes=[{"key": "k", "value": "1"}]), patched(attributes=[{"key": "k", "value": True}]),
                     patched(attributes=[{"key": "k", "value": 1, "value_type": 1}]), patched(attributes=[{"key": "k", "value": 1}, {"key": "k", "value": 2}]),
                     with_mask(["environment"]), with_mask(["lock_level", "attributes"], lock_level=1, attributes=[]),
                     ("PATCH", full, {"model_version": {"environment": {"a": 1}}}),
                     ("POST", f"{stored_at(version)}/logDatasets", {"datasets": [{"key": "new"}]}),
                     ("POST", f"{stored_at(version)}/logDockerMetadata", {"docker_metadata": {"request_port": 1}}),
                     ("POST", f"{stored_at(version)}/commitArtifactPart", {"key": "a", "artifact_part": {"part_number": "2", "etag": etag}}),
                     ("POST", f"{stored_at(version)}/commitMultipartArtifact", {"key": "a"}),
                     ("POST", f"{stored_at(version)}/getUrlForArtifact", {"key": "a", "method": "PUT"}),
                     ("DELETE", f"{stored_at(version)}/artifacts/a"), ("DELETE", f"{stored_at(version)}/artifacts/model"),
                     ("DELETE", stored_at(version)), ("DELETE", path_of(version))]
        allowed = [patched(), patched(artifacts=None, model=None, environment=None), patched(artifacts=[], attributes=[]),
                   patched(attributes=[{"key": "k", "value": 1}]), patched(archived=False), with_mask(["docker_metadata"]),
                   with_mask([], environment={"a": 1}), ("POST", f"{stored_at(version)}/logAttributes", {"attributes": [{"key": "k", "value": 1}]}),
                   ("POST", f"{stored_at(version)}/logCodeBlobInModelVersion", {"code_blob_map": {"x": {"git": {"repo": "r", "hash": ""}}}}),
                   ("PUT", f"{stored_at(version)}/lock", {"lock_level": 2})]
        for client in (team.a, team.b):
            for call in forbidden:
                client.refused(403, 7, "locked for changes", *call)
            for call in allowed:
                assert client.call(*call).status == 200, call
            ignored = client.call(*patched(lock_level=1, stage=3), warned=True)
            assert ignored.status == 200 and "lock_level" in ignored.headers["svc-warning"]
            late = artifacts.send("PUT", url, b"late")
            assert late.status == 403 and "locked for changes" in late.json["message"], late
            assert team.a.version(version["id"]) == before
        team.b.refused(403, 7, "", "PUT", f"{stored_at(version)}/lock", {"lock_level": 1})


if __name__ == "__main__":
    herald.run()
