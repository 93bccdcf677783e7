"""Property: a build with an upstream_url is answered by that server: it is sent the body and the request's id and nothing of the caller,
and what comes back is its status by the table of wire.md §6, its type and its body; its silence and its size are bounded."""

import gzip
import http.client
import http.server
import json
import threading
import time

import herald
import serving


class Model:
    """An HTTP server that keeps what it is asked and answers by the table `answers`: path → (status, headers, body), seconds of silence, or what writes the answer by itself."""

    def __init__(self, **answers):
        self.asked, self.connections = [], 0
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                model.connections += 1

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                model.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                what = answers[self.path.strip("/")]
                if callable(what):
                    return what(self)
                if isinstance(what, (int, float)):
                    time.sleep(what)
                    what = (200, {}, b"late")
                status, headers, answer = what
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                try:
                    self.wfile.write(answer)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def served(client, model, name, url, **settings):
    """A stage that is answered at this URL."""
    record = serving.built(client, client.version(model, name), external_location=f"image-{name}", upstream_url=url)
    assert record["status"] == "finished", record
    stage = serving.Stage(client, f"/{name}")
    stage.update(record["id"], **settings)
    return stage


def the_server_is_sent_the_body_and_the_requests_id_and_nothing_of_the_caller():
    with herald.folder() as folder:
        model = Model(good=(201, {"Content-Type": "text/csv", "Set-Cookie": "a=b", "X-Secret": "1", "Server": "torch"}, b"1,2"))
        server = herald.Standalone(folder)
        client = server.client()
        stage = served(client, client.model("m"), "good", f"{model.url}/good")
        answer = serving.predict(client, "/good", stage.token, None, {
            "Content-Type": "text/plain", "Cookie": "c=d", "Grpc-Metadata-developer_key": "k", "svc-request-id": "mine-1",
            "Authorization": "Basic x", "X-Custom": "y", "Keep-Alive": "5", "Upgrade": "h2c", "TE": "trailers"}, b"any bytes \x00\xff")
        assert answer.status == 201 and answer.body == b"1,2" and answer.headers["Content-Type"] == "text/csv", answer
        assert answer.headers["svc-request-id"] == "mine-1" and answer.headers["svc-endpoint-path"] == "/good", answer.headers
        assert not {"set-cookie", "x-secret"} & {name.lower() for name in answer.headers}, answer.headers
        path, headers, body = model.asked[-1]
        names = set(headers)
        assert path == "/good" and body == b"any bytes \x00\xff" and headers["content-type"] == "text/plain", model.asked[-1]
        assert "mine-1" in headers.values(), headers
        assert not names & {"access-token", "authorization", "cookie", "grpc-metadata-developer_key", "keep-alive", "upgrade", "te",
                            "x-custom"}, names
        before = model.connections
        for _ in range(50):
            assert serving.predict(client, "/good", stage.token, {"a": 1}).status == 201
        assert model.connections <= before + 2, "connections are kept"
        herald.until(lambda: herald.metric(server.port, 'herald_upstream_health_checks_total{outcome="healthy"}'), 20, "its health is seen")
        assert server.stop() == 0
        model.stop()


def each_answer_of_the_server_has_its_status_and_its_silence_a_deadline():
    said = json.dumps({"detail": "of the server"}).encode()
    with herald.folder() as folder:
        model = Model(ok=(200, {}, said), form=(400, {}, said), shape=(422, {}, said), busy=(429, {"Retry-After": "7"}, said),
                      moved=(302, {"Location": "http://127.0.0.1:1/"}, said), lost=(404, {}, said), broken=(500, {}, said),
                      forbidden=(403, {}, said), slow=5)
        server = herald.Standalone(folder)
        client = server.client()
        registered = client.model("m")
        wanted = {"ok": 200, "form": 400, "shape": 400, "busy": 429, "moved": 502, "lost": 502, "broken": 502, "forbidden": 502, "slow": 504}
        for name, status in wanted.items():
            stage = served(client, registered, name, f"{model.url}/{name}", limits={"deadline_ms": 1_000, "body_bytes_max": 1_000})
            before = time.monotonic()
            answer = serving.predict(client, f"/{name}", stage.token, {})
            assert answer.status == status, (name, answer)
            assert time.monotonic() - before < 4, "the deadline holds"
            if status == 504:  # the server's silence and the endpoint's deadline end at the same moment: either may say so
                assert "deadline" in answer.json["message"], (name, answer)
            elif status == 502:
                assert "the upstream server " in answer.json["message"] and b"of the server" not in answer.body, (name, answer)
            elif name != "ok":
                assert answer.body == said, (name, answer)
            if name == "busy":
                assert answer.headers["Retry-After"] == "7", answer.headers
            assert answer.headers["svc-endpoint-path"] == f"/{name}", answer.headers
        large = serving.predict(client, "/slow", stage.token, None, None, b"x" * 1_001)
        assert large.status == 413 and "1000" in large.json["message"], large
        asked = sum(path == "/broken" for path, _, _ in model.asked)
        assert asked == 1, f"a prediction was sent {asked} times"
        assert server.stop() == 0
        model.stop()


