"""Property: strangers who hold connections, headers and bodies stop no write, no delivery and no /healthz, and answers that
nobody reads do not fill the memory, also where file descriptors are few (design.md §1 "Resources")."""

import collections
import json
import multiprocessing
import os
import resource
import selectors
import socket
import sys
import time

import herald

STRANGERS = 2_000
MEMORY_BYTES_MAX = 250 * 1024 * 1024
HALF_A_HEADER = b"POST /api/v1/registry/registered_models/find HTTP/1.1\r\nHost: herald\r\nX-More: "
ALL_BUT_THE_LAST_BYTE = (b"POST /api/v1/registry/registered_models/find HTTP/1.1\r\nHost: herald\r\nContent-Length: 1048576\r\n"
                         b"Grpc-Metadata-email: nobody@example.com\r\nGrpc-Metadata-developer_key: wrong\r\n\r\n" + b" " * 1_048_575)


def resident_bytes(process):
    pages = int(open(f"/proc/{process.process.pid}/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Strangers:
    """A process that holds as many connections as it is let, from these addresses; who is closed comes again."""

    REST_SECONDS = 2

    def __init__(self, port, addresses):
        self.port, self.addresses = port, addresses
        self.came = multiprocessing.Value("i", 0)
        self.process = multiprocessing.Process(target=self.hold, daemon=True)
        self.process.start()
        herald.until(lambda: self.came.value >= STRANGERS, 30, "all strangers have come once")

    def hold(self):
        selector = selectors.DefaultSelector()
        waiting = collections.deque((0, number) for number in range(STRANGERS))
        while True:
            now = time.monotonic()
            while waiting and waiting[0][0] <= now:
                self.come(selector, waiting.popleft()[1])
            for key, events in selector.select(0.01):
                if self.is_over(selector, key, events):
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    waiting.append((now + self.REST_SECONDS, key.data[0]))

    def come(self, selector, number):
        stranger = socket.socket()
        stranger.setblocking(False)
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32 * 1024)
        stranger.bind((self.addresses[number % len(self.addresses)], 0))
        stranger.connect_ex(("127.0.0.1", self.port))
        unsent = memoryview(HALF_A_HEADER if number % 2 == 0 else ALL_BUT_THE_LAST_BYTE)
        selector.register(stranger, selectors.EVENT_READ | selectors.EVENT_WRITE, [number, unsent])
        self.came.value += 1

    def is_over(self, selector, key, events):
        try:
            if events & selectors.EVENT_READ and not key.fileobj.recv(65536):
                return True
            if events & selectors.EVENT_READ:
                key.data[1] = b""  # refused: it goes on holding the connection, but sends no more
            elif events & selectors.EVENT_WRITE:
                key.data[1] = key.data[1][key.fileobj.send(key.data[1]):]
            if not key.data[1]:
                selector.modify(key.fileobj, selectors.EVENT_READ, key.data)
        except BlockingIOError:
            pass
        except OSError:
            return True
        return False

    def stop(self):
        self.process.kill()
        self.process.join()


def calls_beside(addresses, descriptors):
    """One good client, each call on a connection of its own, beside the strangers."""
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder, descriptors=descriptors), herald.Receiver()
        client = server.client()
        client.webhook("promotions", receiver.url)
        approver, model = client.second_admin(), client.model("m")
        strangers = Strangers(server.port, addresses)
        slowest, most, count, end = 0, 0, 0, time.monotonic() + 4

        def timed(call):
            nonlocal slowest
            client.close(), approver.close()
            start = time.monotonic()
            out = call()
            slowest = max(slowest, time.monotonic() - start)
            return out
        while time.monotonic() < end or count < 10:
            # Large enough for the log and the state to open new files meanwhile.
            body = {"name": f"large {count}", "description": "d" * 60_000, "readme_text": "r" * 60_000}
            timed(lambda: client.must("POST", "/api/v1/registry/workspaces/default/registered_models", body))
            version = timed(lambda: client.version(model, f"v {count}"))
            transition = timed(lambda: client.stage("create", {"model_version_id": version, "desired_stage": "PRODUCTION"}))["id"]
            timed(lambda: approver.stage("approve", {"transition_id": transition}))
            timed(lambda: client.stage("commit", {"transition_id": transition}))
            timed(lambda: client.must("GET", "/healthz"))
            assert timed(lambda: client.must("GET", "/readyz"))["status"] == "ready"
            most = max(most, resident_bytes(server.process))
            count += 1
        receiver.wait_for(count)
        assert all(one.attempt == 1 for one in receiver.of_type("PROMOTE")), "a delivery failed for want of descriptors"
        strangers.stop()
        print(f"{len(addresses)} addresses, descriptors {descriptors}: {count} promotions beside {strangers.came.value} visits of strangers, "
              f"slowest call {slowest * 1000:.0f} ms, {most >> 20} MiB")
        assert slowest < 5, f"a call took {slowest:.1f} s"
        assert most < MEMORY_BYTES_MAX, f"{most >> 20} MiB"
        log = server.process.log_file.read_text()
        assert "Too many open files" not in log, log[-2000:]
        shared = next(json.loads(line) for line in log.splitlines() if '"descriptors_shared"' in line)
        assert shared["limit"] == descriptors[1] and shared["clients"] >= descriptors[1] // 4, shared
        assert server.stop() == 0
        receiver.stop()


