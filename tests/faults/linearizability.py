"""Property: two API nodes on one Kafka answer as one registry would that does one call after the other: what clients saw, all
at once, through either node, while one is killed and calls are given up, is linearizable for each key. With `--reads local`
it is not, and the checker says so.

Environment: HERALD_TEST_LONG, three minutes in place of twelve seconds; HERALD_SEED, of the calls."""

import collections
import http.client
import itertools
import os
import random
import threading
import time

import herald
import linearizable
from linearizable import Operation

IS_LONG = bool(os.environ.get("HERALD_TEST_LONG"))
SEED = int(os.environ.get("HERALD_SEED", "8"))
MODELS = "/api/v1/registry/workspaces/default/registered_models"
VERSIONS = "/api/v1/registry/registered_models"
STAGES = ("DEVELOPMENT", "STAGING", "ARCHIVED")
UNKNOWN_ID = "?"  # of what a call made that was given up


# ---- what one registry would do: the state after an operation, None where the answer is wrong

def name_step(identity, operation):
    """The model of a name: its id, "" where there is none."""
    if operation.name == "read":
        return identity if operation.answer == identity else operation.answer if identity == UNKNOWN_ID and operation.answer else None
    if operation.name == "create":
        if not operation.is_known:
            return identity or UNKNOWN_ID
        if operation.answer == 409:
            return identity or None
        return None if identity else operation.answer
    assert operation.name == "delete", operation
    if not operation.is_known:
        return "" if identity in (operation.argument, UNKNOWN_ID) else identity
    is_gone = "" if identity in (operation.argument, UNKNOWN_ID) else None
    return is_gone if operation.answer == 200 else identity if identity != operation.argument else None


def text_step(state, operation):
    """A version's description and labels, which each answer shows. PATCH adds labels, PUT replaces all."""
    description, labels = state
    sent = operation.argument or {}
    if operation.name == "patch":
        state = (sent.get("description", description), labels | frozenset(sent.get("labels", ())))
    elif operation.name == "put":
        state = (sent["description"], frozenset(sent["labels"]))
    return state if not operation.is_known or operation.answer == state else None


def stage_step(state, operation):
    """A version's stage, and its open transitions: their ids with what they are from and to."""
    stage, transitions = state
    if operation.name == "read":
        return state if operation.answer == stage else None
    if operation.name == "create":
        is_open = any(to == operation.argument for _, _, to in transitions)
        if stage == operation.argument:
            return state if operation.answer == "CLOSED" else None
        if is_open:
            return state if operation.answer == 409 else None
        if operation.answer in (409, "CLOSED"):
            return None
        return stage, transitions | {(operation.answer, stage, operation.argument)}
    found = next((each for each in transitions if each[0] == operation.argument), None)
    if operation.name == "close":  # of what is closed already there is nothing to say; what is committed cannot be closed
        return (stage, transitions - {found}) if not operation.is_known or operation.answer == 200 else None if found else state
    assert operation.name == "commit", operation
    after = (stage, None) if not found else (found[2], transitions - {found}) if found[1] == stage else (stage, transitions)
    right = 400 if not found else 200 if found[1] == stage else 409
    if operation.is_known and operation.answer != right:
        return None
    return after if found else state


STEPS = {"name": (name_step, ""), "text": (text_step, ("", frozenset())), "stage": (stage_step, ("UNASSIGNED", frozenset()))}


# ---- clients that record what they see

class Given(Exception):
    """What came of a call cannot be known."""


class Caller:
    """One thread's calls through both nodes, and what it saw."""

    def __init__(self, name, clients, is_deleting, seed):
        self.name = name
        self.clients = clients
        self.is_deleting = is_deleting
        self.random = random.Random(seed)
        self.seen = collections.defaultdict(list)
        self.stale = 0
        self.unknown = 0

    def ask(self, method, path, body=None, gives_up=False):
        """The answer; None where it does not count: the node was not there, or it says that its state may be old."""
        client = self.random.choice(self.clients)
        try:
            if gives_up:
                client.call("GET", "/healthz")
                client.connection.request(method, path, herald.json.dumps(body).encode(), client.headers)
                client.close()
                raise Given
            answer = client.call(method, path, body)
        except ConnectionRefusedError:
            time.sleep(0.02)
            return None
        except (OSError, http.client.HTTPException) as failure:
            if method == "GET":
                return None
            raise Given from failure
        if answer.headers["svc-registry-stale"] == "true":
            self.stale += 1
            return None
        if answer.status == 500 and method != "GET":
            raise Given
        if answer.status in (500, 503, 504):  # nothing took effect
            return None
        return answer

    def record(self, key, name, argument, answered, method, path, body=None, gives_up=False):
        """Does the call, and keeps it with what `answered` makes of its answer, or as one of unknown outcome."""
        start = time.monotonic()
        try:
            answer = self.ask(method, path, body, gives_up)
        except Given:
            self.unknown += 1
            self.seen[key].append(Operation(name, argument, None, start, by=self.name))
            return None
        if answer is None:
            return None
        told = answered(answer)
        self.seen[key].append(Operation(name, argument, told, start, time.monotonic(), self.name))
        return told

    def is_giving_up(self):
        return self.random.random() < 0.01


