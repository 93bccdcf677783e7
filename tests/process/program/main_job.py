"""Property: the main job, from outside, on one machine: promotion and scan are told once, signed, and answered."""

import json
import os
import re
import subprocess
import threading
import time

import herald


def a_promotion_needs_another_person_and_is_told_once():
    with herald.with_receiver() as (_, client, receiver):
        client.webhook("promotions", receiver.url)
        approver, model = client.second_admin(), client.model("m")
        version = client.version(model, "v")
        transition = client.stage("create", {"model_version_id": version, "desired_stage": 3})["id"]
        own = client.call("POST", "/api/v1/registry/stage/approveTransition", {"transition_id": transition})
        assert (own.status, own.json["code"]) == (403, 7), own
        early = client.call("POST", "/api/v1/registry/stage/commitTransition", {"transition_id": transition})
        assert (early.status, early.json["code"]) == (400, 9), early
        approver.stage("approve", {"transition_id": transition})
        client.stage("commit", {"transition_id": transition})
        receiver.wait_for(1)
        body = json.loads(receiver.deliveries[0].body)
        assert set(body) == {"id", "registered_model_id", "version", "time_created", "time_updated", "readme_text", "owner",
                             "attributes", "stage", "lock_level", "version_number"}, body
        assert body["stage"] == "PRODUCTION" and body["id"] == version and receiver.deliveries[0].verified
        path = f"/api/v1/registry/registered_models/{model}/model_versions/{version}"
        done = client.must("PUT", path, {**body, "redirect_metadata": "https://serving.example.com/m"})["model_version"]
        assert done["redirect_metadata"] == "https://serving.example.com/m"
        promotion = client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")
        assert promotion["status"] == "COMPLETE", promotion
        herald.until(lambda: client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["deliveries"] ==
                     {"pending": 0, "succeeded": 1, "dead": 0, "unknown": 0}, 10, "the delivery is in the history")
        time.sleep(0.5)  # long enough for a second copy, were there one
        assert len(receiver.of_type("PROMOTE")) == 1


def a_repeat_under_the_same_key_gives_the_same_answer():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        key = {"Idempotency-Key": "one"}
        create = ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "b@example.com"}})
        first, second = client.call(*create, key), client.call(*create, key)
        assert (first.status, first.body) == (second.status, second.body) and "dev_key" in first.json["info"], (first, second)
        other = client.call("POST", create[1], {"info": {"email": "c@example.com"}}, key)
        assert (other.status, other.json["code"]) == (409, 6), other
        refused = client.call(*create, {"Idempotency-Key": "two"})
        assert refused.status == 409 and refused.body == client.call(*create, {"Idempotency-Key": "two"}).body
        client.close()
        server.process.kill()
        server.start()
        third = client.call(*create, key)
        assert third.body == first.body, "the answer must be the same after a restart"
        user = herald.Client(server.port, "b@example.com", first.json["info"]["dev_key"])
        assert user.must("GET", "/api/v1/uac-proxy/uac/getCurrentUser")["email"] == "b@example.com"
        server.stop()


