"""Property: an endpoint answers throughout every change of its build, from the old one or the new one and never from neither;
who may ask is decided by the tokens that there are now."""

import http.client
import json
import os
import threading
import time

import herald
import onnx_models
import serving
from upstream_server import Upstream, build_at

CHANGES = int(os.environ.get("HERALD_SERVING_CHANGES", "20"))


class Load:
    """Callers that ask without a pause, each on one connection; `wrong` has whatever was not 200 from a known build."""

    def __init__(self, port, path, token, callers=4):
        self.wrong, self.answered, self.seen, self.ending = [], 0, set(), threading.Event()
        self.lock = threading.Lock()
        self.port, self.path, self.token = port, path, token
        self.threads = [threading.Thread(target=self.ask) for _ in range(callers)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not self.ending.is_set():
            try:
                connection.request("POST", f"/api/v1/predict{self.path}", "{}", {"Access-token": self.token})
                answer = connection.getresponse()
                said = (answer.status, answer.getheader("svc-build-id"), answer.read().decode())
                if answer.getheader("Connection") == "close":
                    connection.close()
            except (OSError, http.client.HTTPException) as failure:
                said = (0, None, repr(failure))
                connection.close()
            with self.lock:
                self.answered += 1
                if said[0] == 200:
                    self.seen.add((said[1], json.loads(said[2])["from"]))
                else:
                    self.wrong.append(said)
        connection.close()

    def stop(self):
        self.ending.set()
        for thread in self.threads:
            thread.join()


@herald.computes
def not_one_prediction_fails_while_the_build_changes():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model, stage = client.model("m"), serving.Stage(client, "/changing")
        builds = {str(build_at(client, model, "v0", f"{upstream.url}/0")): "/0"}
        stage.update(int(next(iter(builds))))
        load = Load(server.port, "/changing", stage.token)
        for number in range(1, CHANGES + 1):
            build = build_at(client, model, f"v{number}", f"{upstream.url}/{number}")
            builds[str(build)] = f"/{number}"
            stage.update(build)
            answer = serving.predict(client, "/changing", stage.token, {})
            assert answer.json["from"] == f"/{number}", "the change was told before it was made"
        load.stop()
        assert not load.wrong, load.wrong[:3]
        assert load.answered > CHANGES and all(builds[build] == path for build, path in load.seen), load.seen
        upstream.stop()
        assert server.stop() == 0


@herald.computes
def the_old_build_serves_on_when_the_new_one_cannot():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model, stage = client.model("m"), serving.Stage(client, "/kept")
        old = build_at(client, model, "old", f"{upstream.url}/old")
        stage.update(old)
        load = Load(server.port, "/kept", stage.token)
        failed = client.must("POST", f"{serving.DEPLOYMENT}/builds", {"model_version_id": int(client.version(model, "empty"))})["id"]
        stage.begin_update(failed)
        record = stage.ended()
        assert record["status"] == "error", record
        assert [(one["build_id"], one["ratio"]) for one in record["components"]] == [(old, 1), (failed, 0)], record
        assert record["components"][1]["message"], "it says why"
        unreachable = build_at(client, model, "unreachable", f"http://127.0.0.1:{herald.free_port()}/x")
        stage.begin_update(unreachable)
        replacing = build_at(client, model, "new", f"{upstream.url}/new")
        stage.update(replacing)  # the one that waits for a server is replaced
        load.stop()
        assert not load.wrong, load.wrong[:3]
        assert {path for _, path in load.seen} <= {"/old", "/new"}, load.seen
        upstream.stop()
        assert server.stop() == 0


def canary(rule, threshold, step=0.5):
    return {"strategy": "canary", "canary_strategy": {"progress_interval_seconds": 1, "progress_step": step, "rules": [
        {"rule_id": rule, "rule_parameters": [{"name": "threshold", "value": str(threshold)}]}]}}


@herald.computes
def a_canary_gets_its_share_in_steps_and_then_serves_alone():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model, stage = client.model("m"), serving.Stage(client, "/canary")
        old, new = (build_at(client, model, name, f"{upstream.url}/{name}") for name in ("old", "new"))
        stage.update(old)
        load = Load(server.port, "/canary", stage.token)
        try:
            stage.begin_update(new, **canary(1008, 0.1, 0.4))
            shares = []

            def is_over():
                record = stage.record()
                share = [one["ratio"] for one in record["components"] if one["build_id"] == new]
                if share and share[0] not in shares:
                    shares.append(share[0])
                return record["status"] == "active" or None
            herald.until(is_over, 60, "the canary serves alone")
        finally:
            load.stop()
        assert not load.wrong, load.wrong[:3]
        assert shares[-1] == 1 and 0.4 in shares and 0.8 in shares, shares
        assert load.seen == {(str(old), "/old"), (str(new), "/new")}, load.seen
        assert [one["build_id"] for one in stage.record()["components"]] == [new]
        upstream.stop()
        assert server.stop() == 0


@herald.kafka
@herald.computes
def a_canary_that_fails_on_one_of_two_nodes_is_rolled_back_and_the_old_build_serves_on():
    with herald.folder() as folder:
        broker, upstream = herald.Broker.shared(folder), Upstream()
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0)
        client = cluster.client()
        model, stage = client.model("m"), serving.Stage(client, "/canary")
        old, new = (build_at(client, model, name, f"{upstream.url}/{name}") for name in ("old", "new"))
        stage.update(old)
        upstream.broken.add("/new")
        load = Load(cluster.ports[1], "/canary", stage.token)  # the node that is not asked for the update counts
        try:
            stage.begin_update(new, **canary(1008, 0.05))
            record = stage.ended()
            failed = len(load.wrong)
            herald.until(lambda: serving.predict(cluster.client(1), "/canary", stage.token, {}).status == 200 or None, 10, "the old one answers")
            time.sleep(1)
            after = len(load.wrong)
        finally:
            load.stop()
        assert record["status"] == "error", record
        assert [(one["build_id"], one["ratio"]) for one in record["components"]] == [(old, 1), (new, 0)], record
        assert "1008" in record["components"][1]["message"] or "5xx" in record["components"][1]["message"], record
        assert failed > 0 and {status for status, _, _ in load.wrong} == {502}, load.wrong[:3]
        assert after <= failed + 4, "the old build serves alone"
        cluster.stop()
        broker.stop()
        upstream.stop()


