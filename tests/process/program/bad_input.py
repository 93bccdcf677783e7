"""Property: whatever strangers send, every route answers with the documented error, changes nothing, and stays healthy."""

import gzip
import http.client
import json
import re
import threading

import herald
from route_walk import (TOO_LARGE, TypedWorld, WRONG, World, check_error, content_of, fits, is_for_developers, kinds, places, put_in, resolved,
                        shown, told, with_ids)


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
                if pattern.endswith("/message") and raw == b"\"x\"":
                    continue  # takes a string
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


def what_needs_no_credentials_refuses_other_methods_and_answers_head():
    with herald.folder() as folder:
        metrics_port = herald.free_port()
        world = World(folder)
        (folder / "apart").mkdir()
        apart = herald.Standalone(folder / "apart", "--metrics-listen", f"127.0.0.1:{metrics_port}")
        stranger = herald.Client(world.server.port)
        stranger.headers = {}
        for port, paths in ((world.server.port, ("/healthz", "/readyz", "/metrics", "/api/openapi.json")),
                            (metrics_port, ("/healthz", "/readyz", "/metrics"))):
            stranger.close()
            stranger.port = port
            for path in paths:
                for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
                    answer = stranger.call(method, path)
                    check_error(answer, 405, 12, f"{method} {path}")
                    assert answer.headers["allow"] == "GET, HEAD", answer.headers
                head, whole = stranger.call("HEAD", path), stranger.call("GET", path)
                assert head.status == whole.status == 200 and head.body == b"" and whole.body, path
                assert head.headers["content-type"] == whole.headers["content-type"]
            answer = told(port, b"OPTIONS * HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n\r\n")
            assert answer.startswith("HTTP/1.1 204 ") and "\r\nallow: GET, HEAD, POST, " in answer, answer
            answer = told(port, b"GET http://anywhere:1/healthz HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n\r\n")
            assert answer.startswith("HTTP/1.1 200 ") and answer.endswith('{"status":"ok"}'), answer
        assert apart.stop() == 0
        world.end()


def what_the_header_decides_is_answered_before_the_body_comes():
    with herald.folder() as folder:
        world = World(folder)
        known = "".join(f"{name}: {value}\r\n" for name, value in world.client.headers.items())
        models = "/api/v1/registry/workspaces/default/registered_models"
        for method, path, credentials, status in (("POST", models, "", 401), ("POST", models, "Grpc-Metadata-email: x@y.z\r\n", 401),
                                                  ("POST", "/nothing", known, 404), ("DELETE", models, known, 405),
                                                  ("POST", "/healthz", "", 405), ("GET", "/healthz", "", 200)):
            for body in ("Content-Length: 1048576\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: 9\r\nExpect: 100-continue\r\n"):
                answer = told(world.server.port, f"{method} {path} HTTP/1.1\r\nHost: herald\r\n{credentials}{body}\r\n".encode())
                assert answer.startswith(f"HTTP/1.1 {status} ") and "\r\nconnection: close\r\n" in answer, (method, path, body, answer)
        wanted = f"POST {models} HTTP/1.1\r\nHost: herald\r\n{known}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n".encode()
        assert told(world.server.port, wanted, is_over=False) == "HTTP/1.1 100 Continue\r\n\r\n"
        world.end()


