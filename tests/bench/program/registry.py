#!/usr/bin/env python3
"""What a big registry costs: how it grows, is searched, and moves bytes.

usage: PYTHONPATH=tests/support tests/bench/program/registry.py grow [--versions N] | artifacts [--bytes N] | mlflow --python PYTHON
  grow       N versions (1,000,000) in N/100 models made through HTTP: rate by tenths, memory, disk, finds, GET before and
             after, a start from a snapshot with 50,000 more to apply
  artifacts  one upload and download of N bytes (2,000,000,000), beside nginx: PUT (dav) with a sync of the file, static file
  mlflow     create, get and search of versions with 8 callers, beside MLflow's server, started with that Python
Needs wrk and nginx with dav (deploy/dependencies bench) and build/release.
"""

import argparse
import concurrent.futures
import http.client
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

import herald
from bench import percentile, setup, wrk

REGISTRY = "/api/v1/registry"

# Each thousandth version carries the label "rare"; models get their versions in turn.
GROW = """
local count, models = %d, {%s}
request = function()
  count = count + 1
  local labels = count %% 1000 == 0 and '["rare"]' or '[]'
  return wrk.format("POST", "/api/v1/registry/registered_models/" .. models[count %% #models + 1] .. "/model_versions", {%s},
    '{"version":"v' .. count .. '","labels":' .. labels .. '}')
end
done = function(summary) io.stderr:write("requests " .. summary.requests .. "\\n") end
"""