def read_name(caller, key):
    def told(answer):
        assert answer.status in (200, 404), answer
        return answer.json["registered_model"]["id"] if answer.status == 200 else ""
    return caller.record(key, "read", key[1], told, "GET", f"{MODELS}/{key[1]}")


def touch_name(caller, key, _):
    name = key[1]
    if caller.random.random() < 0.5:
        known = read_name(caller, key)
        if known and caller.is_deleting and caller.random.random() < 0.5:
            caller.record(key, "delete", known, lambda answer: answer.status, "DELETE", f"{VERSIONS}/{known}")
        return

    def told(answer):
        assert answer.status in (200, 409), answer
        return answer.json["registered_model"]["id"] if answer.status == 200 else 409
    caller.record(key, "create", name, told, "POST", MODELS, {"name": name}, caller.is_giving_up())


def text_of(answer):
    assert answer.status == 200, answer
    row = answer.json["model_version"]
    return row["description"], frozenset(row["labels"])


def read_text(caller, key):
    caller.record(key, "read", None, text_of, "GET", f"/api/v1/registry/model_versions/{key[1]}")


def touch_text(caller, key, number):
    model, version = key[2], key[1]
    path = f"{VERSIONS}/{model}/model_versions/{version}"
    kind = caller.random.random()
    if kind < 0.5:
        read_text(caller, key)
    elif kind < 0.7:
        body = {"description": f"{caller.name}.{number}"}
        caller.record(key, "patch", body, text_of, "PATCH", path, body, caller.is_giving_up())
    elif kind < 0.9:
        body = {"labels": [f"l{caller.random.randrange(20)}"]}
        caller.record(key, "patch", body, text_of, "PATCH", path, body, caller.is_giving_up())
    else:
        body = {"version": key[3], "description": f"{caller.name}.{number}", "labels": [f"l{caller.random.randrange(20)}"]}
        caller.record(key, "put", body, text_of, "PUT", path, body, caller.is_giving_up())


def read_stage(caller, key):
    def told(answer):
        assert answer.status == 200, answer
        return answer.json["model_version"]["stage"]
    caller.record(key, "read", None, told, "GET", f"/api/v1/registry/model_versions/{key[1]}")


def touch_stage(caller, key, _):
    kind = caller.random.random()
    stage = "/api/v1/registry/stage/"
    status = lambda answer: answer.status  # noqa: E731
    if kind < 0.5:
        read_stage(caller, key)
        return

    def made(answer):
        assert answer.status in (200, 409), answer
        if answer.status == 409:
            return 409
        activity = answer.json["activity"]
        return "CLOSED" if activity["activity_state"] == "CLOSED" else activity["id"]
    desired = caller.random.choice(STAGES)
    transition = caller.record(key, "create", desired, made, "POST", stage + "createTransition",
                               {"model_version_id": key[1], "desired_stage": desired})
    if transition in (None, 409, "CLOSED"):
        # Somebody else may have died with his own open: whatever is open is closed.
        for each in [operation.answer for operation in caller.seen[key] if operation.name == "create"][-3:]:
            if each not in (None, 409, "CLOSED"):
                caller.record(key, "close", each, status, "POST", stage + "closeTransition", {"transition_id": each})
        return
    verb = "commit" if caller.random.random() < 0.8 else "close"
    caller.record(key, verb, transition, status, "POST", f"{stage}{verb}Transition", {"transition_id": transition},
                  caller.is_giving_up())


TOUCH = {"name": touch_name, "text": touch_text, "stage": touch_stage}
READ = {"name": read_name, "text": read_text, "stage": read_stage}


