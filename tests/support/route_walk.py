"""The routes of the document that Herald serves, and what their bodies may hold, for tests that walk over all of them. Standard
library only."""

import re
import socket
import subprocess

import herald


def is_for_developers(operation):
    """Whether it is asked with a developer key, and not by anybody or with a token of an endpoint."""
    return "security" not in operation


class World:
    """A server with something in it, and the list of its routes for callers with credentials."""

    def __init__(self, folder):
        self.server = herald.Standalone(folder)
        self.client = self.server.client()
        self.model = self.client.model("m")
        self.version = self.client.version(self.model, "v")
        document = self.client.must("GET", "/api/openapi.json")
        self.routes = [(method.upper(), pattern, "requestBody" in operation)
                       for pattern, operations in document["paths"].items() for method, operation in operations.items()
                       if is_for_developers(operation) and "200" in operation["responses"]]  # the others are always 403
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


def told(port, bytes_sent, is_over=True):
    """What the server says to these bytes, until it closes or, where it should not, until the answer's first line."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as raw:
        raw.sendall(bytes_sent)
        heard = raw.recv(65536)
        while is_over and (more := raw.recv(65536)):
            heard += more
        return heard.decode()


def content_of(folder):
    done = subprocess.run([herald.BINARY, "state-hash", "--content", "--data", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def resolved(document, schema):
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def kinds(document, schema):
    """The alternatives of a schema, each with one type; {} is any JSON."""
    schema = resolved(document, schema)
    if "oneOf" not in schema:
        return [schema]
    return [kind for each in schema["oneOf"] for kind in kinds(document, each)]


JSON_TYPES = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def fits(document, schema, value):
    for kind in kinds(document, schema):
        if "type" not in kind:
            return True
        if kind["type"] in ("integer", "number"):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or (kind["type"] == "integer" and value != int(value)):
                continue
        elif not isinstance(value, JSON_TYPES[kind["type"]]):
            continue
        if "enum" in kind and value not in kind["enum"] or "pattern" in kind and not re.search(kind["pattern"], value):
            continue
        if isinstance(value, list) and not all(fits(document, kind["items"], each) for each in value):
            continue
        return True
    return False


def places(document, schema, path=()):
    """Every member that can be sent, however deep, with its schema."""
    for kind in kinds(document, schema):
        if kind.get("type") == "array" and len(path) < 8:
            yield from places(document, kind["items"], (*path, 0))
        for name, member in kind.get("properties", {}).items():
            if "readOnly" not in member and len(path) < 8:
                yield (*path, name), member
                yield from places(document, member, (*path, name))


def put_in(body, path, value):
    """A copy of the body with the value at the place; what is missing on the way is made."""
    if not path:
        return value
    key, *rest = path
    if key == 0:
        return [put_in(body[0] if isinstance(body, list) and body else None, rest, value)]
    body = dict(body) if isinstance(body, dict) else {}
    body[key] = put_in(body.get(key), rest, value)
    return body


def shown(path):
    return "".join("[0]" if key == 0 else f".{key}" for key in path).lstrip(".")


class TypedWorld(World):
    """A server, and the typed bodies of its document."""

    def __init__(self, folder):
        super().__init__(folder)
        self.document = self.client.must("GET", "/api/openapi.json")
        self.bodies = []
        for pattern, operations in self.document["paths"].items():
            for method, operation in operations.items():
                if "requestBody" not in operation or not is_for_developers(operation):
                    continue
                schema = operation["requestBody"]["content"].get("application/json", {}).get("schema")
                if schema:
                    longest = int(re.search(r"\d+", operation["requestBody"]["description"]).group())
                    self.bodies.append((method.upper(), pattern, resolved(self.document, schema), longest))
        assert len(self.bodies) > 25, len(self.bodies)
        self.before = self.contents()

    def contents(self):
        """What every GET answers, of what is there and what is not."""
        if not hasattr(self, "document"):
            return None
        found = {}
        for method, pattern, _ in self.routes:
            if method == "GET" and "audit" not in pattern:
                answer = self.client.call("GET", with_ids(pattern))
                found[pattern] = answer.status, answer.body
        return found, super().contents()


# None of them is a number, a text, a name, a flag, a list and an object at once: where a member does not take one, it is said.
WRONG = [None, True, False, 7, -1, 1.5, "", "no such thing", [], [None], [[]], [{}], {}, {"a": 1}]
# Integers that no member takes: beyond what 64 bits hold, with a sign and without.
TOO_LARGE = [2**64, -2**63 - 1, str(2**64), str(-2**63 - 1), 10**40]
