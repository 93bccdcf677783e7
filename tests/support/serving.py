"""Models on endpoints, for tests: from the bytes of a model to an endpoint that answers."""

import http.client
import urllib.parse

import herald

DEPLOYMENT = "/api/v1/deployment/workspace/default"


class Stage:
    """A stage of an endpoint, with its default token."""

    def __init__(self, client, path, name="production"):
        self.client, self.path = client, path
        self.endpoint = client.must("POST", f"{DEPLOYMENT}/endpoints", {"path": path})["id"]
        self.stages = f"{DEPLOYMENT}/endpoints/{self.endpoint}/stages"
        self.id = client.must("POST", self.stages, {"name": name})["id"]
        self.place = f"{self.stages}/{self.id}"
        self.token = client.must("GET", f"{self.place}/accesstokens")["tokens"][0]["creator_request"]["value"]

    def record(self):
        return self.client.must("GET", self.place)

    def begin_update(self, build, **settings):
        return self.client.must("PUT", f"{self.place}/update", {"build_id": build, "strategy": "rollout", **settings})

    def ended(self, seconds=60):
        """The record once no update runs any more."""
        def settled():
            record = self.record()
            return record if record["status"] in ("active", "error", "inactive") and len(record["components"]) <= (
                2 if record["status"] == "error" else 1) else None
        return herald.until(settled, seconds, f"the update of {self.path} ends")

    def update(self, build, **settings):
        """Updates and waits until the build serves."""
        self.begin_update(build, **settings)
        record = self.ended()
        assert record["status"] == "active" and record["components"][0]["build_id"] == build, record
        return record


def version_with_model(client, model, name, content):
    """A version of the model whose artifact `model` has these bytes; its id."""
    version = client.version(model, name)
    client.must("PATCH", f"/api/v1/registry/registered_models/{model}/model_versions/{version}",
                {"model": {"key": "model", "path": "x/model.onnx", "artifact_type": 1}})
    upload(client, version, "model", content)
    return version


def upload(client, version, key, content):
    url = client.must("POST", f"/api/v1/registry/model_versions/{version}/getUrlForArtifact",
                      {"model_version_id": str(version), "key": key, "method": "PUT", "part_number": "1"})["url"]
    place = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
    try:
        connection.request("PUT", f"{place.path}?{place.query}", content)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text
    finally:
        connection.close()


def built(client, version, seconds=60, **more):
    """The record of a new build of the version, finished or in error."""
    build = client.must("POST", f"{DEPLOYMENT}/builds", {"model_version_id": int(version), **more})["id"]

    def ended():
        record = client.must("GET", f"{DEPLOYMENT}/builds/{build}")
        return record if record["status"] != "building" else None
    return herald.until(ended, seconds, f"build {build} ends")


def build_of(client, model, name, content):
    """The id of a finished build of a new version with these bytes; skips the test where models cannot be built."""
    need_onnx()
    record = built(client, version_with_model(client, model, name, content))
    assert record["status"] == "finished", record
    return record["id"]


def predict(client, path, token, body, headers=None, raw=None):
    """The answer of one prediction, as herald.Answer; JSON goes as it is, bytes by `raw`."""
    return client.call("POST", f"/api/v1/predict{path}", body, {"Access-token": token, **(headers or {})}, raw)


def report(client, build, safety):
    """The scan's record as the report of its result is answered."""
    return client.must("PUT", f"{DEPLOYMENT}/builds/{build}/scan", {
        "scan_status": "scanned", "scan_external_results": {"safety_status": safety, "url": "https://scanner.example.com/1"}})


def need_onnx():
    """Skips the test where deploy/onnxruntime could not bring the runtime."""
    if not (herald.ROOT / "build/onnxruntime/libonnxruntime.so.1").exists():
        raise herald.Unavailable("there is no ONNX Runtime (deploy/onnxruntime)")
