"""Property: people find out why a delivery failed and send it again; a replay brings a webhook what it missed, at least once, and
counts it rightly, also after kill -9 of the node that runs it; readers see no header, body, address or webhook of others."""

import json
import threading
import urllib.parse

import herald

EVENTS = "/api/v1/uac-proxy/events"


def hook(client, name, receiver, types=("CREATE",)):
    return client.must("POST", f"{EVENTS}/createWebhook",
                       {"name": name, "location": f"{receiver.url}/{name}", "event_types": list(types)})["id"]


def listed(client, **query):
    return client.must("GET", f"{EVENTS}/deliveries?" + urllib.parse.urlencode(query))


def state_of(client, identity):
    return client.must("GET", f"{EVENTS}/deliveries/{identity}")["state"]


def someone_sees_why_a_delivery_failed_and_sends_it_again():
    says = {"status": (404, {"webhook-delivery": "abort-message"})}  # given up at once
    with herald.with_receiver(answer=lambda delivery: says["status"]) as (_, client, receiver):
        webhook = hook(client, "w", receiver)
        model = client.must("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "m"},
                            {"svc-request-id": "request-7"})["registered_model"]["id"]
        failed = herald.until(lambda: listed(client, webhook_id=webhook, status="4xx")["deliveries"], 30, "a failure is listed")[0]
        assert (failed["state"], failed["attempts"], failed["resource"], failed["subject"]["model"]) == \
            ("dead", 1, f"model/{model}", "m"), failed
        assert failed["webhook"] == {"id": webhook, "name": "w", "host": receiver.url[len("http://"):]}, failed
        whole = client.must("GET", f"{EVENTS}/deliveries/{failed['id']}")
        assert whole["sentence"].startswith("The receiver has nothing that takes a POST at this path (404)."), whole
        assert "Check the location" in whole["advice"], whole
        attempt = whole["attempts"][0]
        assert (attempt["number"], attempt["status"], attempt["result"]) == (1, 404, "dead"), attempt
        assert f"webhook-id: {failed['id']}" in attempt["request_headers"].lower() and "127.0.0.1" in attempt["address"], attempt
        assert whole["schedule"] == [], whole
        event = client.must("GET", f"{EVENTS}/deliveries/event?event_id={failed['event_id']}")
        assert event["body"].encode() == receiver.deliveries[0].body and event["cause"]["who"] == herald.ADMIN_EMAIL, event
        assert event["cause"]["request_id"] == "request-7", event
        assert event["audience"][0]["state"] == "dead" and event["audience"][0]["delivery_id"] == failed["id"], event
        says["status"] = 200
        again = client.must("POST", f"{EVENTS}/deliveries/retry", {"ids": [failed["id"]]})
        assert again == {"call_id": failed["id"], "attempts_made": 1}, again
        herald.until(lambda: state_of(client, failed["id"]) == "delivered", 30, "it is delivered")
        assert [one.attempt for one in receiver.deliveries] == [1, 2] and len({one.id for one in receiver.deliveries}) == 1
        # What was delivered is sent again, too, under its id.
        assert client.must("POST", f"{EVENTS}/retriggerWebhookCall", {"call_id": failed["id"]}) == {"call_id": failed["id"]}
        herald.until(lambda: len(receiver.deliveries) == 3, 30, "it comes once more")
        assert receiver.deliveries[2].attempt == 3
        herald.until(lambda: len(client.must("GET", f"{EVENTS}/deliveries/{failed['id']}")["attempts"]) == 3, 30, "three attempts")
        call = client.must("POST", f"{EVENTS}/findWebhookCall", {"ids": [failed["id"]]})["webhook_calls"][0]
        assert (call["status"], len(call["attempts"])) == ("SUCCESS", 3), call
        health = client.must("GET", f"{EVENTS}/webhookHealth")["webhooks"][0]
        assert [one["status"] for one in health["recent"]] == [200, 200, 404] and health["waiting"] == 0, health


