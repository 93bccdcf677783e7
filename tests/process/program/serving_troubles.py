"""Property: what cannot be served is the trouble of its endpoint and says why, in the refusal of its predictions, in its stage and in
the log; the node that it is on is ready all the same. What is gone leaves no metrics."""

import http.client
import http.server
import threading

import herald
import serving


class Model:
    """An HTTP server that answers whatever it is asked; its port stays its own when it is stopped and started again."""

    def __init__(self, port=0):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.send_response(200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


def build_at(client, model, name, url):
    return serving.built(client, client.version(model, name), external_location=f"image-{name}", upstream_url=url)["id"]


def not_ready(server):
    """The reasons that the metric tells."""
    lines = herald.Client(server.port).call("GET", "/metrics").body.decode().splitlines()
    return [line for line in lines if line.startswith("herald_not_ready{") and not line.endswith(" 0")]


def endpoints_that_are_gone_leave_no_metrics_whoever_asked_them():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stages = [serving.Stage(client, f"/gone/{number}") for number in range(8)]
        threads = []
        for number in range(32):  # connections, on all event loops
            def ask():
                mine = server.client()
                for stage in stages:
                    assert serving.predict(mine, stage.path, stage.token, {}).status == 400
            threads.append(threading.Thread(target=ask))
            threads[-1].start()
        for thread in threads:
            thread.join()

        def shown():
            return [line for line in client.call("GET", "/metrics").body.decode().splitlines() if '"/gone/' in line]
        assert shown()
        for stage in stages:
            client.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}")
        herald.until(lambda: not shown(), 10, "nothing is told of endpoints that are gone")
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
