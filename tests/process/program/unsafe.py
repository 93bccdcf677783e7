"""Property: P7, once the report that a build is unsafe has been answered, no node answers a prediction from it, except nodes that
the answer names, until the time that it gives. Rounds: HERALD_SERVING_ROUNDS (5; --long: 1,000)."""

import datetime
import http.client
import os
import signal
import threading
import time

import herald
import onnx_models
import serving
from cut import Network

ROUNDS = int(os.environ.get("HERALD_SERVING_ROUNDS", "1000" if os.environ.get("HERALD_TEST_LONG") else "5"))
BODY = b'{"x":[[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]],"y":[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]}'
FULL_LOAD = 6  # callers for each node


class Asking:
    """Callers that ask one node all the time, and when each answer of 200 had arrived."""

    def __init__(self, port, path, token):
        self.place = (port, path, token)
        self.answered = []  # of each 200: when it was asked for, when it had arrived, and its build
        self.refused = 0
        self.wrong, self.lost = [], []  # what is neither 200 nor a refusal; how connections ended that no answer came on
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.ask) for _ in range(FULL_LOAD)]
        for thread in self.threads:
            thread.start()

    def ask(self):
        port, path, token = self.place
        connection = None
        while not self.ends.is_set():
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            asked = time.monotonic()
            try:
                connection.request("POST", f"/api/v1/predict{path}", BODY, {"Access-token": token})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as failed:
                self.lost.append(repr(failed))
                connection = None
                continue
            if answer.status == 200:
                self.answered.append((asked, time.monotonic(), answer.headers["svc-build-id"]))
            elif answer.status in (403, 503):
                self.refused += 1
            else:
                self.wrong.append((answer.status, text))

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()

    def stop(self, may_lose=False):
        """Ends, and fails for each answer that was wrong, and unless the node may lose them, for each connection that was lost."""
        self.end()
        assert not self.wrong, f"{len(self.wrong)} answers were neither 200 nor refusals: {self.wrong[:3]}"
        assert may_lose or not self.lost, f"{len(self.lost)} connections were lost: {self.lost[:3]}"

    def last_answer_of(self, build):
        """When the newest 200 from the build had arrived; 0: never."""
        return max((at for _, at, by in self.answered if by == str(build)), default=0)

    def last_asked_of(self, build):
        """When the newest 200 from the build had been asked for; 0: never."""
        return max((at for at, _, by in self.answered if by == str(build)), default=0)


def check_rounds(client, ports, path):
    """Reports one build after the other unsafe under full load on all nodes."""
    model = client.model("tiny")
    stage = serving.Stage(client, path)
    for number in range(ROUNDS):
        build = serving.build_of(client, model, f"v{number}", onnx_models.tiny(number))
        stage.update(build)
        asking = [Asking(port, path, stage.token) for port in ports]
        try:
            herald.until(lambda: all(each.last_answer_of(build) for each in asking) or None, 30, "every node answers from the build")
            answer = serving.report(client, build, "unsafe")
            told = time.monotonic()
            assert answer["unconfirmed"] == [], answer
            before = [each.refused for each in asking]
            herald.until(lambda: all(each.refused > seen for each, seen in zip(asking, before)) or None, 30, "every node refuses")
        finally:
            for each in asking:
                each.end()
        for each in asking:
            each.stop()
            assert each.last_asked_of(build) < told, f"round {number}: asked after the report was answered, and answered from build {build}"
            late = each.last_answer_of(build) - told
            # An answer that had arrived in this process before the report's may be read a little later: threads take turns.
            assert late < 0.1, f"round {number}: a prediction from build {build} arrived {late * 1000:.1f} ms after the report was answered"
        refusal = serving.predict(client, path, stage.token, None, raw=BODY)
        assert refusal.status == 403 and refusal.json["code"] == 7 and f"build {build}" in refusal.json["message"], refusal


@herald.alone
def after_the_report_nothing_is_answered_from_the_build():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        check_rounds(server.client(), [server.port], "/standalone")
        server.stop()


@herald.kafka
@herald.alone
def after_the_report_no_node_of_a_cluster_answers_from_the_build():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0)
        check_rounds(cluster.client(), cluster.ports, "/cluster")
        cluster.stop()
        broker.stop()