def members_of_wrong_types_are_named():
    with herald.folder() as folder:
        world = World(folder)
        cases = [
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": 7}, "name is 7"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": ""}, "name is missing"),
            ("POST", "/api/v1/registry/workspaces/nowhere/registered_models", {}, "name is missing"),
            ("POST", "/api/v1/registry/registered_models/99999/model_versions", {}, "version is missing"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "a\x00b"}, "control character"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x" * 257}, "257 bytes"),
            ("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x", "labels": "y"}, "labels is"),
            ("POST", "/api/v1/registry/registered_models/find", {"ids": ["1"] * 10_001}, "10001 elements"),
            ("POST", f"/api/v1/registry/registered_models/{world.model}/model_versions", {"version": "w", "lock_level": 9}, "lock_level is 9"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": world.version, "desired_stage": "LIVE"}, "one of UNKNOWN"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": world.version}, "desired_stage is missing; it must be one of DEVELOPMENT"),
            ("POST", "/api/v1/registry/stage/createTransition", {"model_version_id": "one"}, "model_version_id is"),
            ("POST", "/api/v1/uac-proxy/uac/createUser", {}, "info is missing"),
            ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "nobody"}}, "name@example.org"),
            ("POST", "/api/v1/deployment/workspace/default/builds", {}, "model_version_id is missing"),
            ("POST", "/api/v1/registry/registered_models/find", {"predicates": [{"key": "colour"}]}, "colour"),
            ("POST", "/api/v1/registry/registered_models/find", {"pagination": {"page_limit": 5000}}, "page_limit is 5000"),
            ("POST", "/api/v1/uac-proxy/events/createWebhook",
             {"name": "w", "location": "https://example.com", "event_types": ["EXPLODE"]}, "event_types[0] is"),
            ("POST", "/api/v1/uac-proxy/events/createWebhook",
             {"name": "w", "location": "https://example.com", "all_events": True, "resource_types": [{}]}, "exactly one of"),
            ("GET", "/api/v1/deployment/builds?model_version_id=x", None, "must be a number"),
        ]
        for method, path, body, text in cases:
            message = check_error(world.client.call(method, path, body), 400, 3, f"{method} {path} {body}")
            assert text in message, f"{path} {body}: \"{message}\" does not say \"{text}\""
        repeated = world.client.call("POST", "/api/v1/registry/registered_models/find", {}, {"Idempotency-Key": "ü"})
        assert repeated.status == 200, "a read has no use for a key"
        for key in ("", "  \t ", "a b", "k" * 129):
            message = check_error(world.client.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "k"},
                                                    {"Idempotency-Key": key}), 400, 3, f"the Idempotency-Key {key!r}")
            assert "it must be 1 to 128 characters of visible ASCII" in message, message
        world.end()


# JSON texts of every kind and size; none of them is what any member should be, or all that it may be.
EXTREMES = ["null", "0", "-0", "-1", "1e400", "1e308", "9" * 400, "18446744073709551616", "9223372036854775807", "9223372036854775808",
            "9223372036854775809", "-9223372036854775809", "NaN", '""', '"\\u0000"', '"\\ud800"',
            '"' + "x" * 70_000 + '"', "[]", "[null]", "{}", "[" * 200 + "]" * 200, '{"a":' * 60 + "1" + "}" * 60,
            "[" + ",".join(["{}"] * 10_001) + "]", '[{"key":"k","value":' + "[" * 55 + "]" * 55 + "}]",
            '{"page_number":9223372036854775807,"page_limit":9223372036854775807}',
            '[{"key":"id","value":"NaN","operator":4}]', '[{"key":"labels","value":{"a":[]},"operator":6}]']


@herald.computes
def extremes_in_every_member_are_taken_or_refused_as_documented():
    with herald.folder() as folder:
        world = World(folder)
        document = world.client.must("GET", "/api/openapi.json")
        for pattern, operations in document["paths"].items():
            for method, operation in operations.items():
                if "requestBody" not in operation or not is_for_developers(operation):
                    continue
                if pattern.endswith("/message") or "application/json" not in operation["requestBody"]["content"]:
                    continue  # takes a string or bytes, which have no members
                if pattern.endswith("DevKey"):
                    continue  # would end the key that the rest is asked with
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
                is_export = pattern.endswith("/export")  # a line an entry
                assert answer.status in (200, 400, 403, 404) and (is_export or isinstance(answer.json, dict)), f"{pattern}{query}: {answer}"
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


MODELS = "/api/v1/registry/workspaces/default/registered_models"
WEBHOOKS = "/api/v1/uac-proxy/events/createWebhook"