def memory_mib(pid, kind="VmRSS"):
    return int(re.search(rf"{kind}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def disk_mib(folder):
    return sum(f.stat().st_size for f in pathlib.Path(folder).rglob("*") if f.is_file()) / 1048576


def total(client, **body):
    return int(client.must("POST", f"{REGISTRY}/model_versions/find", {"pagination": {"page_number": 1, "page_limit": 1}, **body})["total_records"])


def milliseconds(call, times=50):
    taken = []
    for _ in range(times):
        before = time.perf_counter()
        call()
        taken.append((time.perf_counter() - before) * 1000)
    return f"p50 {percentile(taken, 0.5):.2f} ms, p99 {percentile(taken, 0.99):.2f} ms"


def grow(options):
    setup()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client, pid = server.client(), server.process.process.pid
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            def make(number):
                own = herald.Client(server.port)
                made = own.must("POST", f"{REGISTRY}/workspaces/default/registered_models", {"name": f"model {number}"})
                own.close()
                return made["registered_model"]["id"]
            models = list(pool.map(make, range(max(1, options.versions // 100))))
        headers = ", ".join(f'["{name}"]="{value}"' for name, value in {**client.headers, "Content-Type": "application/json"}.items())
        script = folder / "grow.lua"

        def grow_once(begin, seconds=4):
            script.write_text(GROW % (begin, ", ".join(f'"{m}"' for m in models), headers))
            return wrk(f"http://127.0.0.1:{server.port}/", 64, seconds, str(script))

        def show_get(id):
            rate, p50, _, bad = wrk(f"http://127.0.0.1:{server.port}{REGISTRY}/model_versions/{id}", 64, 4, headers=list(client.headers.items()))
            print(f"GET of a version: {rate:.0f}/s, p50 {p50:.2f} ms, {bad} bad", flush=True)
        show_get(client.version(models[0], "the first"))
        made, rates, shown = 0, [], 1
        while made < options.versions:
            rate, p50, p99, bad = grow_once(made + 1000 * len(rates))
            made = total(client)
            rates.append((made, rate))
            if made * 10 >= shown * options.versions:
                shown = made * 10 // options.versions + 1
                print(f"{made:9} versions: {rate:7.0f}/s  p50 {p50:5.2f} ms  p99 {p99:6.2f} ms  memory {memory_mib(pid):6.0f} MiB  "
                      f"disk {disk_mib(folder):6.0f} MiB" + (f"  {bad} answers were not 200" if bad else ""), flush=True)
        first = [rate for made, rate in rates if made <= options.versions / 10] or [rates[0][1]]
        last = [rate for made, rate in rates if made >= options.versions * 0.9]
        print(f"last tenth / first: {statistics.mean(last) / statistics.mean(first):.2f} (aim 0.85)")

        def find(page, limit, predicates):
            return client.must("POST", f"{REGISTRY}/model_versions/find", {
                "predicates": predicates, "pagination": {"page_number": page, "page_limit": limit}})
        rare = [{"key": "labels", "value": "rare", "operator": 0}]
        found, token, walked = find(1, 100, rare), "", 0
        while not walked or token:
            page = client.must("POST", f"{REGISTRY}/model_versions/find", {"predicates": rare, "pagination": {"page_limit": 1000, "page_token": token}})
            walked, token = walked + len(page["model_versions"]), page["next_page_token"]
        assert walked == int(found["total_records"]), f"{walked} of {found['total_records']} carry the label"
        print(f"label 'rare': {found['total_records']} in all; first page of 100: {milliseconds(lambda: find(1, 100, rare))} (aim p50 5 ms)")
        print(f"label 'rare', page 90 of 10: {milliseconds(lambda: find(90, 10, rare))}")
        print(f"all versions, page 1,000 of 10: {milliseconds(lambda: find(1000, 10, []))} (aim 20 ms)")
        print(f"all versions, first page of 100: {milliseconds(lambda: find(1, 100, []))}")
        show_get(find(1, 1, rare)["model_versions"][0]["id"])
        print(f"memory {memory_mib(pid):.0f} MiB (highest {memory_mib(pid, 'VmHWM'):.0f}), disk {disk_mib(folder):.0f} MiB")
        # With events in the outbox: a webhook that is switched off hears them all.
        hook = client.must("POST", "/api/v1/uac-proxy/events/createWebhook", {
            "name": "all", "location": f"http://127.0.0.1:{herald.free_port()}/", "event_types": [], "all_events": True, "workspace_id": 1})
        client.must("POST", "/api/v1/uac-proxy/events/setWebhookStatus", {"webhook_id": hook["id"], "status": "DISABLED"})

        def grow_by(count, begin):
            end = total(client) + count
            while total(client) < end:
                grow_once(begin, 1)
                begin += 100_000
        grow_by(50_000, 10 * options.versions)
        before = time.monotonic()
        client.must("POST", "/api/v1/uac-proxy/snapshots", {})
        herald.until(lambda: not client.must("GET", "/api/v1/uac-proxy/snapshots")["is_taking"] or None, 300, "the snapshot is taken")
        print(f"snapshot: {time.monotonic() - before:.1f} s")
        grow_by(50_000, 20 * options.versions)
        time.sleep(1)  # what was under way when wrk left is done
        behind = total(client)
        server.stop()
        for what in ("start again", "start from the snapshot"):
            before = time.monotonic()
            server.start()
            print(f"{what}: {time.monotonic() - before:.1f} s, {total(server.client()) - behind} differ", flush=True)
            server.stop()
            shutil.rmtree(folder / "herald" / "state", ignore_errors=True)


NGINX = """
daemon off; user root; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; client_max_body_size 0;
  client_body_temp_path {folder}/files/tmp; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; dav_methods PUT; location / {{ }} }}
}}
"""


def pieces(count):
    block = os.urandom(1 << 20)
    while count > 0:
        yield block[:count]
        count -= len(block)


def put(url, size):
    host, path = re.match(r"http://([^/]+)(/.*)", url).groups()
    connection = http.client.HTTPConnection(host, timeout=600)
    before = time.monotonic()
    connection.putrequest("PUT", path)
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    for piece in pieces(size):
        connection.send(piece)
    answer = connection.getresponse()
    answer.read()
    assert answer.status in (200, 201, 204), answer.status
    connection.close()
    return time.monotonic() - before


def get(url):
    """With curl: Python would be slower than both servers."""
    before = time.monotonic()
    subprocess.check_call(["curl", "-sSf", "-o", "/dev/null", url])
    return time.monotonic() - before


def artifacts(options):
    setup()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client, highest = server.client(), 0
        version = client.version(client.model("m"), "v1")
        (folder / "files" / "tmp").mkdir(parents=True)
        port = herald.free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
        herald.until(lambda: (folder / "nginx.pid").exists() or None, 10, "nginx runs")
        client.must("PATCH", f"{REGISTRY}/registered_models/1/model_versions/{version}",
                    {"model": {"key": "model", "path": "x/model.bin", "artifact_type": 1}})

        def url(method):
            return server.client().must("POST", f"{REGISTRY}/model_versions/{version}/getUrlForArtifact",
                               {"model_version_id": str(version), "key": "model", "method": method, "artifact_type": 1, "part_number": "1"})["url"]
        times = {"herald PUT": [], "nginx PUT": [], "herald GET": [], "nginx GET": [], "herald GET, first": []}
        for _ in range(3):
            times["herald PUT"].append(put(url("PUT"), options.bytes))
            before = time.monotonic()
            put(f"http://127.0.0.1:{port}/file", options.bytes)
            with open(folder / "files" / "file", "rb") as file:
                os.fsync(file.fileno())
            times["nginx PUT"].append(time.monotonic() - before)
            times["herald GET"].append(get(url("GET")))
            highest = max(highest, memory_mib(server.process.process.pid, "VmHWM"))
            # Started anew, it compares the bytes with their digest while it sends them.
            server.stop()
            server.start()
            times["herald GET, first"].append(get(url("GET")))
            highest = max(highest, memory_mib(server.process.process.pid, "VmHWM"))
            times["nginx GET"].append(get(f"http://127.0.0.1:{port}/file"))
        for what, taken in times.items():
            print(f"{what}: {options.bytes / 1e6 / statistics.median(taken):8.0f} MB/s   ({', '.join(f'{one:.1f}' for one in taken)} s)")
        for what, beside in (("PUT", "PUT"), ("GET", "GET"), ("GET, first", "GET")):
            ratio = statistics.median(n / h for h, n in zip(times[f"herald {what}"], times[f"nginx {beside}"]))
            print(f"{what} herald / nginx: {ratio:.2f} (aim 0.7)")
        print(f"highest memory: {highest:.0f} MiB (aim < 100)")
        nginx.terminate()
        nginx.wait()
        server.stop()


def load(port, headers, calls, callers=8, seconds=5):
    """Calls a second of callers that take turns through calls: (method, path, body by number)."""
    end = time.monotonic() + seconds

    def caller(number):
        connection, done = http.client.HTTPConnection("127.0.0.1", port, timeout=60), 0
        while time.monotonic() < end:
            method, path, body = calls(f"{number}-{done}")
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == 200, text[:300]
            done += 1
        return done
    with concurrent.futures.ThreadPoolExecutor(callers) as pool:
        return sum(pool.map(caller, range(callers))) / seconds


def mlflow(options):
    setup()
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        client = server.client()
        port = herald.free_port()
        other = subprocess.Popen([options.python, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "2",
                                  "--backend-store-uri", f"sqlite:///{folder}/mlflow.db", "--artifacts-destination", str(folder / "a")],
                                 cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        theirs = {"Content-Type": "application/json"}
        api = "/api/2.0/mlflow"

        def answers():
            try:
                return load(port, theirs, lambda _: ("GET", "/health", None), 1, 0.1) is not None
            except (OSError, http.client.HTTPException, AssertionError):
                return None
        herald.until(answers, 120, "MLflow answers")
        ours = {**client.headers, "Content-Type": "application/json"}
        model = client.model("m")
        made = client.version(model, "v1")
        load(port, theirs, lambda _: ("POST", f"{api}/registered-models/create", {"name": f"m{time.time()}"}), 1, 0.01)
        load(port, theirs, lambda _: ("POST", f"{api}/registered-models/create", {"name": "m"}), 1, 0.001)
        load(port, theirs, lambda _: ("POST", f"{api}/model-versions/create", {"name": "m", "source": "s3://b/x"}), 1, 0.001)
        pairs = {
            "create": (lambda n: ("POST", f"{REGISTRY}/registered_models/{model}/model_versions", {"version": n}),
                       lambda n: ("POST", f"{api}/model-versions/create", {"name": "m", "source": f"s3://b/{n}"})),
            "get": (lambda n: ("GET", f"{REGISTRY}/model_versions/{made}", None),
                    lambda n: ("GET", f"{api}/model-versions/get?name=m&version=1", None)),
            "search": (lambda n: ("POST", f"{REGISTRY}/registered_models/{model}/model_versions/find", {"pagination": {"page_number": 1, "page_limit": 20}}),
                       lambda n: ("GET", f"{api}/model-versions/search?filter=name%3D%27m%27&max_results=20", None)),
        }
        for what, (mine, its) in pairs.items():
            a, b = load(server.port, ours, mine), load(port, theirs, its)
            print(f"{what}, 8 callers: herald {a:7.0f}/s, MLflow {b:7.0f}/s, ratio {a / b:.1f}", flush=True)
        os.killpg(other.pid, 15)
        other.wait()
        server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["grow", "artifacts", "mlflow"])
    parser.add_argument("--versions", type=int, default=1_000_000)
    parser.add_argument("--bytes", type=int, default=2_000_000_000)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    {"grow": grow, "artifacts": artifacts, "mlflow": mlflow}[options.what](options)


if __name__ == "__main__":
    main()
