"""Property: kill -9 of any process loses no acknowledged write and no event, and repeats nothing (P1, P2, P3).

A failure prints the seed; HERALD_SEED=<seed> repeats the choice of moments.
"""

import http.client
import os
import random
import signal
import threading
import time

import herald

ROUNDS = int(os.environ.get("HERALD_FAULT_ROUNDS", "20"))
DELIVERED_SECONDS_MAX = 12  # after its commit, and after all processes live again
SEED = int(os.environ.get("HERALD_SEED", str(time.time_ns() % 1_000_000)))


class Writers:
    """Threads that create versions and promote them through whatever nodes live, each write under a key of its own that
    is repeated until it is answered 200. What they believe is compared with the registry afterwards."""

    def __init__(self, ports, approver_key, model, promoters=1, creators=3):
        self.ports = ports
        self.approver_key = approver_key
        self.model = model
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.created = {}    # name → id
        self.promoted = {}   # version id → when its commit was acknowledged
        self.answers = []    # (path, body, key, answer) of some writes, to be repeated at the end
        self.unclear = 0     # tries that were not answered 200
        self.errors = []
        self.threads = [threading.Thread(target=self.guard, args=(work, number))
                        for number, work in enumerate([self.create] * creators + [self.promote] * promoters)]
        for thread in self.threads:
            thread.start()

    def guard(self, work, number):
        try:
            work(number)
        except BaseException as failure:
            self.errors.append(failure)

    def write(self, clients, path, body, key, sure=True):
        """Repeats until a final answer; those that leave the outcome open (503, 500, no answer) are tried elsewhere."""
        for attempt in herald.numbers(0):
            client = clients[attempt % len(clients)]
            try:
                answer = client.call("POST", path, body, {"Idempotency-Key": key})
                if answer.status == 200:
                    with self.lock:
                        if len(self.answers) < 200:
                            self.answers.append((client.headers, path, body, key, answer.body))
                    return answer.json
                assert answer.status in (500, 503), f"{path} {body}: {answer}"
            except (OSError, http.client.HTTPException):
                pass
            self.unclear += 1
            assert attempt < 3000, "no node answers"
            time.sleep(0.02)

    def clients(self, number, email=herald.ADMIN_EMAIL, key=herald.ADMIN_KEY):
        ports = self.ports[number % len(self.ports):] + self.ports[:number % len(self.ports)]
        return [herald.Client(port, email, key, timeout=40) for port in ports]

    @staticmethod
    def rest(count):
        """A search looks at 10,000 records at most: many rounds must not make more."""
        if count > 600:
            time.sleep(0.1)

    def create(self, number):
        clients = self.clients(number)
        for count in herald.numbers():
            if self.stop.is_set():
                return
            self.rest(count)
            name = f"v-{number}-{count}"
            made = self.write(clients, f"/api/v1/registry/registered_models/{self.model}/model_versions", {"version": name}, name)
            with self.lock:
                self.created[name] = made["model_version"]["id"]

    def promote(self, number):
        clients = self.clients(number)
        approvers = self.clients(number, "second@example.com", self.approver_key)
        for count in herald.numbers():
            if self.stop.is_set():
                return
            self.rest(count)
            name = f"p-{number}-{count}"
            path = f"/api/v1/registry/registered_models/{self.model}/model_versions"
            version = self.write(clients, path, {"version": name}, name)["model_version"]["id"]
            stage = "/api/v1/registry/stage/"
            transition = self.write(clients, stage + "createTransition",
                                    {"model_version_id": version, "desired_stage": "PRODUCTION"}, name)["activity"]["id"]
            self.write(approvers, stage + "approveTransition", {"transition_id": transition}, name)
            self.write(clients, stage + "commitTransition", {"transition_id": transition}, name)
            with self.lock:
                self.created[name] = version
                self.promoted[version] = time.monotonic()

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(120)
        assert not self.errors, self.errors

    def check(self, client, receiver, all_live):
        """`all_live`: since when every process lives again."""
        assert len(set(self.created.values())) == len(self.created), "one id was given twice"
        path = f"/api/v1/registry/registered_models/{self.model}/model_versions/find"
        found = client.must("POST", path, {})["model_versions"]
        there = {one["version"]: one["id"] for one in found}
        assert len(there) == len(found), "a name is there twice"
        lost = [name for name, identity in self.created.items() if there.get(name) != identity]
        assert not lost, f"acknowledged, but not there: {lost[:5]} of {len(self.created)}"
        assert len(there) == len(self.created), "a write that was repeated under its key took effect twice"
        for headers, path, body, key, before in self.answers:
            again = herald.Client(client.port, headers["Grpc-Metadata-email"], headers["Grpc-Metadata-developer_key"]).call(
                "POST", path, body, {"Idempotency-Key": key})
            assert (again.status, again.body) == (200, before), f"a repeat got another answer: {again} not {before}"
        events = {}  # event → when its commit was acknowledged
        for version, acknowledged in self.promoted.items():
            promotion = client.must("GET", f"/api/v1/registry/model_versions/{version}/promotion")
            assert promotion["status"] == "IN_PROGRESS", promotion
            events[promotion["event_id"]] = acknowledged
        assert len(events) == len(self.promoted)
        receiver.wait_for(len(events), seconds=90)
        check_deliveries(receiver, events)
        came = {delivery.event: delivery.time for delivery in reversed(receiver.of_type("PROMOTE"))}
        late = max(came[event] - max(acknowledged, all_live) for event, acknowledged in events.items())
        print(f"{len(self.created)} writes, {len(events)} promotions, {self.unclear} unclear tries; {len(receiver.deliveries)} "
              f"deliveries, the latest {late:.1f} s after its commit and the last restart")
        assert late < DELIVERED_SECONDS_MAX, f"a promotion was delivered after {late:.1f} s"


