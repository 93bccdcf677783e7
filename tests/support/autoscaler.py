"""Real workers, each with a quota of CPU as a pod with a limit has it, scaled as Kubernetes scales them: KEDA asks the
broker for the lags of the groups, the HPA makes a number of workers of them.

Environment: GROUP_LAGS, what asks the broker (default build/release/tests/support/group_lags).
"""

import collections
import contextlib
import dataclasses
import http.client
import itertools
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import delivery_ends
import herald

GROUP_LAGS = os.environ.get("GROUP_LAGS", herald.ROOT / "build/release/tests/support/group_lags")
PERIOD_US = 100_000  # of a quota; what Kubernetes uses
TOLERANCE = 0.1  # the HPA changes nothing within it
SAMPLE_SECONDS = 0.5
TIMED_TOPICS = ("retry.5s", "retry.30s", "retry.5m", "retry.1h", "retry.6h")  # what is in them comes no earlier than its time
LONG_TOPICS = (*TIMED_TOPICS[1:], "waiting.1m", "waiting.10m")
RESOURCE_EVENTS = 'herald_partitions{topic="events.resource"}'
CREATE_EVENT = "/api/v1/uac-proxy/events/createEvent"


# ---- what KEDA and the HPA decide -------------------------------------------------------------------------------------

def value_of_trigger(lag, partitions, threshold):
    """What KEDA's Kafka scaler tells the HPA: more than one worker a partition would have nothing to do."""
    return partitions * threshold if lag // threshold > partitions else lag


def wish_of_trigger(value, threshold, workers):
    if abs(value / (threshold * workers) - 1) <= TOLERANCE:
        return workers
    return math.ceil(value / threshold)


class Scaler:
    """From lags to a number of workers. `lags`: group → (lag, partitions with lag, partitions)."""

    def __init__(self, least, most, threshold=500, down_window=20):
        self.least, self.most, self.threshold, self.down_window = least, most, threshold, down_window
        self.wishes = collections.deque()  # (when, how many)

    def decide(self, now, lags, workers):
        wish = max(wish_of_trigger(value_of_trigger(lag, partitions, self.threshold), self.threshold, workers)
                   for lag, _, partitions in lags.values())
        wish = max(self.least, min(wish, self.most, max(2 * workers, workers + 4)))
        self.wishes.append((now, wish))
        while now - self.wishes[0][0] > self.down_window:
            self.wishes.popleft()
        return wish if wish >= workers else min(workers, max(wished for _, wished in self.wishes))


# ---- a quota of CPU ---------------------------------------------------------------------------------------------------

class Quotas:
    """Control groups with a CPU quota, version 1 or 2. Raises Unavailable where none can be written."""

    ROOTS = (pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup/cpu,cpuacct"), pathlib.Path("/sys/fs/cgroup"))
    numbers = itertools.count()

    def __init__(self):
        for self.root in self.ROOTS:
            with contextlib.suppress(OSError):
                if (self.root / "cgroup.controllers").exists():
                    (self.root / "cgroup.subtree_control").write_text("+cpu")
                trial = self.make(0.5)
                trial.rmdir()
                return
        raise herald.Unavailable("no control group with a CPU quota can be made here")

    def make(self, cores):
        folder = self.root / f"herald-test-{os.getpid()}-{next(self.numbers)}"
        folder.mkdir()
        try:
            quota_us = int(cores * PERIOD_US)
            if (folder / "cpu.max").exists():
                (folder / "cpu.max").write_text(f"{quota_us} {PERIOD_US}")
            else:
                (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (folder / "cpu.cfs_quota_us").write_text(str(quota_us))
        except OSError:
            folder.rmdir()
            raise
        return folder


# ---- workers ----------------------------------------------------------------------------------------------------------

def metrics_of(port, timeout=2):
    """name with labels → value; None when the process does not answer (it starts, ends, or has no CPU)."""
    try:
        text = herald.Client(port, timeout=timeout).call("GET", "/metrics").body.decode()
    except (OSError, http.client.HTTPException):
        return None
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in text.splitlines()
                                                      if line and not line.startswith("#"))}


