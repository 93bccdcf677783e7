"""Property: the Open Inference Protocol's own client, tritonclient[http], works unmodified: health, metadata, JSON and binary tensors."""

import subprocess

import herald
import onnx_models
import serving
from tools import tools_for

CALLS = """
import sys
import numpy
import tritonclient.http as http

client = http.InferenceServerClient(sys.argv[1])
headers = {"Access-token": sys.argv[2]}  # copied for each call: the client writes into it
assert client.is_server_live() and client.is_server_ready()
assert client.get_server_metadata()["name"] == "herald"
assert client.is_model_ready("team.tiny", headers=dict(headers)) and client.is_model_ready("team.tiny", "1", headers=dict(headers))
about = client.get_model_metadata("team.tiny", headers=dict(headers))
assert [each["name"] for each in about["inputs"]] == ["x", "y"], about
x, y = numpy.arange(16, dtype=numpy.int32).reshape(1, 16), numpy.full((1, 16), 3, dtype=numpy.int32)
for binary in (True, False):
    inputs = []
    for name, value in (("x", x), ("y", y)):
        each = http.InferInput(name, value.shape, "INT32")
        each.set_data_from_numpy(value, binary_data=binary)
        inputs.append(each)
    outputs = [http.InferRequestedOutput(name, binary_data=binary) for name in ("sum", "difference")]
    for wanted in (outputs, None):
        answer = client.infer("team.tiny", inputs, outputs=wanted, request_id="7", headers=dict(headers))
        for coding in ("gzip", "deflate"):
            packed = client.infer("team.tiny", inputs, outputs=wanted, headers=dict(headers), request_compression_algorithm=coding,
                                  response_compression_algorithm=coding)
            assert numpy.array_equal(packed.as_numpy("sum"), x + y), coding
        assert answer.get_response()["id"] == "7"
        assert numpy.array_equal(answer.as_numpy("sum"), x + y) and numpy.array_equal(answer.as_numpy("difference"), x - y)
words = numpy.array(["", "a", "\\u00fc"], dtype=object)
for binary in (True, False):
    each = http.InferInput("x", words.shape, "BYTES")
    each.set_data_from_numpy(words, binary_data=binary)
    answer = client.infer("words", [each], outputs=[http.InferRequestedOutput("y", binary_data=binary)],
                          headers={"Access-token": sys.argv[3]})
    found = [word.decode() if isinstance(word, bytes) else word for word in answer.as_numpy("y")]
    assert found == list(words), found
try:
    client.infer("team.tiny", [inputs[0]], headers=dict(headers))
    raise SystemExit("an input was missing, and nothing said so")
except http.InferenceServerException as refusal:
    assert "missing" in str(refusal), refusal
"""


def the_protocols_own_client_works_unmodified():
    python = tools_for("tritonclient") / "bin/python"
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        tokens = []
        for path, name, content in (("/team/tiny", "tiny", onnx_models.tiny()), ("/words", "words", onnx_models.text())):
            stage = serving.Stage(client, path)
            stage.update(serving.build_of(client, client.model(name), "v1", content))
            tokens.append(stage.token)
        asked = subprocess.run([python, "-c", CALLS, f"127.0.0.1:{server.port}", *tokens], capture_output=True, text=True, timeout=300)
        assert asked.returncode == 0, asked.stderr[-2000:]
        server.stop()


if __name__ == "__main__":
    herald.run()
