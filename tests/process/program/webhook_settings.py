"""Property: what an owner sets of a webhook reaches the next delivery, on a real receiver (wire.md §7, delivery.md §2)."""

import base64
import json
import pathlib
import subprocess
import tempfile
import threading
import time

import herald

EVENTS = "/api/v1/uac-proxy/events"
OTHER = herald.SECRET[:-4] + "AAA="


def created(receiver, client, name):
    """The delivery of a model made now."""
    client.model(name)
    return herald.until(lambda: next((one for one in receiver.of_type("CREATE") if name in one.body.decode()), None), 30, f"{name} is told")


def update(client, hook, **settings):
    return client.must("POST", f"{EVENTS}/updateWebhook", {"id": hook, **settings})


def a_rotated_secret_signs_at_once_and_the_earlier_one_until_its_overlap_ends():
    with herald.with_receiver() as (_, client, receiver):
        hook = client.webhook("w", receiver.url, types=("CREATE",))
        rotate = lambda **how: client.must("POST", f"{EVENTS}/rotateSecret", {"webhook_id": hook, **how})
        answer = rotate(new_secret=OTHER)
        assert answer["mutual_secret"] == OTHER and answer["earlier_until"] > time.time() * 1000 + 23 * 3_600_000, answer
        first = created(receiver, client, "both")
        assert first.verified and herald.verify(first.headers, first.body, OTHER), "both sign"
        made = rotate(overlap_seconds=0)
        assert made["earlier_until"] == 0 and made["mutual_secret"] not in (OTHER, herald.SECRET), made
        second = created(receiver, client, "one")
        assert herald.verify(second.headers, second.body, made["mutual_secret"]), "the one that was made"
        assert not second.verified and not herald.verify(second.headers, second.body, OTHER), "a second rotation ends the first"
        third = rotate(new_secret=OTHER, overlap_seconds=3)
        herald.until(lambda: time.time() * 1000 > third["earlier_until"] + 5_000, 30, "the overlap and 5 s are over")
        last = created(receiver, client, "late")
        assert herald.verify(last.headers, last.body, OTHER) and not herald.verify(last.headers, last.body, made["mutual_secret"])
        weak = client.call("POST", f"{EVENTS}/rotateSecret", {"webhook_id": hook, "new_secret": "short"})
        assert weak.status == 200 and "new_secret is 5 bytes long" in weak.headers["svc-warning"], weak.headers
        for body, said in (({"webhook_id": hook, "overlap_seconds": 604_801}, "0 to 604800"), ({"webhook_id": hook, "new_secret": "whsec_AAAA"}, "24 to 64"),
                           ({}, "webhook_id is missing")):
            refused = client.call("POST", f"{EVENTS}/rotateSecret", body)
            assert refused.status == 400 and said in refused.json["message"], refused
        assert client.call("POST", f"{EVENTS}/rotateSecret", {"webhook_id": 99}).status == 404
        other, _ = client.user("u@example.com")
        assert other.call("POST", f"{EVENTS}/rotateSecret", {"webhook_id": hook}).status in (403, 404)
        repeated = [client.must("POST", f"{EVENTS}/rotateSecret", {"webhook_id": hook}, {"Idempotency-Key": "k"}) for _ in range(2)]
        assert repeated[0] == repeated[1], "a repeat shows the same secret"


def an_ed25519_signature_verifies_with_a_key_that_anybody_may_read():
    with herald.with_receiver() as (server, client, receiver):
        hook = client.webhook("w", receiver.url, types=("CREATE",))
        update(client, hook, asymmetric=True)
        delivery = created(receiver, client, "m")
        keys = herald.Client(server.port, key="wrong").must("GET", "/.well-known/jwks.json")["keys"]
        assert len(keys) == 1 and (keys[0]["kty"], keys[0]["crv"], keys[0]["alg"]) == ("OKP", "Ed25519", "EdDSA"), keys
        signatures = delivery.headers["webhook-signature"].split()
        assert delivery.verified and [one.split(",")[0] for one in signatures] == ["v1", "v1a"], signatures
        with tempfile.TemporaryDirectory() as folder:
            write = lambda name, data: (pathlib.Path(folder) / name).write_bytes(data)
            public = base64.urlsafe_b64decode(keys[0]["x"] + "=")
            write("key.der", bytes.fromhex("302a300506032b6570032100") + public)
            write("text", f"{delivery.id}.{delivery.headers['webhook-timestamp']}.".encode() + delivery.body)
            write("signature", base64.b64decode(signatures[1].split(",")[1]))
            done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key.der", "-rawin", "-in", "text",
                                   "-sigfile", "signature"], cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, done


def a_header_is_named_once_whatever_the_case_of_its_letters():
    with herald.with_receiver() as (_, client, receiver):
        body = {"name": "twice", "location": receiver.url, "event_types": ["CREATE"], "headers": {"X-A": "1", "x-a": "2"}}
        refused = client.call("POST", f"{EVENTS}/createWebhook", body)
        assert refused.status == 400 and "headers has x-a twice" in refused.body.decode(), refused