def _with_enough_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 2 * STRANGERS:
        print(f"SKIPPED: the test itself needs {2 * STRANGERS} descriptors, there are {hard}")
        sys.exit(herald.SKIPPED)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


@herald.alone
def idle_strangers_of_one_address_stop_nothing():
    hard = _with_enough_descriptors()
    for descriptors in ((1024, hard), (1024, 1024)):
        calls_beside(["127.0.0.2"], descriptors)


@herald.alone
def idle_strangers_of_eight_addresses_stop_nothing():
    hard = _with_enough_descriptors()
    for descriptors in ((1024, hard), (1024, 1024)):
        calls_beside([f"127.0.0.{last}" for last in range(2, 10)], descriptors)


@herald.alone
def answers_that_nobody_reads_do_not_fill_the_memory():
    _with_enough_descriptors()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        member, _ = client.user("member@example.com")
        workspace = "/api/v1/registry/workspaces/member@example.com/registered_models"
        attributes = [{"key": f"k{number}", "value": "v" * 55_000} for number in range(3)]
        for number in range(30):
            member.must("POST", workspace, {"name": f"m {number}", "description": "d" * 50_000, "attributes": attributes})
        answer = member.call("POST", f"{workspace}/find", {"pagination": {"page_number": 1, "page_limit": 25}})
        assert answer.status == 200 and len(answer.body) > 1_000_000, answer
        large = len(answer.body)
        before = resident_bytes(server.process)
        body = b'{"pagination":{"page_number":1,"page_limit":25}}'
        head = "".join(f"{name}: {value}\r\n" for name, value in member.headers.items())
        asked = f"POST {workspace}/find HTTP/1.1\r\nHost: herald\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
        unread, most = [], before
        for number in range(1_000):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.bind((f"127.0.0.{2 + number % 8}", 0))
            one.connect(("127.0.0.1", server.port))
            one.sendall(asked)
            unread.append(one)
            most = max(most, resident_bytes(server.process))
        for one in unread:
            one.settimeout(20)
            assert one.recv(12, socket.MSG_PEEK), "no answer began"
            most = max(most, resident_bytes(server.process))
        statuses = [one.recv(12, socket.MSG_PEEK)[9:12] for one in unread]
        # Large answers go out in pieces, so all may begin; where there is no room for one, it is 503.
        assert b"200" in statuses and set(statuses) <= {b"200", b"503"}, set(statuses)
        client.close()
        client.must("GET", "/healthz")
        client.model("m")
        print(f"{large >> 10} KiB each, {statuses.count(b'200')} of 1000 answered; {before >> 20} MiB before, at most {most >> 20} MiB")
        assert most < MEMORY_BYTES_MAX, f"{most >> 20} MiB"
        for one in unread:
            one.close()
        herald.until(lambda: resident_bytes(server.process) < before + (48 << 20), 20, "what the answers took is given back")
        answer = member.call("POST", f"{workspace}/find", {})
        herald.until(lambda: member.call("POST", f"{workspace}/find", {"pagination": {"page_number": 1, "page_limit": 25}}).status == 200,
                     10, "there is room for large answers again")
        print(f"{resident_bytes(server.process) >> 20} MiB after")
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