class Worker:
    def __init__(self, number, process, port, quota):
        self.number, self.process, self.port, self.quota = number, process, port, quota
        self.told_at = None  # when it was told to end

    def cpu_seconds(self):
        """That it has used; of one that has ended, None."""
        with contextlib.suppress(OSError, IndexError):
            fields = pathlib.Path(f"/proc/{self.process.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return None


@dataclasses.dataclass
class Ended:
    number: int
    seconds: float
    code: int


class Workers:
    """Those that run on one installation, the oldest first."""

    def __init__(self, cluster, cores, quotas):
        self.cluster, self.cores, self.quotas = cluster, cores, quotas
        self.running, self.ending, self.ended = [], [], []
        self.numbers = itertools.count(1)
        self.changed_at = time.monotonic()

    def add(self):
        number, port = next(self.numbers), herald.free_port()
        quota = self.quotas.make(self.cores) if self.cores else None
        process = herald.Process(f"worker-{number}", ["worker", *self.cluster.common, *self.cluster.sending(), "--listen",
                                                      f"127.0.0.1:{port}", *self.cluster.worker_options], self.cluster.folder)
        if quota:  # it is still being loaded: what it uses before this is nothing
            (quota / "cgroup.procs").write_text(str(process.process.pid))
        self.running.append(Worker(number, process, port, quota))
        self.changed_at = time.monotonic()

    def remove(self):
        """The newest ends, as a scale-down takes it."""
        worker = self.running.pop()
        worker.told_at = self.changed_at = time.monotonic()
        worker.process.process.send_signal(signal.SIGTERM)
        self.ending.append(worker)

    def kill_and_replace(self):
        """The oldest gets SIGKILL, and another takes its place; what was killed."""
        worker = self.running.pop(0)
        worker.process.kill()
        self.free(worker)
        self.add()
        return worker.number

    def scale_to(self, count):
        while len(self.running) < count:
            self.add()
        while len(self.running) > count:
            self.remove()

    def reap(self):
        for worker in [one for one in self.ending if not one.process.alive]:
            self.ending.remove(worker)
            self.ended.append(Ended(worker.number, time.monotonic() - worker.told_at, worker.process.process.returncode))
            self.changed_at = time.monotonic()
            self.free(worker)
        for worker in self.running:
            assert worker.process.alive, f"worker {worker.number} ended by itself:\n{worker.process.tail()}"

    def free(self, worker):
        worker.process.log.close()
        if worker.quota:
            herald.until(lambda: not (worker.quota / "cgroup.procs").read_text().strip(), 10, "the control group is empty")
            worker.quota.rmdir()

    def sum_of(self, pattern):
        """Of a metric's values at all of them, its name with labels as a regular expression; None when one does not answer."""
        seen = [metrics_of(worker.port) for worker in self.running]
        if None in seen:
            return None
        return sum(value for one in seen for name, value in one.items() if re.fullmatch(pattern, name))

    def wait_until_settled(self):
        """All are ready and share the partitions out among them."""
        for worker in self.running:
            herald.wait_until_ready(worker.process, worker.port, 120)
        seen = herald.until(lambda: metrics_of(self.running[0].port, 10), 60, "a worker shows its metrics")
        if RESOURCE_EVENTS not in seen:  # a program from before this metric
            time.sleep(4)
            return

        def shared_out():
            shares = [(metrics_of(worker.port, 10) or {}).get(RESOURCE_EVENTS, 0) for worker in self.running]
            return sum(shares) == 12 and (len(shares) > 12 or all(shares))
        herald.until(shared_out, 60, "every worker has partitions")

    def kill(self):
        """Those that a failed test left behind."""
        while self.running or self.ending:
            worker = (self.running or self.ending).pop()
            worker.process.kill()
            self.free(worker)

    def stop(self):
        self.scale_to(0)
        herald.until(lambda: self.reap() or not self.ending, 40, "all workers have ended")


# ---- one row of the table ---------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Row:
    """What to try. `receivers`: of each kind of path how many webhooks: "" answers at once, "500", "slow" and "hang" do not."""
    cores: float = 0.25  # of each worker; 0: no quota
    deliveries: int = 20_000  # to the receivers that are well
    least: int = 1
    most: int = 4  # = least: fixed
    receivers: dict = dataclasses.field(default_factory=lambda: {"": 8})
    kills: bool = False
    budget: float = 240.0  # seconds after the last accepted event
    poll: float = 5.0
    threshold: int = 500
    down_window: float = 20.0
    worker_options: tuple = ()
    watches_metrics: bool = False  # compares the backlog that the workers tell with what is missing
    says: bool = False  # prints a line at each look
    at_least: int = 0  # events, if no receiver is well
    backlog_first: bool = False  # the first workers start, as all others, when the last event was accepted

    @property
    def is_fixed(self):
        return self.least == self.most

    @property
    def events(self):
        return self.deliveries // self.receivers[""] if "" in self.receivers else self.at_least


@dataclasses.dataclass
class Outcome:
    row: Row
    wanted: int
    arrived: int = 0
    repeats: int = 0
    done_seconds: float = None  # after the last accepted event; None: not all came
    published_seconds: float = 0.0
    most_workers: int = 0
    settled_seconds: float = None  # until the workers were back at the least
    put_off: dict = None  # topic whose records wait for a time → webhook → records that ever entered it
    ended: list = None  # workers that were scaled away
    arrived_early: int = 0  # before the last event was accepted
    cpu_seconds: float = 0.0  # of the one fixed worker, from the last accepted event until all were there
    cpu_of_all: float = 0.0  # likewise, from before the first event
    looks: list = None  # (seconds when asked, when answered, backlog told), without 10 s after changes
    missing: list = None  # (seconds, deliveries that had not arrived)
    webhooks: dict = None  # path → id

    @property
    def lost(self):
        return self.wanted - self.arrived

    @property
    def rate(self):
        """Deliveries a second, while nothing else is done than to deliver."""
        return (self.wanted - self.arrived_early) / max(self.done_seconds, 0.001)

    def missing_between(self, first, last):
        """The least and the most that was missing then; between two counts as if deliveries arrived evenly."""
        def at(seconds):
            before = max((each for each in self.missing if each[0] <= seconds), default=self.missing[0])
            after = min((each for each in self.missing if each[0] >= seconds), default=self.missing[-1])
            share = (seconds - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0
            return before[1] + share * (after[1] - before[1])
        seen = [at(first), at(last), *(missing for when, missing in self.missing if first < when < last)]
        return min(seen), max(seen)

    def put_off_of(self, path):
        """Records of this path's webhook that entered any of them."""
        return sum(by_webhook.get(self.webhooks[path], 0) for by_webhook in self.put_off.values())

    def long_waits(self, paths=None, topics=LONG_TOPICS):
        """Records that entered a topic of more than 5 s, of these paths' webhooks or of all."""
        wanted = {self.webhooks[path] for path in paths} if paths is not None else None
        return sum(count for topic in topics for webhook, count in self.put_off.get(topic, {}).items()
                   if wanted is None or webhook in wanted)

    def healthy_paths(self):
        return [path for path in self.webhooks if re.fullmatch(r"/\d+", path)]

    def line(self):
        row = self.row
        many = str(row.least) if row.is_fixed else f"{row.least}→{row.most}"
        others = "".join(f", {count} {kind}" for kind, count in row.receivers.items() if kind)
        result = (f"all in **{self.done_seconds:.1f} s**" if self.done_seconds is not None
                  else f"{self.arrived:,} after {row.budget:.0f} s")
        back = "" if row.is_fixed else (f", back at {row.least} after {self.settled_seconds:.0f} s" if self.settled_seconds
                                        else f", not back at {row.least}") + f", most {self.most_workers}"
        ends = "; ".join(f"worker {one.number} ended in {one.seconds:.1f} s with {one.code}" for one in self.ended)
        return (f"| {many} × {row.cores or 'no limit'}{', kill -9' if row.kills else ''}{others} | {self.wanted:,} | {result}{back} | "
                f"{self.repeats} | {self.long_waits(self.healthy_paths())} of {self.long_waits()} | {ends} |")


HEADING = ("| workers × core | deliveries | result | repeats | records of healthy receivers, of all, that entered a topic over 5 s "
           "| scaled down |\n|---|---|---|---|---|---|")


class Lags:
    """What the broker knows."""

    def __init__(self, broker, prefix):
        self.process = subprocess.Popen([GROUP_LAGS, broker.address, prefix], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(30)


class Installation:
    """One API node on the broker, webhooks, a receiver; workers come and go."""

    def __init__(self, folder, broker, row, quotas):
        folder.mkdir()
        self.row = row
        self.ends = delivery_ends.Ends()
        self.cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0, node_options=("--log-requests", "false"))
        self.cluster.worker_options = row.worker_options
        self.lags = Lags(broker, self.cluster.prefix)
        self.client = self.cluster.client()
        self.workers = Workers(self.cluster, row.cores, quotas)
        self.webhooks, self.published = {}, 0
        for kind, count in row.receivers.items():
            for number in range(count):
                path = f"/{number}" + (f"/{kind}" if kind else "")
                self.webhooks[path] = str(self.client.webhook(f"w{len(self.webhooks)}", self.ends.url + path, ("UPDATE",)))
        self.healthy = [path for path in self.webhooks if re.fullmatch(r"/\d+", path)]

    def publish(self, count, rate=0):
        """Seconds that it took; every event is accepted."""
        pad = "x" * 300
        requests = [(CREATE_EVENT, f'{{"event_uuid":"e{n}","event_type":"UPDATE","resource_type":"ENDPOINT",'
                                   f'"new_entity":{{"id":"r{n}","n":{n},"pad":"{pad}"}}}}')
                    for n in range(self.published, self.published + count)]
        self.published += count
        return delivery_ends.send(self.client, requests, rate=rate, callers=32)

    def seen(self):
        """Of the receivers that are well: deliveries, repeats, when the last new one came."""
        seen = self.ends.seen()
        ours = [seen.get(path, (0, 0, 0.0)) for path in self.healthy]
        return sum(one[0] for one in ours), sum(one[1] for one in ours), max((one[2] for one in ours), default=0.0)

    def wait_for(self, wanted, seconds):
        """Waits until as many have arrived, or the time is over; the deliveries and the repeats there are."""
        deadline = time.monotonic() + seconds
        while (seen := self.seen())[0] < wanted and time.monotonic() < deadline:
            self.workers.reap()
            time.sleep(SAMPLE_SECONDS)
        return seen[:2]

    def stop(self):
        self.workers.stop()
        self.lags.stop()
        self.cluster.stop()
        self.ends.stop()


class Trial:
    """Plays a row on an installation whose workers are settled."""

    def __init__(self, place):
        self.place, self.row = place, place.row
        self.scaler = Scaler(self.row.least, self.row.most, self.row.threshold, self.row.down_window)
        self.has_killed = False

    def run(self):
        place, row = self.place, self.row
        before, repeats_before, _ = place.seen()
        if row.backlog_first:
            place.workers.stop()
            place.workers.ended.clear()
            took = place.publish(row.events)
            place.workers.scale_to(row.least)
        cpu_at_first = place.workers.running[0].cpu_seconds()
        if not row.backlog_first:
            took = place.publish(row.events)
        self.began = time.monotonic()
        self.wanted = row.events * len(place.healthy)
        self.outcome = Outcome(row, self.wanted, published_seconds=took, most_workers=len(place.workers.running), looks=[], missing=[],
                               webhooks=place.webhooks, arrived_early=place.seen()[0] - before)
        cpu_before = place.workers.running[0].cpu_seconds()
        next_poll = self.began
        while (passed := time.monotonic() - self.began) < row.budget:
            arrived, repeats, last = place.seen()
            arrived, repeats = arrived - before, repeats - repeats_before
            self.outcome.arrived, self.outcome.repeats = arrived, repeats
            self.outcome.missing.append((passed, self.wanted - arrived))
            if arrived >= self.wanted > 0 and self.outcome.done_seconds is None:
                self.outcome.done_seconds = max(0.0, last - self.began)
                cpu_now = place.workers.running[0].cpu_seconds()
                self.outcome.cpu_seconds, self.outcome.cpu_of_all = cpu_now - cpu_before, cpu_now - cpu_at_first
                if row.is_fixed and not row.kills:
                    break
            place.workers.reap()
            if self.maybe_kill(arrived) or time.monotonic() >= next_poll:
                next_poll = time.monotonic() + row.poll
                self.look(passed, arrived, repeats)
            if row.watches_metrics and arrived < self.wanted:
                self.compare(before)
            if self.outcome.done_seconds is not None and self.is_settled(passed):
                break
            time.sleep(SAMPLE_SECONDS)
        self.outcome.arrived, self.outcome.repeats = (there - earlier for there, earlier in zip(place.seen()[:2], (before, repeats_before)))
        self.outcome.put_off = place.lags.ask("put_off")
        herald.until(lambda: place.workers.reap() or not place.workers.ending, 40, "those that were scaled away have ended")
        self.outcome.ended = list(place.workers.ended)
        return self.outcome

    def look(self, passed, arrived, repeats):
        """One poll of KEDA and one decision of the HPA."""
        workers, lags = self.place.workers, self.place.lags.ask("lags")
        before = len(workers.running)
        if not self.row.is_fixed:
            workers.scale_to(self.scaler.decide(time.monotonic(), lags, before))
        self.outcome.most_workers = max(self.outcome.most_workers, len(workers.running))
        if self.row.says:
            shown = " ".join(f"{group.removeprefix('herald-')}={lag}" for group, (lag, _, _) in lags.items())
            print(f"{passed:6.1f} s  lag {shown}  workers {before}→{len(workers.running)}  arrived {arrived}/{self.wanted}  repeats {repeats}",
                  flush=True)

    def maybe_kill(self, arrived):
        if not self.row.kills or self.has_killed or arrived <= self.wanted // 3 or len(self.place.workers.running) < 2:
            return False
        self.has_killed = True
        number = self.place.workers.kill_and_replace()
        if self.row.says:
            print(f"          kill -9 of worker {number}, another takes its place", flush=True)
        return True

    def compare(self, before):
        asked = time.monotonic() - self.began
        told = self.place.workers.sum_of(r"herald_backlog_deliveries\{.*\}")
        answered = time.monotonic() - self.began
        if told is not None and time.monotonic() - self.place.workers.changed_at > 10 and not self.place.workers.ending:
            self.outcome.looks.append((asked, answered, told))
        self.outcome.missing.append((time.monotonic() - self.began, self.wanted - (self.place.seen()[0] - before)))

    def is_settled(self, passed):
        if len(self.place.workers.running) > self.row.least or self.place.workers.ending:
            return False
        self.outcome.settled_seconds = passed
        return True


@contextlib.contextmanager
def installed(folder, broker, row, quotas):
    """An Installation whose first workers are settled. `folder` must not exist."""
    place = Installation(folder, broker, row, quotas)
    try:
        place.workers.scale_to(row.least)
        place.workers.wait_until_settled()
        yield place
        place.stop()
    finally:
        place.workers.kill()


def play(folder, broker, row, quotas):
    """An Outcome."""
    with installed(folder, broker, row, quotas) as place:
        return Trial(place).run()


@contextlib.contextmanager
def broker_in(folder):
    broker = herald.Broker(folder)
    try:
        yield broker
    finally:
        broker.stop()
