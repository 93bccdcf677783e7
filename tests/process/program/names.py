"""Property: what operators read is an interface: each kind of process shows the metrics of metrics.golden, with their types
and texts, and no other; the log tells of a thing once."""

import json
import pathlib
import re

import herald

GOLDEN = pathlib.Path(__file__).with_name("metrics.golden")
HEADER = pathlib.Path(__file__).parents[3] / "runtime/metric_names.hpp"
KINDS = ("standalone", "api", "worker")


def _golden():
    """name -> (type, text, {kind of process: whether it shows the metric from its start on})"""
    found = {}
    for line in GOLDEN.read_text().splitlines():
        if line.startswith("#"):
            continue
        name, kind, where, text = re.fullmatch(r"(\w+) (\w+) ([\w? ]+): (.*)", line).groups()
        assert name not in found, f"{name} stands twice in {GOLDEN.name}"
        found[name] = (kind, text, {one.rstrip("?"): not one.endswith("?") for one in where.split()})
        assert set(found[name][2]) <= set(KINDS), line
    return found


def shown(client):
    text = client.call("GET", "/metrics").body.decode()
    texts = dict(re.findall(r"^# HELP (\w+) (.*)$", text, re.MULTILINE))
    types = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE))
    assert texts.keys() == types.keys(), texts.keys() ^ types.keys()
    return {name: (types[name], texts[name]) for name in types}


def compare(kind, client):
    expected, seen = _golden(), shown(client)
    for name, said in seen.items():
        assert name in expected and kind in expected[name][2], f"{kind} shows {name}, which {GOLDEN.name} does not say"
        assert said == expected[name][:2], f"{kind}: {name} is {said}, not {expected[name][:2]}"
    for name, (_, _, where) in expected.items():
        assert name in seen or not where.get(kind), f"{kind} does not show {name}"


def the_list_of_metrics_holds_every_name_of_the_header():
    named = dict(re.findall(r'constexpr metric_name \w+\{\s*"(\w+)",\s*"([^"]*)"\}', HEADER.read_text()))
    listed = {name: text for name, (_, text, _) in _golden().items() if not name.startswith("process_")}
    assert named == listed, set(named.items()) ^ set(listed.items())


def standalone_shows_the_metrics_of_the_list():
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), herald.Receiver()
        client = server.client()
        client.webhook("w", receiver.url)
        client.promote(client.second_admin(), client.version(client.model("m"), "v"))
        receiver.wait_for(1)
        herald.until(lambda: herald.metric(server.port, 'herald_delivery_seconds_count{event="PROMOTE"}'), 20, "it was counted")
        compare("standalone", client)
        receiver.stop()
        assert server.stop() == 0


def a_state_that_is_made_again_is_told_once():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        assert server.stop() == 0
        (folder / "herald/state/HERALD_REBUILD").write_text("a test wants it\n")
        server.start()
        told = [line for line in map(json.loads, server.process.log_file.read_text().splitlines()) if line["event"] == "state_rebuild"]
        assert [line["reason"] for line in told] == ["a test wants it"], told
        assert server.stop() == 0


@herald.kafka
def nodes_and_workers_show_the_metrics_of_the_list():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
            herald.wait_until_ready(cluster.workers[0], cluster.worker_ports[0])
            cluster.client().model("m")
            compare("api", cluster.client())
            compare("worker", herald.Client(cluster.worker_ports[0]))
            cluster.stop()
        finally:
            broker.stop()


if __name__ == "__main__":
    herald.run()