def history(cluster, seconds, seed, meanwhile=lambda: None, callers=8):
    """What clients see in that time, by key; then everybody reads everything once more. Several names and versions, so that
    no key's history is too long to judge."""
    client = cluster.client()
    document = client.must("GET", "/api/openapi.json")
    is_deleting = "delete" in document["paths"].get(VERSIONS + "/{model_id}", {})
    model = client.model(f"m{seed}")
    keys = [("name", f"n{seed}.{number}") for number in range(3)]
    for kind, count in (("text", 3), ("stage", 2)):
        for number in range(count):
            name = f"{kind}{number}"
            keys.append((kind, client.version(model, name), model, name))
    cluster.agree()  # a node that reads locally knows them, too
    over = threading.Event()
    failures = []
    all_callers = [Caller(f"c{index}", [cluster.client(0), cluster.client(1)], is_deleting, seed * 1000 + index)
                   for index in range(callers)]

    def work(caller):
        try:
            fresh = itertools.count()
            for number in itertools.count():
                if over.is_set():
                    break
                key = caller.random.choice(keys)
                # Names that nobody deletes are soon all taken: new ones come.
                if key[0] == "name" and not is_deleting and caller.random.random() < 0.9:
                    key = ("name", f"n{seed}.{int((time.monotonic() - begun) * 10)}.{next(fresh) % 2}")
                TOUCH[key[0]](caller, key, number)
            for key in keys:
                READ[key[0]](caller, key)
        except BaseException as failure:  # noqa: B902
            failures.append(failure)

    begun = time.monotonic()
    threads = [threading.Thread(target=work, args=(caller,)) for caller in all_callers]
    for thread in threads:
        thread.start()
    try:
        meanwhile()
        over.wait(max(0, begun + seconds - time.monotonic()))
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert not failures, failures
    found = collections.defaultdict(list)
    for caller in all_callers:
        for key, operations in caller.seen.items():
            found[key] += operations
    total = sum(map(len, found.values()))
    print(f"{total} operations on {len(found)} keys, {sum(caller.unknown for caller in all_callers)} of unknown outcome, "
          f"{sum(caller.stale for caller in all_callers)} answers marked as stale left out")
    assert total > 100 * seconds / 4, "too little was done to prove anything"
    return found


def first_violation(found):
    for key, operations in found.items():
        step, start = STEPS[key[0]]
        wrong = linearizable.violation(operations, start, step)
        if wrong:
            return f"{key} is not linearizable, about here:\n" + "\n".join(f"  {each}" for each in wrong)
    return None


def on_two_nodes(test, *options):
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        try:
            cluster = herald.Cluster(folder, broker, workers=0, node_options=options)
            test(cluster)
            cluster.stop()
        finally:
            broker.stop()


