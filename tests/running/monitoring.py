"""Property: what deploy/monitoring has is true. Each alert fires for what it names and rests without it, its runbook exists, and
every query finds series of real processes."""

import json
import pathlib
import re
import subprocess

import yaml

import herald
import onnx_models
import prometheus
import serving

MONITORING = herald.ROOT / "deploy/monitoring"
OPERATE = herald.ROOT / "docs/operate"
BODY = b'{"x":[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]],"y":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]}'
SELECTOR = re.compile(r"\b(?:herald|process|up)\w*(?:\{[^}]*\})?")


def _rules():
    return [rule for group in yaml.safe_load((MONITORING / "rules.yaml").read_text())["groups"] for rule in group["rules"]]


def _test_rules(folder, expression=None):
    """promtool's output, and whether it found everything as it must be; with `expression` in place of each rule's own."""
    rules = yaml.safe_load((MONITORING / "rules.yaml").read_text())
    for rule in (rule for group in rules["groups"] for rule in group["rules"] if expression):
        rule["expr"] = expression
        rule.pop("for", None)
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules))
    (folder / "rules.test.yaml").write_bytes((MONITORING / "rules.test.yaml").read_bytes())
    done = subprocess.run([prometheus.tool("promtool"), "test", "rules", folder / "rules.test.yaml"], capture_output=True, text=True)
    return done.stdout + done.stderr, done.returncode == 0


def every_alert_fires_and_rests():
    tool = prometheus.tool("promtool")
    for words in (["check", "rules", MONITORING / "rules.yaml"], ["check", "config", MONITORING / "prometheus.yaml"]):
        checked = subprocess.run([tool, *words], capture_output=True, text=True)
        assert checked.returncode == 0, checked
    names = {rule["alert"] for rule in _rules()}
    assert len(names) == len(_rules()) > 30
    tried = {case["name"]: case for case in yaml.safe_load((MONITORING / "rules.test.yaml").read_text())["tests"]}
    assert tried.keys() == names, tried.keys() ^ names
    with herald.folder() as folder:
        said, good = _test_rules(folder)
        assert good, said
        # An alert that always fires, or never, is noticed by the cases of each.
        said, _ = _test_rules(folder, "vector(1)")
        resting = set(re.findall(r"alertname: (\w+), time: 2m", said))
        said, _ = _test_rules(folder, "vector(1) > 1")
        firing = set(re.findall(r'expr: "count by \(alertname\) \(ALERTS\{alertname=\\"(\w+)\\"', said))
        assert resting == firing == names, (names - resting, names - firing)


def every_alert_has_a_severity_a_summary_and_a_runbook_that_exists():
    for rule in _rules():
        assert rule["labels"]["severity"] in ("critical", "warning"), rule
        assert rule["annotations"]["summary"], rule
        page, heading = rule["annotations"]["runbook"].split("#")
        headings = re.findall(r"^#+ (.*)$", (OPERATE / page).read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
        assert heading in anchors, f"{rule['alert']}: {page} has no heading #{heading}"


def _board_queries():
    panels = json.loads((MONITORING / "board.json").read_text())["panels"]
    for panel in panels:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$job", "herald.*").replace("$__rate_interval", "30s")


def _make_certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost", "-keyout",
                    folder / "tls.key", "-out", folder / "tls.crt"], check=True, capture_output=True)
    return ["--tls-cert", folder / "tls.crt", "--tls-key", folder / "tls.key"]


def _keep_predicting(client):
    """Loads a model and returns what asks it for a prediction."""
    stage = serving.Stage(client, "/price")
    stage.update(serving.build_of(client, client.model("price"), "v", onnx_models.tiny()))

    def predict():
        answer = serving.predict(client, "/price", stage.token, None, raw=BODY)
        assert answer.status == 200, answer
    return predict


def _deliver_and_give_up(client):
    receiver = herald.Receiver(answer=lambda delivery: 410 if delivery.path == "/gone" else 200)
    client.webhook("well", receiver.url)
    client.webhook("gone", receiver.url + "/gone")
    client.promote(client.second_admin(), client.version(client.model("m"), "v"))
    herald.until(lambda: len(receiver.of_type("PROMOTE")) >= 2, 30, "both webhooks got the event")
    receiver.stop()


def _finds_all(server, queries):
    return all(server.query(query) for query in queries)


@herald.kafka
def every_query_of_the_board_and_of_the_alerts_finds_something():
    checked = subprocess.run([MONITORING / "board", "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked
    tool = prometheus.tool("promtool")
    serving.need_onnx()
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
        herald.wait_until_ready(cluster.workers[0], cluster.worker_ports[0])
        # The metrics that only standalone has, and those of TLS.
        (folder / "standalone").mkdir()
        metrics_port = herald.free_port()
        herald.Process("standalone", ["standalone", "--data", folder / "standalone", "--listen", f"127.0.0.1:{metrics_port}",
                                      *_make_certificate(folder)], folder)
        server = prometheus.Prometheus(folder, {"herald-api": cluster.ports[0], "herald-worker": cluster.worker_ports[0],
                                                "herald-standalone": (metrics_port, "https")})
        try:
            herald.until(lambda: server.query("up == 1") and len(server.query("up == 1")) == 3, 60, "all are scraped")
            predict = _keep_predicting(cluster.client())
            _deliver_and_give_up(cluster.client())
            wanted = {f"{title}: {query}": query for title, query in _board_queries()}
            for rule in _rules():
                for selector in SELECTOR.findall(rule["expr"]):
                    wanted[f"{rule['alert']}: {selector}"] = selector
            # Series that only a failure makes.
            for name in [name for name in wanted if re.search("model_loads_failed|outcome=\"(failed|too_many)", name)]:
                metric = re.match(r"\w+", wanted.pop(name))[0]
                assert metric in (herald.ROOT / "runtime/metric_names.hpp").read_text()
            assert len(wanted) > 60

            def all_found():
                predict()
                return _finds_all(server, wanted.values())
            herald.until(all_found, 90, "every query finds something")
        except AssertionError:
            print("without a series:", *[name for name in wanted if not server.query(wanted[name])], sep="\n")
            raise
        finally:
            server.stop()
        for port in (cluster.ports[0], cluster.worker_ports[0]):
            text = herald.Client(port).call("GET", "/metrics").body
            checked = subprocess.run([tool, "check", "metrics"], input=text, capture_output=True)
            assert checked.returncode == 0 and not checked.stderr, checked
        cluster.stop()


if __name__ == "__main__":
    herald.run()
