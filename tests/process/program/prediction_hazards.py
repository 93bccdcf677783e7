"""Property: values that a processor cannot divide and sizes that no machine has refuse a prediction and say why; the process, its other endpoints and
its memory are as before. What a model gives beyond JSON is told in a header."""

import concurrent.futures
import contextlib
import gzip
import http.client
import json
import math
import pathlib
import signal
import struct

import herald
import onnx_models
import serving


@contextlib.contextmanager
def running(models, *options):
    """(server, {name: stage}) with each model at an endpoint of its own."""
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder, *options)
        client = server.client()
        registered = client.model("m")
        stages = {}
        for name, content in models.items():
            stages[name] = serving.Stage(client, f"/{name}")
            stages[name].update(serving.build_of(client, registered, name, content))
        yield server, stages
        assert server.stop() == 0


def ask(stage, body, headers=None):
    return serving.predict(stage.client, stage.path, stage.token, body, headers)


def named(operator, inputs, name):
    return onnx_models.node(operator, inputs, ("y",)) + onnx_models.chunk(3, name)


def division(operator, kind, name="ratio"):
    inputs = [onnx_models.value(each, kind, ("N",)) for each in ("a", "b")]
    return onnx_models.model(onnx_models.graph([named(operator, ("a", "b"), name)], inputs, [onnx_models.value("y", kind, ("N",))]))


def by_constant(divisor):
    return onnx_models.model(onnx_models.graph(
        [named("Div", ("a", "d"), "halved")], [onnx_models.value("a", onnx_models.INT64, ("N",))],
        [onnx_models.value("y", onnx_models.INT64, ("N",))], [onnx_models.weight("d", onnx_models.INT64, (), struct.pack("<q", divisor))]))


def integers_that_cannot_be_divided_refuse_the_request_and_twice_take_the_model_out_of_service():
    lowest = {onnx_models.INT32: -2**31, onnx_models.INT64: -2**63}
    models = {f"{operator}{kind}": division(operator, kind) for operator in ("Div", "Mod") for kind in lowest}
    with running({**models, "constant": by_constant(-1), "neighbour": onnx_models.tiny()}) as (server, stages):
        for kind, least in lowest.items():
            for operator in ("Div", "Mod"):
                stage = stages[f"{operator}{kind}"]
                refused = ask(stage, {"a": [least, 6], "b": [-1, 3]})
                assert refused.status == 400 and f'operator {operator} "ratio"' in refused.json["message"], refused
                good = ask(stage, {"a": [6, 7], "b": [3, 2]})
                assert good.status == 200 and good.json == ([2, 3] if operator == "Div" else [0, 1]), good
                for _ in range(3):
                    refused = ask(stage, {"a": [1], "b": [0]})
                    assert refused.status == 400 and operator in refused.json["message"] and "by zero" in refused.json["message"], refused
                assert ask(stage, {"a": [least], "b": [-1]}).status == 400
                out = ask(stage, {"a": [6], "b": [3]})
                assert out.status == 503 and "out of service" in out.json["message"] and operator in out.json["message"], out
                ready = stage.client.call("GET", f"/v2/models{stage.path}/ready", None, {"Access-token": stage.token})
                assert ready.status == 503 and "out of service" in ready.json["error"], ready
        refused = ask(stages["constant"], {"a": [-2**63]})
        assert refused.status == 400 and 'operator Div "halved"' in refused.json["message"], refused
        assert ask(stages["constant"], {"a": [7]}).json == [-7]
        rows = [[1] * 16]
        assert ask(stages["neighbour"], {"x": rows, "y": rows}).status == 200
        assert "model_out_of_service" in server.process.log_file.read_text()


def a_run_that_would_take_more_than_its_memory_is_refused_with_the_operator():
    huge = 200_000_000  # times four bytes
    with running({"many": onnx_models.many(), "neighbour": onnx_models.tiny()}, "--run-memory-mb", 64) as (server, stages):
        before = server.highest_memory_kib()
        for _ in range(5):
            refused = ask(stages["many"], {"count": [huge]})
            assert refused.status == 400, refused
            assert "operator ConstantOfShape" in refused.json["message"] and "64 MiB (--run-memory-mb)" in refused.json["message"], refused
        assert ask(stages["many"], {"count": [3]}).json == [0, 0, 0]
        grown = server.highest_memory_kib() - before
        assert grown < 100 << 10, f"{grown} KiB"
        rows = [[1] * 16]
        assert ask(stages["neighbour"], {"x": rows, "y": rows}).status == 200


def _without_elements():
    """ONNX Runtime reads where there is nothing when all flags are true; it is warmed up with zeros."""
    nodes = [onnx_models.node("Not", ("flags",), ("kept",)), onnx_models.node("Compress", ("x", "kept"), ("some",), axis=3),
             onnx_models.node("ConvTranspose", ("some", "w"), ("y",))]
    return onnx_models.model(onnx_models.graph(
        nodes, [onnx_models.value("x", onnx_models.FLOAT, (1, 1, 3, 3, 3)), onnx_models.value("flags", onnx_models.BOOL, ("N",))],
        [onnx_models.value("y", onnx_models.FLOAT, ("A", "B", "C", "D", "E"))],
        [onnx_models.weight("w", onnx_models.FLOAT, (1, 2, 3, 3, 3), onnx_models.pseudo_random_floats(54, 1))]))


