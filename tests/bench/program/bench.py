#!/usr/bin/env python3
"""What the whole program costs, each figure beside something measured in the same run.

usage: PYTHONPATH=tests/support tests/bench/program/bench.py read | write [--kafka] | promote [--kafka] | start
  read     GET of a version, 64 connections, Herald on core 0, against nginx with the same answer; CPU µs a request
  write    creating versions at 1, 16, 64, 256 callers (wrk), beside bare appends to the same kind of log
  promote  milliseconds from sending a commit to the PROMOTE's arrival, 200 a second for 30 s
  start    milliseconds until /readyz says yes, memory of an idle standalone
Needs wrk and nginx (deploy/dependencies bench) and build/release.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import threading
import time

import herald

TICKS = os.sysconf("SC_CLK_TCK")


def setup():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    print(f"# {os.cpu_count()} cores {model}, Linux {platform.release()}, {subprocess.check_output([herald.BINARY, 'version'], text=True).strip()}")


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def cpu_us(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / TICKS


def wrk(url, connections, seconds, script=None, headers=()):
    """Requests a second, p50 and p99 in ms, answers other than 200."""
    threads = 1
    command = ["taskset", "-c", "1", "wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--latency"]
    for name, value in headers:
        command += ["-H", f"{name}: {value}"]
    if script:
        command += ["-s", script]
    out = subprocess.check_output([*command, url], text=True)
    scale = {"us": 0.001, "ms": 1, "s": 1000}

    def latency(share):
        number, unit = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", out).groups()
        return float(number) * scale[unit]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1)), latency(50), latency(99), int(bad.group(1)) if bad else 0


NGINX = """
daemon off; worker_processes 1; worker_cpu_affinity 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; server_tokens off; keepalive_requests 100000; default_type application/json;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} reuseport backlog=4096;
    add_header svc-request-id $request_id; add_header svc-registry-offset 1-123;
    location / {{ return 200 '{body}'; }}
  }}
}}
"""


def read(_):
    setup()
    with herald.folder() as folder:
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {0})  # inherited: one event loop on one core
        server = herald.Standalone(folder, "--log-requests", "false")
        os.sched_setaffinity(0, cores)
        client = server.client()
        version = client.version(client.model("m"), "v1")
        path = f"/api/v1/registry/model_versions/{version}"
        body = client.call("GET", path).body.decode()
        port = herald.free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, body=body.replace("'", "")))
        nginx = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf")], stderr=subprocess.DEVNULL)
        herald.until(lambda: herald.Client(port).call("GET", path).status == 200 if pathlib.Path(folder / "nginx.pid").exists() else None,
                     10, "nginx answers")
        worker = int(subprocess.check_output(["pgrep", "-P", str(nginx.pid)], text=True).split()[0])
        headers = list(client.headers.items())
        rates = {"herald": [], "nginx": []}
        costs = {"herald": [], "nginx": []}
        for _ in range(7):
            for name, where, pid in (("herald", server.port, server.process.process.pid), ("nginx", port, worker)):
                before = cpu_us(pid)
                rate, _, _, bad = wrk(f"http://127.0.0.1:{where}{path}", 64, 3, headers=headers)
                assert bad == 0, f"{name}: {bad} answers were not 200"
                rates[name].append(rate)
                costs[name].append((cpu_us(pid) - before) / (rate * 3))
        ratio = statistics.median(h / n for h, n in zip(rates["herald"], rates["nginx"]))
        for name in rates:
            print(f"GET a version, {len(body)} bytes: {name:6} {statistics.median(rates[name]):9.0f}/s  "
                  f"{statistics.median(costs[name]):5.1f} µs CPU a request")
        print(f"ratio herald / nginx: {ratio:.2f} (median of pairs; aim 0.8)")
        nginx.terminate()
        nginx.wait()
        server.stop()


LUA = """
local count, prefix = 0, tostring(%d)
request = function()
  count = count + 1
  return wrk.format("POST", "%s", {%s}, '{"version":"' .. prefix .. "-" .. count .. '"}')
end
"""


def bare(kafka_address, build):
    """Lines of the bare log's own bench, by callers."""
    program = build / ("tests/bench/kafka/kafka_bench" if kafka_address else "tests/bench/log/log_bench")
    if not program.exists():
        print(f"# no {program}: build the tests to see bare appends beside")
        return
    arguments = [kafka_address] if kafka_address else []
    print(subprocess.run([program, *arguments], capture_output=True, text=True).stdout.strip())