def check_deliveries(receiver, events):
    """Each event came, no other did, and repeats carry the same webhook-id."""
    ids = {}
    for delivery in receiver.of_type("PROMOTE"):
        assert delivery.verified, "a delivery without a valid signature"
        ids.setdefault(delivery.event, set()).add(delivery.id)
    assert set(ids) == set(events), f"missing {set(events) - set(ids)}, without cause {set(ids) - set(events)}"
    assert all(len(one) == 1 for one in ids.values()), "an event came under two webhook ids"


def prepare(client, receiver):
    """A webhook, an approver and a model; what the writers need."""
    client.webhook("promotions", receiver.url)
    approver = client.second_admin()
    return approver.headers["Grpc-Metadata-developer_key"], client.model("m")


@herald.computes
def standalone_killed_under_writers_loses_nothing_and_repeats_nothing():
    print(f"HERALD_SEED={SEED}")
    chance = random.Random(SEED)
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), herald.Receiver()
        writers = Writers([server.port], *prepare(server.client(), receiver))
        for _ in range(ROUNDS):
            time.sleep(chance.uniform(0.1, 1.5))
            server.process.kill()
            server.start()
        all_live = time.monotonic()
        time.sleep(0.5)
        writers.end()
        writers.check(server.client(), receiver, all_live)
        assert server.stop() == 0
        receiver.stop()


@herald.kafka
@herald.computes
def nodes_and_workers_killed_under_writers_lose_nothing_and_repeat_nothing():
    print(f"HERALD_SEED={SEED}")
    chance = random.Random(SEED)
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster, receiver = herald.Cluster(folder, broker), herald.Receiver()
            writers = Writers(cluster.ports, *prepare(cluster.client(), receiver))
            for _ in range(ROUNDS):
                time.sleep(chance.uniform(0.1, 1.5))
                processes, start = chance.choice([(cluster.nodes, cluster.start_node), (cluster.workers, cluster.start_worker)])
                victim = chance.randrange(len(processes))
                processes[victim].kill()
                time.sleep(chance.uniform(0, 0.5))
                start(victim)
            all_live = time.monotonic()
            writers.end()
            writers.check(cluster.client(0), receiver, all_live)
            writers.check(cluster.client(1), receiver, all_live)
            cluster.agree()
            cluster.stop()
            receiver.stop()
        finally:
            broker.stop()


def promotions(client, approver, model, count, prefix):
    return [client.promote(approver, client.version(model, f"{prefix}-{number}")) for number in range(count)]


@herald.kafka
def publisher_killed_loses_no_event():
    """Both nodes are killed in turn, so the one that publishes is among them, with commits just made."""
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster, receiver = herald.Cluster(folder, broker), herald.Receiver()
            client = cluster.client()
            client.webhook("promotions", receiver.url)
            approver, model = client.second_admin(), client.model("m")
            events = promotions(client, approver, model, 3, "before")
            for victim in (1, 0, 1):
                survivor = 1 - victim
                client = cluster.client(survivor)
                approver.port = cluster.ports[survivor]
                approver.close()
                events += promotions(client, approver, model, 3, f"at-{len(events)}")
                cluster.nodes[victim].kill()
                events += promotions(client, approver, model, 2, f"after-{len(events)}")
                cluster.start_node(victim)
            receiver.wait_for(len(events), seconds=60)
            check_deliveries(receiver, events)
            cluster.agree()
            cluster.stop()
            receiver.stop()
        finally:
            broker.stop()


@herald.kafka
def worker_killed_between_post_and_commit_repeats_only_the_same_webhook_id():
    """The receiver kills the worker while it waits for the answer: the delivery was made and is not recorded as made."""
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
            killed = threading.Event()

            def kill_once(_):
                if not killed.is_set():
                    killed.set()
                    cluster.workers[0].kill()
                return 200

            receiver = herald.Receiver(kill_once)
            client = cluster.client()
            client.webhook("promotions", receiver.url)
            approver, model = client.second_admin(), client.model("m")
            events = promotions(client, approver, model, 3, "v")
            herald.until(killed.is_set, 30, "the worker was killed")
            cluster.start_worker(0)
            receiver.wait_for(len(events), seconds=60)
            first = receiver.of_type("PROMOTE")[0]
            herald.until(lambda: sum(one.event == first.event for one in receiver.of_type("PROMOTE")) > 1, 60,
                         "the delivery that was not recorded is repeated")
            check_deliveries(receiver, events)
            cluster.stop()
            receiver.stop()
        finally:
            broker.stop()


@herald.computes
def broker_killed_loses_no_event():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            cluster, receiver = herald.Cluster(folder, broker), herald.Receiver()
            writers = Writers(cluster.ports, *prepare(cluster.client(), receiver), creators=1)
            for _ in range(2):
                time.sleep(1)
                broker.kill()
                broker.start()
                all_live = time.monotonic()
                time.sleep(1)
            writers.end()
            writers.check(cluster.client(0), receiver, all_live)
            cluster.agree()
            cluster.stop()
            receiver.stop()
        finally:
            broker.stop()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    herald.run()
