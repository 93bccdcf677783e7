"""Property: the ONNX project's own cases (Debian's libonnx-testdata) are answered over HTTP as they were published: every case that ONNX Runtime loads is registered, built,
deployed and asked in JSON and in the binary form of the Open Inference Protocol; both give what was published. onnx_skipped.txt
names those left out, each with its reason. HERALD_TEST_LONG=1: all of them, otherwise every twentieth."""

import collections
import concurrent.futures
import json
import math
import os
import pathlib
import struct

import herald
import serving

CASES = pathlib.Path("/usr/share/libonnx-testdata/data")
EACH = 1 if os.environ.get("HERALD_TEST_LONG") else 20
WORKERS = 8  # as many as may upload at a time; most of the time is waiting for builds and updates
SKIPPED = pathlib.Path(__file__).with_name("onnx_skipped.txt")

# TensorProto.DataType: its name in the Open Inference Protocol, and how struct calls an element.
TYPES = {1: ("FP32", "f"), 2: ("UINT8", "B"), 3: ("INT8", "b"), 4: ("UINT16", "H"), 5: ("INT16", "h"), 6: ("INT32", "i"),
         7: ("INT64", "q"), 8: ("BYTES", None), 9: ("BOOL", "?"), 10: ("FP16", "e"), 11: ("FP64", "d"), 12: ("UINT32", "I"),
         13: ("UINT64", "Q")}
FORMATS = dict(TYPES.values())


class Tensor:
    def __init__(self, name, kind, shape, values):
        self.name, self.kind, self.shape, self.values = name, kind, shape, values

    def nested(self):
        values = [value.decode() for value in self.values] if self.kind == "BYTES" else list(self.values)
        if not self.shape:
            return values[0]
        for place in range(len(self.shape) - 1, 0, -1):
            count, size = math.prod(self.shape[:place]), self.shape[place]
            values = [values[at * size:(at + 1) * size] for at in range(count)]
        return values

    def raw(self):
        if self.kind == "BYTES":
            return b"".join(struct.pack("<I", len(value)) + value for value in self.values)
        return struct.pack(f"<{len(self.values)}{FORMATS[self.kind]}", *self.values)


