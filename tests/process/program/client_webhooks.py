"""Property: webhooks are changed, switched and tested as wire.md §7 says, and what they hear follows at once."""

import json

import herald

EVENTS = "/api/v1/uac-proxy/events"


def a_changed_webhook_is_heard_at_its_new_place_with_its_new_secret():
    with herald.folder() as folder:
        server, old = herald.Standalone(folder), herald.Receiver()
        secret = herald.SECRET[:-4] + "AAA="
        new = herald.Receiver(secret=secret)
        client = server.client()
        hook = client.webhook("w", old.url, types=("CREATE",))
        client.model("first")
        old.wait_for(1, "CREATE")
        # What a client sends that sets only two things.
        changed = client.must("POST", f"{EVENTS}/updateWebhook",
                              {"id": str(hook), "new_location": new.url, "mutual_secret": secret, "add_event_types": [],
                               "delete_event_types": [], "set_all_events": False, "clear_all_events": False,
                               "add_resource_types": [], "delete_resource_types": []})
        assert changed["location"] == new.url and changed["event_types"] == ["CREATE"] and changed["mutual_secret"] == "", changed
        client.model("second")
        new.wait_for(1, "CREATE")
        assert len(old.of_type("CREATE")) == 1 and new.of_type("CREATE")[0].verified
        client.must("POST", f"{EVENTS}/updateWebhook", {"id": hook, "add_event_types": [2], "delete_event_types": [0],
                                                        "add_resource_types": [{"registry_service_resource_type": "REGISTERED_MODEL_VERSION"}]})
        found = lambda wanted: [one["id"] for one in client.must("POST", f"{EVENTS}/findWebhook", wanted)["webhooks"]]
        assert found({"resource_types": [{"registry_service_resource_type": "REGISTERED_MODEL_VERSION"}]}) == [hook]
        assert found({"resource_types": [{"registry_service_resource_type": "REGISTERED_MODEL"}]}) == []
        assert found({"ids": [hook], "names": ["w"], "workspace_id": [1]}) == [hook]
        for body, said in (({"id": hook, "delete_event_types": ["UPDATE"]}, "never hear"),
                           ({"id": hook, "set_all_events": True, "clear_all_events": True}, "give one"),
                           ({"id": hook, "new_location": "http://user:password@example.org/"}, "user name or password"),
                           ({"id": hook, "new_location": "https://example.org/#x"}, "fragment"),
                           ({"id": hook, "new_location": "https://bücher.example/"}, "IDNA"),
                           ({"id": hook, "mutual_secret": "whsec_AAAA"}, "24 to 64 bytes"),
                           ({}, "id is missing")):
            answer = client.call("POST", f"{EVENTS}/updateWebhook", body)
            assert answer.status == 400 and said in answer.json["message"], f"{body}: {answer}"
        assert client.call("POST", f"{EVENTS}/updateWebhook", {"id": 99}).status == 404
        server.stop()
        old.stop()
        new.stop()


def a_disabled_webhook_hears_nothing_until_it_is_enabled():
    with herald.with_receiver() as (_, client, receiver):
        hook = client.webhook("w", receiver.url, types=("CREATE",))
        set_to = lambda status: client.must("POST", f"{EVENTS}/setWebhookStatus", {"webhook_id": hook, "status": status})
        disabled = set_to("DISABLED")
        assert disabled["status"] == "DISABLED" and disabled["status_reason"] == "disabled by user 1", disabled
        client.model("held")
        enabled = set_to("ENABLED")
        assert enabled["status"] == "ENABLED" and "status_reason" not in enabled, enabled
        client.model("heard")
        receiver.wait_for(1, "CREATE")
        bodies = [json.loads(one.body)["updated"]["name"] for one in receiver.of_type("CREATE")]
        assert bodies == ["heard"], bodies
        assert client.call("POST", f"{EVENTS}/setWebhookStatus", {"webhook_id": hook}).status == 400


def an_event_of_another_system_is_delivered_once():
    with herald.with_receiver() as (_, client, receiver):
        client.webhook("w", receiver.url, types=("UPDATE",))
        event = {"event_uuid": "7f1a6b5e-3c7e-4b52-9d0e-2f7a3c1d9e55", "event_type": 2, "workspace_id": "1",
                 "timestamp": "1600000000000", "resource_type": {"deployment_service_resource_type": "ENDPOINT"},
                 "original_entity": {"id": 7, "path": "/a"}, "new_entity": {"id": 7, "path": "/b"}}
        first = client.must("POST", f"{EVENTS}/createEvent", event)
        assert client.must("POST", f"{EVENTS}/createEvent", {**event, "new_entity": {}}) == first
        receiver.wait_for(1, "UPDATE")
        body = json.loads(receiver.of_type("UPDATE")[0].body)
        assert body == {"id": first["event_id"], "timestamp": "2020-09-13T12:26:40.000Z", "event_type": "UPDATE",
                        "resource_type": "ENDPOINT", "workspaceID": 1, "original": {"id": 7, "path": "/a"},
                        "updated": {"id": 7, "path": "/b"}}, body
        for kind in ("PROMOTE", "REQUEST_SCAN"):
            assert client.call("POST", f"{EVENTS}/createEvent", {**event, "event_type": kind}).status == 400
        other, _ = client.user("u@example.com")
        assert other.call("POST", f"{EVENTS}/createEvent", event).status == 403
        assert len(receiver.of_type("UPDATE")) == 1


if __name__ == "__main__":
    herald.run()
