"""Property: when the brokers are away for a while, each process says so once for each subject, and once that they are back; reads
and predictions stay in service for as long as the node promises them; and whoever is told to end meanwhile ends in time."""

import collections
import json
import os
import time

import herald

OUTAGE_SECONDS = 25 if "HERALD_TEST_LONG" in os.environ else 18
GRACE_SECONDS = 15  # the least that --isolation-grace takes
LINES_MAX = 12  # warnings of one process about all subjects of one outage


def readiness(port, query):
    said = herald.Client(port, timeout=5).call("GET", "/readyz" + query)
    return said.status, said.json


def lines_after(process, size):
    text = process.log_file.read_bytes()[size:].decode("utf-8", "replace")
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def an_outage_is_told_once_and_leaves_reads_in_service_until_the_grace_is_over():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1, node_options=("--isolation-grace", str(GRACE_SECONDS)))
            node, worker, port = cluster.nodes[0], cluster.workers[0], cluster.ports[0]
            model = cluster.client().model("m")
            herald.wait_until_ready(worker, cluster.worker_ports[0])
            assert readiness(port, "?for=reads")[0] == 200
            for query, words in (("?for=writes", ["for must be reads", "writes"]), ("?for=", ["for must be reads"])):
                status, said = readiness(port, query)
                assert status == 400 and all(word in said["message"] for word in words), said
            status, said = readiness(cluster.worker_ports[0], "?for=reads")
            assert status == 400 and "/readyz" in said["message"], said

            sizes = {process: process.log_file.stat().st_size for process in (node, worker)}
            broker.kill()
            began = time.monotonic()
            herald.until(lambda: herald.trouble(port) == "log_unreachable", 12, "the node is not ready for writes")
            status, said = readiness(port, "?for=reads")
            assert status == 200 and said["status"] == "ready" and said["writes_refused"], said
            read = cluster.client().call("GET", f"/api/v1/registry/registered_models/{model}")
            assert read.status == 200 and read.json["registered_model"]["name"] == "m", read
            herald.until(lambda: readiness(port, "?for=reads")[0] == 503, GRACE_SECONDS + 5, "the grace is over")
            assert time.monotonic() - began > GRACE_SECONDS - 3, "not before"
            assert "predictions" in readiness(port, "?for=reads")[1]["message"]

            time.sleep(max(0, began + OUTAGE_SECONDS - time.monotonic()))  # the outage is this long
            broker.start()
            herald.wait_until_ready(node, port)
            herald.wait_until_ready(worker, cluster.worker_ports[0])
            assert readiness(port, "?for=reads")[0] == 200
            for process in (node, worker):
                def told():
                    return [one for one in lines_after(process, sizes[process]) if one["event"] == "kafka_broker_reachable"]
                herald.until(told, 10, f"{process.name} says that the broker is back")
                lines = lines_after(process, sizes[process])
                counted = collections.Counter(one["event"] for one in lines if one["level"] != "info")
                assert all(count == 1 for count in counted.values()) and sum(counted.values()) <= LINES_MAX, (process.name, counted)
                away = [one for one in lines if one["event"] == "kafka_broker_unreachable"]
                back = told()
                assert len(away) == len(back) == 1 and away[0]["broker"] == back[0]["broker"] == broker.address, lines
                assert away[0]["reason"] and OUTAGE_SECONDS - 5 <= back[0]["seconds"] <= OUTAGE_SECONDS + 20, (away, back)
            herald.until(lambda: any(one["event"] == "delivery_history_recovered" for one in lines_after(node, sizes[node])), 30,
                         "the history of deliveries is read again")

            broker.kill()
            herald.until(lambda: herald.trouble(port) == "log_unreachable", 12, "the node has noticed")
            for process in (node, worker):
                began = time.monotonic()
                assert process.stop() == 0, process.tail()
                assert time.monotonic() - began < 10, f"{process.name} took {time.monotonic() - began:.1f} s to end"
        finally:
            broker.stop()


if __name__ == "__main__":
    herald.run()
