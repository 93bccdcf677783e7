"""Property: what is refused is not kept. A client whose body is refused, and which sends on, takes no memory of the server's
while its connection ends: the memory stays within the bounds on bodies, whoever sends and however many."""

import multiprocessing
import pathlib
import resource
import selectors
import socket
import time

import herald
import serving
from upstream_server import Upstream, build_at

MIB = 1024 * 1024
# Bodies that are on their way may take 80 MiB together (runtime/http/limits.hpp), in buffers that are up to twice as large while
# they grow; the rest is for what the process itself takes meanwhile.
BYTES_MAX = 2 * 80 * MIB + 64 * MIB
SECONDS = 3  # for which more is sent after the first bodies
SECONDS_MAX = 90  # for the first ones, on a busy machine


def push(port, head, body_bytes, at_once, total, sent_whole):
    """Sends the head and so many bytes on `total` connections, so many at once, and holds each open until the server ends it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    selector, spaces, held = selectors.DefaultSelector(), bytes(MIB), []
    come = 0
    start = time.monotonic()
    while (spent := time.monotonic() - start) < SECONDS or (sent_whole.value < at_once and spent < SECONDS_MAX):
        while come < total and len(selector.get_map()) < at_once:
            client = socket.socket()
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            selector.register(client, selectors.EVENT_WRITE, [head, body_bytes])
            come += 1
        for key, _ in selector.select(0.1):
            unsent = key.data
            try:
                if unsent[0]:
                    unsent[0] = unsent[0][key.fileobj.send(unsent[0]):]
                else:
                    unsent[1] -= key.fileobj.send(spaces[:unsent[1]])
            except BlockingIOError:
                continue
            except OSError:
                unsent[1] = 0
            if unsent[1] == 0:
                sent_whole.value += 1
                selector.unregister(key.fileobj)
                held.append(key.fileobj)


def resident_kib(server):
    status = pathlib.Path(f"/proc/{server.process.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def must_stay_small(make_head, body_bytes, at_once, total):
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        head = make_head(server.client()).encode()
        before = most = resident_kib(server)
        sent_whole = multiprocessing.Value("i", 0)
        pusher = multiprocessing.Process(target=push, args=(server.port, head, body_bytes, at_once, total, sent_whole), daemon=True)
        pusher.start()
        while pusher.is_alive():
            most = max(most, resident_kib(server))
            assert server.process.alive, server.process.tail()
            pusher.join(0.02)
        growth = (most - before) * 1024
        print(f"{sent_whole.value} bodies of {body_bytes >> 20} MiB: from {before >> 10} to {most >> 10} MiB")
        assert sent_whole.value >= at_once, f"only {sent_whole.value} were sent"
        assert growth < BYTES_MAX, f"the process grew by {growth // MIB} MiB"
        assert server.client().must("GET", "/healthz")
        assert server.stop() == 0


def bodies_that_lack_their_last_byte_take_no_more_memory_than_they_may():
    size = 16 * MIB

    upstream = Upstream()

    def head(client):
        stage = serving.Stage(client, "/price")
        stage.update(build_at(client, client.model("m"), "price", f"{upstream.url}/price"))
        return f"POST /api/v1/predict/price HTTP/1.1\r\nHost: herald\r\nAccess-token: {stage.token}\r\nContent-Length: {size}\r\n\r\n"
    try:
        must_stay_small(head, size - 1, 80, 80)
    finally:
        upstream.stop()


def whole_bodies_whose_connections_end_take_no_more_memory_than_they_may():
    def head(client):
        names = "".join(f"{name}: {value}\r\n" for name, value in client.headers.items())
        return (f"POST /api/v1/registry/registered_models/find HTTP/1.1\r\nHost: herald\r\nConnection: close\r\n{names}"
                f"Content-Length: {MIB}\r\n\r\n")
    must_stay_small(head, MIB, 64, 2_000)


if __name__ == "__main__":
    herald.run()