def numbers_that_are_none_are_refused_naming_the_place():
    with herald.folder() as folder:
        world = World(folder)
        version = f"/api/v1/registry/registered_models/{world.model}/model_versions/{world.version}"
        builds = "/api/v1/deployment/workspace/default/builds"
        places = [("PATCH", version, '{"attributes":[{"key":"k","value":@}]}', "attributes[0].value"),
                  ("PATCH", version, '{"attributes":[{"key":"k","value":[1,{"x":@}]}]}', "attributes[0].value[1].x"),
                  ("PATCH", version, '{"environment":{"python":@}}', "environment.python"),
                  ("PATCH", version, '{"docker_metadata":{"request_port":@}}', "docker_metadata.request_port"),
                  ("PATCH", version, '{"code_blob_map":{"k":[@]}}', "code_blob_map.k[0]"),
                  ("POST", MODELS, '{"name":"n","custom_permission":{"x":@}}', "custom_permission.x"),
                  ("POST", builds, f'{{"model_version_id":{world.version},"external_location":"x","more":@}}', "more"),
                  ("POST", f"{builds}/1/scan", '{"scan_external":true,"more":@}', "more"),
                  ("POST", f"{MODELS}/find", '{"predicates":[{"key":"id","value":@}]}', "predicates[0].value")]
        for method, path, body, place in places:
            for number in ("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 400):
                message = check_error(world.client.call(method, path, raw=body.replace("@", number).encode()), 400, 3, f"{path} {number}")
                assert message.startswith(f"{place} is {number[:60]}") and "must be" in message and "line 1, column" in message, message
        world.end()


def long_integers_are_not_rounded():
    with herald.folder() as folder:
        world = World(folder)
        version = f"/api/v1/registry/registered_models/{world.model}/model_versions/{world.version}"
        for number in (b"123456789012345678901234567890", b"-18446744073709551617", b"9" * 300):
            answer = world.client.call("PATCH", version, raw=b'{"attributes":[{"key":"k","value":[' + number + b"]}]}")
            assert answer.status == 200 and b"[" + number + b"]" in answer.body, answer
            assert b"[" + number + b"]" in world.client.call("GET", f"/api/v1/registry/model_versions/{world.version}").body
        message = check_error(world.client.call("PATCH", version, raw=b'{"time_updated":123456789012345678901234567890}'), 400, 3, "a long time")
        assert message.startswith("time_updated is 123456789012345678901234567890; it must be an integer"), message
        world.server.stop()


def json_that_cannot_be_read_is_told_where_and_why():
    with herald.folder() as folder:
        world = World(folder)
        for raw, text in ((b"{name:1}", "line 1, column 2: a member's name in double quotes is expected, not n"),
                          (b'{"name":\r\n"x",}', "line 2, column 5: a member's name in double quotes is expected, not }"),
                          (b"{'name':'x'}", "line 1, column 2: a member's name in double quotes is expected, not '"),
                          (b'{"name":"x"', "line 1, column 12: a comma or } is expected, not the end of the text"),
                          (b'{"name":"x","name":"y"}', "name is there twice"),
                          (b'{"name":"x","attributes":[{"key":"k","value":{"a":{"b":1,"b":1}}}]}', "attributes[0].value.a.b is there twice")):
            message = check_error(world.client.call("POST", MODELS, raw=raw), 400, 3, raw)
            assert text in message, f"{raw}: {message}"
        world.end()


def names_that_do_not_show_what_they_hold_are_refused():
    with herald.folder() as folder:
        world = World(folder)
        for name, text in ((" ", "only white space"), ("\u2003\u00a0", "only white space"), ("a\u202eb", "U+202E"), ("\u2066a", "U+2066"),
                           ("a\u0085", "U+0085"), ("a\u2028b", "U+2028"), ("a\nb", "U+000A"), ("fr\u200baud", "U+200B"), ("a\U000e0041b", "U+E0041"),
                           ("fraud ", "white space"), ("\u00a0fraud", "white space")):
            for method, path, body in (("POST", MODELS, {"name": name}), ("POST", MODELS, {"name": "n", "labels": [name]}),
                                       ("POST", f"/api/v1/registry/registered_models/{world.model}/model_versions", {"version": name}),
                                       ("POST", WEBHOOKS, {"name": name, "location": "https://example.com/", "all_events": True}),
                                       ("POST", "/api/v1/uac-proxy/uac/createUser",
                                        {"info": {"email": "n@example.com", "verta_info": {"username": name}}})):
                message = check_error(world.client.call(method, path, body), 400, 3, f"{path} {name!r}")
                assert text in message, f"{path} {name!r}: {message}"
        world.end()


def credentials_and_keys_that_are_doubled_are_refused():
    with herald.folder() as folder:
        world = World(folder)
        right, wrong = herald.ADMIN_KEY, "x" * 32
        email, key, dashed = "Grpc-Metadata-email", "Grpc-Metadata-developer_key", "Grpc-Metadata-developer-key"

        def answer(fields, method="GET", path="/api/v1/uac-proxy/uac/getCurrentUser", body=b""):
            connection = http.client.HTTPConnection("127.0.0.1", world.server.port, timeout=30)
            connection.putrequest(method, path)
            for name, value in [*fields, ("Content-Length", str(len(body)))]:
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            try:
                return herald.Answer(response.status, response.headers, response.read())
            finally:
                connection.close()

        good = [(email, herald.ADMIN_EMAIL), (key, right)]
        assert answer(good).status == answer([*good, (dashed, right)]).status == answer([good[0], (dashed, right)]).status == 200
        for more, text in (([(key, wrong)], "twice"), ([(key, right)], "twice"), ([(dashed, wrong)], "differ"),
                           ([(email.upper(), "other@example.com")], "twice"), ([(dashed, right), (dashed, right)], "twice")):
            message = check_error(answer([*good, *more]), 401, 16, more)
            assert text in message, f"{more}: {message}"
        twice = answer([*good, ("Idempotency-Key", "a"), ("idempotency-key", "b")], "POST", MODELS, b'{"name":"n"}')
        assert "more than one Idempotency-Key was sent" in check_error(twice, 400, 3, "two keys")
        world.end()


def what_would_be_ignored_is_told_and_refused_to_strict_callers():
    with herald.folder() as folder:
        world = World(folder)
        strict = {"Prefer": "respond-async, Handling=Strict; x=y"}
        version = f"/api/v1/registry/registered_models/{world.model}/model_versions/{world.version}"
        builds = "/api/v1/deployment/workspace/default/builds"
        transition = world.client.stage("create", {"model_version_id": world.version, "desired_stage": "STAGING"})["id"]
        world.before = world.contents()
        route = "is changed by POST /api/v1/registry/stage/createTransition"
        cases = [("PUT", version, {"stage": "PRODUCTION"}, [f"stage {route}"]),
                 ("PATCH", version, {"stage": 3, "id": 77, "owner": "9"}, ["id is set by Herald itself", f"stage {route}"]),
                 ("PATCH", version, {"descripton": "x"}, ["descripton is unknown; the nearest name is description"]),
                 ("PATCH", version, {"artifacts": [{"key": "k", "pth": "x"}], "ä, b\n": 1},
                  ["artifacts[0].pth is unknown; the nearest name is path", "%C3%A4%2C%20b%0A is unknown"]),
                 ("PATCH", version, {"x" * 100: 1}, ["x" * 64 + " is unknown"]),
                 ("PATCH", version, {f"u{i}": 1 for i in range(9)}, ["u0 is unknown; u1 is unknown; u2 is unknown; u3 is unknown; u4 is unknown"]),
                 ("POST", f"{MODELS}/find", {"predicate": []} | {"sortkey": "name"}, ["sortkey is unknown; the nearest name is sort_key"]),
                 ("POST", MODELS, {"name": "n", "labelz": ["x"]}, ["labelz is unknown; the nearest name is labels"]),
                 ("POST", MODELS, {"name": "o", "time_created": "5", "workspace_id": "2"},
                  ["workspace_id is set by Herald itself; time_created is set by Herald itself"]),
                 ("POST", f"/api/v1/registry/registered_models/{world.model}/model_versions",
                  {"version": "n", "registered_model_id": "99", "stage": "PRODUCTION"}, ["registered_model_id is set by Herald", f"stage {route}"]),
                 ("POST", "/api/v1/registry/stage/closeTransition", {"transition_id": transition, "coment": "x"}, ["coment is unknown"]),
                 ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "n@example.com", "fullname": "N"}},
                  ["info.fullname is unknown; the nearest name is full_name"]),
                 ("PUT", "/api/v1/uac-proxy/feature-flags/scan_events", {"enabled": True, "name": "x"}, ["name is unknown"]),
                 ("POST", WEBHOOKS, {"name": "n", "location": "https://example.com/", "all_events": True, "secret": "s"}, ["secret is unknown"]),
                 ("POST", builds, {"model_version_id": int(world.version), "external_location": "x", "scan_extern": True},
                  ["scan_extern is unknown; the nearest name is scan_external"]),
                 ("POST", f"{builds}/1/scan", {"scan_external": True, "priority": 1}, ["priority is unknown"]),
                 ("PUT", f"{builds}/1/scan", {"scan_status": "scanned", "safety": "safe",
                                              "scan_external_results": {"safety_status": "safe", "uri": "x"}}, ["scan_external_results.uri is unknown", "safety is unknown"])]
        for method, path, body, texts in cases:
            answer = world.client.call(method, path, body, strict)
            message = check_error(answer, 400, 3, f"{method} {path} {body}")
            for text in texts:
                assert text in message, f"{method} {path} {body}: {message}"
        assert world.contents() == world.before, "a strict caller is told before anything is changed"
        for method, path, body, texts in cases:
            answer = world.client.call(method, path, body)
            assert answer.status == 200, f"{method} {path} {body}: {answer}"
            for text in texts:
                assert text in answer.headers["svc-warning"], f"{method} {path} {body}: {answer.headers['svc-warning']}"
        # What is at its default, opaque, or as it is stored is no news to anybody.
        record = world.client.must("GET", f"/api/v1/registry/model_versions/{world.version}")["model_version"]
        for method, path, body in (("PUT", version, record), ("PUT", version, {**record, "description": "d"}),
                                   ("PATCH", version, {"stage": 0, "id": "0", "unknown": "", "more": [], "external_deployments": []}),
                                   ("PATCH", version, {"environment": {"any": {"thing": 1}}, "attributes": [{"key": "k", "value": {"x": 1}}]}),
                                   ("POST", builds, {"model_version_id": int(world.version), "external_location": "x",
                                                     "hardware_compatibility": {"nvidia_gpu": {"T4": True}}})):
            for headers in (strict, {"Prefer": "handling=lenient"}, {}):
                answer = world.client.call(method, path, body, headers)
                assert answer.status == 200 and "svc-warning" not in answer.headers, f"{method} {path} {body}: {answer} {answer.headers}"
        world.server.stop()


