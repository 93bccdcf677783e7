#!/usr/bin/env python3
"""What a prediction costs, each figure beside something measured in the same run.

usage: PYTHONPATH=tests/support tests/bench/program/predict.py nginx | others --python PYTHON | routes | batching | swap [--rounds N]
  nginx     the tiny model (two INT32[1,16], sum and difference) at 16 and 64 connections on core 0, against nginx with the same
            headers and body sizes; the p50 that a prediction adds to a constant answer, beside bare Run of ONNX Runtime in a loop
  others    the same model with FastAPI (as bare as it gets, and with body, answer and token checked) and with MLServer, started with
            that Python, each on core 0
  routes    one prediction with 1 and with 10,000 endpoints
  batching  a small MLP at 64 callers, single and in batches of 16: a few that overlap with the reading of the next
  swap      ten interleaved rounds: predictions under changes of version, beside the same CPU load without; memory over N changes
Needs wrk and nginx (deploy/dependencies bench), build/release with its tests, and ONNX Runtime (deploy/onnxruntime).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time

import herald
import onnx_models
import serving
from bench import cpu_us, setup, wrk
from registry import memory_mib

BODY = json.dumps({"x": [list(range(16))], "y": [[1] * 16]})
RUNTIME = pathlib.Path(herald.BINARY).parent / "tests/bench/predict/predict_bench"

POST = """
wrk.method = "POST"
wrk.body = [==[%s]==]
wrk.headers["Access-token"] = "%s"
wrk.headers["Content-Type"] = "application/json"
"""

NGINX = """
daemon off; worker_processes 1; worker_cpu_affinity 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; server_tokens off; keepalive_requests 100000; default_type application/json;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} reuseport backlog=4096;
    {headers}
    location / {{ return 200 '{body}'; }}
  }}
}}
"""

FASTAPI = """
import fastapi, numpy, onnxruntime, sys
options = onnxruntime.SessionOptions(); options.intra_op_num_threads = 1
model = onnxruntime.InferenceSession("{model}", options)
app = fastapi.FastAPI()
@app.post("/predict")
async def predict(request: fastapi.Request):
    body = await request.json()
    found = model.run(None, {{name: numpy.array(body[name], dtype=numpy.int32) for name in ("x", "y")}})
    return {{output.name: value.tolist() for output, value in zip(model.get_outputs(), found)}}
"""

# As its documentation writes a service: what comes and goes is checked, and who asks; Herald does both, too.
CHECKED_FASTAPI = """
import fastapi, numpy, onnxruntime, pydantic, secrets, typing
options = onnxruntime.SessionOptions(); options.intra_op_num_threads = 1
model = onnxruntime.InferenceSession("{model}", options)
Row = typing.Annotated[list[int], pydantic.Field(min_length=16, max_length=16)]
Rows = typing.Annotated[list[Row], pydantic.Field(min_length=1, max_length=1)]
class Asked(pydantic.BaseModel):
    x: Rows
    y: Rows
class Answered(pydantic.BaseModel):
    sum: Rows
    difference: Rows
def checked(access_token: typing.Annotated[str, fastapi.Header()]):
    if not secrets.compare_digest(access_token, "secret"): raise fastapi.HTTPException(401)
app = fastapi.FastAPI()
@app.post("/predict", dependencies=[fastapi.Depends(checked)])
def predict(asked: Asked) -> Answered:
    found = model.run(None, {{"x": numpy.array(asked.x, dtype=numpy.int32), "y": numpy.array(asked.y, dtype=numpy.int32)}})
    return Answered(**{{output.name: value.tolist() for output, value in zip(model.get_outputs(), found)}})
"""

MLSERVER = """
import mlserver, numpy, onnxruntime
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse
class Tiny(mlserver.MLModel):
    async def load(self):
        options = onnxruntime.SessionOptions(); options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession("{model}", options)
        return True
    async def predict(self, request):
        found = self.session.run(None, {{one.name: NumpyCodec.decode_input(one) for one in request.inputs}})
        return InferenceResponse(model_name="tiny", outputs=[
            NumpyCodec.encode_output(output.name, value) for output, value in zip(self.session.get_outputs(), found)])