def a_scan_is_requested_told_and_reported():
    with herald.with_receiver() as (_, client, receiver):
        client.webhook("scans", receiver.url)
        version = client.version(client.model("m"), "v")
        build = client.must("POST", "/api/v1/deployment/workspace/default/builds",
                            {"model_version_id": int(version), "external_location": "registry.example.com/m:1"})
        assert build["status"] == "finished" and isinstance(build["id"], int)
        scan = f"/api/v1/deployment/workspace/default/builds/{build['id']}/scan"
        assert client.must("GET", f"/api/v1/deployment/builds/{build['id']}/scan")["scan_status"] == "unscanned"
        early = client.call("PUT", scan, {"scan_status": "scanned", "scan_external_results": {"safety_status": "safe", "url": ""}})
        assert (early.status, early.json["code"]) == (400, 9), early
        client.must("POST", scan, {"scan_external": True})
        receiver.wait_for(1, "REQUEST_SCAN")
        event = json.loads(receiver.deliveries[0].body)
        assert set(event) == {"id", "timestamp", "event_type", "resource_type", "workspaceID", "updated"}, event
        assert event["updated"] == {"buildID": build["id"], "imageurl": "registry.example.com/m:1"}
        report = {"scan_status": "scanned", "scan_external_results": {"safety_status": "unsafe", "url": "https://scanner.example.com/1"}}
        first = client.must("PUT", scan, report)
        assert first["safety_status"] == "unsafe" and client.must("PUT", scan, report) == first
        quiet = client.call("PUT", scan, {**report, "scan_external_results": {"safety_status": "safe", "url": ""}})
        assert quiet.status == 409, quiet
        shown = client.must("GET", f"/api/v1/deployment/builds/{build['id']}/scan")
        assert shown["scan_external_results"] == {"safety_status": "unsafe", "url": "https://scanner.example.com/1"}
        assert client.must("GET", f"/api/v1/deployment/builds?model_version_id={version}")["builds"][0]["id"] == build["id"]
        other = client.must("POST", "/api/v1/deployment/workspace/default/builds",
                            {"model_version_id": int(version), "external_location": "registry.example.com/m:2"})
        unasked = client.must("PUT", f"/api/v1/deployment/workspace/default/builds/{other['id']}/scan", report)
        assert (unasked["scan_status"], unasked["safety_status"], unasked["message"]) == ("scanned", "unsafe", ""), unasked
        assert client.must("GET", f"/api/v1/deployment/builds/{other['id']}/scan") == unasked
        anew = client.must("POST", f"/api/v1/deployment/workspace/default/builds/{other['id']}/scan", {"scan_external": True})
        assert anew["scan_status"] == "scanning" and "create a new build" in anew["message"], anew
        receiver.wait_for(2, "REQUEST_SCAN")


def a_test_says_what_the_receiver_answered():
    with herald.with_receiver(answer=lambda delivery: int(delivery.path.strip("/") or 200)) as (_, client, receiver):
        for status in (200, 404, 500):
            hook = client.webhook(f"w{status}", f"{receiver.url}/{status}")
            answer = client.must("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook})
            assert answer["status_code"] == status and answer["hint"], answer
            assert answer["attempt"]["error"] == ("none" if status == 200 else "status"), answer
            assert answer["attempt"]["address"].startswith("127.0.0.1") and answer["attempt"]["total_us"] > 0, answer
        assert len(receiver.deliveries) == 3 and all(one.verified for one in receiver.deliveries)
        nobody = client.webhook("nobody", f"http://127.0.0.1:{herald.free_port()}")
        answer = client.call("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": nobody})
        # The published client repeats 502.
        assert (answer.status, answer.json["code"]) == (400, 9) and "no answer: connect: " in answer.json["message"], answer
        assert client.call("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": 99}).status == 404


