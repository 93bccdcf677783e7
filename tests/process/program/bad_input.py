"""Property: whatever strangers send, every route answers with the documented error, changes nothing, and stays healthy."""

import json
import re

import herald


class World:
    """A server with something in it, and the list of its routes."""

    def __init__(self, folder):
        self.server = herald.Standalone(folder)
        self.client = self.server.client()
        self.model = self.client.model("m")
        self.version = self.client.version(self.model, "v")
        document = self.client.must("GET", "/api/openapi.json")
        self.routes = [(method.upper(), pattern, "requestBody" in operation)
                       for pattern, operations in document["paths"].items() for method, operation in operations.items()]
        assert len(self.routes) > 40, self.routes
        self.before = self.contents()

    def contents(self):
        found = self.client.must("POST", "/api/v1/registry/model_versions/find", {})
        models = self.client.must("POST", "/api/v1/registry/registered_models/find", {})
        hooks = self.client.must("POST", "/api/v1/uac-proxy/events/findWebhook", {})
        flags = self.client.must("GET", "/api/v1/uac-proxy/feature-flags")
        return found, models, hooks, flags

    def end(self):
        assert self.contents() == self.before, "a refused request changed something"
        assert herald.readiness(self.server.port)
        assert self.server.stop() == 0


def with_ids(pattern, identity="1"):
    named = {"workspace": "default", "model": "m", "name": "promote_events"}
    if "/workspaces/" not in pattern and "/workspace/" not in pattern:
        named["model"] = identity
    if "{model}/model_versions/{version}" in pattern:
        named["version"] = "v"
    return re.sub(r"\{(\w+)\}", lambda found: named.get(found.group(1), identity), pattern)


def check_error(answer, status, code, where):
    assert answer.status == status, f"{where}: {answer}, expected {status}"
    body = answer.json
    assert set(body) == {"error", "code", "message", "details"}, f"{where}: {body}"
    assert body["code"] == code and body["error"] == body["message"] and body["message"], f"{where}: {body}"
    assert answer.headers["content-type"].startswith("application/json")
    assert "svc-request-id" in answer.headers
    return body["message"]


def every_route_refuses_callers_without_credentials():
    with herald.folder() as folder:
        world = World(folder)
        port = world.server.port
        for headers in ({}, {"Grpc-Metadata-email": herald.ADMIN_EMAIL},
                        {"Grpc-Metadata-email": herald.ADMIN_EMAIL, "Grpc-Metadata-developer_key": "wrong"},
                        {"Grpc-Metadata-email": "nobody@example.com", "Grpc-Metadata-developer_key": herald.ADMIN_KEY},
                        {"Grpc-Metadata-email": "\xff" * 300, "Grpc-Metadata-developer_key": "\xff"}):
            stranger = herald.Client(port)
            stranger.headers = headers
            for method, pattern, _ in world.routes:
                answer = stranger.call(method, with_ids(pattern), {} if method != "GET" else None)
                check_error(answer, 401, 16, f"{method} {pattern}")
        world.end()


def every_route_refuses_bodies_that_are_not_json_objects():
    with herald.folder() as folder:
        world = World(folder)
        for method, pattern, has_body in world.routes:
            if not has_body:
                continue
            for raw in (b"{", b"[]", b"null", b"\"x\"", b"17", b"{\"a\":\xff}", b"\x00", b"{\"a\":1}{", b"[" * 5000, b"\xef\xbb\xbf{}x"):
                answer = world.client.call(method, with_ids(pattern), raw=raw)
                check_error(answer, 400, 3, f"{method} {pattern} {raw[:20]}")
        world.end()


def every_route_with_an_id_says_not_found_for_ids_that_are_not():
    with herald.folder() as folder:
        world = World(folder)
        for method, pattern, _ in world.routes:
            ids = [name for name in re.findall(r"\{(\w+)\}", pattern) if name != "name"]
            if not ids:
                continue
            for bad in ("999999", "0", "-1", "x", "18446744073709551616", "1e3", "%20", "%00", "a" * 1500):
                path = re.sub(r"\{(\w+)\}", lambda found: bad if found.group(1) == ids[-1] else "default"
                              if found.group(1) == "workspace" else "m" if found.group(1) == "model" else "1", pattern)
                answer = world.client.call(method, path, {} if method != "GET" else None)
                # A body that lacks what it must have may be noticed first; a find in a known place may find nothing.
                assert answer.status in (400, 404) or answer.json.get("total_records") == "0", f"{method} {path}: {answer}"
                if answer.status != 200:
                    assert answer.json["message"]
            answer = world.client.call(method, re.sub(r"\{\w+\}", "%ff", pattern), {} if method != "GET" else None)
            check_error(answer, 400, 3, f"{method} {pattern} with bytes that are no UTF-8")
        world.end()