def someone_mends_a_receiver_that_failed_and_sends_what_it_missed():
    says = {"status": 500}
    with herald.with_receiver(answer=lambda _: says["status"]) as (_, client, receiver):
        webhook = hook(client, "w", receiver)
        client.must("POST", f"{EVENTS}/updateWebhook", {"id": webhook, "retry_schedule": [86_400]})
        models = [client.model(f"m{number}") for number in range(3)]
        failing = herald.until(lambda: len(found := listed(client, state="waiting", status="5xx", error="status")["deliveries"]) == 3 and found,
                               30, "three failures are listed")
        assert {one["resource"] for one in failing} == {f"model/{model}" for model in models}, failing
        assert all(one["last"]["status"] == 500 and one["next_attempt"]["because"] == "answered 500" for one in failing), failing
        whole = client.must("GET", f"{EVENTS}/deliveries/{failing[0]['id']}")
        assert whole["sentence"] == "The receiver failed (500). It will be sent again.", whole
        assert "own log" in whole["advice"] and whole["attempts"][0]["message"] == "answered 500", whole
        says["status"] = 200
        assert client.must("POST", f"{EVENTS}/deliveries/retry", {"ids": [failing[0]["id"]]})["attempts_made"] == 1
        herald.until(lambda: state_of(client, failing[0]["id"]) == "delivered", 30, "the resend has arrived")
        assert client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook, "dry_run": True})["count"] == 2
        replay = client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook})["replay"]
        done = herald.until(lambda: (one := client.must("GET", f"{EVENTS}/replays/{replay['id']}")["replay"])["state"] == "DONE" and one,
                            60, "the replay is done")
        assert (done["total"], done["sent"], done["delivered"], done["failed"]) == (2, 2, 2, 0), done
        assert listed(client, state="delivered")["total_records"] == 3
        assert client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook, "dry_run": True})["count"] == 0
        assert sorted(one.attempt for one in receiver.deliveries) == [1, 1, 1, 2, 2, 2]


def what_failed_says_when_it_is_sent_again():
    with herald.with_receiver(answer=lambda _: 503) as (_, client, receiver):
        hook(client, "w", receiver)
        client.model("m")
        failed = herald.until(lambda: listed(client, state="waiting", status="5xx")["deliveries"], 30, "it failed")[0]
        whole = client.must("GET", f"{EVENTS}/deliveries/{failed['id']}")
        numbers = [one["number"] for one in whole["schedule"]]
        assert numbers == list(range(len(whole["attempts"]) + 1, 12)), whole
        assert whole["next_attempt"]["time"] == whole["schedule"][0]["time"] and "sent again" in whole["sentence"], whole


def a_delivery_is_listed_as_waiting_before_its_first_attempt_ends():
    answered = threading.Event()
    with herald.with_receiver(answer=lambda _: answered.wait(20) and 200) as (_, client, receiver):
        hook(client, "slow", receiver)
        client.model("m")
        one = herald.until(lambda: listed(client, state="waiting", histogram=4)["deliveries"], 4, "it is listed")[0]
        assert one["attempts"] == 0 and "last" not in one, one
        assert sum(step["waiting"] for step in listed(client, histogram=4)["histogram"]) == 1
        answered.set()


