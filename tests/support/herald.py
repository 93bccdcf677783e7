"""Runs the real program for tests: processes, clients and subscribers, all on loopback. Standard library only.

Environment: HERALD_BINARY, the program under test (default build/release/herald).
"""

import base64
import collections
import contextlib
import hashlib
import hmac
import http.client
import http.server
import inspect
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.path.abspath(os.environ.get("HERALD_BINARY", ROOT / "build/release/herald"))
ADMIN_EMAIL = "admin@example.com"
ADMIN_KEY = "0123456789abcdef0123456789abcdef"
SECRET = "whsec_" + base64.b64encode(b"a secret of thirty-two bytes....").decode()
CONNECTION_IDLE_MAX = 20  # s; the server ends one after 30
SKIPPED = 77  # ctest's SKIP_RETURN_CODE of the tests that use this


def until(true, seconds, what):
    """Polls until `true()` gives something true, and returns it; fails when that takes longer than `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = true()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.01)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:300]!r}"


class Client:
    """One user's calls to one node. Not thread-safe: one for each thread."""

    def __init__(self, port, email=ADMIN_EMAIL, key=ADMIN_KEY, timeout=60):
        self.port = port
        self.timeout = timeout
        self.headers = {"Grpc-Metadata-email": email, "Grpc-Metadata-developer_key": key, "Grpc-Metadata-source": "test"}
        self.connection = None
        self.used = 0.0  # when the connection was, last

    def call(self, method, path, body=None, headers=None, raw=None):
        """Any answer; OSError or http.client.HTTPException when there was none."""
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {**self.headers, **({"Content-Type": "application/json"} if data is not None else {}), **(headers or {})}
        if time.monotonic() - self.used > CONNECTION_IDLE_MAX:
            self.close()
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
        try:
            self.connection.request(method, path, data, sent)
            response = self.connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
            self.used = time.monotonic()
            if response.will_close:
                self.close()
            return answer
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def must(self, method, path, body=None, headers=None):
        answer = self.call(method, path, body, headers)
        assert answer.status == 200, f"{method} {path}: {answer}"
        return answer.json

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    # ---- the calls that most tests need
    def user(self, email):
        """A new user with a client of his own."""
        info = self.must("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": email}})["info"]
        return Client(self.port, email, info["dev_key"]), info["verta_info"]["user_id"]

    def second_admin(self, email="second@example.com"):
        client, identity = self.user(email)
        groups = self.must("GET", "/api/v2/uac-proxy/organization/1/groups")["groups"]
        admins = next(group["id"] for group in groups if group["name"] == "Admins")
        self.must("POST", f"/api/v2/uac-proxy/organization/1/groups/{admins}/users", {"user_id": [identity]})
        return client

    def model(self, name):
        return self.must("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": name})["registered_model"]["id"]

    def version(self, model, name, headers=None):
        return self.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions", {"version": name},
                         headers)["model_version"]["id"]

    def webhook(self, name, location, types=("PROMOTE", "REQUEST_SCAN"), secret=SECRET):
        return self.must("POST", "/api/v1/uac-proxy/events/createWebhook",
                         {"name": name, "location": location, "event_types": list(types), "all_events": False,
                          "mutual_secret": secret})["id"]

    def stage(self, verb, body, headers=None):
        return self.must("POST", f"/api/v1/registry/stage/{verb}Transition", body, headers)["activity"]

    def approved_transition(self, approver, version, stage="PRODUCTION"):
        transition = self.stage("create", {"model_version_id": version, "desired_stage": stage})["id"]
        approver.stage("approve", {"transition_id": transition})
        return transition

    def promote(self, approver, version):
        """Returns the PROMOTE event's id."""
        self.stage("commit", {"transition_id": self.approved_transition(approver, version)})
        return self.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["event_id"]