def warnings_go_out_under_every_prefix():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--header-prefix", "svc-,acme-")
        answer = server.client().call("POST", MODELS, {"name": "n", "colour": 1})
        assert answer.headers["svc-warning"] == answer.headers["acme-warning"] == "colour is unknown", answer.headers
        assert answer.headers["svc-registry-offset"] == answer.headers["acme-registry-offset"]
        server.stop()


def webhooks_that_could_never_work_are_refused_saying_what_would_be_right():
    with herald.folder() as folder:
        world = World(folder)
        whole = {"name": "w", "location": "https://example.com/", "event_types": ["PROMOTE"], "all_events": False}
        for change, text in (({"mutual_secret": "whsec_!!!"}, "base64 of 24 to 64 bytes"), ({"mutual_secret": "whsec_"}, "base64 of 24 to 64 bytes"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 7}, "base64 of 24 to 64 bytes"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 22}, "base64 of 24 to 64 bytes"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 10 + "QUE"}, "is not padded rightly"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 10 + "QUE=="}, "is not padded rightly"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 10 + "QUF="}, "is not padded rightly"),
                             ({"mutual_secret": "whsec_" + "QUF_" * 8}, "base64 of 24 to 64 bytes"),
                             ({"mutual_secret": " whsec_" + "QUFB" * 8}, "white space before or after a whsec_ secret"),
                             ({"mutual_secret": "whsec_" + "QUFB" * 8 + "\n"}, "white space before or after a whsec_ secret"),
                             ({"event_types": []}, "would never hear anything"),
                             ({"resource_types": [{"deployment_service_resource_type": "BUILD"}]}, "PROMOTE tells of REGISTERED_MODEL_VERSION"),
                             ({"event_types": ["REQUEST_SCAN"], "resource_types": [{"registry_service_resource_type": "REGISTERED_MODEL"}]},
                              "REQUEST_SCAN tells of BUILD"),
                             ({"resource_types": [{"registry_service_resource_type": "BUILD"}]}, "REGISTERED_MODEL_VERSION or ALL"),
                             ({"resource_types": [{"deployment_service_resource_type": "REGISTERED_MODEL"}]}, "ENDPOINT, BUILD or ALL")):
            message = check_error(world.client.call("POST", WEBHOOKS, {**whole, **change}), 400, 3, change)
            assert text in message and "whsec_!" not in message and "QUF" not in message, f"{change}: {message}"
        world.end()
        for number, good in enumerate(("", "short", " with a blank ", "whsec_" + "QUFB" * 8, "whsec_" + "QUFB" * 10 + "QUE=", "whsec_" + "QUFB" * 21)):
            world.server = herald.Standalone(folder) if number == 0 else world.server
            world.server.client().must("POST", WEBHOOKS, {**whole, "name": f"w{number}", "mutual_secret": good})
        world.server.stop()