def too_many_tests_at_once_are_429():
    with herald.folder() as folder:
        release = threading.Event()
        server, receiver = herald.Standalone(folder), herald.Receiver(lambda _: 200 if release.wait(60) else 500)
        hook = server.client().webhook("w", receiver.url)
        answers, lock = [], threading.Lock()

        def test():
            answer = server.client().call("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook})
            with lock:
                answers.append(answer)

        callers = [threading.Thread(target=test) for _ in range(20)]
        for caller in callers:
            caller.start()
        herald.until(lambda: any(answer.status == 429 for answer in answers), 15, "a test is refused")
        release.set()
        for caller in callers:
            caller.join()
        busy = [answer for answer in answers if answer.status == 429]
        assert {answer.status for answer in answers} == {200, 429}, answers
        assert all(answer.json["code"] == 8 and answer.headers["retry-after"] and "too many tests" in answer.json["message"]
                   and "none" not in answer.json["message"] for answer in busy), busy
        server.stop()
        receiver.stop()


def stages_that_are_not_named_need_no_approval():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--require-approval-for", "ARCHIVED")
        client = server.client()
        version = client.version(client.model("m"), "v")
        for stage in ("STAGING", "PRODUCTION"):
            transition = client.stage("create", {"model_version_id": version, "desired_stage": stage})["id"]
            assert client.stage("commit", {"transition_id": transition})["activity_state"] == "COMMITTED"
        assert client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["status"] == "IN_PROGRESS"
        transition = client.stage("create", {"model_version_id": version, "desired_stage": "ARCHIVED"})["id"]
        refused = client.call("POST", "/api/v1/registry/stage/commitTransition", {"transition_id": transition})
        assert (refused.status, refused.json["code"]) == (400, 9) and "require_approval_for" in refused.json["message"], refused
        client.second_admin().stage("approve", {"transition_id": transition})
        assert client.stage("commit", {"transition_id": transition})["activity_state"] == "COMMITTED"
        server.stop()


def a_failing_receiver_is_tried_again_under_the_same_id():
    with herald.with_receiver(answer=lambda delivery: 500 if delivery.attempt == 1 else 200) as (_, client, receiver):
        client.webhook("w", receiver.url)
        client.promote(client.second_admin(), client.version(client.model("m"), "v"))
        herald.until(lambda: len(receiver.deliveries) == 2, 30, "a second attempt")
        first, second = receiver.deliveries
        assert first.id == second.id and (first.attempt, second.attempt) == (1, 2)
        assert second.time - first.time >= 4.9, "the first retry comes after 5 s"


def a_receiver_that_is_gone_is_disabled():
    with herald.with_receiver(answer=lambda _: 410) as (_, client, receiver):
        hook = client.webhook("w", receiver.url)
        approver, model = client.second_admin(), client.model("m")
        version = client.version(model, "v")
        client.promote(approver, version)

        def status():
            return client.must("POST", "/api/v1/uac-proxy/events/findWebhook", {"ids": [hook]})["webhooks"][0]
        herald.until(lambda: status()["status"] == "DISABLED", 20, "the webhook is disabled")
        assert "410" in status()["status_reason"] or "gone" in status()["status_reason"].lower(), status()
        assert status()["mutual_secret"] == "", "a secret is never shown again"
        client.promote(approver, client.version(model, "v2"))
        time.sleep(1)
        assert len(receiver.deliveries) == 1, "a disabled webhook must not be called"


def what_becomes_of_deliveries_is_seen_in_metrics_and_in_the_log():
    with herald.folder() as folder:
        server, release = herald.Standalone(folder), threading.Event()
        receivers = {"well": herald.Receiver(), "failing": herald.Receiver(lambda _: 500), "gone": herald.Receiver(lambda _: 410),
                     "hanging": herald.Receiver(lambda _: 200 if release.wait(14) else 500)}
        client = server.client()
        hooks = {name: client.webhook(name, receiver.url) for name, receiver in receivers.items()}
        client.promote(client.second_admin(), client.version(client.model("m"), "v"))

        def metric(line):
            text = client.call("GET", "/metrics").body.decode()
            return next((float(each.rpartition(" ")[2]) for each in text.splitlines() if each.startswith(line + " ")), 0)
        for line, least in (('herald_delivery_seconds_count{event="PROMOTE"}', 1), ('herald_attempt_seconds_count{result="succeeded"}', 1),
                            ('herald_waiting{stage="attempt"}', 1), ('herald_dead_total{reason="gone"}', 1),
                            ("herald_webhooks_disabled", 1), ("herald_waiting_oldest_seconds", 1),
                            ('herald_attempt_seconds_count{result="will_retry"}', 2), ('herald_consumer_lag{topic="retry.30s"}', 1),
                            ("herald_worker_retried_total", 2), ("herald_worker_deliveries_total", 4)):
            herald.until(lambda: metric(line) >= least, 20, f"{line} is at least {least}: {metric(line)}")
        release.set()
        server.stop()
        for receiver in receivers.values():
            receiver.stop()
        lines = [json.loads(line) for line in server.process.log_file.read_text().splitlines()]
        failed, dead, disabled = ([line for line in lines if line["event"] == event and line["webhook_name"] == name]
                                  for event, name in (("delivery_failed", "failing"), ("delivery_dead", "gone"), ("webhook_disabled", "gone")))
        assert [line["attempt"] for line in failed] == [1, 2], failed
        assert failed[0]["webhook_id"] == hooks["failing"] and (failed[0]["error"], failed[0]["status"]) == ("status", 500), failed
        assert failed[0]["next_attempt"] > failed[0]["time"], failed
        assert [(line["status"], line["next_attempt"]) for line in dead] == [(410, "")] and len(disabled) == 1, (dead, disabled)
        assert (disabled[0]["reason"], disabled[0]["failing_since"]) == ("the receiver answered 410 Gone", ""), disabled


def what_was_dropped_for_a_deleted_webhook_is_told_and_no_longer_pending():
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), herald.Receiver(lambda _: 500)
        client = server.client()
        hook = client.webhook("gone", receiver.url)
        version = client.version(client.model("m"), "v")
        client.promote(client.second_admin(), version)
        receiver.wait_for(1)
        client.must("DELETE", "/api/v1/uac-proxy/events/deleteWebhook", {"ids": [hook]})

        def deliveries():
            return client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["deliveries"]
        herald.until(lambda: deliveries()["pending"] == 0, 20, "nothing is pending any more")
        server.stop()
        receiver.stop()
        lines = [json.loads(line) for line in server.process.log_file.read_text().splitlines()]
        dropped = [line for line in lines if line["event"] == "delivery_skipped"]
        assert [line["webhook_id"] for line in dropped] == [hook] and "deleted" in dropped[0]["message"], dropped


