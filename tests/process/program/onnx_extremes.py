"""Property: whatever a caller sends to a model, the process serves on: each operator of the ONNX project's cases is asked with the ends of its types,
zeros, NaN, sizes as values, and shapes that fit nothing, in the type of the case and in each other type that ONNX Runtime takes. A neighbour
answers all the time, and the memory stays within what runs together may take.

HERALD_TEST_LONG=1: every operator and type; otherwise those that divide, make sizes of values or take nothing empty. HERALD_TEST_SLICE=2/8:
the second of eight parts of that. HERALD_TEST_SEED: of what is random in it."""

import collections
import concurrent.futures
import http.client
import itertools
import json
import math
import os
import random
import struct
import threading
import time

import herald
import onnx_cases
import onnx_models
import serving

LONG = bool(os.environ.get("HERALD_TEST_LONG"))
SEED = int(os.environ.get("HERALD_TEST_SEED", "20261126"))
SLICE, SLICES = map(int, os.environ.get("HERALD_TEST_SLICE", "1/1").split("/"))
WORKERS = 8
RANDOM = 40 if LONG else 20  # random requests to each model
RUN_MEMORY_MB = 64
RUNS_MB = 2 * RUN_MEMORY_MB  # that all of them may take together
# Beside the runs: what runs take without being counted among all, small allocations at a bound, answers under way, the
# registry's own, loads, and what the allocator keeps for its threads.
REST_MB = 768
PREDICTION_S = 20  # that a neighbour's may take on a busy machine
DEADLINE_MS = 1_000
# The operators of the short form, which once ended the process or grew it.
HAZARDOUS = {"Div", "Mod", "ConstantOfShape", "Expand", "Tile", "Range", "Resize", "Pad", "NonZero", "OneHot", "Gather", "GatherND",
             "ScatterND", "ScatterElements", "TopK", "Slice", "Reshape", "Split", "CumSum", "BitShift", "Trilu", "EyeLike", "Compress",
             "Unique", "MaxUnpool", "Upsample", "ReverseSequence", "BlackmanWindow", "DFT", "STFT", "Col2Im", "Pow", "RoiAlign", "InstanceNormalization", "ConvTranspose", "GRU", "LSTM", "RNN"}
WITH_GRAPHS = {"Loop", "Scan", "If"}  # the types of the inner ones would not change along

KINDS = {name: number for number, (name, _) in onnx_cases.TYPES.items()}
LIMITS = {"UINT8": (0, 2**8 - 1), "UINT16": (0, 2**16 - 1), "UINT32": (0, 2**32 - 1), "UINT64": (0, 2**64 - 1),
          "INT8": (-2**7, 2**7 - 1), "INT16": (-2**15, 2**15 - 1), "INT32": (-2**31, 2**31 - 1), "INT64": (-2**63, 2**63 - 1)}
LARGEST = {"FP16": 65504.0, "FP32": 3.4028234663852886e38, "FP64": 1.7976931348623157e308}
# As sizes: what fits easily, what fits into no run's memory, what overflows when it is multiplied.
SIZES = (3, 1_000, 20_000_000, 2**31 - 1, 2**31, 2**33, 2**62)


# ---- models

def put(number, value):
    return onnx_models.number(number, value) if isinstance(value, int) else onnx_models.chunk(number, value)


def changed(message, **by_field):
    """The message with the value of each field, as `f7`, made anew by a function; None drops it."""
    out = b""
    for number, value in onnx_cases.fields(message):
        made = by_field.get(f"f{number}", lambda same: same)(value)
        if made is not None:
            out += put(number, made)
    return out


def graph_of(model):
    return next(value for number, value in onnx_cases.fields(model) if number == 7)


def parts(message, number):
    return [value for field, value in onnx_cases.fields(message) if field == number]


def operators(model):
    return {parts(node, 4)[0].decode() for node in parts(graph_of(model), 1)}


def kind_of(value):
    """The type of an input or output, as a number; 0 when it is no tensor."""
    tensors = parts(parts(value, 2)[0], 1)
    return parts(tensors[0], 1)[0] if tensors and parts(tensors[0], 1) else 0