@herald.computes
def finds_of_one_user_take_turns_and_all_are_answered():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        for number in range(50):
            client.version(client.model("m") if number == 0 else "1", f"v{number}")
        answers, lock = [], threading.Lock()

        def find():
            mine = server.client()
            for _ in range(20):
                answer = mine.call("POST", "/api/v1/registry/model_versions/find", {})
                with lock:
                    answers.append(answer)

        callers = [threading.Thread(target=find) for _ in range(16)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        assert len(answers) == 320 and all(answer.status == 200 and answer.json["total_records"] == "50" for answer in answers)
        server.stop()


@herald.computes
def every_member_that_does_not_fit_its_type_is_named_and_changes_nothing():
    with herald.folder() as folder:
        world = TypedWorld(folder)
        count = 0
        for method, pattern, schema, _ in world.bodies:
            example = schema.get("example", {})

            def refused(body, path, what):
                answer = world.client.call(method, with_ids(pattern), body)
                where = f"{method} {pattern}: {shown(path)} {what}"
                message = check_error(answer, 400, 3, where)
                assert shown(path[:1]) in message, f"{where}: {message}"
                return 1

            for path, member in places(world.document, schema):
                types = {kind.get("type") for kind in kinds(world.document, member)}
                values = [value for value in WRONG if not fits(world.document, member, value)]
                for value in values + (TOO_LARGE if "integer" in types else []):
                    count += refused(put_in(example, path, value), path, f"is {json.dumps(value)[:40]}")
            for name in schema.get("required", []):
                count += refused({key: value for key, value in example.items() if key != name}, (name,), "is missing")
        print(f"{count} bodies")
        assert count > 1000, count
        world.end()


def bodies_in_other_forms_are_refused_by_every_route_and_change_nothing():
    with herald.folder() as folder:
        world = TypedWorld(folder)
        for method, pattern, schema, longest in world.bodies:
            text = json.dumps(schema.get("example", {}))
            where = f"{method} {pattern}"
            name = next(iter(schema.get("properties", {})), "x")
            for raw in (text.encode("utf-16"), text.encode("utf-32"), b"\xef\xbb\xbf" + text.encode(), gzip.compress(text.encode()),
                        f'{{"{name}":null,"{name}":null}}'.encode(), f'{{"{name}":NaN}}'.encode(), f'{{"{name}":"\udcff"}}'.encode("latin-1", "replace")
                        .replace(b"?", b"\xff"), f'{{"{name}":"\\ud800"}}'.encode(), b'{"x":' + b"[" * 70 + b"]" * 70 + b"}",
                        b'{"x":' * 70 + b"1" + b"}" * 70, text.encode() + b"\x00"):
                check_error(world.client.call(method, with_ids(pattern), raw=raw), 400, 3, f"{where} {raw[:30]}")
            for coding in ("gzip", "br", "deflate", "identity, gzip"):
                check_error(world.client.call(method, with_ids(pattern), raw=gzip.compress(text.encode()), headers={"Content-Encoding": coding}),
                            415, 3, f"{where} {coding}")
            check_error(world.client.call(method, with_ids(pattern), raw=text.encode() + b" " * longest), 413, 8, f"{where} of {longest} bytes more")
        world.end()


def nothing_of_anothers_workspace_is_shown_or_changed():
    """Ids and names of what is in somebody's own workspace, used by somebody who has no rights there, are as if they were not."""
    with herald.folder() as folder:
        world = TypedWorld(folder)
        marker = "only-the-owner-knows-this"
        owner, _ = world.client.user("owner@example.com")
        workspace = "owner@example.com"
        model = owner.must("POST", f"/api/v1/registry/workspaces/{workspace}/registered_models",
                           {"name": marker, "description": marker})["registered_model"]["id"]
        version = owner.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                             {"version": "v", "description": marker, "labels": [marker]})["model_version"]["id"]
        transition = owner.stage("create", {"model_version_id": version, "desired_stage": "STAGING"})["id"]
        build = owner.must("POST", f"/api/v1/deployment/workspace/{workspace}/builds",
                           {"model_version_id": int(version), "external_location": f"registry.example.com/{marker}:1"})["id"]
        ids = {"model_id": model, "registered_model_id": model, "version": version, "version_or_name": version, "model_version_id": version,
               "transition_id": transition, "build": str(build), "build_id": build, "workspace": workspace, "workspace_name": workspace}

        def everything():
            return [owner.call("GET", path).body for path in (
                f"/api/v1/registry/registered_models/{model}", f"/api/v1/registry/model_versions/{version}",
                f"/api/v1/deployment/workspace/{workspace}/builds/{build}")]
        before = everything()
        assert all(marker.encode() in each for each in before[:2]), before
        other, _ = world.client.user("other@example.com")
        asked = 0
        for pattern, operations in world.document["paths"].items():
            for method, operation in operations.items():
                if operation.get("security") == []:
                    continue
                names = re.findall(r"\{(\w+)\}", pattern)
                known = dict(ids, model=model if "/workspaces/" not in pattern else marker)
                path = re.sub(r"\{(\w+)\}", lambda found: str(known.get(found.group(1), "1")), pattern)
                required = [each["name"] for each in operation["parameters"] if each.get("in") == "query"]
                if required:
                    path += "?" + "&".join(f"{name}={known.get(name, '1')}" for name in required)
                body = None
                if "requestBody" in operation:
                    content = operation["requestBody"]["content"].get("application/json")
                    schema = resolved(world.document, content["schema"]) if content else {"type": "string"}
                    if "properties" not in schema:
                        continue
                    body = dict(schema.get("example", {}))
                    for name in schema["properties"]:
                        if name in ids:
                            body[name] = ids[name]
                if not set(names) & set(ids) and not set(required) & set(ids) and not set(body or {}) & set(ids):
                    continue
                asked += 1
                answer = other.call(method.upper(), path, body)
                where = f"{method} {path} {body}: {answer}"
                assert marker.encode() not in answer.body.replace(path.encode(), b"").replace(f'\\"{marker}\\"'.encode(), b""), where
                is_empty_find = answer.status == 200 and answer.json.get("total_records") in ("0", 0)
                assert answer.status in (400, 403, 404) or is_empty_find, where
        assert asked > 30, asked
        assert everything() == before, "somebody without rights changed something"
        world.server.stop()


