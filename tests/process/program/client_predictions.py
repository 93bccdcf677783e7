"""Property: a prediction is sent as the published client sends it, on one kept connection and without a Content-Type, and answers what that
client reads: JSON, the request's id, and a message where the model could not answer (client_calls.md §7)."""

import contextlib
import gzip
import http.client
import json
import math
import uuid

import herald
import onnx_models
import serving
from client_page import saw, shows

# Sent with every call, credentials included.
HEADERS = {"User-Agent": "python-urllib3/1.26", "Accept-Encoding": "identity", "Grpc-Metadata-source": "PythonClient",
           "Grpc-Metadata-email": herald.ADMIN_EMAIL, "Grpc-Metadata-developer_key": herald.ADMIN_KEY,
           "Grpc-Metadata-developer-key": herald.ADMIN_KEY}


class Predicting:
    """The client's object for a deployed model: an address, a token, one connection."""

    def __init__(self, port, stage):
        self.path, self.token = stage.path, stage.token
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def send(self, body, where="predict", compressed=False, **headers):
        """Status, headers, and the JSON of the answer."""
        text = (body if isinstance(body, str) else json.dumps(body)).encode()
        sent = {**HEADERS, "Access-Token": self.token, **headers}
        if compressed:
            text, sent["Content-Encoding"] = gzip.compress(text), "gzip"
        target = f"/api/v1/{where}{self.path}"
        self.connection.putrequest("POST", target, skip_accept_encoding=True)
        for name, value in {**sent, "Content-Length": str(len(text))}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders(text)
        place = self.connection.sock.getsockname()
        answer = self.connection.getresponse()
        said = answer.read()
        saw("POST", target, body)
        assert self.connection.sock is not None and self.connection.sock.getsockname() == place, "the connection is kept"
        return answer.status, answer.headers, json.loads(said)


@contextlib.contextmanager
def deployed(path, content):
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, path)
        stage.update(serving.build_of(client, client.model("m"), "v1", content))
        yield client, stage, Predicting(server.port, stage)
        assert server.stop() == 0


@shows("7 predict")
def a_prediction_is_answered_as_the_client_reads_it():
    with deployed("/some/path", onnx_models.tiny()) as (_, _, model):
        body = {"x": [list(range(16))], "y": [[1] * 16]}
        status, headers, answer = model.send(body)
        assert status == 200 and sorted(answer) == ["difference", "sum"], answer
        assert uuid.UUID(headers["svc-request-id"]), "an id is made"
        status, headers, _ = model.send(body, **{"verta-request-id": "not visible ASCII"})
        assert status == 200 and uuid.UUID(headers["svc-request-id"]), "what is no id is replaced by one"
        status, headers, again = model.send(body, compressed=True, **{"verta-request-id": "chosen-by-the-caller"})
        assert (status, again) == (200, answer), "the same, compressed"
        assert headers["verta-request-id"] == headers["svc-request-id"] == "chosen-by-the-caller"
        for wrong in ({"x": [[1]]}, [1, 2], "7", '{"x":[[NaN]],"y":[[1]]}', "{"):
            status, headers, answer = model.send(wrong)
            assert status == 400 and answer["message"], "the model's own error, which is not tried again"
            assert headers["svc-request-id"]


@shows("7 predict")
def nan_is_taken_and_given():
    with deployed("/floats", onnx_models.identity(1, [-1])) as (_, _, model):
        status, _, answer = model.send([0.5, math.nan, math.inf, -math.inf, 1e-45])
        assert status == 200 and math.isnan(answer[1]) and answer[0] == 0.5 and answer[2:4] == [math.inf, -math.inf], answer


@shows("7 batch-predict")
def a_table_comes_back_as_a_table():
    with deployed("/table", onnx_models.mlp()) as (client, stage, model):
        width = onnx_models.MLP_WIDTH
        status, _, answer = model.send({"index": ["a", "b"], "columns": [f"c{i}" for i in range(width)], "data": [[0.5] * width] * 2},
                                       "batch-predict")
        assert status == 200 and set(answer) == {"index", "columns", "data"}, answer
        assert answer["index"] == ["a", "b"] and len(answer["data"]) == 2 and len(answer["data"][0]) == len(answer["columns"]), answer
        one = serving.predict(client, stage.path, stage.token, [[0.5] * width]).json
        assert answer["data"][0] == one[0], "the same figures as one by one"


if __name__ == "__main__":
    herald.run()