@herald.kafka
def a_revoked_token_or_a_deleted_endpoint_opens_nothing_on_any_node_once_its_deletion_is_answered():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0)
        client, other = cluster.client(), cluster.client(1)
        stage = serving.Stage(client, "/tokens")
        build = serving.build_of(client, client.model("tiny"), "v1", onnx_models.tiny())
        stage.update(build)
        tokens = f"{stage.place}/accesstokens"
        for number in range(20):
            brief = serving.Stage(client, f"/brief-{number}")
            brief.update(build)
            assert serving.predict(other, brief.path, brief.token, None, raw=BODY).status == 200, number
            assert client.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{brief.endpoint}") == {"unconfirmed": []}
            assert serving.predict(other, brief.path, brief.token, None, raw=BODY).status == 404, number
        for number in range(50):
            made = client.must("POST", tokens, {"value": f"chosen-{number}"})
            herald.until(lambda: serving.predict(other, "/tokens", f"chosen-{number}", None, raw=BODY).status == 200 or None, 10, "it opens")
            assert client.must("DELETE", f"{tokens}/{made['id']}") == {"unconfirmed": []}
            assert serving.predict(other, "/tokens", f"chosen-{number}", None, raw=BODY).status == 401, number
        stopped = cluster.nodes[1]
        stopped.kill(signal.SIGSTOP)
        made = client.must("POST", tokens, {"value": "last"})
        for place in (f"{tokens}/{made['id']}", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}"):
            answer = client.must("DELETE", place)
            assert len(answer["unconfirmed"]) == 1 and answer["unconfirmed"][0]["serves_until"], answer
        stopped.kill(signal.SIGCONT)
        cluster.stop()
        broker.stop()


@herald.computes
def a_node_that_is_cut_off_from_the_log_is_named_and_stops_by_its_grace():
    with herald.folder() as folder:
        near, behind, controller = herald.free_port(), herald.free_port(), herald.free_port()
        network = Network(behind)
        listeners = f"PLAINTEXT://127.0.0.1:{near},CUT://127.0.0.1:{behind},CONTROLLER://127.0.0.1:{controller}"
        broker = herald.Broker(folder, 1, "--port", str(near), "--set", f"listeners={listeners}",
                               "--set", f"advertised.listeners=PLAINTEXT://127.0.0.1:{near},CUT://127.0.0.1:{network.port}",
                               "--set", "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,CUT:PLAINTEXT")
        cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0, node_options=("--isolation-grace", "15"))
        cluster.common[1] = f"127.0.0.1:{network.port}"
        cluster.nodes.append(None)
        cluster.ports.append(herald.free_port())
        cluster.start_node(1)
        client = cluster.client()
        model, stage = client.model("tiny"), serving.Stage(client, "/cut")
        build = serving.build_of(client, model, "v1", onnx_models.tiny())
        stage.update(build)
        asking = Asking(cluster.ports[1], "/cut", stage.token)
        try:
            herald.until(lambda: asking.last_answer_of(build) or None, 30, "the second node answers")
            network.cut()
            cut = time.monotonic()
            time.sleep(1)
            answer = serving.report(client, build, "unsafe")
            assert len(answer["unconfirmed"]) == 1, answer
            until = datetime.datetime.fromisoformat(answer["unconfirmed"][0]["serves_until"].replace("Z", "+00:00"))
            assert asking.last_answer_of(build) > cut, "the second node serves on for its grace"
            herald.until(lambda: client.must("GET", f"/api/v1/deployment/builds/{build}/scan")["unconfirmed"] == [] or None, 40,
                         "the list shrinks to none")
            shrunk = time.monotonic()
            assert datetime.datetime.now(datetime.timezone.utc) >= until
            refused = serving.predict(cluster.client(1), "/cut", stage.token, None, raw=BODY)
            assert refused.status == 503, refused
            time.sleep(2)
            assert asking.last_answer_of(build) < shrunk, "a node that was cut off answered after the time that was told"
            network.heal()
            herald.until(lambda: serving.predict(cluster.client(1), "/cut", stage.token, None, raw=BODY).status == 403 or None, 60,
                         "it hears of the report")
        finally:
            asking.stop()
        assert asking.last_asked_of(build) < shrunk
        cluster.stop()
        network.stop()
        broker.stop()


