"""Property: what is asked of endpoints is refused for what is wrong in it, with the bounds that README names, and not before it is
known that the caller may ask; their list comes in pages."""

import urllib.parse

import herald
import serving

ENDPOINTS = f"{serving.DEPLOYMENT}/endpoints"


def _refused(answer, status, text):
    assert answer.status == status and text in answer.json["message"], (text, answer)


def long_requests_are_taken_up_to_the_bounds_of_readme():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        made = client.must("POST", ENDPOINTS, {"path": "/long", "description": "d" * 65_536})
        assert len(made["creator_request"]["description"]) == 65_536
        assert client.must("GET", ENDPOINTS)["endpoints"] == [made]
        _refused(client.call("POST", ENDPOINTS, {"path": "/longer", "description": "d" * 65_537}), 400,
                 "description is 65537 bytes long; it must be at most 65536 bytes")
        _refused(client.call("POST", ENDPOINTS, {"path": "/longer", "more": "m" * 200_000}), 400, "it must be at most 196608 bytes")
        stage = serving.Stage(client, "/updated")
        build = serving.built(client, client.version(client.model("m"), "v"), external_location="i", upstream_url="http://127.0.0.1:1/")
        env = [{"name": f"NAME_{number}", "value": "v" * 1_000} for number in range(150)]
        stage.begin_update(build["id"], env=env)
        assert client.must("GET", f"{stage.place}/status")["update_request"]["env"] == env
        _refused(client.call("PUT", f"{stage.place}/update", {"build_id": build["id"], "strategy": "rollout", "env": env * 2}), 400,
                 "it must be at most 196608 bytes")
        assert server.stop() == 0


def a_missing_choice_is_answered_with_all_choices():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, "/e")
        _refused(client.call("PUT", f"{stage.place}/update", {"build_id": 1}), 400, "strategy is missing; it must be one of rollout canary")
        _refused(client.call("POST", "/api/v1/uac-proxy/events/setWebhookStatus", {"webhook_id": 1}), 400,
                 "status is missing; it must be one of ENABLED DISABLED")
        assert server.stop() == 0


def rules_of_a_canary_that_contradict_each_other_are_refused():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, "/e")
        build = serving.built(client, client.version(client.model("m"), "v"), external_location="i", upstream_url="http://127.0.0.1:1/")

        def rule(kind, *thresholds):
            return {"rule_id": kind, "rule_parameters": [{"name": "threshold", "value": each} for each in thresholds]}

        def update(*rules):
            plan = {"progress_interval_seconds": 60, "progress_step": 0.5, "rules": list(rules)}
            return client.call("PUT", f"{stage.place}/update", {"build_id": build["id"], "strategy": "canary", "canary_strategy": plan})
        _refused(update(rule(1007, "0.1", "0.9")), 400, "rule 1007 has more than one parameter named threshold")
        _refused(update(rule(1007, "0.1"), rule(1008, "0.1"), rule(1007, "0.9")), 400, "canary_strategy.rules has rule 1007 twice")
        assert update(rule(1007, "0.1"), rule(1008, "0.9")).status == 200
        assert server.stop() == 0


def values_are_judged_behind_what_is_there_and_who_may():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stranger, _ = client.user("stranger@example.com")
        stage = serving.Stage(client, "/e")
        nowhere = f"{stage.stages}/4711/accesstokens"
        for body, text in (({"value": "a b"}, "no header can carry"), ({"expires": "soon"}, "it must be a time such as"),
                           ({"expires": "2020-01-31T00:00:00Z"}, "expires is 2020-01-31T00:00:00.000Z, and it is 2")):
            _refused(client.call("POST", f"{stage.place}/accesstokens", body), 400, text)
            _refused(client.call("POST", nowhere, body), 404, "4711")
            assert stranger.call("POST", f"{stage.place}/accesstokens", body).status in (403, 404)
        key = {"Idempotency-Key": "one"}
        made = client.call("POST", f"{stage.place}/accesstokens", {"value": "good"}, key)
        assert made.status == 200, made
        assert client.call("POST", f"{stage.place}/accesstokens", {"value": "a b"}, key).status == 409, "another body under the same key"
        build = serving.built(client, client.version(client.model("m"), "v"), external_location="i")["id"]
        scan = {"scan_external": False}
        _refused(client.call("POST", f"{serving.DEPLOYMENT}/builds/{build}/scan", scan), 400, "scan_external is false")
        _refused(client.call("POST", f"{serving.DEPLOYMENT}/builds/4711/scan", scan), 404, "4711")
        _refused(client.call("POST", "/api/v1/registry/model_versions/4711/requestScan", scan), 404, "4711")
        assert stranger.call("POST", f"{serving.DEPLOYMENT}/builds/{build}/scan", scan).status in (403, 404)
        assert server.stop() == 0


def endpoints_are_listed_in_pages():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        made = sorted(client.must("POST", ENDPOINTS, {"path": f"/{number}"})["id"] for number in range(7))

        def listed(**query):
            answer = client.must("GET", f"{ENDPOINTS}?{urllib.parse.urlencode(query)}")
            assert answer["total_records"] == 7, answer
            return [each["id"] for each in answer["endpoints"]], answer["next_page_token"]
        assert listed() == listed(page_limit=-1) == listed(page_limit=7) == (made, "")
        for limit in (1, 3, 6):
            pages, token = [], None
            while token != "":
                rows, token = listed(page_limit=limit, **({"page_token": token} if token else {}))
                pages.append(rows)
            assert sum(pages, []) == made and all(len(each) == limit for each in pages[:-1]), (limit, pages)
            for number, rows in enumerate(pages, 1):
                assert listed(page_limit=limit, page_number=number)[0] == rows, (limit, number)
        assert listed(page_limit=3, page_number=4) == ([], "")
        _refused(client.call("GET", f"{ENDPOINTS}?page_limit=1001"), 400, "at most 1000")
        _refused(client.call("GET", f"{ENDPOINTS}?page_token=x"), 400, "page_token is not a next_page_token")
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
