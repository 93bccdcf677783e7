"""Property: on a real Kafka, with API nodes and workers as processes of their own, the main job is the same, and a client
behind a load balancer never misses its own writes."""

import collections
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import threading
import time

import herald


def on_kafka(test, own_brokers=0, workers=2):
    """`own_brokers`: so many of the test's own, which it may kill; 0: the one that is shared."""
    with herald.folder() as folder:
        broker = herald.Broker(folder, own_brokers) if own_brokers else herald.Broker.shared(folder)
        try:
            cluster = herald.Cluster(folder, broker, workers=workers)
            test(cluster)
            cluster.agree()
            cluster.stop()
        finally:
            broker.stop()


@herald.kafka
def the_main_job_works_across_nodes_and_processes():
    def job(cluster):
        receiver = herald.Receiver()
        one, other = cluster.client(0), cluster.client(1)
        one.webhook("w", receiver.url)
        approver = one.second_admin()
        approver.port = cluster.ports[1]
        version = one.version(other.model("m"), "v")
        transition = other.stage("create", {"model_version_id": version, "desired_stage": "PRODUCTION"})["id"]
        approver.stage("approve", {"transition_id": transition})
        one.stage("commit", {"transition_id": transition})
        receiver.wait_for(1)
        body = json.loads(receiver.deliveries[0].body)
        other.must("PUT", f"/api/v1/registry/registered_models/{body['registered_model_id']}/model_versions/{version}",
                   {**body, "redirect_metadata": "https://serving.example.com"})
        assert one.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["status"] == "COMPLETE"
        build = one.must("POST", "/api/v1/deployment/workspace/default/builds",
                         {"model_version_id": int(version), "external_location": "registry.example.com/m:1"})["id"]
        other.must("POST", f"/api/v1/deployment/workspace/default/builds/{build}/scan", {"scan_external": True})
        receiver.wait_for(1, "REQUEST_SCAN")
        assert all(one.verified for one in receiver.deliveries)
        assert other.must("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": 1})["status_code"] == 200
        receiver.stop()
    on_kafka(job)


@herald.kafka
def a_write_through_one_node_is_read_through_another_at_once():
    def job(cluster):
        clients = [cluster.client(0), cluster.client(1)]
        model = clients[0].model("m")
        for number in range(200):
            version = clients[number % 2].version(model, f"v{number}")
            answer = clients[(number + 1) % 2].call("GET", f"/api/v1/registry/model_versions/{version}")
            assert answer.status == 200, f"version {version} was written through one node and not seen through the other: {answer}"
            assert "svc-registry-stale" not in answer.headers
    on_kafka(job)


@herald.kafka
def a_user_made_through_one_node_writes_through_another_at_once():
    def job(cluster):
        clients = [cluster.client(0), cluster.client(1)]
        for number in range(100):
            email = f"user{number}@example.com"
            user, _ = clients[number % 2].user(email)
            user.port = cluster.ports[(number + 1) % 2]
            made = user.call("POST", f"/api/v1/registry/workspaces/{email}/registered_models", {"name": "m", "description": "d" * 40_000})  # sent after its header
            assert made.status == 200, f"the user was made through one node, and the other answered {made}"
            user.close()
    on_kafka(job)


@herald.kafka
def a_repeat_through_another_node_gives_the_same_answer():
    def job(cluster):
        create = ("POST", "/api/v1/uac-proxy/uac/createUser", {"info": {"email": "b@example.com"}}, {"Idempotency-Key": "k"})
        first, second = cluster.client(0).call(*create), cluster.client(1).call(*create)
        assert first.status == 200 and first.body == second.body, (first, second)
    on_kafka(job)


