"""A server behind builds with an upstream_url, for tests, and such builds."""

import http.server
import json
import threading
import time

import serving


class Upstream:
    """An HTTP server that answers with the path at which it was asked; a path in `broken` with 500, one in `refusing` with 400,
    and one in `slow` after so many seconds. Its port stays its own when it is stopped and made again there."""

    def __init__(self, port=0):
        self.broken, self.refusing, self.slow, self.release = set(), set(), {}, threading.Event()
        self.release.set()
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                upstream.release.wait(30)
                time.sleep(upstream.slow.get(self.path, 0))
                status = 500 if self.path in upstream.broken else 400 if self.path in upstream.refusing else 200
                body = json.dumps({"from": self.path}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def build_at(client, model, name, url):
    """The id of a build of a new version that is answered at this URL."""
    record = serving.built(client, client.version(model, name), external_location=f"image-{name}", upstream_url=url)
    assert record["status"] == "finished", record
    return record["id"]