def write(options):
    setup()
    with herald.folder() as folder:
        broker = herald.Broker(folder) if options.kafka else None
        bare(broker.address if broker else None, pathlib.Path(herald.BINARY).parent)
        if broker:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0)
            port, stop = cluster.ports[0], cluster.stop
        else:
            server = herald.Standalone(folder, "--log-requests", "false")
            port, stop = server.port, server.stop
        client = herald.Client(port)
        path = f"/api/v1/registry/registered_models/{client.model('m')}/model_versions"
        headers = ", ".join(f'["{name}"]="{value}"' for name, value in
                            {**client.headers, "Content-Type": "application/json"}.items())
        for callers in (1, 16, 64, 256):
            script = folder / "write.lua"
            script.write_text(LUA % (callers, path, headers))
            rate, p50, p99, bad = wrk(f"http://127.0.0.1:{port}{path}", callers, 5, str(script))
            print(f"create version, {'Kafka' if broker else 'embedded'}, {callers:3} callers: {rate:8.0f}/s  p50 {p50:6.2f} ms  "
                  f"p99 {p99:6.2f} ms" + (f"  {bad} answers were not 200" if bad else ""))
        stop()
        if broker:
            broker.stop()


def receive():
    """The other process of `promote`: prints its address, then a line `event time` for each PROMOTE."""
    receiver = herald.Receiver(secret=None)
    print(receiver.url, flush=True)
    sys.stdin.read()
    for delivery in receiver.of_type("PROMOTE"):
        print(delivery.event, delivery.time)


def promote(options):
    setup()
    with herald.folder() as folder:
        if options.kafka:
            broker = herald.Broker(folder)
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
            client, stop = cluster.client(), cluster.stop
        else:
            server = herald.Standalone(folder, "--log-requests", "false")
            client, stop = server.client(), server.stop
        sink = subprocess.Popen([sys.executable, __file__, "receive"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        client.webhook("sink", sink.stdout.readline().strip(), types=("PROMOTE",), secret="")
        approver, model = client.second_admin(), client.model("m")
        total = options.rate * options.seconds
        ready = [(version, client.approved_transition(approver, version))
                 for version in (client.version(model, f"v{number}") for number in range(total))]
        lock, sent, turn = threading.Lock(), {}, iter(enumerate(ready))
        begin = time.monotonic() + 0.5

        def commit():
            mine = herald.Client(client.port)
            while True:
                with lock:
                    number, (version, transition) = next(turn, (None, (None, None)))
                if number is None:
                    return
                time.sleep(max(0, begin + number / options.rate - time.monotonic()))
                now = time.monotonic()
                mine.stage("commit", {"transition_id": transition})
                sent[version] = now

        threads = [threading.Thread(target=commit) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(2)
        again = herald.Client(client.port)
        events = {again.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["event_id"]: at
                  for version, at in sent.items()}
        out, _ = sink.communicate("")
        arrived = {}
        for line in out.splitlines():
            event, at = line.split()
            arrived.setdefault(event, float(at))
        missing = set(events) - set(arrived)
        assert not missing, f"{len(missing)} of {len(events)} events did not come"
        waits = [(arrived[event] - at) * 1000 for event, at in events.items()]
        print(f"commit sent → POST received, {'Kafka' if options.kafka else 'embedded'}, {options.rate}/s for {options.seconds} s: "
              f"p50 {percentile(waits, .5):.2f} ms, p90 {percentile(waits, .9):.2f} ms, p99 {percentile(waits, .99):.2f} ms, "
              f"max {max(waits):.1f} ms (client and receiver are Python on the same {os.cpu_count()} cores)")
        stop()
        if options.kafka:
            broker.stop()


def start(_):
    setup()
    times, memory = [], []
    for again in range(7):
        with herald.folder() as folder:
            before = time.monotonic()
            server = herald.Standalone(folder)
            times.append((time.monotonic() - before) * 1000)
            time.sleep(2)
            status = pathlib.Path(f"/proc/{server.process.process.pid}/status").read_text()
            memory.append(int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024)
            server.stop()
    print(f"start to ready, empty data: median {statistics.median(times):.0f} ms (aim < 300), slowest {max(times):.0f} ms")
    print(f"idle memory (VmRSS after 2 s): median {statistics.median(memory):.1f} MiB (aim < 60)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["read", "write", "promote", "start", "receive"])
    parser.add_argument("--kafka", action="store_true")
    parser.add_argument("--rate", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    if options.what == "receive":
        return receive()
    return {"read": read, "write": write, "promote": promote, "start": start}[options.what](options)


if __name__ == "__main__":
    main()