def main_kind(model):
    inputs = parts(graph_of(model), 11)
    return kind_of(inputs[0]) if inputs else 0


def with_kind(model, old, new):
    """Inputs and outputs of the type `old` get the type `new`; all inputs get free dimensions and outputs lose theirs."""
    free = itertools.count()

    def tensor(keeps_rank):
        def change(old_tensor):
            kind = parts(old_tensor, 1)[0]
            dims = sum(len(parts(each, 1)) for each in parts(old_tensor, 2))
            shape = onnx_models.chunk(2, b"".join(onnx_models.chunk(1, onnx_models.chunk(2, f"d{next(free)}")) for _ in range(dims)))
            return onnx_models.number(1, new if kind == old else kind) + (shape if keeps_rank else b"")
        return change

    def value(keeps_rank):
        return lambda old_value: changed(old_value, f2=lambda of: changed(of, f1=tensor(keeps_rank)))
    return changed(model, f7=lambda graph: changed(graph, f11=value(True), f12=value(False), f13=lambda _: None))


# ---- values

def converted(values, kind):
    if kind == "BYTES":
        return [value if isinstance(value, bytes) else str(value).encode() for value in values]
    numbers = [0 if isinstance(value, bytes) else value for value in values]
    if kind == "BOOL":
        return [bool(value) for value in numbers]
    if kind in LIMITS:
        low, high = LIMITS[kind]
        return [min(max(int(value) if math.isfinite(value) else 0, low), high) for value in numbers]
    return [max(-LARGEST[kind], min(LARGEST[kind], float(value))) for value in numbers]


def extremes(kind):
    if kind == "BYTES":
        return [b"", b"x" * 10_000, b"\xff\xfe", b"0", b"-9223372036854775808", b"nan"]
    if kind == "BOOL":
        return [False, True]
    if kind in LIMITS:
        low, high = LIMITS[kind]
        return sorted({low, high, 0, max(low, -1), 1, low + 1} | {each for each in SIZES if each <= high})
    return [0.0, -0.0, -1.0, 1.0, LARGEST[kind], -LARGEST[kind], math.inf, -math.inf, math.nan, 6e-8]


def filled(tensor, value):
    return onnx_cases.Tensor(tensor.name, tensor.kind, tensor.shape, [value] * len(tensor.values))


def shaped(tensor, shape):
    count = math.prod(shape)
    cycle = itertools.cycle(tensor.values or converted([1], tensor.kind))
    return onnx_cases.Tensor(tensor.name, tensor.kind, list(shape), [next(cycle) for _ in range(count)])


def shapes(rank):
    if rank == 0:
        return []
    return [[0] * rank, [1] * rank, [2] + [1] * (rank - 1), [1] * (rank - 1) + [0], [1] * (rank - 1) + [1_000],
            [3_000] + [1] * (rank - 1), [7, 5, 3, 2, 1, 1, 1, 1][:rank] if rank <= 8 else [1] * rank]


def requests(inputs):
    """Lists of inputs, the first as it was published."""
    yield "as published", inputs
    for at, each in enumerate(inputs):
        for value in extremes(each.kind):
            yield f"{each.name} = {value!r:.40}", [*inputs[:at], filled(each, value), *inputs[at + 1:]]
        for shape in shapes(len(each.shape)):
            yield f"{each.name} of {shape}", [*inputs[:at], shaped(each, shape), *inputs[at + 1:]]
    if len(inputs) < 2:
        return
    for place in range(12):
        ends = [extremes(each.kind) for each in inputs]
        yield f"all extreme {place}", [filled(each, end[(place * (at + 1)) % len(end)])
                                       for at, (each, end) in enumerate(zip(inputs, ends))]
    for shape in shapes(max(len(each.shape) for each in inputs)):
        yield f"all of {shape}", [shaped(each, shape[:len(each.shape)]) for each in inputs]


