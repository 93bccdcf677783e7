"""What the published client does with the bytes of artifacts (client_calls.md §4), for tests. Standard library only."""

import contextlib
import hashlib
import http.client
import os
import socket
import urllib.parse

import herald

REGISTRY = "/api/v1/registry"


class Versions:
    """Versions of one model, and their artifacts, as the published client handles them: each call on a connection of its own."""

    in_parts = False  # whether clients are told to upload in parts

    def __init__(self, server, client=None):
        self.server = server
        self.client = client or server.client()
        self.model = None

    def must(self, *call):
        return self.client.must(*call)

    def new(self, name, **fields):
        self.model = self.model or self.must("POST", f"{REGISTRY}/workspaces/default/registered_models", {"name": "m"})["registered_model"]["id"]
        return self.must("POST", f"{REGISTRY}/registered_models/{self.model}/model_versions",
                         {"version": name, "lock_level": 1, "stage": 0, **fields})["model_version"]["id"]

    def read(self, version):
        return self.must("GET", f"{REGISTRY}/model_versions/{version}")["model_version"]

    def path(self, version):
        return f"{REGISTRY}/registered_models/{self.model}/model_versions/{version}"

    def add(self, version, key, path=None):
        """The client's way: the record with the grown list, or the model alone."""
        entry = {"key": key, "path": path or f"{'0' * 64}/{key}.bin", "artifact_type": 1 if key == "model" else 4, "filename_extension": "bin"}
        if key == "model":
            return self.must("PATCH", self.path(version), {"model": {**entry, "serialization": "cloudpickle", "artifact_subtype": "sklearn"}})
        row = self.read(version)
        kept = [each for each in row["artifacts"] if each["key"] != key]
        return self.must("PUT", self.path(version), {**row, "stage": 5, "lock_level": 1, "artifacts": [*kept, entry]})

    def ask(self, version, key, method, part=0, client=None):
        return (client or self.client).call("POST", f"{REGISTRY}/model_versions/{version}/getUrlForArtifact",
                                            {"model_version_id": version, "key": key, "method": method, "artifact_type": 4,
                                             "part_number": str(part)})

    def url(self, version, key, method, part=0, client=None):
        answer = self.ask(version, key, method, part, client)
        assert answer.status == 200, answer
        assert answer.json["multipart_upload_ok"] is (self.in_parts and method == "PUT") and answer.json["fields"] == {}, answer
        return answer.json["url"]

    def put(self, version, key, data, part=1):
        return used(self.url(version, key, "PUT", part), "PUT", data)

    def get(self, version, key, headers=None):
        return used(self.url(version, key, "GET"), "GET", headers=headers)

    def restart(self):
        """The server, after a kill -9."""
        self.server.process.kill()
        self.start()

    def start(self):
        self.server.start()
        self.client = self.server.client()

    def state(self):
        return herald.readiness(self.server.port)["hash"]


def used(url, method, data=None, headers=None, chunked=False):
    """What a client does with a URL: no Content-Type, and any headers."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
    try:
        body = iter([data[:10_000], data[10_000:]]) if chunked else data
        connection.request(method, f"{parts.path}?{parts.query}", body, headers or {}, encode_chunked=chunked)
        response = connection.getresponse()
        return herald.Answer(response.status, response.headers, response.read())
    finally:
        connection.close()


def must(answer):
    assert answer.status in (200, 206), answer
    return answer


def refused(answer, status, code, *words):
    assert answer.status == status and answer.json["code"] == code, answer
    for word in words:
        assert word in answer.json["message"], answer


def raw_put(server, url, head, data, hang_up=True):
    """A PUT by hand; the answer, if any came."""
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
        try:
            connection.sendall(f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode() + data)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass  # it has answered before the end
        received = b""
        while True:
            try:
                more = connection.recv(65_536)
            except ConnectionError:
                break
            if not more:
                break
            received += more
        return received


def begun(url, method, lines="", receive_buffer=None):
    """A request by hand that goes on until its connection is closed."""
    parts = urllib.parse.urlsplit(url)
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(30)
    connection.connect((parts.hostname, parts.port))
    connection.sendall(f"{method} {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
    return connection


def uploading(url):
    """An upload that was told to go on, and stops in its middle, when some of it is in a file of the store."""
    connection = begun(url, "PUT", "Content-Length: 1000000\r\nExpect: 100-continue\r\n")
    assert connection.recv(1000).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b"x" * 600_000)
    return connection


def stored_files(server):
    return files_of_bytes(server.folder / "herald/artifacts")


def files_of_bytes(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock" and file.name != "owner")


@contextlib.contextmanager
def serving(*keys):
    """A standalone, and a version of it with these artifacts."""
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        versions = Versions(server)
        version = versions.new("v")
        for key in keys:
            versions.add(version, key)
        yield server, versions, version
        assert server.stop() == 0


def _piece_by_piece(url, method, body=None, headers=None):
    """The answer, whose body is still to be read."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
    connection.request(method, f"{parts.path}?{parts.query}", body, headers or {})
    return connection.getresponse()


def passes_in_little_memory(versions, version, key, restarts=(False,)):
    """200 MB go up and come down again; with HERALD_TEST_LONG 2 GB. Before a download the server may be killed."""
    size = 2_000_000_000 if os.environ.get("HERALD_TEST_LONG") else 200_000_000
    piece = os.urandom(1_000_000)
    digest = hashlib.sha256()

    def pieces():
        for _ in range(size // len(piece)):
            digest.update(piece)
            yield piece
    with _piece_by_piece(versions.url(version, key, "PUT"), "PUT", pieces(), {"Content-Length": str(size)}) as response:
        assert response.headers["etag"] == f'"{digest.hexdigest()}"', response.read()
    for restart in restarts:
        if restart:
            versions.restart()
        got = hashlib.sha256()
        with _piece_by_piece(versions.url(version, key, "GET"), "GET") as response:
            while data := response.read(1_000_000):
                got.update(data)
        assert got.digest() == digest.digest()
        peak = versions.server.highest_memory_kib()
        assert peak < 200_000, f"{peak} KiB"