"""


class Pinned:
    """Herald on core 0 with the tiny model on an endpoint."""

    def __init__(self, folder, *options):
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})  # inherited: one event loop on one core
        self.server = herald.Standalone(folder, "--log-requests", "false", *options)
        os.sched_setaffinity(0, cores)
        self.client, self.pid = self.server.client(), self.server.process.process.pid
        self.model = self.client.model("tiny")
        self.stage = serving.Stage(self.client, "/tiny")
        self.stage.update(serving.build_of(self.client, self.model, "v0", onnx_models.tiny()))
        self.script = pathlib.Path(folder) / "post.lua"
        self.script.write_text(POST % (BODY, self.stage.token))
        self.url = f"http://127.0.0.1:{self.server.port}/api/v1/predict/tiny"

    def answer(self):
        answer = serving.predict(self.client, "/tiny", self.stage.token, None, raw=BODY.encode())
        assert answer.status == 200, answer
        return answer


class Samples:
    def __init__(self):
        self.rates, self.costs, self.p50s = [], [], []

    def take(self, url, connections, pid, script, seconds=3):
        before = cpu_us(pid) if pid else 0
        rate, p50, _, bad = wrk(url, connections, seconds, str(script) if script else None)
        assert bad == 0, f"{url}: {bad} answers were not 200"
        self.rates.append(rate)
        self.p50s.append(p50)
        if pid:
            self.costs.append((cpu_us(pid) - before) / (rate * seconds))

    def __str__(self):
        cost = f"{statistics.median(self.costs):6.2f} µs CPU a request" if self.costs else ""
        return f"{statistics.median(self.rates):9.0f}/s  p50 {statistics.median(self.p50s):.3f} ms  {cost}"


def ratio(mine, its):
    return statistics.median(a / b for a, b in zip(mine, its))


def start_nginx(folder, answer):
    port = herald.free_port()
    kept = [(name, value) for name, value in answer.headers.items() if name.lower() not in (
        "content-type", "content-length", "date", "connection", "server")]
    headers = "\n    ".join(f'add_header {name} "{value}";' for name, value in kept)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, headers=headers, body=answer.body.decode()))
    process = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
    herald.until(lambda: (folder / "nginx.pid").exists() or None, 10, "nginx runs")
    time.sleep(0.3)
    worker = int(subprocess.check_output(["pgrep", "-P", str(process.pid)], text=True).split()[0])
    return process, port, worker


def nginx(_):
    setup()
    with herald.folder() as folder:
        pinned = Pinned(folder)
        process, port, worker = start_nginx(folder, pinned.answer())
        for connections in (16, 64):
            ours, theirs = Samples(), Samples()
            for _ in range(7):
                ours.take(pinned.url, connections, pinned.pid, pinned.script)
                theirs.take(f"http://127.0.0.1:{port}/api/v1/predict/tiny", connections, worker, pinned.script)
            print(f"{connections} connections: herald {ours}\n{connections} connections: nginx  {theirs}")
            print(f"{connections} connections: herald / nginx {ratio(ours.rates, theirs.rates):.2f} in requests (aim 0.85 with the model run), "
                  f"{ratio(ours.costs, theirs.costs):.2f} in CPU", flush=True)
        process.terminate()
        process.wait()
        asked, constant = Samples(), Samples()
        for _ in range(7):
            asked.take(pinned.url, 1, pinned.pid, pinned.script)
            constant.take(pinned.url.replace("/api/v1/predict/tiny", "/v2/health/live"), 1, pinned.pid, None)
        added = statistics.median(mine - its for mine, its in zip(asked.p50s, constant.p50s)) * 1000
        print(f"1 connection: prediction {asked}\n1 connection: constant   {constant}\nadded p50 {added:.1f} µs (aim: bare Run + 5)", flush=True)
        pinned.server.stop()
        print(subprocess.check_output(["taskset", "-c", "0", RUNTIME], text=True).strip())


def others(options):
    setup()
    with herald.folder() as folder:
        pinned = Pinned(folder)
        model = folder / "tiny.onnx"
        model.write_bytes(onnx_models.tiny())
        (folder / "fast.py").write_text(FASTAPI.format(model=model))
        (folder / "checked.py").write_text(CHECKED_FASTAPI.format(model=model))
        (folder / "tiny_model.py").write_text(MLSERVER.format(model=model))
        (folder / "model-settings.json").write_text(json.dumps({"name": "tiny", "implementation": "tiny_model.Tiny"}))
        fast, checked, inference = (herald.free_port() for _ in range(3))
        (folder / "settings.json").write_text(json.dumps({
            "http_port": inference, "grpc_port": herald.free_port(), "metrics_port": herald.free_port(), "parallel_workers": 0, "debug": False}))
        v2 = json.dumps({"inputs": [{"name": name, "shape": [1, 16], "datatype": "INT32", "data": value} for name, value in (
            ("x", list(range(16))), ("y", [1] * 16))]})

        def uvicorn(app, port):
            return [options.python, "-m", "uvicorn", f"{app}:app", "--port", str(port), "--log-level", "warning", "--no-access-log"]
        commands = {"FastAPI, bare": uvicorn("fast", fast), "FastAPI, checked": uvicorn("checked", checked),
                    "MLServer": [str(pathlib.Path(options.python).parent / "mlserver"), "start", str(folder)]}
        places = {"FastAPI, bare": (f"http://127.0.0.1:{fast}/predict", BODY), "FastAPI, checked": (f"http://127.0.0.1:{checked}/predict", BODY),
                  "MLServer": (f"http://127.0.0.1:{inference}/v2/models/tiny/infer", v2)}
        for name, command in commands.items():
            server = subprocess.Popen(["taskset", "-c", "0", *command], cwd=folder, start_new_session=True,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            url, body = places[name]
            script = folder / f"{name}.lua"
            script.write_text(POST % (body, "secret"))
            port = int(url.split(":")[2].split("/")[0])

            def answers():
                try:
                    return herald.Client(port).call("POST", url.split(str(port), 1)[1], raw=body.encode(), headers={"Access-token": "secret"}).status == 200
                except OSError:
                    return None
            herald.until(answers, 120, f"{name} answers")
            ours, theirs = Samples(), Samples()
            for _ in range(5):
                ours.take(pinned.url, 16, pinned.pid, pinned.script)
                theirs.take(url, 16, server.pid, script)
            print(f"16 connections: herald {ours}\n16 connections: {name} {theirs}\nherald / {name}: {ratio(ours.rates, theirs.rates):.1f}", flush=True)
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()
        pinned.server.stop()


def routes(options):
    setup()
    with herald.folder() as folder:
        pinned = Pinned(folder)
        few, many = Samples(), Samples()
        for _ in range(5):
            few.take(pinned.url, 16, pinned.pid, pinned.script)
        for number in range(options.endpoints - 1):
            pinned.client.must("POST", f"{serving.DEPLOYMENT}/endpoints", {"path": f"/other/{number}"})
        for _ in range(5):
            many.take(pinned.url, 16, pinned.pid, pinned.script)
        print(f"1 endpoint: {few}\n{options.endpoints} endpoints: {many}\nCPU many / one: {statistics.median(many.costs) / statistics.median(few.costs):.2f} (aim 1)")
        pinned.server.stop()


def batching(_):
    setup()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        build = serving.build_of(client, client.model("mlp"), "v1", onnx_models.mlp())
        body = json.dumps({onnx_models.MLP_INPUT: [[0.25] * onnx_models.MLP_WIDTH]})
        stages = {}
        for name, settings in (("single", {}), ("batched", {"batching": {"size_max": 16, "delay_ms_max": 1}})):
            stages[name] = serving.Stage(client, f"/{name}")
            stages[name].update(build, **settings)
        samples = {name: Samples() for name in stages}
        for _ in range(7):
            for name, stage in stages.items():
                script = folder / f"{name}.lua"
                script.write_text(POST % (body, stage.token))
                samples[name].take(f"http://127.0.0.1:{server.port}/api/v1/predict/{name}", 64, server.process.process.pid, script)
        for name, taken in samples.items():
            print(f"{name:8} {taken}")
        print(f"batched / single: {ratio(samples['batched'].rates, samples['single'].rates):.2f} (aim 2)")
        server.stop()


class Load:
    """Predictions one after the other on some connections, each checked."""

    def __init__(self, pinned, callers=4):
        self.latencies, self.failed, self.ends = [], [], threading.Event()
        self.pinned = pinned
        self.threads = [threading.Thread(target=self.ask) for _ in range(callers)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        client = herald.Client(self.pinned.server.port)
        while not self.ends.is_set():
            before = time.monotonic()
            answer = serving.predict(client, "/tiny", self.pinned.stage.token, None, raw=BODY.encode())
            self.latencies.append(time.monotonic() - before)
            if answer.status != 200:
                self.failed.append(answer)

    def stop(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()
        assert not self.failed, f"{len(self.failed)} of {len(self.latencies)} failed: {self.failed[0]}"
        return statistics.median(self.latencies)


def swap(options):
    """All builds are made first, so that what grows under the changes is what serves, and not the registry."""
    setup()
    with herald.folder() as folder:
        pinned = Pinned(folder)

        def build(number):
            return serving.build_of(pinned.server.client(), pinned.model, f"v{number}", onnx_models.tiny(number))
        with concurrent.futures.ThreadPoolExecutor(8) as builders:
            builds = list(builders.map(build, range(1, options.rounds + 1)))
        load, memory = Load(pinned), []
        for each in builds:
            pinned.stage.update(each)
            memory.append(memory_mib(pinned.pid))
        load.stop()
        after = memory[min(100, options.rounds // 2):]
        print(f"memory after change 100: {after[0]:.1f} MiB, after {len(memory)}: {after[-1]:.1f} MiB, {100 * (after[-1] / after[0] - 1):+.1f} % (aim +5)",
              flush=True)
        other = serving.Stage(pinned.client, "/other")
        ratios, per_round = [], options.rounds // 10
        for round in range(10):
            load, begun = Load(pinned), time.monotonic()
            for each in builds[round * per_round:(round + 1) * per_round]:
                pinned.stage.update(each)
            took = time.monotonic() - begun
            changing = load.stop()
            # The same calls beside it, to an endpoint that nobody asks for predictions.
            load, begun = Load(pinned), time.monotonic()
            for each in builds[round * per_round:(round + 1) * per_round]:
                other.update(each)
                if time.monotonic() > begun + took:
                    break
            steady = load.stop()
            ratios.append(changing / steady)
            print(f"round {round + 1}: p50 changing {changing * 1e6:.0f} µs, steady {steady * 1e6:.0f} µs", flush=True)
        print(f"changing / steady: median of rounds {statistics.median(ratios):.2f} (aim 1.25); not one failed")
        pinned.server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["nginx", "others", "routes", "batching", "swap"])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--endpoints", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1_000)
    options = parser.parse_args()
    {"nginx": nginx, "others": others, "routes": routes, "batching": batching, "swap": swap}[options.what](options)


if __name__ == "__main__":
    main()