@herald.alone
def without_brokers_everybody_says_so_within_ten_seconds_and_all_comes_back():
    def job(cluster):
        client, everybody = cluster.client(0), cluster.ports + cluster.worker_ports
        client.model("before")
        herald.until(lambda: not any(map(herald.trouble, everybody)), 30, "all are ready")
        assert herald.metric(cluster.ports[0], 'herald_log_reachable{process="api"}') == 1
        cluster.broker.kill()
        gone = time.monotonic()
        herald.until(lambda: all(map(herald.trouble, everybody)), 10, "everybody is not ready")
        print(f"all were not ready after {time.monotonic() - gone:.1f} s")
        assert {herald.trouble(port) for port in cluster.ports} == {"log_unreachable"}
        assert {herald.trouble(port) for port in cluster.worker_ports} == {"subscribers_unreachable"}
        for port, process, reason in ((cluster.ports[1], "api", "log_unreachable"),
                                      (cluster.worker_ports[1], "worker", "subscribers_unreachable")):
            assert herald.metric(port, f'herald_log_reachable{{process="{process}"}}') == 0
            assert herald.metric(port, f'herald_not_ready{{process="{process}",reason="{reason}"}}') == 1
        for key in ({}, {"Idempotency-Key": "k"}):
            start = time.monotonic()
            refused = client.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "m"}, key)
            assert refused.status == 503 and refused.headers["Retry-After"], refused
            assert time.monotonic() - start < 4, "a write was not refused at once"
        read = client.call("POST", "/api/v1/registry/registered_models/find", {})
        assert read.status == 200 and read.headers["svc-registry-stale"] == "true", read
        assert herald.metric(cluster.ports[0], "herald_stale_reads_total") > 0
        cluster.broker.start()
        back = time.monotonic()
        herald.until(lambda: not any(map(herald.trouble, everybody)), 30, "all are ready again")
        print(f"all were ready again {time.monotonic() - back:.1f} s after the broker was")
        client.model("after")
        assert "svc-registry-stale" not in client.call("POST", "/api/v1/registry/registered_models/find", {}).headers
    on_kafka(job, own_brokers=1)


def processes_that_end_while_the_brokers_are_silent_end_well():
    """What was asked of the brokers is answered when the log is closed, after the loop that waited for it has stopped."""
    def job(cluster):
        everybody = cluster.ports + cluster.worker_ports
        herald.until(lambda: not any(map(herald.trouble, everybody)), 30, "all are ready")
        cluster.broker.signal(signal.SIGSTOP)
        try:
            time.sleep(6)  # longer than readers wait before they ask
            for process in cluster.nodes + cluster.workers:
                process.process.send_signal(signal.SIGTERM)
            codes = [process.process.wait(30) for process in cluster.nodes + cluster.workers]
        finally:
            cluster.broker.signal(signal.SIGCONT)
        cluster.broker.start()  # until it has a controller again
        assert codes == [0] * len(codes), codes
        for index in range(len(cluster.nodes)):
            cluster.start_node(index)
        for index in range(len(cluster.workers)):
            cluster.start_worker(index)
    on_kafka(job, own_brokers=1)


