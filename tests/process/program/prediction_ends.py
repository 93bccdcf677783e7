"""Property: a prediction ends at its deadline, with its caller and with its node, however long the model takes; what is refused says so in the form of its path, with the
endpoint's headers (wire.md §1, §6)."""

import contextlib
import gzip
import http.client
import json
import select
import threading
import time

import herald
import onnx_models
import serving
from upstream import Model, served


@contextlib.contextmanager
def running(path, content, **settings):
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        stage = serving.Stage(client, path)
        stage.update(serving.build_of(client, client.model("m"), "v1", content), **settings)
        yield server, client, stage
        server.stop()


def begun(server, stage, body):
    """A connection that has sent its request."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", f"/api/v1/predict{stage.path}", json.dumps(body), {"Access-token": stage.token})
    return connection


@herald.alone
def a_prediction_that_waits_behind_one_long_operator_ends_at_its_deadline():
    with running("/long", onnx_models.one_long_operator(), limits={"deadline_ms": 1000}) as (server, _, stage):
        asked = time.monotonic()
        answer = begun(server, stage, [2500, 2500]).getresponse()
        said, took = json.loads(answer.read()), time.monotonic() - asked
        assert answer.status == 504 and said["code"] == 4 and "deadline" in said["message"], (answer.status, said)
        assert 0.9 < took < 3, took
        assert answer.headers["svc-build-id"], "with the eight headers"


@herald.computes
def a_caller_who_leaves_frees_his_place_and_the_run():
    with running("/slow", onnx_models.slow(), limits={"in_flight_max": 2, "deadline_ms": 60000}) as (server, client, stage):
        left = [begun(server, stage, [10 ** 12]) for _ in range(2)]

        def all_wait():
            """What was asked to see whether there is a place had one itself: then one of the others was refused, and asks again."""
            for at, each in enumerate(left):
                if select.select([each.sock], [], [], 0.2)[0]:
                    each.close()
                    left[at] = begun(server, stage, [10 ** 12])
            return serving.predict(client, stage.path, stage.token, [1]).status == 429 or None
        herald.until(all_wait, 10, "all places are taken")
        refused = client.call("POST", "/v2/models/slow/infer", {}, {"Access-token": stage.token})
        assert refused.status == 429 and list(refused.json) == ["error"] and refused.headers["Retry-After"] and refused.headers["svc-build-id"], refused
        refused = serving.predict(client, stage.path, stage.token, [1])
        assert refused.json["code"] == 8 and refused.headers["svc-endpoint-path"] == "/slow" and refused.headers["Retry-After"], refused
        for each in left:
            each.close()
        herald.until(lambda: serving.predict(client, stage.path, stage.token, [1]).status == 200 or None, 5, "the places are free")


def a_caller_who_leaves_ends_the_exchange_with_the_models_server():
    gone = threading.Event()

    def silent(handler):
        handler.connection.settimeout(20)
        if handler.connection.recv(1) == b"":
            gone.set()
    upstream = Model(silent=silent)
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false", "--allow-upstream-addresses", "127.0.0.0/8")
        stage = served(server.client(), server.client().model("m"), "silent", upstream.url + "/silent")
        asking = begun(server, stage, 1)
        herald.until(lambda: upstream.asked or None, 10, "the server was asked")
        asking.close()
        assert gone.wait(5), "the connection to the model's server is closed"
        server.stop()
    upstream.stop()


@herald.alone
def a_node_that_is_told_to_end_does_so_while_a_prediction_runs():
    with running("/long", onnx_models.one_long_operator()) as (server, client, stage):
        asking = begun(server, stage, [6000, 6000])
        herald.until(lambda: herald.metric(server.port, "herald_http_connections") >= 1 or None, 5, "it is connected")
        told = time.monotonic()
        answers = []

        def read():
            with contextlib.suppress(OSError, http.client.HTTPException):
                answers.append(asking.getresponse().status)
        reader = threading.Thread(target=read)
        reader.start()
        assert server.stop() == 0
        assert time.monotonic() - told < 11, time.monotonic() - told
        reader.join()
        assert answers == [503], answers


def an_answer_that_is_too_large_is_refused_for_good():
    with running("/many", onnx_models.many(), limits={"deadline_ms": 60000}) as (_, client, stage):
        for count in (9 << 20, 20 << 20):
            answer = serving.predict(client, stage.path, stage.token, [count])
            assert answer.status == 400 and answer.json["code"] == 9 and "fewer rows or outputs" in answer.json["message"], answer
            assert answer.headers["svc-build-id"]
        assert len(serving.predict(client, stage.path, stage.token, [1 << 20]).json) == 1 << 20


def refusals_have_the_endpoints_headers_and_the_form_of_their_path():
    with running("/team/tiny", onnx_models.tiny(), limits={"body_bytes_max": 1000}) as (_, client, stage):
        other = serving.Stage(client, "/other")
        large = b" " * 2000
        for status, path, headers, body in (
                (401, "/api/v1/predict/team/tiny", {}, b"1"), (403, "/api/v1/predict/team/tiny", {"Access-token": other.token}, b"1"),
                (413, "/api/v1/predict/team/tiny", {"Access-token": stage.token}, large), (413, "/v2/models/team.tiny/infer", {"Access-token": stage.token}, large),
                (415, "/api/v1/predict/team/tiny", {"Access-token": stage.token, "Content-Encoding": "br"}, b"1")):
            answer = client.call("POST", path, headers=headers, raw=body)
            assert answer.status == status and answer.headers["svc-endpoint-path"] == "/team/tiny", (status, answer, answer.headers)
            assert ("code" in answer.json) != path.startswith("/v2"), answer
        unknown = client.call("POST", "/api/v1/predict/unknown", headers={"Access-token": stage.token}, raw=b" " * (3 << 20))
        assert unknown.status == 404 and "svc-request-id" in unknown.headers, unknown
        wrong = client.call("GET", "/api/v1/predict/team/tiny")
        assert wrong.status == 405 and wrong.headers["Allow"] == "POST", wrong
        wrong = client.call("POST", "/v2/health/live", {})
        assert wrong.status == 405 and wrong.headers["Allow"] == "GET, HEAD", wrong
        head = client.call("HEAD", "/v2")
        assert head.status == 200 and head.body == b"", head


def encoded_paths_lead_where_plain_ones_do_and_each_answer_names_its_id():
    with running("/team/tiny~1", onnx_models.tiny()) as (_, client, stage):
        body = {"x": [list(range(16))], "y": [[1] * 16]}
        for path in ("/api/v1/predict/team%2Ftiny~1", "/api/v1/predict/team/tiny%7E1", "/api/v1/predict/team/tiny~1"):
            answer = client.call("POST", path, body, {"Access-token": stage.token})
            assert answer.status == 200 and answer.headers["verta-request-id"] == answer.headers["svc-request-id"], (path, answer)
        assert client.call("GET", "/v2/models/team%2Etiny%7E1", headers={"Access-token": stage.token}).status == 200
        assert client.call("POST", "/api/v1/predict/team%2", body, {"Access-token": stage.token}).status == 400
        echoed = client.call("POST", f"/api/v1/predict{stage.path}", body, {"Access-token": stage.token, "verta-request-id": "own"})
        assert echoed.headers.get_all("verta-request-id") == ["own"], echoed.headers


@herald.computes
def large_predictions_that_wait_keep_no_report_out():
    with running("/slow", onnx_models.slow(), limits={"deadline_ms": 60000}) as (server, client, stage):
        asking = []
        for _ in range(6):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            connection.request("POST", f"/api/v1/predict{stage.path}", b"[1000000000000" + b" " * (15 << 20) + b"]", {"Access-token": stage.token})
            asking.append(connection)
        unsafe = serving.report(client, stage.record()["components"][0]["build_id"], "unsafe")
        assert unsafe["safety_status"] == "unsafe", unsafe
        packed = gzip.compress(b"[1" + b" " * (15 << 20) + b"]")
        assert serving.predict(client, stage.path, stage.token, None, {"Content-Encoding": "gzip"}, raw=packed).status == 403
        for each in asking:
            each.close()


if __name__ == "__main__":
    herald.run()