@herald.kafka
@herald.computes
def a_node_that_was_stopped_is_named_and_answers_nothing_when_it_goes_on():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0, node_options=("--isolation-grace", "15"))
        client = cluster.client()
        model, stage = client.model("tiny"), serving.Stage(client, "/stopped")
        build = serving.build_of(client, model, "v1", onnx_models.tiny())
        stage.update(build)
        asking = Asking(cluster.ports[1], "/stopped", stage.token)
        herald.until(lambda: asking.last_answer_of(build) or None, 30, "the second node answers")
        stopped = cluster.nodes[1]
        stopped.kill(signal.SIGSTOP)
        answer = serving.report(client, build, "unsafe")
        assert len(answer["unconfirmed"]) == 1 and answer["unconfirmed"][0]["serves_until"], answer
        herald.until(lambda: client.must("GET", f"/api/v1/deployment/builds/{build}/scan")["unconfirmed"] == [] or None, 40,
                     "the list shrinks to none")
        going_on = time.monotonic()
        stopped.kill(signal.SIGCONT)
        time.sleep(3)
        asking.stop(may_lose=True)  # what was asked while it stood still has timed out
        assert asking.last_answer_of(build) < going_on, "a stopped node answered from an unsafe build when it went on"
        cluster.stop()
        broker.stop()


@herald.kafka
def a_node_that_may_still_answer_is_named_though_the_build_is_deleted_while_its_report_waits():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0)
        client = cluster.client()
        stage = serving.Stage(client, "/short")
        build = serving.build_of(client, client.model("tiny"), "v1", onnx_models.tiny())
        stage.update(build)
        version = client.must("GET", f"{serving.DEPLOYMENT}/builds/{build}")["model_version_id"]
        cluster.nodes[1].kill(signal.SIGSTOP)
        answers = {}

        def told(name, work):
            answers[name] = work(cluster.client())
        waiting = [threading.Thread(target=told, args=each) for each in (
            ("report", lambda mine: serving.report(mine, build, "unsafe")),
            ("deletion", lambda mine: mine.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}")))]
        for each in waiting:
            each.start()
        path = f"/api/v1/registry/model_versions/{version}"
        herald.until(lambda: client.call("DELETE", path).status == 200 or None, 4, "the version is deleted")
        assert not answers, "both still wait for the stopped node"
        for each in waiting:
            each.join()
        assert client.call("GET", f"{serving.DEPLOYMENT}/builds/{build}").status == 404
        for name, answer in answers.items():
            assert len(answer["unconfirmed"]) == 1 and answer["unconfirmed"][0]["serves_until"], (name, answer)
        cluster.nodes[1].kill(signal.SIGCONT)
        cluster.stop()
        broker.stop()


@herald.kafka
@herald.computes
def a_stopped_node_whose_name_another_process_took_is_named_until_its_grace_ends():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0)
        cluster.node_options = ("--isolation-grace", "40", "--node-id", "twin")

        def start_twin():
            cluster.nodes.append(None)
            cluster.ports.append(herald.free_port())
            cluster.start_node(len(cluster.nodes) - 1)
            return cluster.nodes[-1]

        stopped = start_twin()
        client = cluster.client()
        model, stage = client.model("tiny"), serving.Stage(client, "/twin")
        build = serving.build_of(client, model, "v1", onnx_models.tiny())
        stage.update(build)
        asking = Asking(cluster.ports[1], "/twin", stage.token)
        herald.until(lambda: asking.last_answer_of(build) or None, 30, "the node answers")
        stopped.kill(signal.SIGSTOP)
        start_twin()
        answer = serving.report(client, build, "unsafe")
        assert [each["node"] for each in answer["unconfirmed"]] == ["twin"], answer
        herald.until(lambda: serving.predict(cluster.client(2), "/twin", stage.token, None, raw=BODY).status == 403 or None, 30,
                     "the process that took the name refuses")

        def named():
            return client.must("GET", f"/api/v1/deployment/builds/{build}/scan")["unconfirmed"]

        assert named() == answer["unconfirmed"], "the later process knows of the report, the earlier one does not"
        herald.until(lambda: named() == [] or None, 60, "the list shrinks to none")
        going_on = time.monotonic()
        stopped.kill(signal.SIGCONT)
        herald.until(lambda: not stopped.alive or None, 30, "the process that was replaced ends")
        asking.stop(may_lose=True)  # what was asked while it stood still has timed out
        assert asking.last_answer_of(build) < going_on, "a process that was replaced answered from an unsafe build when it went on"
        cluster.stop()
        broker.stop()


if __name__ == "__main__":
    herald.run()
