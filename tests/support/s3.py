"""A server of S3 for tests (versitygw, fetched once into the build folder), and a proxy before it that does to requests what a
test wants."""

import http.client
import http.server
import pathlib
import socket
import subprocess
import threading
import time

import herald
import tools

KEY, SECRET = "herald-test-key", "herald-test-secret-of-forty-characters..."


class Gateway:
    """versitygw over a folder: buckets are folders, and objects files in them. Raises Unavailable where it cannot be had."""

    def __init__(self, folder, bucket="models", certificate=()):
        """`certificate`: files of one and its key, for TLS."""
        try:
            self.program = tools.tools_for("versitygw") / "bin/versitygw"
        except herald.Unavailable as why:
            raise herald.Unavailable(f"no server of S3 here: {why}") from None
        self.folder = pathlib.Path(folder) / "s3"
        self.bucket = self.folder / "buckets" / bucket
        self.bucket.mkdir(parents=True)
        (self.folder / "metadata").mkdir()
        self.tls = [f"--{name}={file}" for name, file in zip(("cert", "key"), certificate)]
        self.port = herald.free_port()
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "--access", KEY, "--secret", SECRET, "--port", f"127.0.0.1:{self.port}", "--quiet", "--keep-alive", *self.tls,
                 "posix", "--sidecar", self.folder / "metadata", self.folder / "buckets"], stdout=log, stderr=log)

        def listens():
            assert self.process.poll() is None, (self.folder / "log").read_text()[-500:]
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0
        herald.until(listens, 20, "the server of S3 listens")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def files(self, folder="prefix/objects"):
        """The bytes of objects, and the keys that say their digests."""
        where = self.bucket / folder
        files = sorted(file for file in where.rglob("*") if file.is_file()) if where.exists() else []
        return [file for file in files if "-" not in file.name], [file for file in files if "-" in file.name]


class Proxy:
    """Passes requests on to `port`. Before each, `play(method, path)` says what happens to it: None, nothing; a number, it is
    answered with that status and goes no further; ("wait", seconds), it is passed on later; "refuse", the connection is
    closed; "lose", it is passed on and its answer thrown away; ("cut", bytes), the answer is cut off there; "spoil", the last
    byte of the answer's body is changed."""

    def __init__(self, port):
        self.play = lambda method, path: None
        self.seen = []  # (method, path)
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                proxy.seen.append((self.command, self.path))
                what = proxy.play(self.command, self.path)
                if what == "refuse":
                    self.close_connection = True
                    return
                if isinstance(what, int):
                    text = b"<Error><Code>SlowDown</Code><Message>by the proxy</Message></Error>"
                    self.send_response(what)
                    self.send_header("content-length", str(len(text)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(text)
                    return
                if isinstance(what, tuple) and what[0] == "wait":
                    time.sleep(what[1])
                upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
                try:
                    upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                    for name, value in self.headers.items():
                        upstream.putheader(name, value)
                    upstream.endheaders(body)
                    self.answer(upstream.getresponse(), what)
                finally:
                    upstream.close()

            def answer(self, response, what):
                data = response.read()
                if what == "lose":
                    self.close_connection = True
                    return
                self.send_response_only(response.status)
                for name, value in response.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                        self.send_header(name, value)
                length = response.headers.get("content-length") if self.command == "HEAD" else len(data)
                if length is not None and response.status != 204:
                    self.send_header("content-length", str(length))
                self.end_headers()
                if what == "spoil" and data:
                    data = data[:-1] + bytes([data[-1] ^ 1])
                if isinstance(what, tuple) and what[0] == "cut":
                    data = data[:what[1]]
                    self.close_connection = True
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # clients that go away

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def often(self, times, what, *methods, path=""):
        """That many requests of these methods, whose path holds the text, get it; then all is well."""
        left = [times]
        lock = threading.Lock()

        def play(method, asked):
            with lock:
                if left[0] == 0 or (methods and method not in methods) or path not in asked:
                    return None
                left[0] -= 1
                return what
        self.play = play
        return left

    def well(self):
        self.play = lambda method, path: None

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