def every_route_refuses_other_methods_and_too_much():
    with herald.folder() as folder:
        world = World(folder)
        known = {}
        for method, pattern, _ in world.routes:
            known.setdefault(pattern, set()).add(method)
        for pattern, methods in known.items():
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - methods:
                answer = world.client.call(method, with_ids(pattern), {} if method != "GET" else None)
                # A more general pattern may answer another method of a path that this one answers.
                assert answer.status in (405, 404, 400, 200), f"{method} {pattern}: {answer}"
                if answer.status == 405:
                    check_error(answer, 405, 12, f"{method} {pattern}")
                    assert answer.headers["allow"]
        check_error(world.client.call("GET", "/nothing/here"), 404, 5, "an unknown path")
        check_error(world.client.call("GET", "/api/v1/" + "x" * 3000), 414, 8, "a long target")
        check_error(world.client.call("GET", "/healthz", headers={"x": "y" * 9000}), 431, 8, "a long header")
        big = json.dumps({"name": "big", "description": "x" * 2_000_000}).encode()
        check_error(world.client.call("POST", "/api/v1/registry/workspaces/default/registered_models", raw=big), 413, 8, "a large body")
        fat = {"name": "fat", "description": "x" * 70_000}
        check_error(world.client.call("POST", "/api/v1/registry/workspaces/default/registered_models", fat), 400, 3, "a long description")
        world.end()


def members_of_wrong_types_are_named():
    with herald.folder() as folder:
        world = World(folder)
        cases = [
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": 7}, "name is 7"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": ""}, "name is empty"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "a\x00b"}, "control character"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x" * 257}, "257 bytes"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x", "labels": "y"}, "labels is"),
            ("POST", "/api/v1/registry/registered_models/find", {"ids": ["1"] * 10_001}, "10001 elements"),
            ("POST", f"/api/v1/registry/registered_models/{world.model}/model_versions", {"version": "w", "lock_level": 9}, "lock_level is 9"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": world.version, "desired_stage": "LIVE"}, "one of UNKNOWN"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": world.version}, "desired_stage is UNKNOWN"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": "one"}, "model_version_id is"),
            ("POST", "/api/v1/uac-proxy/uac/createUser", {}, "info is missing"),
            ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "nobody"}}, "name@example.org"),
            ("POST", "/api/v1/deployment/workspace/default/builds", {}, "model_version_id is missing"),
            ("POST", "/api/v1/registry/registered_models/find", {"predicates": [{"key": "colour"}]}, "colour"),
            ("POST", "/api/v1/registry/registered_models/find", {"pagination": {"page_limit": 5000}}, "page_limit is 5000"),
            ("POST", "/api/v1/uac-proxy/events/createWebhook",
             {"name": "w", "location": "https://example.com", "event_types": ["EXPLODE"]}, "event_types[0] is"),
            ("POST", "/api/v1/uac-proxy/events/createWebhook",
             {"name": "w", "location": "https://example.com", "resource_types": [{}]}, "exactly one of"),
            ("GET", "/api/v1/deployment/builds?model_version_id=x", None, "must be a number"),
        ]
        for method, path, body, text in cases:
            message = check_error(world.client.call(method, path, body), 400, 3, f"{method} {path} {body}")
            assert text in message, f"{path} {body}: \"{message}\" does not say \"{text}\""
        repeated = world.client.call("POST", "/api/v1/registry/registered_models/find", {}, {"Idempotency-Key": "ü"})
        assert repeated.status == 200, "a read has no use for a key"
        check_error(world.client.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "k"},
                                      {"Idempotency-Key": "k" * 129}), 400, 3, "a long Idempotency-Key")
        world.end()