class Process:
    """A process of the program, in a process group of its own; its log is kept for failures."""

    started = []

    def __init__(self, name, arguments, folder, environment=None, descriptors=None, before=()):
        """`descriptors`: the soft and the hard limit. `before`: a command that becomes the program."""
        self.name = name
        self.log_file = pathlib.Path(folder) / f"{name}.log"
        self.log = open(self.log_file, "ab")
        self.process = subprocess.Popen([*before, BINARY, *map(str, arguments)], stdout=self.log, stderr=self.log,
                                        env={**os.environ, **(environment or {})}, start_new_session=True,
                                        preexec_fn=descriptors and (
                                            lambda: resource.setrlimit(resource.RLIMIT_NOFILE, descriptors)))
        Process.started.append(self)

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        return self.process.wait(30) if number != signal.SIGSTOP and number != signal.SIGCONT else None

    def stop(self):
        """SIGTERM; the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.name} did not end within 30 s of SIGTERM:\n{self.tail()}") from None
        finally:
            self.log.close()

    def tail(self, lines=15):
        return "\n".join(self.log_file.read_text("utf-8", "replace").splitlines()[-lines:])

    @property
    def alive(self):
        return self.process.poll() is None


def readiness(port):
    """What /readyz says, or None."""
    try:
        answer = Client(port, timeout=5).call("GET", "/readyz")
        return answer.json if answer.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None


def trouble(port):
    """Why /readyz is 503; None when it is 200. A process that does not listen (yet) is in trouble, too."""
    try:
        answer = Client(port, timeout=5).call("GET", "/readyz")
    except ConnectionRefusedError:
        return "no answer"
    assert answer.status in (200, 503), answer
    return None if answer.status == 200 else answer.json["reason"]


def metric(port, name):
    """Its value at /metrics, the labels as they are shown there; None when there is none."""
    for line in Client(port, timeout=5).call("GET", "/metrics").body.decode().splitlines():
        shown, _, value = line.rpartition(" ")
        if shown == name:
            return float(value)
    return None


def wait_until_ready(process, port, seconds=60):
    def ready():
        assert process.alive, f"{process.name} ended with {process.process.returncode}:\n{process.tail()}"
        return readiness(port)
    try:
        return until(ready, seconds, f"{process.name} is ready")
    except AssertionError as failure:
        raise AssertionError(f"{failure}\n{process.tail()}") from None


class Standalone:
    """`herald standalone` on a data folder; can be killed and started again on it."""

    def __init__(self, folder, *options, descriptors=None, environment=None, port=None):
        self.folder = pathlib.Path(folder)
        self.options = options
        self.descriptors = descriptors
        self.environment = environment or {}
        self.port = port or free_port()
        self.start()

    def start(self):
        self.process = Process("standalone", ["standalone", "--data", self.folder, "--listen", f"127.0.0.1:{self.port}",
                                              "--free-disk-mb", "64", *self.options], self.folder,
                               {"HERALD_ADMIN_EMAIL": ADMIN_EMAIL, "HERALD_ADMIN_KEY": ADMIN_KEY, **self.environment},
                               self.descriptors)
        wait_until_ready(self.process, self.port)

    def client(self):
        return Client(self.port)

    def highest_memory_kib(self):
        status = pathlib.Path(f"/proc/{self.process.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])

    def stop(self):
        return self.process.stop()


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Unavailable(Exception):
    """A test needs what cannot be had here: it is skipped, and says what."""


class Broker:
    """A Kafka made by deploy/kafka. Raises Unavailable when it cannot be had here."""

    class Unavailable(Unavailable):
        def __str__(self):
            return f"no Kafka here: {super().__str__()}"

    def __init__(self, folder, nodes=1, *options):
        self.folder = pathlib.Path(folder) / "kafka"
        self.nodes = nodes
        self.address = self.run("start", "--nodes", str(nodes), "--port", "0", *options)

    def run(self, verb, *options):
        done = subprocess.run([ROOT / "deploy/kafka", verb, "--dir", self.folder, *options], capture_output=True, text=True)
        if done.returncode != 0:
            raise Broker.Unavailable(done.stderr.strip())
        return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""

    def tool(self, name, *arguments, given=""):
        """What one of Kafka's own tools prints, which reads `given`."""
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "herald"
        jars = cache / f"kafka-{os.environ.get('HERALD_KAFKA_VERSION', '3.9.1')}"
        done = subprocess.run(["java", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", name, "--bootstrap-server", self.address,
                               *arguments], input=given, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    def kill(self, node=None):
        """kill -9 of one broker process, or of all; returns when they are gone."""
        for pid in (pids := self.signal(signal.SIGKILL, node)):
            until(lambda: not is_running(pid), 30, f"broker {pid} is gone")

    def signal(self, number, node=None):
        """To one broker process, or to all; their process ids."""
        pids = [int((self.folder / f"node-{each}/pid").read_text()) for each in ([node] if node else range(1, self.nodes + 1))]
        for pid in pids:
            os.kill(pid, number)
        return pids

    def start(self):
        """Those that do not run, at the ports they had."""
        self.run("start", "--nodes", str(self.nodes), "--port", self.address.split(",")[0].rsplit(":", 1)[1])

    def active_controller(self):
        """Its number, as the quorum knows it (Metadata does not tell)."""
        states = [json.loads(file.read_text()) for file in self.folder.glob("node-*/data/__cluster_metadata-0/quorum-state")]
        return max(states, key=lambda one: one["leaderEpoch"])["leaderId"]

    def stop(self):
        self.run("stop")


class Cluster:
    """API nodes and workers on one Kafka, each its own process."""

    def __init__(self, folder, broker, api_nodes=2, workers=2, node_options=()):
        self.folder = pathlib.Path(folder)
        self.node_options = node_options
        self.broker = broker
        self.prefix = f"t{os.getpid()}.{time.monotonic_ns()}."
        self.common = ["--kafka", broker.address, "--topic-prefix", self.prefix, "--key-ring", self.folder / "key-ring"]
        self.init()
        self.ports = [free_port() for _ in range(api_nodes)]
        self.nodes = [None] * api_nodes
        self.workers = [None] * workers
        self.worker_ports = [free_port() for _ in range(workers)]
        for index in range(workers):
            self.start_worker(index)
        for index in range(api_nodes):
            self.start_node(index, wait=False)
        for index in range(api_nodes):
            wait_until_ready(self.nodes[index], self.ports[index])

    def init(self):
        init = Process("init", ["init", *self.common, "--replication", str(self.broker.nodes), "--admin-email", ADMIN_EMAIL,
                                "--admin-key", ADMIN_KEY], self.folder)
        assert init.process.wait(120) == 0, init.tail()

    def sending(self):
        return ["--allow-addresses", "127.0.0.0/8", "--allow-http"]

    def start_node(self, index, wait=True):
        self.nodes[index] = Process(f"api-{index}", ["api", *self.common, *self.sending(), "--artifacts", self.folder / "artifacts",
                                                     "--data", self.folder / f"api-{index}", "--free-disk-mb", "64", *self.node_options,
                                                     "--listen", f"127.0.0.1:{self.ports[index]}"], self.folder)
        if wait:
            wait_until_ready(self.nodes[index], self.ports[index])

    def start_worker(self, index):
        self.workers[index] = Process(f"worker-{index}", ["worker", *self.common, *self.sending(), "--listen",
                                                        f"127.0.0.1:{self.worker_ports[index]}"], self.folder)

    def client(self, index=0):
        return Client(self.ports[index])

    def agree(self, seconds=60):
        """Waits until all nodes show one offset, and checks that they show one hash there."""
        def same_place():
            seen = [readiness(port) for port in self.ports]
            if not all(seen) or len({one["next_offset"] for one in seen}) != 1:
                return None
            return seen
        seen = until(same_place, seconds, "all nodes are at one offset")
        assert len({one["hash"] for one in seen}) == 1, f"nodes differ at one offset: {seen}"
        return seen[0]

    def stop(self):
        codes = [process.stop() for process in self.nodes + self.workers if process and process.alive]
        assert all(code == 0 for code in codes), f"exit codes {codes}"


def verify(headers, body, secret=SECRET):
    """Whether the delivery was signed with the secret (Standard Webhooks 1.0)."""
    key = base64.b64decode(secret[6:])
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return expected in headers["webhook-signature"].split()


Delivery = collections.namedtuple("Delivery", "path id type attempt event body time verified headers")


class Receiver:
    """A subscriber: keeps what came, answers what `answer(delivery)` says (default 200)."""

    def __init__(self, answer=lambda delivery: 200, secret=SECRET):
        self.deliveries = []
        self.lock = threading.Lock()
        taker = self

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                now = time.monotonic()
                body = self.rfile.read(int(self.headers["content-length"]))
                delivery = Delivery(self.path, self.headers["webhook-id"], self.headers["svc-event-type"],
                                    int(self.headers["svc-attempt"] or 0), self.headers["svc-event-id"], body, now,
                                    secret is not None and "webhook-signature" in self.headers and
                                    verify(self.headers, body, secret),
                                    {name.lower(): value for name, value in self.headers.items()})
                with taker.lock:
                    taker.deliveries.append(delivery)
                status = answer(delivery)
                self.send_response(status if isinstance(status, int) else status[0])
                for name, value in ({} if isinstance(status, int) else status[1]).items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        class server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *_):
                pass

        self.server = server(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of_type(self, kind):
        with self.lock:
            return [one for one in self.deliveries if one.type == kind]

    def wait_for(self, count, kind="PROMOTE", seconds=30):
        """Waits until `count` different events of the type came; their ids in order of arrival."""
        def events():
            ids = list(dict.fromkeys(one.event for one in self.of_type(kind)))
            return ids if len(ids) >= count else None
        return until(events, seconds, f"{count} events {kind} at {self.url} (there are {len(self.of_type(kind))})")

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


@contextlib.contextmanager
def folder():
    """A folder of the test's own. Kept, and named, when the test fails; what the test started ends with it."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="herald-test-"))
    try:
        yield path
    except BaseException:
        print(f"kept for a look: {path}", file=sys.stderr)
        raise
    finally:
        for process in Process.started:
            if process.alive:
                process.kill()
        Process.started.clear()
    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def with_receiver(*options, answer=lambda delivery: 200):
    """A standalone, its administrator's client, and a receiver for the webhooks that the test makes."""
    with folder() as path:
        server, receiver = Standalone(path, *options), Receiver(answer)
        yield server, server.client(), receiver
        assert server.stop() == 0
        receiver.stop()


def preloads(test):
    """Marks a test that preloads a library into the program. It is left out of a sanitizer's build, whose own library must
    be the first that is loaded."""
    test.preloads = True
    return test


def tests_of(module):
    """The tests of a file, as they stand in it: its own public functions without arguments."""
    return [value for name, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
            and not inspect.signature(value).parameters]


def run():
    """For the `__main__` of a test file. Runs the file's tests that are named on the command line, or all, and says which
    failed; with --list prints their names instead, each with its marks (CMake makes a ctest case of each line)."""
    tests = tests_of(sys.modules["__main__"])
    wanted = sys.argv[1:]
    if wanted == ["--list"]:
        for test in tests:
            print(test.__name__, *(["preloads"] if hasattr(test, "preloads") else []))
        return
    unknown = set(wanted) - {test.__name__ for test in tests}
    assert not unknown, f"no such tests: {unknown}"
    failed = []
    for test in tests:
        if wanted and test.__name__ not in wanted:
            continue
        start = time.monotonic()
        try:
            test()
            print(f"ok      {test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
        except Unavailable as why:
            print(f"SKIPPED {test.__name__}: {why}", flush=True)
            sys.exit(SKIPPED)
        except BaseException as failure:
            print(f"FAILED  {test.__name__}: {type(failure).__name__}: {failure}", flush=True)
            failed.append(test.__name__)
            if isinstance(failure, KeyboardInterrupt):
                break
    sys.exit(1 if failed else 0)


def numbers(start=1):
    return itertools.count(start)
