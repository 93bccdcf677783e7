"""Property: a subscriber that hangs delays nobody else (P4), and a node that stood still goes on with the same state (P5)."""

import signal
import socket
import statistics
import threading
import time

import herald


class Hanging:
    """Accepts connections and never says a word."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.taken = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            try:
                self.taken.append(self.socket.accept()[0])
            except OSError:
                return

    def stop(self):
        self.socket.close()


def latencies(client, approver, receiver, model, count, prefix):
    """Milliseconds from the commit's sending to the POST's arrival, for each promotion."""
    out = []
    for number in range(count):
        version = client.version(model, f"{prefix}-{number}")
        transition = client.approved_transition(approver, version)
        before, start = len(receiver.of_type("PROMOTE")), time.monotonic()
        client.stage("commit", {"transition_id": transition})
        herald.until(lambda: len(receiver.of_type("PROMOTE")) > before, 20, "the healthy subscriber hears of it")
        out.append((receiver.of_type("PROMOTE")[before].time - start) * 1000)
    return out


@herald.alone
def a_hanging_subscriber_delays_nobody_else():
    """Not a speed test: with a subscriber that holds each delivery for 15 s, the others' deliveries stay far below that."""
    with herald.folder() as folder:
        server, receiver, hanging = herald.Standalone(folder), herald.Receiver(), Hanging()
        client = server.client()
        client.webhook("healthy", receiver.url)
        approver, model = client.second_admin(), client.model("m")
        alone = latencies(client, approver, receiver, model, 20, "alone")
        for number in range(5):
            client.webhook(f"hanging {number}", hanging.url)
        beside = latencies(client, approver, receiver, model, 40, "beside")
        herald.until(lambda: hanging.taken, 10, "the hanging subscriber was called")
        print(f"median alone {statistics.median(alone):.1f} ms, beside five that hang {statistics.median(beside):.1f} ms, "
              f"slowest {max(alone):.1f} and {max(beside):.1f} ms")
        assert max(beside) < 5_000, "a healthy subscriber waited for one that hangs"
        assert statistics.median(beside) < statistics.median(alone) * 5 + 50
        assert server.stop() == 0
        receiver.stop()
        hanging.stop()


@herald.kafka
def a_stopped_node_goes_on_with_the_same_state():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster, receiver = herald.Cluster(folder, broker), herald.Receiver()
            client = cluster.client(0)
            client.webhook("promotions", receiver.url)
            approver, model = client.second_admin(), client.model("m")
            events = [client.promote(approver, client.version(model, "before"))]
            cluster.nodes[1].kill(signal.SIGSTOP)
            start = time.monotonic()
            for number in herald.numbers():
                events.append(client.promote(approver, client.version(model, f"meanwhile {number}")))
                if time.monotonic() - start > 20:
                    break
                time.sleep(0.5)
            cluster.nodes[1].kill(signal.SIGCONT)
            version = client.version(model, "after")
            again = cluster.client(1)
            herald.until(lambda: again.call("GET", f"/api/v1/registry/model_versions/{version}").status == 200, 30,
                         "the node that stood still shows what was written meanwhile")
            receiver.wait_for(len(events))
            assert set(one.event for one in receiver.of_type("PROMOTE")) == set(events)
            cluster.agree()
            cluster.stop()
            receiver.stop()
        finally:
            broker.stop()


if __name__ == "__main__":
    herald.run()