def headers_form_filter_and_expiry_reach_the_next_delivery():
    with herald.with_receiver() as (_, client, receiver):
        hook = client.must("POST", f"{EVENTS}/createWebhook", {
            "name": "w", "location": receiver.url, "event_types": ["CREATE"], "mutual_secret": herald.SECRET, "description": "to the desk",
            "headers": {"X-Key": "one", "authorization": "Bearer two"}, "content_mode": "structured", "retry_schedule": [5], "rate_limit": 50,
            "filter": [{"path": "updated.name", "operator": "CONTAIN", "value": "fraud"}]})
        assert hook["headers"] == {"x-key": "", "authorization": ""} and hook["description"] == "to the desk", hook
        client.model("weather")
        first = created(receiver, client, "fraud 1")
        assert first.verified and first.headers["x-key"] == "one" and first.headers["authorization"] == "Bearer two", first.headers
        event = json.loads(first.body)
        assert first.headers["content-type"] == "application/cloudevents+json", first.headers
        assert (event["specversion"], event["type"], event["id"], event["source"]) == \
            ("1.0", "herald.create", first.event, "/workspaces/1/registered_model"), event
        assert event["data"]["updated"]["name"] == "fraud 1", event
        changed = update(client, hook["id"], content_mode=None, filter=None, headers={"x-key": None, "x-new": "three"})
        assert changed["headers"] == {"authorization": "", "x-new": ""} and changed["filter"] == [] and changed["rate_limit"] == 50, changed
        second = created(receiver, client, "rain")
        assert "x-key" not in second.headers and second.headers["x-new"] == "three" and json.loads(second.body)["updated"]["name"] == "rain"
        assert not [one for one in receiver.of_type("CREATE") if "weather" in one.body.decode()], "it was filtered out"
        for body, said in (({"headers": {"host": "x"}}, "host"), ({"headers": {"x-a": "a\nb"}}, "headers.x-a"), ({"headers": []}, "an object"),
                           ({"timeout_ms": 5}, "1000 to 30000"), ({"retry_schedule": [1]}, "5 to 86400"), ({"content_mode": "odd"}, "binary structured"),
                           ({"filter": [{"path": "nothing", "value": 1}]}, "no event"), ({"filter": [{"path": "id", "operator": "LIKE", "value": 1}]}, "EQ"),
                           ({"time_expires": 1}, "a time to come"), ({"new_name": " "}, "new_name")):
            refused = client.call("POST", f"{EVENTS}/updateWebhook", {"id": hook["id"], **body})
            assert refused.status == 400 and said in refused.json["message"], f"{body}: {refused}"
        update(client, hook["id"], new_name="short-lived", time_expires=int(time.time() * 1000) + 1_500)
        found = lambda: client.must("POST", f"{EVENTS}/findWebhook", {"names": ["short-lived"]})["webhooks"]
        assert len(found()) == 1
        herald.until(lambda: not found(), 30, "it has expired")


def an_attempt_ends_after_the_webhooks_own_time():
    hanging = threading.Event()
    with herald.with_receiver(answer=lambda _: hanging.wait(60) and 200) as (_, client, receiver):
        hook = client.webhook("w", receiver.url)
        update(client, hook, timeout_ms=1_000)
        answer = client.call("POST", f"{EVENTS}/triggerTest", {"webhook_id": hook})
        assert answer.status == 400 and "not done within 1000 ms" in answer.json["message"], answer
        hanging.set()


def approvers_are_told_and_a_receiver_that_is_gone_is_announced():
    with herald.with_receiver(answer=lambda delivery: 410 if delivery.path == "/gone" else 200) as (_, client, receiver):
        client.webhook("chat", receiver.url + "/chat", types=("TRANSITION", "WEBHOOK_HEALTH"))
        approver = client.second_admin()
        version = client.version(client.model("fraud"), "v1")
        client.promote(approver, version)
        receiver.wait_for(3, "TRANSITION")
        in_order = sorted(receiver.of_type("TRANSITION"), key=lambda one: int(one.headers["svc-sequence"]))
        steps = [json.loads(one.body) for one in in_order]
        assert [one["action"] for one in steps] == ["requested", "approved", "committed"], steps
        assert steps[0]["model"]["name"] == "fraud" and steps[0]["version"] == {"id": int(version), "name": "v1"}, steps[0]
        assert steps[1]["by"]["email"] == "second@example.com" and steps[1]["requested_by"]["email"] == herald.ADMIN_EMAIL, steps[1]
        gone = client.webhook("gone", receiver.url + "/gone", types=("CREATE", "WEBHOOK_HEALTH"))
        client.model("another")
        receiver.wait_for(1, "WEBHOOK_HEALTH")
        told = receiver.of_type("WEBHOOK_HEALTH")
        assert [one.path for one in told] == ["/chat"], "never to itself"
        body = json.loads(told[0].body)
        assert body["webhook"] == {"id": gone, "name": "gone", "host": receiver.url.removeprefix("http://")}, body
        assert body["condition"] == "disabled" and "410" in body["reason"] and body["resource_type"] == "NONE", body
        for kind in ("TRANSITION", "WEBHOOK_HEALTH"):
            refused = client.call("POST", f"{EVENTS}/createEvent", {"event_uuid": "x", "event_type": kind, "resource_type": "ENDPOINT"})
            assert refused.status == 400, refused


if __name__ == "__main__":
    herald.run()