def readers_see_what_became_of_it_but_nothing_of_the_webhook_or_of_what_is_gone():
    with herald.with_receiver(answer=lambda _: 500) as (_, client, receiver):
        hook(client, "w", receiver)
        reader, identity = client.user("reader@example.com")
        groups = client.must("GET", "/api/v2/uac-proxy/organization/1/groups")["groups"]
        roles = client.must("GET", "/api/v2/uac-proxy/organization/1/roles")["roles"]
        role = next(one["id"] for one in roles if one["name"] == "Read Only")
        everybody = next(one["id"] for one in groups if one["name"] == "All Users")
        space = client.must("GET", "/api/v1/uac-proxy/workspace/getWorkspaceByName?name=default")["id"]
        query = {"workspace_id": space}
        kept, gone = client.model("kept"), client.model("gone")
        herald.until(lambda: listed(client, status=500)["total_records"] == 2, 30, "both failed")
        assert reader.call("GET", f"{EVENTS}/deliveries?workspace_id={space}").status in (404, 200)
        client.must("POST", f"/api/v2/uac-proxy/organization/1/workspaces/{space}/permissions", {"group_id": everybody, "role_id": role})
        assert listed(reader, **query)["total_records"] == 2
        client.must("DELETE", f"/api/v1/registry/registered_models/{gone}")
        seen = listed(reader, histogram=2, **query)
        assert [one["resource"] for one in seen["deliveries"]] == [f"model/{kept}"] and seen["total_records"] == 1, seen
        assert sum(step["waiting"] for step in seen["histogram"]) == 1, seen
        identity = seen["deliveries"][0]["id"]
        whole = reader.must("GET", f"{EVENTS}/deliveries/{identity}")
        for secret in ("message", "address", "request_headers", "response_headers", "response_body"):
            assert secret not in whole["attempts"][0], whole
        event = reader.must("GET", f"{EVENTS}/deliveries/event?event_id={whole['event_id']}")
        assert "body" not in event, event
        hidden = next(one for one in listed(client)["deliveries"] if one["resource"] == f"model/{gone}")
        assert reader.call("GET", f"{EVENTS}/deliveries/{hidden['id']}").status == 404
        for path, body, status in ((f"{EVENTS}/deliveries/retry", {"ids": [identity]}, 403),
                                   (f"{EVENTS}/deliveries/retry", {"ids": [hidden["id"]]}, 404),
                                   (f"{EVENTS}/deliveries/retry", {"filter": {"state": "dead"}, "workspace_id": space}, 403),
                                   (f"{EVENTS}/replays", {"webhook_id": 1}, 403)):
            answer = reader.call("POST", path, body)
            assert answer.status == status, (path, body, answer)
        assert reader.call("GET", f"{EVENTS}/webhookHealth?workspace_id={space}").status == 403


def a_replay_brings_what_a_disabled_webhook_missed_and_counts_it_rightly_after_kill_9():
    count = 1_200
    with herald.folder() as path:
        server, receiver = herald.Standalone(path), herald.Receiver()
        client = server.client()
        webhook = hook(client, "w", receiver)
        client.must("POST", f"{EVENTS}/setWebhookStatus", {"webhook_id": webhook, "status": "DISABLED"})
        for number in range(count):
            client.model(f"m{number}")
        herald.until(lambda: listed(client, state="held")["total_records"] == count, 60, "all are held")
        refused = client.call("POST", f"{EVENTS}/replays", {"webhook_id": webhook})
        assert refused.status == 400 and "disabled" in refused.json["message"], refused
        client.must("POST", f"{EVENTS}/setWebhookStatus", {"webhook_id": webhook, "status": "ENABLED"})
        trial = client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook, "dry_run": True})
        assert trial["count"] == count and trial["by_webhook"][0]["count"] == count, trial
        begun = client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook})["replay"]
        place = f"{EVENTS}/replays/{begun['id']}"
        for heard in (count // 4, count // 2):
            herald.until(lambda: len(receiver.deliveries) >= heard, 60, f"{heard} have come")
            server.process.kill()
            server.start()
            client = server.client()
        done = herald.until(lambda: (one := client.must("GET", place)["replay"])["state"] == "DONE" and one, 120, "it is done")
        assert (done["total"], done["sent"], done["delivered"], done["failed"]) == (count, count, count, 0), done
        assert len({one.event for one in receiver.deliveries}) == count
        assert listed(client, state="delivered")["total_records"] == count
        assert client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook, "dry_run": True})["count"] == 0
        assert client.must("GET", f"{EVENTS}/replays")["replays"][0]["id"] == begun["id"]
        assert server.stop() == 0
        receiver.stop()