def random_requests(inputs, source):
    """Without end: shapes of all inputs that match or do not, with zeros among them; values from the ends, near zero, or as published."""
    lengths = (0, 0, 1, 1, 2, 3, 4, 5, 7, 16, 33, 100)
    while True:
        same = [source.choice(lengths) for _ in range(max((len(each.shape) for each in inputs), default=0))]
        is_same = source.random() < 0.3
        made = []
        for each in inputs:
            shape = same[:len(each.shape)] if is_same else list(each.shape)
            if not is_same and shape and source.random() < 0.5:
                shape[source.randrange(len(shape))] = source.choice(lengths)
            if not is_same and source.random() < 0.3:
                shape = [source.choice(lengths) for _ in shape]
            if math.prod(shape) > 20_000:
                shape = list(each.shape)
            count, ends = math.prod(shape), extremes(each.kind)
            if source.random() < 0.5:
                made.append(shaped(each, shape))
            elif source.random() < 0.5:
                made.append(onnx_cases.Tensor(each.name, each.kind, shape, [source.choice(ends)] * count))
            else:
                near = converted([-3, -2, -1, 0, 1, 2, 3, 5, 10, 100], each.kind) + ends
                made.append(onnx_cases.Tensor(each.name, each.kind, shape, [source.choice(near) for _ in range(count)]))
        yield "random " + " ".join(f"{each.kind}{each.shape}" for each in made), made


# ---- the trial

Trial = collections.namedtuple("Trial", "name model inputs")


def _trials():
    """For each operator and type one case."""
    seen = set()
    for case in onnx_cases.cases_of(onnx_cases.CASES):
        model = (case / "model.onnx").read_bytes()
        used = operators(model)
        if not (LONG or used & HAZARDOUS) or len(model) > 1 << 20:
            continue
        if case.parent.name == "node" and len(used) > 1 and case.name.endswith("_expanded"):
            continue  # the operators that it is made of have cases of their own
        old = main_kind(model)
        if old not in onnx_cases.TYPES:
            continue
        for new in onnx_cases.TYPES if LONG and not used & WITH_GRAPHS else [old]:
            key = (frozenset(used), old if new == old else 0, new, len(parts(graph_of(model), 11)))
            if key in seen:
                continue
            seen.add(key)
            data = case / "test_data_set_0"
            names = [parts(each, 1)[0].decode() for each in parts(graph_of(model), 11)]
            try:
                inputs = [onnx_cases.read_tensor(data / f"input_{at}.pb", name) for at, name in enumerate(names)]
            except (OSError, KeyError, IndexError, TypeError, struct.error):
                continue  # it takes what is no tensor
            kind = onnx_cases.TYPES[new][0]
            inputs = [onnx_cases.Tensor(each.name, kind, each.shape, converted(each.values, kind)) if KINDS[each.kind] == old else each
                      for each in inputs]
            yield Trial(f"{case.parent.name}-{case.name}-{kind}", with_kind(model, old, new), inputs)


def body_of(inputs):
    raw = [each.raw() for each in inputs]
    head = json.dumps({"inputs": [{"name": each.name, "shape": each.shape, "datatype": each.kind,
                                   "parameters": {"binary_data_size": len(data)}} for each, data in zip(inputs, raw)]}).encode()
    return head + b"".join(raw), len(head)