def finding_and_reading_agree():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("a model")
        made = [client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                            {"id": "0", "version": f"v{number}", "labels": ["b", "a", f"l{number}"], "stage": 0, "lock_level": 1,
                             "attributes": [{"key": "k", "value": {"type": "verta.line.v1", "x": [1, 2.5, None]}}]})["model_version"]
                for number in range(12)]
        assert made[0]["labels"] == ["a", "b", "l0"] and "experiment_run_id" not in made[0]
        path = "/api/v1/registry/workspaces/default/registered_models/a%20model/model_versions"
        page = client.must("POST", f"{path}/find", {"pagination": {"page_number": 2, "page_limit": 10}, "ascending": True})
        assert page["total_records"] == "12" and page["model_versions"] == made[10:]
        assert client.must("GET", f"{path}/v3")["model_version"] == made[3]
        assert client.must("GET", f"/api/v1/registry/model_versions/{made[3]['id']}")["model_version"] == made[3]
        one = client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find",
                          {"predicates": [{"key": "version", "value": "v5", "value_type": 0, "operator": 0}]})
        assert one["model_versions"] == [made[5]]
        changed = client.must("PATCH", f"/api/v1/registry/registered_models/{model}/model_versions/{made[0]['id']}",
                              {"labels": ["c"]})["model_version"]
        assert changed["labels"] == ["a", "b", "c", "l0"] and changed["attributes"] == made[0]["attributes"]
        head = client.call("HEAD", f"/api/v1/registry/model_versions/{made[0]['id']}")
        assert head.status == 200 and head.body == b"" and int(head.headers["content-length"]) > 100
        server.stop()


def the_published_clients_bodies_are_taken_as_they_are():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        shared = {"visibility": 2, "resource_visibility": 2, "custom_permission": {"collaborator_type": 1, "can_deploy": 1}}
        unset = {"id": "0", "workspace_id": "", "owner": "", "owner_id": "0", "time_created": "0", "labels": [], "attributes": []}
        models = "/api/v1/registry/workspaces/default/registered_models"
        model = client.must("POST", models, {"name": "m", **unset, **shared})["registered_model"]
        permission = {"collaborator_type": "READ_WRITE", "can_deploy": "TRUE", "can_predict": "UNKNOWN"}
        assert (model["visibility"], model["custom_permission"]) == ("ORG_SCOPED_PUBLIC", permission), model
        assert model["resource_visibility"] == "ORG_CUSTOM" and model["owner"] == "1", model
        version, elsewhere = client.version(model["id"], "v"), client.version(client.model("other"), "v")
        by_model = f"/api/v1/registry/registered_models/{model['id']}/model_versions"
        assert client.must("GET", f"{by_model}/{version}")["model_version"]["id"] == version
        wrong = client.call("GET", f"{by_model}/{elsewhere}")
        assert (wrong.status, wrong.json["code"]) == (404, 5), wrong
        builds = "/api/v1/deployment/workspace/default/builds"
        for body, text in (({"run_id": "abc"}, "not found"), ({"model_version_id": 99}, "Couldn't find modelVersion")):
            refused = client.call("POST", builds, {**body, "external_location": "x"})
            assert (refused.status, refused.json["code"]) == (404, 5) and text in refused.json["message"], refused
        approver = client.second_admin()
        approver.must("POST", builds.replace("default", "second%40example.com"), {"model_version_id": int(version), "external_location": "x"})
        listed = f"/api/v1/deployment/builds?model_version_id={version}"
        assert (len(approver.must("GET", listed)["builds"]), client.must("GET", listed)["builds"]) == (1, [])
        silent = client.call("PUT", "/api/v1/uac-proxy/feature-flags/promote_events", {})
        assert (silent.status, silent.json["code"]) == (400, 3), silent
        server.stop()


