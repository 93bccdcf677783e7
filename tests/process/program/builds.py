"""Property: a build is made of a version's model whatever the file is called; what cannot be served ends as an error that says why, a scan
waits for the build it is of, and the image that a scanner fetches is the one that the build names."""

import hashlib
import io
import json
import pickle
import tarfile
import urllib.parse

import herald
import onnx_models
import serving


def error_of(client, version):
    record = serving.built(client, version)
    assert record["status"] == "error" and not record["location"], record
    return record["message"]


def what_cannot_be_served_ends_as_an_error_that_says_why():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--model-mb", "1")
        client = server.client()
        model = client.model("m")
        whole = onnx_models.tiny()
        for name, content, texts in (
                ("pickle", pickle.dumps({"coefficients": [1.0, 2.0]}), ["not an ONNX model"]),
                ("text", b"not a model", ["not an ONNX model"]),
                ("half", whole[:len(whole) // 2], ["damaged"]),
                ("external", onnx_models.external_data(), ["another file"]),
                ("operator", onnx_models.unknown_operator(), ["ONNX Runtime"]),
                ("large", whole + b"\0" * (1 << 20), ["1048576"])):
            message = error_of(client, serving.version_with_model(client, model, name, content))
            assert all(text in message for text in texts), (name, message)
        empty = error_of(client, client.version(model, "empty"))
        assert "model" in empty, empty
        assert serving.built(client, serving.version_with_model(client, model, "whole", whole))["status"] == "finished"
        assert server.stop() == 0


def a_model_larger_than_all_memory_of_models_ends_as_an_error_and_the_next_is_built():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--models-memory-mb", "1")
        client = server.client()
        model = client.model("m")
        large = onnx_models.tiny() + onnx_models.chunk(6, "x" * (1 << 20))  # a note
        message = error_of(client, serving.version_with_model(client, model, "large", large))
        assert "--models-memory-mb" in message and str(len(large)) in message, message
        small = serving.version_with_model(client, model, "small", onnx_models.tiny())
        assert serving.built(client, small)["status"] == "finished"
        assert server.stop() == 0


def a_scan_waits_for_the_build_and_the_scanner_fetches_the_image_that_it_names():
    serving.need_onnx()
    with herald.folder() as folder:
        scanner, server = herald.Receiver(), herald.Standalone(folder, "--allow-addresses", "127.0.0.0/8", "--allow-http")
        client = server.client()
        client.must("POST", "/api/v1/uac-proxy/events/createWebhook",
                    {"name": "scanner", "location": scanner.url, "event_types": ["REQUEST_SCAN"]})
        content = onnx_models.mlp()
        version = serving.version_with_model(client, client.model("m"), "v", content)
        build = client.must("POST", f"{serving.DEPLOYMENT}/builds", {"model_version_id": int(version)})["id"]
        asked = client.must("POST", f"{serving.DEPLOYMENT}/builds/{build}/scan", {"scan_external": True})
        assert asked["build_id"] == build, asked
        heard = herald.until(lambda: scanner.deliveries[:1], 60, "REQUEST_SCAN comes")[0]
        record = client.must("GET", f"{serving.DEPLOYMENT}/builds/{build}")
        assert record["status"] == "finished", "REQUEST_SCAN came before there was an image"
        heard = json.loads(heard.body)
        assert heard["updated"] == {"buildID": build, "imageurl": record["location"]}, (heard, record)
        place = urllib.parse.urlsplit(record["location"])
        image = client.call("GET", f"{place.path}?{place.query}")
        assert image.status == 200, image
        assert place.query == "digest=sha256:" + hashlib.sha256(image.body).hexdigest(), record
        assert content in image.body, "the layer holds the model as it is"
        with tarfile.open(fileobj=io.BytesIO(image.body)) as tar:
            assert "layer.tar" in tar.getnames() and "manifest.json" in tar.getnames(), tar.getnames()
            with tarfile.open(fileobj=tar.extractfile("layer.tar")) as layer:
                assert layer.extractfile("model/model.onnx").read() == content
        other = client.call("GET", f"{place.path}?digest=sha256:{'0' * 64}")
        assert other.status != 200, "another digest is another image"
        assert herald.Client(server.port, key="wrong").call("GET", f"{place.path}?{place.query}").status == 401
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
