"""Property: an answer that other clients take counts here, too: whatever its reason, without one, or with lines that end in LF
alone, a receiver has taken a delivery that it answers with 200, and a prediction's server has answered."""

import socket
import threading

import herald
import serving

HEAD = b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"
ANSWERS = {
    "no_reason": b"HTTP/1.1 200\r\n" + HEAD,
    "empty_reason": b"HTTP/1.1 200 \r\n" + HEAD,
    "odd_reason": b"HTTP/1.1 200 d\xe9j\xe0 \x01 vu\r\n" + HEAD,
    "http_1_0": b"HTTP/1.0 200\r\n" + HEAD,
    "interim": b"HTTP/1.1 100\r\n\r\nHTTP/1.1 200\r\n" + HEAD,
    "bare_lf": b"HTTP/1.1 200\nContent-Type: application/json\nContent-Length: 2\n\n[]",
}


class Server:
    """Answers each request by its path, with those bytes; keeps the connection open."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    @staticmethod
    def serve(client):
        with client, client.makefile("rb") as lines:
            while request := lines.readline():
                size = 0
                while (line := lines.readline().strip()):
                    name, _, value = line.partition(b":")
                    size = int(value) if name.lower() == b"content-length" else size
                lines.read(size)
                client.sendall(ANSWERS[request.split()[1].decode().strip("/")])

    def stop(self):
        self.listener.close()


def a_delivery_counts_as_taken_whatever_the_status_line_lacks():
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), Server()
        client = server.client()
        approver = client.second_admin()
        hooks = {name: client.webhook(name, f"{receiver.url}/{name}", ["PROMOTE"]) for name in ANSWERS}
        for name, hook in hooks.items():
            told = client.must("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook})
            assert told["status_code"] == 200, (name, told)
        version = client.version(client.model("m"), "v")
        client.promote(approver, version)

        def counts():
            return client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["deliveries"]
        herald.until(lambda: counts()["succeeded"] == len(ANSWERS), 10, "every delivery counts as taken")
        client.close()
        server.stop()
        receiver.stop()


def a_prediction_is_answered_whatever_the_status_line_lacks():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Server()
        client = server.client()
        model = client.model("m")
        for name in ANSWERS:
            record = serving.built(client, client.version(model, name), external_location=f"image-{name}",
                                   upstream_url=f"{upstream.url}/{name}")
            assert record["status"] == "finished", record
            stage = serving.Stage(client, f"/{name}")
            stage.update(record["id"])
            for _ in range(3):
                answer = serving.predict(client, f"/{name}", stage.token, [1])
                assert (answer.status, answer.body) == (200, b"[]"), (name, answer)
        client.close()
        server.stop()
        upstream.stop()


if __name__ == "__main__":
    herald.run()