@herald.computes
def a_canary_is_judged_by_its_own_endpoint_though_others_serve_the_same_build():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model = client.model("m")
        stage, other = serving.Stage(client, "/canary"), serving.Stage(client, "/other")
        old, new = (build_at(client, model, name, f"{upstream.url}/{name}") for name in ("old", "new"))
        stage.update(old)
        other.update(new)
        upstream.broken.add("/new")
        load = Load(server.port, "/other", other.token)  # of which every answer is an error
        try:
            stage.begin_update(new, **canary(1008, 0.05))
            record = stage.ended()
            assert load.answered > 200
        finally:
            load.stop()
        assert record["status"] == "error" and [one["ratio"] for one in record["components"]] == [1, 0], record
        assert "fewer than 20 requests" in record["components"][1]["message"], "none was its own"
        upstream.stop()
        assert server.stop() == 0


def judged_canary(rule, threshold, spoil):
    """The record of a stage whose canary broke the rule, and the calls that failed, when `spoil` made its build bad."""
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model, stage = client.model("m"), serving.Stage(client, "/canary")
        old, new = (build_at(client, model, name, f"{upstream.url}/{name}") for name in ("old", "new"))
        stage.update(old)
        spoil(upstream)
        load = Load(server.port, "/canary", stage.token)
        try:
            stage.begin_update(new, **canary(rule, threshold))
            record = stage.ended()
        finally:
            load.stop()
        upstream.stop()
        assert server.stop() == 0
        assert record["status"] == "error" and [one["ratio"] for one in record["components"]] == [1, 0], record
        assert f"rule {rule}: " in record["components"][1]["message"], record
        return {status for status, _, _ in load.wrong}


@herald.computes
def a_canary_whose_average_latency_is_over_the_threshold_is_rolled_back():
    assert judged_canary(1005, 0.05, lambda upstream: upstream.slow.update({"/new": 0.1})) == set()


