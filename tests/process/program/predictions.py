"""Property: a model answers each request in its form, bit for bit, and what cannot be answered is refused with its reason (wire.md §6)."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import struct

import herald
import onnx_models
import serving

X, Y = list(range(16)), [1] * 16


@contextlib.contextmanager
def tiny(path="/team/tiny", **settings):
    """A server with the tiny model (x, y → sum and difference) at the path."""
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        stage = serving.Stage(client, path)
        stage.update(serving.build_of(client, client.model("tiny"), "v1", onnx_models.tiny()), **settings)
        yield server, client, stage
        server.stop()


def ask(client, stage, body, **headers):
    return serving.predict(client, stage.path, stage.token, None, headers, raw=body if isinstance(body, bytes) else json.dumps(body).encode())


def infer(client, stage, head, binary=b"", **headers):
    body = json.dumps(head).encode()
    sent = {"Access-token": stage.token, **headers}
    if binary:
        sent["Inference-Header-Content-Length"] = str(len(body))
    return client.call("POST", f"/v2/models/{stage.path[1:].replace('/', '.')}/infer", headers=sent, raw=body + binary)


def is_refused(answer, status, *texts):
    assert answer.status == status, answer
    message = answer.json.get("message") or answer.json["error"]
    assert all(text in message for text in texts), (texts, message)


def named_inputs_are_answered_by_the_names_of_outputs_with_the_eight_headers():
    with tiny() as (_, client, stage):
        answer = ask(client, stage, {"y": [Y], "x": [X]})
        assert answer.status == 200, answer
        assert sorted(answer.json.values()) == sorted([[[x + 1 for x in X]], [[x - 1 for x in X]]]), answer
        told = {name: answer.headers[name] for name in (
            "svc-build-id", "svc-endpoint-id", "svc-endpoint-owner-id", "svc-endpoint-owner-name", "svc-endpoint-path",
            "svc-model-name", "svc-model-version", "svc-request-id")}
        assert told["svc-endpoint-path"] == "/team/tiny" and told["svc-model-name"] == "tiny" and told["svc-model-version"] == "v1", told
        assert told["svc-endpoint-id"] == stage.endpoint
        for name in ("svc-request-id", "verta-request-id"):
            assert ask(client, stage, {"x": [X], "y": [Y]}, **{name: "my-own"}).headers[name] == "my-own", name


def rows_tables_and_compressed_bodies_are_taken():
    with tiny() as (_, client, stage):
        expected = ask(client, stage, {"x": [X], "y": [Y]}).json
        assert ask(client, stage, [{"x": X, "y": Y}]).json == expected, "a list of row objects"
        packed = gzip.compress(json.dumps({"x": [X], "y": [[1.0] * 16]}).encode())
        assert ask(client, stage, packed, **{"Content-Encoding": "gzip"}).json == expected, "gzip; 1.0 for an integer"
        is_refused(ask(client, stage, b"no gzip", **{"Content-Encoding": "gzip"}), 400, "gzip")
        is_refused(ask(client, stage, packed, **{"Content-Encoding": "br"}), 415, "br")
        bomb = gzip.compress(b" " * (17 << 20))
        is_refused(ask(client, stage, bomb, **{"Content-Encoding": "gzip"}), 413, "16777216")
        table = client.call("POST", f"/api/v1/batch-predict{stage.path}", {"index": ["a"], "columns": ["x", "y"], "data": [[X, Y]]},
                            {"Access-token": stage.token})
        assert table.status == 200 and table.json["index"] == ["a"] and len(table.json["data"][0]) == len(table.json["columns"]) == 32, table
        is_refused(client.call("POST", f"/api/v1/batch-predict{stage.path}", {"columns": ["x"]}, {"Access-token": stage.token}), 400, "split")


def what_does_not_fit_is_refused_naming_input_expected_and_found():
    with tiny() as (_, client, stage):
        for body, texts in (
                (b"", ("JSON",)), (b"[", ("JSON",)), (b"7", ("2 inputs",)), ({"x": [X]}, ('"y"', "missing", "INT32 [1,16]")),
                ({"x": [X], "y": [Y], "z": 1}, ('"z"', '"x"', '"y"')), ({"x": [X], "y": [Y[:15]]}, ('"y"', "INT32 [1,16]", "[1,15]")),
                ({"x": [X, X], "y": [Y]}, ('"x"', "[2,16]")), ({"x": X, "y": [Y]}, ('"x"', "depth 1")),
                ({"x": [[X]], "y": [Y]}, ('"x"', "deeper")), ({"x": [X, [1]], "y": [Y]}, ('"x"', "different lengths")),
                ({"x": [["a"] * 16], "y": [Y]}, ('"x"', "INT32", "integer")), ({"x": [[0.5] * 16], "y": [Y]}, ('"x"', "0.5")),
                ({"x": [[2 ** 31] * 16], "y": [Y]}, ('"x"', "2147483648")), ({"x": [[None] * 16], "y": [Y]}, ('"x"', "null")),
                (b'{"x":[[NaN,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]],"y":[[1]]}', ('"x"', "NaN")),
                (b'{"x":1,"x":2}', ("x",)), ([{"x": X, "y": Y}, 7], ("row 1",)), ([{"x": X}], ('"y"', "row 0"))):
            is_refused(ask(client, stage, body), 400, *texts)
        assert ask(client, stage, {"x": [X], "y": [Y]}).status == 200


def tokens_paths_and_methods_are_judged_before_the_body():
    with tiny() as (server, client, stage):
        other = serving.Stage(client, "/other")
        good = {"x": [X], "y": [Y]}
        is_refused(serving.predict(client, stage.path, other.token, good), 403, "another endpoint")
        is_refused(serving.predict(client, stage.path, "nobody's", good), 401, "Access-token")
        is_refused(client.call("POST", f"/api/v1/predict{stage.path}", good), 401, "missing")
        is_refused(serving.predict(client, "/nothing", stage.token, good), 404, "/nothing")
        is_refused(serving.predict(client, "/other", other.token, good), 400, "nothing has been deployed")
        refused = client.call("GET", f"/api/v1/predict{stage.path}")
        assert refused.status == 405 and refused.headers["svc-endpoint-path"] == stage.path, refused.headers
        is_refused(client.call("POST", "/v2/models/none/infer", good, {"Access-token": stage.token}), 404, "none")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.putrequest("POST", f"/api/v1/predict{stage.path}")
        connection.putheader("Content-Length", "1000000")
        connection.endheaders()
        assert connection.getresponse().status == 401, "without a byte of the body"
        connection.close()


def limits_of_an_update_hold():
    with tiny(limits={"body_bytes_max": 1000, "in_flight_max": 1}) as (_, client, stage):
        assert ask(client, stage, {"x": [X], "y": [Y]}).status == 200
        is_refused(ask(client, stage, b" " * 1001), 413)
        is_refused(serving.predict(client, stage.path, "nobody's", None, raw=b" " * 1001), 401, "Access-token")
        assert client.call("POST", "/api/v1/uac-proxy/events/createWebhook", raw=b" " * 2 ** 21).status == 413
        assert herald.Client(client.port, key="wrong").call("POST", "/api/v1/uac-proxy/events/createWebhook", raw=b" " * 2 ** 21).status == 401


def floats_strings_and_free_shapes_come_back_as_they_are():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        stage = serving.Stage(client, "/text")
        stage.update(serving.build_of(client, client.model("text"), "v1", onnx_models.text()))
        name = client.call("GET", "/v2/models/text", headers={"Access-token": stage.token}).json["inputs"][0]
        texts = ["", "a", "ü€", "\"\\\n"]
        answer = ask(client, stage, texts)
        assert answer.status == 200 and answer.json == texts, (answer, name)
        server.stop()


def requests_that_come_together_run_together_and_each_is_answered_as_if_alone():
    rows = [[(seed * 37 + at * 11) % 97 / 97 for at in range(onnx_models.MLP_WIDTH)] for seed in range(64)]
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        stage = serving.Stage(client, "/mlp")
        build = serving.build_of(client, client.model("mlp"), "v1", onnx_models.mlp())
        stage.update(build)
        alone = [ask(client, stage, [row]).body for row in rows]
        stage.update(build, batching={"size_max": 16, "delay_ms_max": 50})
        with concurrent.futures.ThreadPoolExecutor(32) as callers:
            together = list(callers.map(lambda row: ask(server.client(), stage, [row]), rows))
        assert [answer.body for answer in together] == alone, "bit for bit"
        batches, batched = (herald.metric(server.port, f'herald_prediction_batch{name}_total{{build="{build}"}}') for name in ("es", "_rows"))
        assert batched == len(rows) and batches < len(rows) / 2, (batches, batched)

        sums = serving.build_of(client, client.model("sums"), "v1", onnx_models.cumulative_sum())
        stage.begin_update(sums, batching={"size_max": 16, "delay_ms_max": 50})
        record = stage.ended()
        assert record["status"] == "error" and "batch" in record["components"][-1]["message"], record
        assert ask(client, stage, [rows[0]]).body == alone[0], "the one before serves on"
        server.stop()


def answers_larger_than_can_be_given_are_refused_and_the_node_lives():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        stage = serving.Stage(client, "/shapes")
        stage.update(serving.build_of(client, client.model("shapes"), "v1", onnx_models.of_shape()))
        assert ask(client, stage, {"shape": [2, 3]}).json == [[False] * 3] * 2
        assert ask(client, stage, {"shape": [2, 0]}).json == [[], []]
        for shape, text in (([10 ** 12, 0], "empty lists"), ([2 ** 62, 0], "empty lists"), ([10 ** 7, 1], "larger than 33554432 bytes")):
            is_refused(ask(client, stage, {"shape": shape}), 400, text)
            table = client.call("POST", f"/api/v1/batch-predict{stage.path}", {"columns": ["shape"], "data": [[each] for each in shape]},
                                {"Access-Token": stage.token})
            is_refused(table, 400, text)
        head = {"inputs": [{"name": "shape", "datatype": "INT64", "shape": [2], "data": [10 ** 7, 1]}]}
        is_refused(infer(client, stage, head), 400, "larger than 33554432 bytes")
        assert ask(client, stage, {"shape": [1, 1]}).json == [[False]], "the node serves on"
        server.stop()


def what_is_asked_of_a_model_counts_as_no_prediction():
    with tiny() as (server, client, stage):
        def counted():
            shown = client.call("GET", "/metrics").body.decode().splitlines()
            return sum(float(line.split()[-1]) for line in shown if line.startswith("herald_predictions_total{"))
        before = counted()
        model = f"/v2/models/{stage.path[1:].replace('/', '.')}"
        for path in (model, f"{model}/ready", f"{model}/versions/1/ready", f"{model}/versions/99"):
            for token in (stage.token, "nonsense"):
                assert client.call("GET", path, headers={"Access-Token": token}).status in (200, 401, 404), path
        assert counted() == before
        assert ask(client, stage, {"y": [Y], "x": [X]}).status == 200
        assert counted() == before + 1


def the_v2_protocol_is_spoken_in_json_and_in_binary():
    with tiny() as (_, client, stage):
        assert client.call("GET", "/v2").json["extensions"] == ["binary_tensor_data"]
        assert client.call("GET", "/v2/health/live").status == 200 and client.call("GET", "/v2/health/ready").status == 200
        about = client.call("GET", "/v2/models/team.tiny", headers={"Access-token": stage.token}).json
        assert about["name"] == "team.tiny" and about["versions"] == ["1"], about
        assert {each["name"]: (each["datatype"], each["shape"]) for each in about["inputs"]} == {
            "x": ("INT32", [1, 16]), "y": ("INT32", [1, 16])}, about
        assert client.call("GET", "/v2/models/team.tiny/versions/1/ready", headers={"Access-token": stage.token}).status == 200
        assert client.call("GET", "/v2/models/team.tiny/versions/9/ready", headers={"Access-token": stage.token}).status == 404
        assert client.call("GET", "/v2/models/team.tiny").status == 401
        head = {"id": "7", "inputs": [{"name": name, "datatype": "INT32", "shape": [1, 16], "data": data} for name, data in (("x", X), ("y", [Y]))]}
        answer = infer(client, stage, head)
        assert answer.status == 200 and answer.json["id"] == "7" and answer.json["model_version"] == "1", answer
        by_name = {each["name"]: each["data"] for each in answer.json["outputs"]}
        assert sorted(by_name.values()) == sorted([[x + 1 for x in X], [x - 1 for x in X]]), by_name
        binary = b"".join(struct.pack("<16i", *values) for values in (X, Y))
        wanted = sorted(by_name)
        head = {"inputs": [{"name": name, "datatype": "INT32", "shape": [1, 16], "parameters": {"binary_data_size": 64}} for name in ("x", "y")],
                "outputs": [{"name": wanted[0], "parameters": {"binary_data": True}}, {"name": wanted[1]}]}
        answer = infer(client, stage, head, binary)
        assert answer.status == 200, answer
        cut = int(answer.headers["Inference-Header-Content-Length"])
        said = json.loads(answer.body[:cut])
        assert list(struct.unpack("<16i", answer.body[cut:])) == by_name[wanted[0]], said
        assert said["outputs"][1]["data"] == by_name[wanted[1]], said
        for change, texts in ((lambda h: h["inputs"].pop(), ("missing", '"y"')), (lambda h: h["inputs"][0].update(datatype="FP32"), ("INT32", "FP32")),
                              (lambda h: h["inputs"][0].update(shape=[16]), ("[1,16]", "[16]")),
                              (lambda h: h["inputs"][0]["parameters"].update(binary_data_size=63), ("63",)),
                              (lambda h: h["inputs"][0]["parameters"].update(binary_data_size=1000), ("1000",)),
                              (lambda h: h["inputs"][0].update(name="z"), ('"z"',)), (lambda h: h["outputs"][0].update(name="z"), ('"z"',)),
                              (lambda h: h.pop("inputs"), ("inputs",))):
            wrong = json.loads(json.dumps(head))
            change(wrong)
            is_refused(infer(client, stage, wrong, binary), 400, *texts)
        is_refused(infer(client, stage, head, binary + b"x"), 400, "1 byte")
        assert "code" not in infer(client, stage, {}).json, "errors of v2 have one member"


if __name__ == "__main__":
    herald.run()