# JSON texts of every kind and size; none of them is what any member should be, or all that it may be.
EXTREMES = ["null", "0", "-0", "-1", "1e400", "1e308", "9" * 400, "18446744073709551616", "NaN", '""', '"\\u0000"', '"\\ud800"',
            '"' + "x" * 70_000 + '"', "[]", "[null]", "{}", "[" * 200 + "]" * 200, '{"a":' * 60 + "1" + "}" * 60,
            "[" + ",".join(["{}"] * 10_001) + "]", '[{"key":"k","value":' + "[" * 55 + "]" * 55 + "}]",
            '{"page_number":9223372036854775807,"page_limit":9223372036854775807}',
            '[{"key":"id","value":"NaN","operator":4}]', '[{"key":"labels","value":{"a":[]},"operator":6}]']


def extremes_in_every_member_are_taken_or_refused_as_documented():
    with herald.folder() as folder:
        world = World(folder)
        document = world.client.must("GET", "/api/openapi.json")
        for pattern, operations in document["paths"].items():
            for method, operation in operations.items():
                if "requestBody" not in operation:
                    continue
                name = json.dumps(operation["requestBody"]).split("#/components/schemas/")[1].split('"')[0]
                for member in [*document["components"]["schemas"][name].get("properties", {}), "unknown"]:
                    for text in EXTREMES:
                        answer = world.client.call(method.upper(), with_ids(pattern), raw=f'{{"{member}":{text}}}'.encode())
                        where = f"{method} {pattern} {member}: {text[:40]}"
                        assert answer.status in (200, 400, 403, 404, 409), f"{where}: {answer}"
                        assert isinstance(answer.json, dict), where
                        if answer.status != 200:
                            assert set(answer.json) == {"error", "code", "message", "details"}, f"{where}: {answer}"
        # What was taken is still readable, here and by a server that starts on it.
        assert world.contents()
        world.before = world.contents()
        world.end()
        world.client.close()
        world.server.start()
        assert world.contents() == world.before
        world.server.stop()


def paths_and_queries_that_are_odd_find_nothing():
    with herald.folder() as folder:
        world = World(folder)
        for method, pattern, _ in world.routes:
            for name in re.findall(r"\{(\w+)\}", pattern):
                for odd in ("%2F", "1%2F", "a%2Fb", "..", "%2e%2e", "%00", "1%00", "%c0%ae", "%ed%a0%80", "%", "%zz", "+1", "1%20", "-0",
                            "0x1", "1.0", ";1", "%F0%9F%98%80", "x" * 1800):
                    path = with_ids(pattern.replace("{" + name + "}", "\0")).replace("\0", odd)
                    answer = world.client.call(method, path, {} if method != "GET" else None)
                    assert answer.status in (400, 404, 405) or answer.json.get("total_records") == "0", f"{method} {path}: {answer}"
            if method != "GET":
                continue
            for query in ("?", "?=", "?&&", "?%ff", "?%00=%00", "?id=18446744073709551616", "?id=1%00", "?name=%ff", "?name=%00", "?email=%ff",
                          "?model_version_id=-1", "?model_version_id=1e3", "?org_name=" + "x" * 1800):
                answer = world.client.call("GET", with_ids(pattern) + query)
                assert answer.status in (200, 400, 404) and isinstance(answer.json, dict), f"{pattern}{query}: {answer}"
                assert world.client.call("HEAD", with_ids(pattern) + query).status == answer.status
            check_error(world.client.call("OPTIONS", with_ids(pattern)), 405, 12, f"OPTIONS {pattern}")
        world.end()


def locations_that_are_not_allowed_are_refused_saying_what_would_be():
    with herald.folder() as folder:
        world = World(folder)
        for location in ("", "example.com", "ftp://example.com", "http://10.0.0.1/", "https://169.254.169.254/", "https://[fe80::1]/",
                         "https://user@example.com", "https://example.com:22/", "https://0x7f.1/", "https://example.com/#x",
                         "https://2130706433/", "https://" + "x" * 3000):
            answer = world.client.call("POST", "/api/v1/uac-proxy/events/createWebhook",
                                       {"name": "w", "location": location, "event_types": ["PROMOTE"], "all_events": False})
            check_error(answer, 400, 3, location[:60])
        world.end()


if __name__ == "__main__":
    herald.run(every_route_refuses_callers_without_credentials, every_route_refuses_bodies_that_are_not_json_objects,
               every_route_with_an_id_says_not_found_for_ids_that_are_not, every_route_refuses_other_methods_and_too_much,
               members_of_wrong_types_are_named, extremes_in_every_member_are_taken_or_refused_as_documented,
               paths_and_queries_that_are_odd_find_nothing, locations_that_are_not_allowed_are_refused_saying_what_would_be)