def a_replay_is_paused_resumed_and_cancelled_and_dead_ones_are_sent_by_a_filter():
    says = {"status": 410}
    with herald.with_receiver(answer=lambda delivery: says["status"]) as (_, client, receiver):
        webhook = hook(client, "w", receiver)
        client.model("first")
        herald.until(lambda: listed(client, state="dead")["total_records"] == 1, 30, "410 ends it")
        group = client.must("GET", f"{EVENTS}/deliveries/dead")["groups"][0]
        assert (group["status"], group["count"], group["webhook"]["id"]) == (410, 1, webhook), group
        herald.until(lambda: client.must("POST", f"{EVENTS}/findWebhook", {})["webhooks"][0]["status"] == "DISABLED", 30, "it is disabled")
        says["status"] = 200
        client.must("POST", f"{EVENTS}/setWebhookStatus", {"webhook_id": webhook, "status": "ENABLED"})
        asked = {"filter": {"state": "dead", "webhook_id": webhook}}
        assert client.must("POST", f"{EVENTS}/deliveries/retry", {**asked, "dry_run": True})["count"] == 1
        replay = client.must("POST", f"{EVENTS}/deliveries/retry", asked)["replay"]
        herald.until(lambda: client.must("GET", f"{EVENTS}/replays/{replay['id']}")["replay"]["state"] == "DONE", 60, "it is done")
        assert listed(client, state="delivered")["total_records"] == 1
        for verb, state in (("pause", 400), ("cancel", 400)):
            assert client.call("POST", f"{EVENTS}/replays/{replay['id']}/{verb}", {}).status == state
        other = client.must("POST", f"{EVENTS}/replays", {"webhook_id": webhook, "only_undelivered": False})["replay"]
        place = f"{EVENTS}/replays/{other['id']}"
        if client.call("POST", f"{place}/pause", {}).status == 200:  # unless it is done already
            assert client.must("GET", place)["replay"]["state"] == "PAUSED"
            client.must("POST", f"{place}/resume", {})
            herald.until(lambda: client.must("GET", place)["replay"]["state"] == "DONE", 60, "it goes on")


def questions_that_make_no_sense_are_refused_and_say_what_would():
    with herald.with_receiver() as (_, client, receiver):
        hook(client, "w", receiver)
        for query, text in (("state=lost", "waiting, delivered, dead, held, skipped"), ("status=9", "4xx"), ("resource=7", "version/ID"),
                            ("error=bad", "timeout"), ("since=yesterday", "2026-01-31T09:30:00.000Z"), ("page_limit=2000", "1000"),
                            ("histogram=97", "96"), ("page_token=x", "next_page_token"), ("webhook_id=w", "id of a webhook"),
                            ("event_type=DANCE", "PROMOTE"), ("since=5&until=5", "before")):
            answer = client.call("GET", f"{EVENTS}/deliveries?{query}")
            assert answer.status == 400 and text in answer.json["message"], (query, answer)
        token = client.call("POST", f"{EVENTS}/findWebhookCall", {"pagination": {"page_token": "x"}})
        assert token.status == 400 and "next_page_token" in token.json["message"], token
        for path in ("deliveries/none", "replays/7", "deliveries/event?event_id=none"):
            assert client.call("GET", f"{EVENTS}/{path}").status == 404, path
        for body in ({}, {"ids": ["a"], "filter": {}}, {"ids": ["a"] * 101}):
            assert client.call("POST", f"{EVENTS}/deliveries/retry", body).status == 400, body
        assert client.call("POST", f"{EVENTS}/replays", {"webhook_id": 1, "event_types": ["READ"]}).status == 400
        assert json.loads(client.call("GET", f"{EVENTS}/deliveries?workspace_id=99").body)["code"] == 5


if __name__ == "__main__":
    herald.run()