@herald.kafka
@herald.computes
def what_two_nodes_answer_is_linearizable():
    def job(cluster):
        seconds = 180 if IS_LONG else 12

        def kill_one():
            for number in range(seconds // 6):
                time.sleep(3)
                cluster.nodes[number % 2].kill()
                time.sleep(0.5)
                cluster.start_node(number % 2)
        seen = history(cluster, seconds, SEED, kill_one)
        wrong = first_violation(seen)
        assert not wrong, f"HERALD_SEED={SEED}: {wrong}"
        cluster.agree()
    on_two_nodes(job)


@herald.kafka
@herald.computes
def nodes_that_read_locally_are_found_out():
    """The planted bug: the checker finds what it is there for."""
    def job(cluster):
        for seed in range(SEED, SEED + 10):
            wrong = first_violation(history(cluster, 4, seed))
            if wrong:
                print(wrong)
                return
        raise AssertionError("ten histories of local reads were all linearizable: the checker does not see")
    on_two_nodes(job, "--reads", "local")


# ---- the checker itself

def _operation(name, argument, answer, start, end=None):
    return Operation(name, argument, answer, start, float("inf") if end is None else end)


@herald.computes
def histories_made_by_hand_are_judged_rightly():
    def value(number):
        return ("d" + str(number), frozenset())

    def write(number, start, end=None):
        return _operation("put", {"description": "d" + str(number), "labels": []}, value(number), start, end)

    def read(number, start, end):
        return _operation("read", None, value(number), start, end)

    def add(label, labels, start, end=None):
        return _operation("patch", {"labels": [label]}, ("d0", frozenset(labels)), start, end)

    good = [[], [write(1, 1, 2), read(1, 3, 4)],
            [write(1, 1, 4), read(0, 2, 3)],                                  # at once: the read may come first
            [write(1, 1, 4), read(1, 2, 3)],
            [write(1, 1, 9), write(2, 1, 9), read(2, 2, 3), read(1, 4, 5)],
            [write(1, 1), read(0, 2, 3), read(1, 4, 5)],                      # unknown: took effect late
            [write(1, 1), read(0, 2, 3), read(0, 4, 5)],                      # or never
            [add("a", "ab", 1, 5), add("b", "b", 2, 4)],
            [write(1, 1, 2), read(1, 2, 3)]]                                  # one begins as the other ends
    bad = [[write(1, 1, 2), read(0, 3, 4)],                                   # an old value after a new one
           [read(1, 1, 2), write(1, 3, 4)],                                   # a value from the future
           [write(1, 1, 9), read(1, 2, 3), read(0, 4, 5)],                    # back again
           [write(1, 1), read(1, 2, 3), read(0, 4, 5)],                       # the same, of an unknown outcome
           [write(1, 1), read(1, 2, 3), write(2, 4, 5), read(1, 6, 7)],       # an unknown one takes effect twice
           [write(1, 1, 9), write(2, 1, 9), read(1, 2, 3), read(2, 4, 5), read(1, 6, 7)],
           [add("a", "a", 1, 5), add("b", "b", 2, 4)],                        # a lost update
           [read(7, 1, 2)]]
    start = value(0)
    for history_, is_right in [(each, True) for each in good] + [(each, False) for each in bad]:
        for order in (history_, history_[::-1]):
            wrong = linearizable.violation(order, start, text_step)
            assert (wrong is None) == is_right, [str(each) for each in history_]

    def name(kind, argument, answer, begin, end=None):
        return Operation(kind, argument, answer, begin, float("inf") if end is None else end)
    for history_, is_right in (
            ([name("create", "n", "7", 1, 2), name("create", "n", 409, 3, 4), name("read", "n", "7", 5, 6)], True),
            ([name("create", "n", "7", 1, 5), name("create", "n", "8", 2, 6)], False),
            ([name("create", "n", None, 1), name("read", "n", "", 2, 3), name("read", "n", "7", 4, 5)], True),
            ([name("create", "n", None, 1), name("read", "n", "7", 2, 3), name("read", "n", "8", 4, 5)], False),
            ([name("create", "n", 409, 1, 2)], False),
            ([name("create", "n", "7", 1, 2), name("delete", "7", 200, 3, 4), name("read", "n", "7", 5, 6)], False),
            ([name("create", "n", "7", 1, 2), name("delete", "7", 200, 3, 4), name("create", "n", "8", 5, 6)], True),
            ([name("create", "n", "7", 1, 2), name("delete", "7", None, 3), name("read", "n", "", 5, 6)], True)):
        assert (linearizable.violation(history_, "", name_step) is None) == is_right, [str(each) for each in history_]
    begin = ("UNASSIGNED", frozenset())
    for history_, is_right in (
            ([name("create", "STAGING", "1", 1, 2), name("commit", "1", 200, 3, 4), name("read", None, "STAGING", 5, 6)], True),
            ([name("create", "STAGING", "1", 1, 2), name("commit", "1", 200, 3, 4), name("commit", "1", 200, 3, 4)], False),
            ([name("create", "STAGING", "1", 1, 2), name("create", "STAGING", "2", 1, 2)], False),
            ([name("create", "STAGING", "1", 1, 2), name("create", "STAGING", 409, 1, 2), name("close", "1", 200, 3, 4),
              name("commit", "1", 400, 5, 6)], True),
            ([name("create", "STAGING", "1", 1, 2), name("create", "ARCHIVED", "2", 1, 2), name("commit", "1", 200, 3, 4),
              name("commit", "2", 409, 5, 6)], True),
            ([name("create", "STAGING", "1", 1, 2), name("create", "ARCHIVED", "2", 1, 2), name("commit", "1", 200, 3, 4),
              name("commit", "2", 200, 5, 6)], False)):
        assert (linearizable.violation(history_, begin, stage_step) is None) == is_right, [str(each) for each in history_]


def a_search_that_takes_too_long_is_no_success():
    together = [Operation("put", {"description": str(number), "labels": []}, (str(number), frozenset()), 1, 9) for number in range(20)]
    together += [Operation("read", None, ("none of them", frozenset()), 1, 9)]
    try:
        linearizable.violation(together, ("", frozenset()), text_step, steps_max=5_000)
    except linearizable.Undecided:
        return
    raise AssertionError("an undecided history was taken for a good one")


if __name__ == "__main__":
    herald.run()