class Worker:
    """Takes trial after trial to an endpoint of its own."""

    def __init__(self, server, model, number):
        self.server, self.client, self.model = server, server.client(), model
        self.stage = serving.Stage(self.client, f"/extreme{number}")
        self.now, self.asked, self.loaded, self.wrong, self.counts = "", 0, 0, [], collections.Counter()

    def ask(self, inputs):
        body, head = body_of(inputs)
        return self.client.call("POST", f"/v2/models/{self.stage.path.strip('/')}/infer", None, {
            "Access-token": self.stage.token, "Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(head)}, body)

    def run_trial(self, trial):
        self.now = f"{trial.name}: build"
        record = serving.built(self.client, serving.version_with_model(self.client, self.model, trial.name, trial.model))
        if record["status"] == "error":
            return
        self.stage.begin_update(record["id"], limits={"body_bytes_max": 64 << 20, "deadline_ms": DEADLINE_MS})
        ended = self.stage.ended()
        if ended["status"] != "active" or ended["components"][0]["build_id"] != record["id"]:
            self.wrong.append(f"{trial.name}: {str(ended)[:500]}")
            return
        self.loaded += 1
        source = random.Random(f"{SEED} {trial.name}")
        for what, inputs in itertools.chain(requests(trial.inputs), itertools.islice(random_requests(trial.inputs, source), RANDOM)):
            self.now = f"{trial.name}: {what}"
            answer = self.ask(inputs)
            self.asked += 1
            self.counts[answer.status] += 1
            if answer.status not in (200, 400, 429, 503, 504):
                self.wrong.append(f"{self.now}: {answer}")
            if answer.status == 503 and b"out of service" in answer.body:
                return

    def run(self, waiting):
        while self.server.process.alive:
            try:
                trial = waiting.popleft()
            except IndexError:
                break
            try:
                self.run_trial(trial)
            except (AssertionError, OSError, http.client.HTTPException) as why:
                self.wrong.append(f"{self.now}: {type(why).__name__}: {str(why)[:300]}")
        self.now = ""
        return self


class Neighbour:
    """Asks another endpoint all the time."""

    def __init__(self, server, model):
        self.client = server.client()
        self.stage = serving.Stage(self.client, "/neighbour")
        self.stage.update(serving.build_of(self.client, model, "neighbour", onnx_models.tiny()))
        self.longest, self.answers, self.wrong, self.is_over = 0.0, 0, [], threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        body = {name: [[1] * 16] for name in ("x", "y")}
        while not self.is_over.wait(0.05):
            begin = time.monotonic()
            try:
                answer = serving.predict(self.client, self.stage.path, self.stage.token, body)
                if answer.status != 200:
                    self.wrong.append(str(answer))
            except (OSError, http.client.HTTPException) as why:
                self.wrong.append(repr(why))
                return
            self.longest = max(self.longest, time.monotonic() - begin)
            self.answers += 1

    def stop(self):
        self.is_over.set()
        self.thread.join()


def no_operator_with_extreme_values_ends_the_process_or_grows_it():
    serving.need_onnx()
    all_trials = list(_trials())[SLICE - 1::SLICES]
    if not all_trials:
        raise herald.Unavailable(f"there is no {onnx_cases.CASES} (libonnx-testdata)")
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--run-memory-mb", RUN_MEMORY_MB)
        model = server.client().model("extremes")
        neighbour = Neighbour(server, model)
        workers = [Worker(server, model, number) for number in range(WORKERS)]
        waiting = collections.deque(all_trials)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as threads:
            done = [threads.submit(worker.run, waiting) for worker in workers]
            while not all(each.done() for each in done):
                now = [worker.now for worker in workers]
                time.sleep(0.05)
                if not server.process.alive:
                    break
            last = [f"{before} / {worker.now}" for before, worker in zip(now, workers)]
        neighbour.stop()
        is_alive = server.process.alive
        grown_mb = server.highest_memory_kib() // 1024 if is_alive else 0
        assert is_alive, f"the process ended with {server.process.process.returncode}, at one of:\n" + "\n".join(last) + \
            f"\nHERALD_TEST_SEED={SEED}\n{server.process.tail()}"
        assert server.stop() == 0
    asked, loaded = (sum(getattr(worker, name) for worker in workers) for name in ("asked", "loaded"))
    counts = sum((worker.counts for worker in workers), collections.Counter())
    print(f"{asked} requests to {loaded} of {len(all_trials)} models: {dict(counts)}; {grown_mb} MB at most; the neighbour answered "
          f"{neighbour.answers} times within {neighbour.longest:.2f} s", flush=True)
    wrong = [each for worker in workers for each in worker.wrong] + [f"the neighbour: {each}" for each in neighbour.wrong]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(sorted(wrong)[:100])
    assert loaded >= 10 and counts[400] > 0 and counts[200] > 0, "too few models were asked"
    assert grown_mb <= RUNS_MB + REST_MB, f"{grown_mb} MB"
    assert neighbour.longest < PREDICTION_S, f"the neighbour waited {neighbour.longest:.1f} s"


if __name__ == "__main__":
    herald.run()