def the_openapi_document_is_valid_and_leaves_nothing_untyped():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        document = server.client().must("GET", "/api/openapi.json")
        assert document["openapi"].startswith("3.1") and document["servers"]
        names = set(document["components"]["schemas"])
        for reference in json.dumps(document).split("#/components/schemas/")[1:]:
            assert reference.split('"')[0] in names, reference
        for name, schema in document["components"]["schemas"].items():
            assert schema.get("properties") or schema.get("type") != "object" or name in ("done", "nothing", "nothing_request"), name
        operations = {}
        for pattern, methods in document["paths"].items():
            for method, operation in methods.items():
                assert operations.setdefault(operation["operationId"], pattern) == pattern, operation["operationId"]
                assert operation["summary"], (method, pattern)
                for status, answer in operation["responses"].items():
                    assert (status == "304") != bool(answer.get("content") or "$ref" in answer), (method, pattern, status)
        for event, members in (("promote", {"id", "registered_model_id", "version", "time_created", "time_updated", "readme_text",
                                            "owner", "attributes", "stage", "lock_level", "version_number"}),
                               ("request_scan", {"id", "timestamp", "event_type", "resource_type", "workspaceID", "updated"})):
            body = document["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
            assert set(document["components"]["schemas"][body.split("/")[-1]]["required"]) == members, event
        try:
            import openapi_spec_validator
        except ImportError:
            print("openapi_spec_validator is not installed: the document was not held against the standard's schema")
        else:
            openapi_spec_validator.validate(document)
        server.stop()


def standalone_ends_cleanly_and_goes_on_where_it_was():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        version = client.version(client.model("m"), "v")
        client.close()
        assert server.stop() == 0
        server.start()
        assert server.client().must("GET", f"/api/v1/registry/model_versions/{version}")["model_version"]["version"] == "v"
        metrics = server.client().call("GET", "/metrics")
        assert metrics.status == 200 and b"herald_" in metrics.body
        for name in ("herald_append_seconds_count", "herald_outcomes_unknown_total", "herald_disk_free_bytes",
                     "herald_log_offset", "process_resident_memory_bytes"):
            assert herald.metric(server.port, name) is not None, name
        assert herald.metric(server.port, "herald_append_seconds_count") > 0
        assert oct((folder / "herald/key-ring").stat().st_mode)[-3:] == "600"
        assert server.stop() == 0


def the_level_can_be_asked_to_be_raised_while_standalone_is_stopped():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        running = subprocess.run([herald.BINARY, "raise-level", "--data", folder], capture_output=True, text=True, timeout=60)
        assert running.returncode != 0 and not running.stdout, running
        server.stop()
        raised = subprocess.run([herald.BINARY, "raise-level", "--data", folder], capture_output=True, text=True, timeout=60)
        assert raised.returncode == 0 and raised.stdout == "level 1\n", raised
        server.start()
        assert server.stop() == 0


def an_administrator_whose_key_was_lost_gets_a_new_one():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        server.stop()
        out = subprocess.run([herald.BINARY, "admin-key", "--data", folder], capture_output=True, text=True, timeout=60)
        assert out.returncode == 0, out.stderr
        server.start()
        key = dict(line.split() for line in out.stdout.splitlines())["key"]
        assert f"email {herald.ADMIN_EMAIL}\n" in out.stdout and "end when Herald starts again" in out.stderr, out
        assert not (folder / "herald/admin-key").exists(), "the operator gave the key: it is in no file"
        client, _ = herald.Client(server.port, herald.ADMIN_EMAIL, key).user("eve@example.com")
        assert client.must("GET", "/api/v1/uac-proxy/uac/getCurrentUser")
        server.stop()
        for email, why in (("nobody@example.com", "no user has"), ("eve@example.com", "is not a system administrator")):
            refused = subprocess.run([herald.BINARY, "admin-key", "--data", folder, "--admin-email", email],
                                     capture_output=True, text=True, timeout=60)
            assert refused.returncode == 1 and not refused.stdout, refused
            assert email in refused.stderr and why in refused.stderr, refused.stderr
        server.start()
        assert server.client().call("GET", "/api/v1/uac-proxy/uac/getCurrentUser").status == 401, "the old key is no longer valid"
        assert herald.Client(server.port, herald.ADMIN_EMAIL, key).must("GET", "/api/v1/uac-proxy/uac/getCurrentUser")
        server.stop()


def each_request_leaves_one_line_that_is_json():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        client.model("m")
        client.call("GET", "/api/v1/registry/registered_models/99?x=1", headers={"svc-request-id": "mine"})
        client.call("GET", "/nowhere")
        server.stop()
        lines = [json.loads(line) for line in server.process.log_file.read_text().splitlines() if line.startswith("{")]
        seen = [(line["method"], line["path"], line["status"]) for line in lines
                if line["event"] == "request" and line["path"] != "/readyz"]
        assert seen == [("POST", "/api/v1/registry/workspaces/default/registered_models", 200),
                        ("GET", "/api/v1/registry/registered_models/99", 404), ("GET", "/nowhere", 404)], seen
        one = next(line for line in lines if line.get("request_id") == "mine")
        assert one["bytes"] > 0 and one["duration_us"] >= 0 and one["remote"] == "127.0.0.1", one
        text = server.process.log_file.read_text()
        assert herald.ADMIN_KEY not in text, "the developer key stands in the log"


def run_until_serving(folder, *options, environment=None):
    """A standalone without HERALD_ADMIN_KEY, stopped as soon as it says that it serves: its lines, parsed."""
    said = folder / "said"
    with said.open("w") as out:
        process = subprocess.Popen([herald.BINARY, "standalone", "--data", folder, "--listen", f"127.0.0.1:{herald.free_port()}",
                                    *options], stdout=out, stderr=out, env={**os.environ, **(environment or {})})
    try:
        herald.until(lambda: '"event":"serving"' in said.read_text(), 30, "the node says that it serves")
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert process.returncode == 0, said.read_text()
    return [json.loads(line) for line in said.read_text().splitlines()]


def the_log_is_json_from_its_first_line_and_holds_no_key():
    with herald.folder() as folder:
        made = folder / "herald"
        made.mkdir(mode=0o755)
        (made / "admin-key").write_text("stale\n")
        lines = run_until_serving(folder)
        told = next(line for line in lines if line["event"] == "administrator_made")
        assert told["email"] == "admin@localhost" and told["key_file"] == str(made / "admin-key"), told
        key_file = made / "admin-key"
        key = dict(line.split() for line in key_file.read_text().splitlines())["key"]
        assert len(key) == 64 and key not in json.dumps(lines)
        assert oct(key_file.stat().st_mode)[-3:] == "600" and oct(made.stat().st_mode)[-3:] == "700"
        serving = next(line for line in lines if line["event"] == "serving")
        assert serving["webhook_addresses"] == "public,127.0.0.0/8,::1/128" and serving["webhook_http"] is True, serving
        renewed = subprocess.run([herald.BINARY, "admin-key", "--data", folder], capture_output=True, text=True, timeout=60)
        assert key_file.read_text() == renewed.stdout, "the file goes with the new key"


def what_webhooks_may_be_is_what_the_operator_said():
    with herald.folder() as folder:
        for options, environment, addresses, http in (
                (["--allow-addresses", "", "--allow-http=false"], {}, "public", False),
                (["--allow-addresses", "10.0.0.0/8"], {"HERALD_ALLOW_HTTP": "false"}, "public,10.0.0.0/8", False),
                ([], {"HERALD_ALLOW_ADDRESSES": ""}, "public", True)):
            serving = next(line for line in run_until_serving(folder, *options, environment=environment)
                           if line["event"] == "serving")
            assert (serving["webhook_addresses"], serving["webhook_http"]) == (addresses, http), serving


def a_name_that_is_nearly_right_is_told():
    with herald.folder() as folder:
        config = folder / "herald.toml"
        config.write_text('listn = "127.0.0.1:1"\n')
        for arguments, words in ((["aip"], ["aip", "api", "worker"]), (["woker"], ["did you mean worker?"]),
                                 (["api", "--kafak", "x:1"], ["--kafak", "did you mean --kafka?"]),
                                 (["standalone", "--config", config], ["listn", "did you mean listen?"]),
                                 (["standalone", "--listen", ":8080"], ["0.0.0.0:8080", "127.0.0.1:8080"]),
                                 (["standalone", "--listen", "example.org:80"], ["example.org", "not an IPv4 or IPv6 address"]),
                                 (["standalone", "--require-approval-for", "NOWHERE"], ["NOWHERE", "none"])):
            done = subprocess.run([herald.BINARY, *arguments], capture_output=True, text=True, cwd=folder, timeout=30)
            assert done.returncode == 2, done
            assert all(word in done.stderr for word in words), f"{arguments}: {done.stderr}"
        lines = run_until_serving(folder, "--require-approval-for", "none", environment={"HERALD_LISTN": "x", "HERALD_DATA": "y"})
        warned = [line for line in lines if line["event"] == "environment_unknown" and line["name"] != "HERALD_BINARY"]
        assert [(line["name"], line["nearest"]) for line in warned] == [("HERALD_LISTN", "HERALD_LISTEN")], warned
        version = subprocess.run([herald.BINARY, "--version"], capture_output=True, text=True)
        assert version.returncode == 0 and version.stdout.startswith("herald "), version


def wrong_use_is_exit_code_2():
    with herald.folder() as folder:
        for arguments in ([], ["fly"], ["api"], ["standalone", "--listen", "nowhere"], ["standalone", "--wings"],
                          ["standalone", "--allow-addresses", "10.0.0.0/99"], ["standalone", "--header-prefix", ","],
                          ["standalone", "--header-prefix", "a b"], ["standalone", "--webhook-concurrency", "257"], ["standalone", "--free-disk-mb", "18446744073709551615"], ["worker", "--kafka", "127.0.0.1:1"],
                          ["worker", "--kafka", "127.0.0.1:1", "--key-ring", "key-ring", "--worker-id", "a b"]):
            done = subprocess.run([herald.BINARY, *arguments], capture_output=True, text=True, cwd=folder, timeout=30)
            assert done.returncode == 2, f"{arguments}: {done.returncode} {done.stderr}"
            assert done.stderr.strip(), f"{arguments}: no word about what is wrong"
        short = subprocess.run([herald.BINARY, "standalone", "--data", folder, "--admin-key", "short"], capture_output=True, text=True)
        assert short.returncode == 2 and "16" in short.stderr, short


def one_place_has_the_version_and_everything_that_tells_it_agrees():
    place = (herald.ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"^project\(herald VERSION (\S+) ", place, re.MULTILINE)[1]
    said = subprocess.run([herald.BINARY, "version"], capture_output=True, text=True, check=True).stdout
    commit = re.fullmatch(rf"herald {re.escape(version)} \(([0-9a-f]{{12}}|unknown)\)\n", said)
    assert commit, said
    assert subprocess.run([herald.BINARY, "--version"], capture_output=True, text=True, check=True).stdout == said
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        assert server.client().must("GET", "/api/openapi.json")["info"]["version"] == version
        assert herald.metric(server.port, f'herald_build_info{{version="{version}",commit="{commit[1]}"}}') == 1
        assert f'"version":"{version}","commit":"{commit[1]}"' in server.process.log_file.read_text()
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