def a_model_whose_runs_end_the_process_twice_is_not_loaded_again_until_its_mark_is_removed():
    x = [[[[[1] * 3] * 3] * 3]]
    rows = {name: [[1] * 16] for name in ("x", "y")}
    with running({"bad": _without_elements(), "neighbour": onnx_models.tiny()}) as (server, stages):
        bad, neighbour = stages["bad"], stages["neighbour"]
        mark = pathlib.Path(server.folder) / "herald" / "loads" / f"build-{bad.record()['components'][0]['build_id']}-runs"

        def answer(stage, body):
            stage.client = server.client()
            try:
                return ask(stage, body)
            except (OSError, http.client.HTTPException):
                return herald.Answer(0, {}, b"")

        def start_again():
            server.process = herald.Process("standalone", ["standalone", "--data", server.folder, "--listen", f"127.0.0.1:{server.port}",
                                                           "--free-disk-mb", "64"], server.folder)
            herald.until(lambda: answer(neighbour, rows).status == 200, 60, "the other endpoint answers")
        for ends in (1, 2):
            herald.until(lambda: answer(bad, {"x": x, "flags": [False] * 3}).status == 200, 60, "the model answers")
            assert answer(bad, {"x": x, "flags": [True] * 3}).status == 0
            assert server.process.process.wait(30) == -signal.SIGSEGV
            assert mark.stat().st_size == ends
            start_again()
        herald.until(lambda: b"running the model ended the process of this node 2 times" in answer(bad, {"x": x, "flags": [False] * 3}).body, 30,
                     "the endpoint says why it does not answer")
        mark.unlink()
        herald.until(lambda: answer(bad, {"x": x, "flags": [False] * 3}).status == 200, 60, "it is loaded again")


def numbers_that_json_does_not_know_are_told_of_and_null_for_strict_readers():
    log = onnx_models.model(onnx_models.graph([onnx_models.node("Log", ("x",), ("y",))], [onnx_models.value("x", onnx_models.FLOAT, ("N",))],
                                              [onnx_models.value("y", onnx_models.FLOAT, ("N",))]))
    strict = {"Accept": "application/json; strict"}
    with running({"log": log}) as (_, stages):
        stage = stages["log"]
        plain = ask(stage, [1.0])
        assert plain.body == b"[0]" and "svc-warning" not in plain.headers, plain
        odd = ask(stage, [1.0, -1.0, 0.0])
        assert odd.body in (b"[0,NaN,-Infinity]", b"[0,-NaN,-Infinity]") and "NaN or Infinity" in odd.headers["svc-warning"], odd
        read = ask(stage, [1.0, -1.0, 0.0], strict)
        assert json.loads(read.body, parse_constant=None) == [0, None, None] and "null stands" in read.headers["svc-warning"], read
        v2 = {"inputs": [{"name": "x", "shape": [2], "datatype": "FP32", "data": [1.0, -1.0], "parameters": None}], "id": None, "outputs": None}
        at = f"/v2/models{stage.path}/infer"
        token = {"Access-token": stage.token}
        for headers in ({}, strict, {"Accept": "*/*"}):
            got = stage.client.call("POST", at, v2, {**token, **headers})
            assert got.status == 200 and got.json["outputs"][0]["data"] == [0, None] and "id" not in got.json, got
            assert b"NaN" not in got.body and "null stands" in got.headers["svc-warning"], got
        exact = stage.client.call("POST", at, {**v2, "parameters": {"binary_data_output": True}}, token)
        assert struct.unpack("<f", exact.body[-8:-4]) == (0.0,) and math.isnan(struct.unpack("<f", exact.body[-4:])[0]), exact
        assert "svc-warning" not in exact.headers, exact


def inputs_with_different_numbers_of_rows_are_named():
    kinds = [onnx_models.value(name, onnx_models.FLOAT, ("N", 1)) for name in ("area", "rooms", "age")]
    joined = onnx_models.model(onnx_models.graph([onnx_models.node("Concat", ("area", "rooms", "age"), ("y",), axis=1)], kinds,
                                                 [onnx_models.value("y", onnx_models.FLOAT, ("N", 3))]))
    with running({"joined": joined}) as (_, stages):
        body = {"area": [[1], [2]], "rooms": [[1]], "age": [[1]]}
        refused = ask(stages["joined"], body)
        assert refused.status == 400 and '"area" 2, "rooms" 1, "age" 1' in refused.json["message"], refused
        assert "Concat" not in refused.json["message"], refused
        assert ask(stages["joined"], {name: [[1], [2]] for name in body}).status == 200


def bodies_that_are_read_take_no_more_memory_than_their_budget_and_what_never_fits_is_refused_with_it():
    texts = onnx_models.model(onnx_models.graph([onnx_models.node("Shape", ("x",), ("y",))], [onnx_models.value("x", onnx_models.STRING, ("N",))],
                                                [onnx_models.value("y", onnx_models.INT64, (1,))]))
    with running({"texts": texts}, "--requests-memory-mb", "80") as (server, stages):
        def sent(mebibytes, headers=None):
            body = b'{"x":[' + b'"",' * (mebibytes * 1024 * 1024 // 3) + b'""]}'
            with contextlib.closing(herald.Client(server.port)) as client:
                return serving.predict(client, "/texts", stages["texts"].token, None, headers,
                                       gzip.compress(body, 1) if headers else body)
        for headers in (None, {"Content-Encoding": "gzip"}):
            never = sent(12, headers)
            assert never.status == 413 and "83886080 (--requests-memory-mb)" in never.json["message"], never
            assert "Retry-After" not in never.headers, never.headers
            assert sent(2, headers).status == 200
        before = server.highest_memory_kib()
        with concurrent.futures.ThreadPoolExecutor(12) as together:
            answers = list(together.map(sent, [3] * 24))
        assert {each.status for each in answers} <= {200, 429}, answers
        assert all("Retry-After" in each.headers for each in answers if each.status == 429), answers
        assert server.highest_memory_kib() - before < 160 * 1024, (before, server.highest_memory_kib())


if __name__ == "__main__":
    herald.run()