# ---- protobuf

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of each field; a value is a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(tag & 7) or varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def whole_numbers(value):
    """Of a repeated field, packed or not."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        one, at = varint(value, at)
        out.append(one)
    return out


def read_tensor(file, name):
    kind, shape, texts, data, numbers = None, [], [], b"", []
    for field, value in fields(file.read_bytes()):
        if field == 1:
            shape += whole_numbers(value)
        elif field == 2:
            kind = TYPES[value]
        elif field in (4, 9, 10):
            data += value
        elif field in (5, 7, 11):
            numbers += whole_numbers(value)
        elif field == 6:
            texts.append(value)
    if kind[0] == "BYTES":
        return Tensor(name, "BYTES", shape, texts)
    size = struct.calcsize(kind[1])
    data += b"".join((number & (1 << 8 * size) - 1).to_bytes(size, "little") for number in numbers)
    return Tensor(name, kind[0], shape, struct.unpack(f"<{len(data) // size}{kind[1]}", data))


# ---- comparing

def is_same(got, wanted):
    """As the ONNX project compares: floats by a relative 1e-3, all else exactly."""
    if isinstance(wanted, list):
        return isinstance(got, list) and len(got) == len(wanted) and all(map(is_same, got, wanted))
    if isinstance(wanted, float):
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        return got == wanted or (math.isnan(got) and math.isnan(wanted)) or abs(got - wanted) <= 1e-5 + 1e-3 * abs(wanted)
    return type(got) is type(wanted) and got == wanted


def check_json(client, stage, inputs, outputs):
    answer = serving.predict(client, stage.path, stage.token, {each.name: each.nested() for each in inputs})
    assert answer.status == 200, answer
    found = answer.json if len(outputs) > 1 else {outputs[0].name: answer.json}
    for each in outputs:
        assert is_same(found[each.name], each.nested()), f"JSON: {each.name} is {str(found[each.name])[:200]}"


def check_binary(client, stage, inputs, outputs):
    raw = [each.raw() for each in inputs]
    head = json.dumps({
        "inputs": [{"name": each.name, "shape": each.shape, "datatype": each.kind, "parameters": {"binary_data_size": len(data)}}
                   for each, data in zip(inputs, raw)],
        "outputs": [{"name": each.name, "parameters": {"binary_data": True}} for each in outputs]}).encode()
    name = stage.path.strip("/")
    answer = client.call("POST", f"/v2/models/{name}/infer", None, {
        "Access-token": stage.token, "Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(len(head))},
        head + b"".join(raw))
    assert answer.status == 200, answer
    size = int(answer.headers["Inference-Header-Content-Length"])
    at = size
    found = {}
    for each in json.loads(answer.body[:size])["outputs"]:
        length = each["parameters"]["binary_data_size"]
        found[each["name"]] = (each["datatype"], each["shape"], answer.body[at:at + length])
        at += length
    assert at == len(answer.body), "there is more than the outputs"
    for each in outputs:
        kind, shape, data = found[each.name]
        assert (kind, shape) == (each.kind, each.shape), f"{each.name} is {kind}{shape}, published was {each.kind}{each.shape}"
        if kind in ("FP16", "FP32", "FP64"):
            values = struct.unpack(f"<{len(each.values)}{FORMATS[kind]}", data)
            assert is_same(list(values), list(each.values)), f"binary: {each.name} is {values[:20]}"
        else:
            assert data == each.raw(), f"binary: {each.name} is {data[:100]}"


# ---- cases

def cases_of(folder):
    return sorted(file.parent for file in folder.rglob("model.onnx"))


def _skipped_cases():
    lines = [line.split(" ", 1) for line in SKIPPED.read_text().splitlines() if line and not line.startswith("#")]
    assert all(len(line) == 2 for line in lines), "a case is skipped without a reason"
    return dict(lines)


def names_of(client, stage):
    """Inputs and outputs as the model declares them, in its order."""
    answer = client.call("GET", f"/v2/models/{stage.path.strip('/')}", None, {"Access-token": stage.token})
    assert answer.status == 200, answer
    return [[each["name"] for each in answer.json[side]] for side in ("inputs", "outputs")]


def run_case(client, stage, model, case, name):
    """False when ONNX Runtime does not load it."""
    record = serving.built(client, serving.version_with_model(client, model, name, (case / "model.onnx").read_bytes()))
    if record["status"] == "error":
        assert "cannot load the model" in record["message"], record
        return False
    stage.update(record["id"], limits={"body_bytes_max": 64 << 20})  # one case takes 20 MB in JSON
    inputs, outputs = names_of(client, stage)
    for data in sorted(case.glob("test_data_set_*")):
        given = [read_tensor(data / f"input_{at}.pb", each) for at, each in enumerate(inputs)]
        wanted = [read_tensor(data / f"output_{at}.pb", each) for at, each in enumerate(outputs)]
        check_binary(client, stage, given, wanted)
        check_json(client, stage, given, wanted)
    return True


class _Worker:
    """Takes case after case to an endpoint of its own."""

    def __init__(self, server, model, number):
        self.client, self.model, self.equal, self.wrong = server.client(), model, 0, []
        self.stage = serving.Stage(self.client, f"/cases{number}")

    def run(self, waiting, skipped):
        while True:
            try:
                case = waiting.popleft()
            except IndexError:
                return self
            name = str(case.relative_to(CASES))
            try:
                if name not in skipped:
                    self.equal += run_case(self.client, self.stage, self.model, case, name.replace("/", "-"))
            except Exception as why:  # one bad case is not to hide the others
                self.wrong.append(f"{name}: {type(why).__name__}: {why}")


def published_cases_give_over_http_what_was_published():
    cases, skipped = cases_of(CASES)[::EACH], _skipped_cases()
    if not cases:
        raise herald.Unavailable(f"there is no {CASES} (libonnx-testdata)")
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        model, waiting = server.client().model("cases"), collections.deque(cases)
        workers = [_Worker(server, model, number) for number in range(WORKERS)]
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as threads:
            done = list(threads.map(lambda worker: worker.run(waiting, skipped), workers))
        server.stop()
    wrong = [each for worker in done for each in worker.wrong]
    equal = sum(worker.equal for worker in done)
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(sorted(wrong))
    assert equal >= 0.8 * len(cases), f"only {equal} of {len(cases)} could be compared"
    print(f"{equal} of {len(cases)} cases give what was published", flush=True)


if __name__ == "__main__":
    herald.run()