def a_compressed_body_is_sent_on_inflated_and_its_limit_counts_what_it_holds():
    with herald.folder() as folder:
        model = Model(good=(200, {}, b"{}"))
        server = herald.Standalone(folder)
        client = server.client()
        stage = served(client, client.model("m"), "good", f"{model.url}/good", limits={"body_bytes_max": 1_000})

        def predict(body, coding):
            return serving.predict(client, "/good", stage.token, None, {"Content-Encoding": coding}, body)
        for plain in (b"x" * 1_000, b""):
            answer = predict(gzip.compress(plain), "gzip")
            assert answer.status == 200, answer
            _, headers, body = model.asked[-1]
            assert body == plain and "content-encoding" not in headers, (headers, body)
        assert predict(b"as it is", "identity").status == 200 and model.asked[-1][2] == b"as it is", model.asked[-1]
        asked = len(model.asked)
        large = predict(gzip.compress(b"x" * 1_001), "gzip")
        assert large.status == 413 and "1000" in large.json["message"], large
        for coding in ("br", "gzip, gzip"):
            other = predict(b"any bytes", coding)
            assert other.status == 415 and "gzip" in other.json["message"], (coding, other)
        broken = predict(b"no gzip", "gzip")
        assert broken.status == 400, broken
        assert len(model.asked) == asked, "the model was asked"
        assert server.stop() == 0
        model.stop()


def begin(handler, *headers):
    handler.send_response(200)
    for name, value in headers:
        handler.send_header(name, value)
    handler.end_headers()


def ask(client, stage):
    """The connection, and the answer as far as its head."""
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    connection.request("POST", f"/api/v1/predict{stage.path}", "{}", {"Access-token": stage.token})
    return connection, connection.getresponse()


def a_long_answer_reaches_the_caller_while_the_server_still_writes_it():
    """Its prediction is under way until its end; what the server breaks off is not taken for whole."""
    heard = threading.Event()

    def tokens(handler):
        begin(handler, ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"))
        for text in (b"data: 1\n\n", b"data: 2\n\n"):
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
            handler.wfile.flush()
            assert heard.wait(20), "the first token did not reach the caller before the second was written"
        handler.wfile.write(b"0\r\n\r\n")

    def broken(handler):
        begin(handler, ("Content-Length", str(1 << 20)))
        handler.wfile.write(bytes(1 << 19))
        handler.close_connection = True

    with herald.folder() as folder:
        model = Model(tokens=tokens, broken=broken)
        server = herald.Standalone(folder)
        client = server.client()
        registered = client.model("m")
        stage = served(client, registered, "tokens", f"{model.url}/tokens", limits={"in_flight_max": 1})
        connection, answer = ask(client, stage)
        assert answer.headers["Content-Type"] == "text/event-stream" and answer.headers["svc-endpoint-path"] == "/tokens", answer.headers
        assert answer.read1() == b"data: 1\n\n"
        busy = serving.predict(client, "/tokens", stage.token, {})
        assert busy.status == 429, busy
        heard.set()
        assert answer.read() == b"data: 2\n\n"
        herald.until(lambda: serving.predict(client, "/tokens", stage.token, {}).status == 200, 10, "the place is free again")
        connection.close()

        stage = served(client, registered, "broken", f"{model.url}/broken")
        connection, answer = ask(client, stage)
        try:
            whole = answer.read()
            raise AssertionError(f"{len(whole)} bytes of {1 << 20} count as whole")
        except (http.client.IncompleteRead, ConnectionError):
            pass
        connection.close()
        assert server.stop() == 0
        model.stop()


@herald.preloads  # a sanitizer keeps freed memory for a while
def a_large_answer_passes_in_little_memory():
    megabytes = 256

    def large(handler):
        begin(handler, ("Content-Length", str(megabytes << 20)))
        for _ in range(megabytes):
            handler.wfile.write(bytes(1 << 20))

    with herald.folder() as folder:
        model = Model(large=large)
        server = herald.Standalone(folder)
        client = server.client()
        stage = served(client, client.model("m"), "large", f"{model.url}/large")
        before = server.highest_memory_kib()
        connection, answer = ask(client, stage)
        assert answer.headers["Content-Length"] == str(megabytes << 20), answer.headers
        size = 0
        while piece := answer.read(1 << 20):
            size += len(piece)
        assert size == megabytes << 20, size
        grown = (server.highest_memory_kib() - before) >> 10
        assert grown < megabytes // 4, f"{grown} MiB more for an answer of {megabytes} MiB"
        connection.close()
        assert server.stop() == 0
        model.stop()


def the_option_that_allows_a_servers_address_is_named_whoever_allows_addresses():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        build = serving.built(client, client.version(client.model("m"), "v"), external_location="i", upstream_url="http://10.0.0.1/")
        stage = serving.Stage(client, "/far")
        stage.begin_update(build["id"])
        message = stage.ended()["components"][-1]["message"]
        assert "the operator can allow it with --allow-upstream-addresses" in message, message
        assert server.stop() == 0


def a_server_that_may_not_be_reached_is_not():
    with herald.folder() as folder:
        model = Model(good=(200, {}, b"{}"))
        server = herald.Standalone(folder, "--allow-upstream-addresses", "10.0.0.0/8")
        client = server.client()
        version = client.version(client.model("m"), "v")
        answer = client.call("POST", f"{serving.DEPLOYMENT}/builds", {"model_version_id": version, "external_location": "i",
                                                                    "upstream_url": f"{model.url}/good"})
        if answer.status == 200:
            stage = serving.Stage(client, "/far")
            stage.begin_update(answer.json["id"])
            record = stage.ended()
            assert record["status"] == "error" and "allow-upstream-addresses" in record["components"][-1]["message"], record
        else:
            assert answer.status == 400 and "allow-upstream-addresses" in answer.json["message"], answer
        assert not model.asked and model.connections == 0, "it was connected to"
        assert server.stop() == 0
        model.stop()


if __name__ == "__main__":
    herald.run()