@herald.computes
def a_canary_of_which_more_than_a_tenth_is_slow_is_rolled_back():
    assert judged_canary(1006, 0.05, lambda upstream: upstream.slow.update({"/new": 0.1})) == set()


@herald.computes
def a_canary_that_refuses_too_much_is_rolled_back():
    assert judged_canary(1007, 0.05, lambda upstream: upstream.refusing.add("/new")) == {400}


def a_deleted_endpoint_answers_no_more_and_its_path_is_free():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model = client.model("m")
        build = build_at(client, model, "v", f"{upstream.url}/v")
        stage = serving.Stage(client, "/gone")
        stage.update(build)
        assert serving.predict(client, "/gone", stage.token, {}).status == 200
        client.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}")
        assert serving.predict(client, "/gone", stage.token, {}).status == 404
        again = serving.Stage(client, "/gone")
        again.update(build)
        assert serving.predict(client, "/gone", stage.token, {}).status == 401, "the token went with its endpoint"
        assert serving.predict(client, "/gone", again.token, {}).status == 200
        upstream.stop()
        assert server.stop() == 0


def a_token_that_is_revoked_or_has_ended_opens_nothing():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        model = client.model("m")
        build = build_at(client, model, "v", f"{upstream.url}/v")
        stage, other = serving.Stage(client, "/a"), serving.Stage(client, "/b")
        stage.update(build)
        tokens = f"{stage.place}/accesstokens"

        def status(token):
            return serving.predict(client, "/a", token, {}).status
        for number in range(20):
            made = client.must("POST", tokens, {"value": f"chosen-{number}"})
            assert status(f"chosen-{number}") == 200, "from the answer on"
            client.must("DELETE", f"{tokens}/{made['id']}")
            assert status(f"chosen-{number}") == 401, "from the answer on"
        client.must("POST", tokens, {"value": "short", "expires": int(time.time() * 1000) + 3000})
        assert status("short") == 200
        herald.until(lambda: status("short") == 401, 20, "the token ends")
        assert status(other.token) == 403 and status("nonsense") == 401
        assert serving.predict(client, "/a", stage.token, {}).status == 200
        upstream.stop()
        assert server.stop() == 0


def after_a_restart_an_endpoint_answers_once_the_node_says_that_it_is_ready():
    with herald.folder() as folder:
        server, upstream = herald.Standalone(folder), Upstream()
        client = server.client()
        stage = serving.Stage(client, "/again")
        build = build_at(client, client.model("m"), "v", f"{upstream.url}/v")
        stage.update(build)
        for _ in range(3):
            assert server.stop() == 0
            server.start()
            answer = serving.predict(server.client(), "/again", stage.token, {})
            assert answer.status == 200 and answer.headers["svc-build-id"] == str(build), answer
        upstream.stop()
        assert server.stop() == 0


def a_rollback_leads_to_the_build_that_served_before_and_the_log_says_who_asked():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        first, second = (serving.build_of(client, client.model(name), "v1", onnx_models.tiny()) for name in "ab")
        stage = serving.Stage(client, "/back")
        back = lambda: client.call("PUT", f"{stage.place}/rollback", {})
        assert back().json["code"] == 9, "nothing served before"
        stage.update(first, limits={"in_flight_max": 7})
        assert "previous_build_id" not in stage.record()
        assert stage.update(second)["previous_build_id"] == first
        assert back().status == 200
        record = stage.ended()
        assert (record["components"][0]["build_id"], record["previous_build_id"]) == (first, second), record
        asked = client.must("GET", f"{stage.place}/status")["update_request"]
        assert asked["build_id"] == first and asked["limits"]["in_flight_max"] == 7, asked
        entries = client.must("GET", f"{stage.place}/logs")["entries"]
        authors = {entry["message"]: entry.get("author_name") for entry in entries}
        assert authors[f"an update to build {first} is asked for, by rollout"] == herald.ADMIN_EMAIL, entries
        assert authors[f"build {first} serves"] is None, entries
        server.stop()


if __name__ == "__main__":
    herald.run()