# What everybody may change is his own.
OWN = ("addDevKey", "deletePrimaryDevKey", "deleteSecondaryDevKey", "updateUser", "createSession", "deleteSession", "console/session")


def a_viewer_changes_nothing_whatever_he_sends():
    """Somebody who may only READ sends every route good bodies about what there is, and bodies that are wrong in one place each: no
    row changes."""
    with herald.folder() as folder:
        world = TypedWorld(folder)
        client, organization = world.client, "/api/v2/uac-proxy/organization/1"
        viewer, identity = client.user("viewer@example.com")
        roles, groups = ({one["name"]: one["id"] for one in client.must("GET", f"{organization}/{kind}")[kind]} for kind in ("roles", "groups"))
        client.must("POST", f"{organization}/workspaces", {"workspace": {
            "id": "1", "name": "default", "permissions": [{"group_id": groups["Admins"], "role_id": roles["Super User"]},
                                                          {"group_id": groups["All Users"], "role_id": roles["Read Only"]}]}})
        build = client.must("POST", "/api/v1/deployment/workspace/default/builds",
                            {"model_version_id": int(world.version), "external_location": "registry.example.com/m:1"})["id"]
        transition = client.stage("create", {"model_version_id": world.version, "desired_stage": "STAGING"})["id"]
        assert viewer.must("GET", f"/api/v1/registry/model_versions/{world.version}")["model_version"]["version"] == "v"
        world.server.stop()
        before = content_of(folder)
        world.server.start()
        viewer.close()
        ids = {"model_id": world.model, "registered_model_id": world.model, "model_version_id": world.version, "build_id": str(build),
               "transition_id": transition, "activity_id": transition, "user_id": identity, "workspace_id": "1", "id": "1"}
        sent, taken = 0, set()
        for method, pattern, schema, _ in world.bodies:
            if any(name in pattern for name in OWN) or "properties" not in schema:
                continue
            good = dict(schema.get("example", {}))
            for name in schema.get("properties", {}):
                if name in ids:
                    good[name] = ids[name] if not isinstance(good.get(name), list) else [ids[name]]
            bodies = [good, {**good, "no_such_member": 1}]
            bodies += [put_in(good, path, WRONG[(sent + place) % len(WRONG)])
                       for place, (path, _) in enumerate(places(world.document, schema)) if len(path) <= 2]
            for body in bodies[:12]:
                sent += 1
                answer = viewer.call(method, with_ids(pattern), body)
                assert answer.status in (200, 400, 403, 404), f"{method} {pattern} {body}: {answer}"
                if answer.status == 200:
                    taken.add(pattern)
        for method, pattern, has_body in world.routes:
            if method == "DELETE" and not has_body and not any(name in pattern for name in OWN):
                sent += 1
                answer = viewer.call(method, with_ids(pattern))
                assert answer.status in (403, 404), f"{method} {pattern}: {answer}"
        reads = re.compile("find|get|Find|Get|manifest")
        assert sent > 300 and all(reads.search(pattern) for pattern in taken), (sent, taken)
        world.server.stop()
        assert content_of(folder) == before, "somebody who may only read changed something"


def a_revoked_key_is_refused_by_every_route():
    with herald.folder() as folder:
        world = TypedWorld(folder)
        revoke = "/api/v1/uac-proxy/uac/deletePrimaryDevKey"
        if revoke not in world.document["paths"]:
            raise herald.Unavailable("no route revokes keys")
        other, _ = world.client.user("other@example.com")
        world.before = world.contents()
        other.must("POST", "/api/v1/uac-proxy/uac/addDevKey", {})
        other.must("DELETE", revoke)
        for method, pattern, _ in world.routes:
            answer = other.call(method, with_ids(pattern), {} if method != "GET" else None)
            check_error(answer, 401, 16, f"{method} {pattern}")
        world.end()


if __name__ == "__main__":
    herald.run()