@herald.kafka
def without_workers_a_test_says_so_and_a_lost_key_is_renewed_under_a_node_that_runs():
    def job(cluster):
        client, tried = cluster.client(), []
        hook = client.webhook("w", f"http://127.0.0.1:{herald.free_port()}")

        def test():
            tried.append(cluster.client(1).call("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook}))
        testing = threading.Thread(target=test)
        testing.start()
        client.user("eve@example.com")

        def renew(*options):
            return subprocess.run([herald.BINARY, "admin-key", *map(str, cluster.common), *options], capture_output=True, text=True,
                                  timeout=60)
        for email, why in (("nobody@example.com", "no user has"), ("eve@example.com", "is not a system administrator")):
            refused = renew("--admin-email", email)
            assert refused.returncode == 1 and not refused.stdout and email in refused.stderr and why in refused.stderr, refused
        renewed = renew()
        assert renewed.returncode == 0 and "end now" in renewed.stderr, renewed
        said = dict(line.split() for line in renewed.stdout.splitlines())
        assert said["email"] == herald.ADMIN_EMAIL and len(said["key"]) == 64, renewed
        whoami = "/api/v1/uac-proxy/uac/getCurrentUser"
        for port in cluster.ports:
            assert herald.Client(port, herald.ADMIN_EMAIL, said["key"]).must("GET", whoami)["email"] == herald.ADMIN_EMAIL
            assert herald.Client(port).call("GET", whoami).status == 401, "the old key is no longer valid"
        assert not list(cluster.folder.glob("**/admin-key")), "on Kafka no key is in a file"
        testing.join()
        answer = tried[0]
        assert (answer.status, answer.json["code"]) == (400, 9), answer
        assert "gave no answer: no-worker: no worker made the attempt within 20 s" in answer.json["message"], answer
    on_kafka(job, workers=0)


@herald.computes
def one_broker_of_three_killed_makes_nobody_unready():
    def job(cluster):
        broker, everybody = cluster.broker, cluster.ports + cluster.worker_ports
        herald.until(lambda: not any(map(herald.trouble, everybody)), 30, "all are ready")
        for round in range(2):
            victim = broker.active_controller() if round == 0 else broker.active_controller() % 3 + 1
            broker.kill(victim)
            deadline = time.monotonic() + 15
            while time.monotonic() < deadline:
                assert not any(map(herald.trouble, everybody)), f"round {round}: {[*map(herald.trouble, everybody)]}"
                time.sleep(0.1)
            cluster.client(0).model(f"m{round}")
            broker.start()
    on_kafka(job, own_brokers=3)


@herald.kafka
def a_worker_serves_health_as_the_options_of_http_say():
    def job(cluster):
        certificate, key = cluster.folder / "certificate.pem", cluster.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "10",
                        "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        trusting = ssl.create_default_context(cafile=certificate)
        trusting.check_hostname = False
        port = herald.free_port()
        worker = herald.Process("worker-https", ["worker", *cluster.common, "--listen", f"127.0.0.1:{port}", "--tls-cert", certificate,
                                                 "--tls-key", key, "--header-prefix", "svc-,other-"], cluster.folder)

        def ask(path):
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trusting)
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                return answer, answer.read().decode()
            except OSError:
                return None
            finally:
                connection.close()
        answer, _ = herald.until(lambda: ask("/healthz"), 30, "the worker serves")
        assert answer.status == 200 and answer.headers["svc-request-id"] == answer.headers["other-request-id"] is not None, answer.headers
        herald.until(lambda: re.search(r"^herald_certificate_expiry_seconds 8[0-9]{5}$", ask("/metrics")[1], re.MULTILINE), 30,
                     "10 days are 864000 s, shown once the worker has started")
        assert worker.stop() == 0, worker.tail()
    on_kafka(job, workers=0)


@herald.kafka
def an_idle_api_node_has_at_most_48_threads():
    """On one broker and two cores; each more core has an event loop of its own. The publisher's node has the most."""
    def job(cluster):
        most = 48 - 2 + len(os.sched_getaffinity(0))
        cluster.client(0).model("m")

        def names(node):
            found = collections.Counter()
            for task in pathlib.Path(f"/proc/{node.process.pid}/task").iterdir():
                with contextlib.suppress(OSError):  # it has just ended
                    found[(task / "comm").read_text().strip()] += 1
            return found
        deadline = time.monotonic() + 30
        calm_since = None  # a start opens more, and closes it again
        while calm_since is None or time.monotonic() - calm_since < 5:
            seen = [names(node) for node in cluster.nodes]
            if all(one.total() <= most for one in seen):
                calm_since = calm_since or time.monotonic()
            else:
                calm_since = None
            assert time.monotonic() < deadline, f"more than {most} threads: {[(one.total(), dict(one)) for one in seen]}"
            time.sleep(0.1)
    on_kafka(job, workers=0)


if __name__ == "__main__":
    herald.run()
