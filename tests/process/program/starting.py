"""Property: a start waits for what may still come, says from its first moment that it does and for what, and ends at once
when it is told to; what waiting does not mend ends it at once."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

import herald

USER, GROUP = 10001, 10777
SECONDS_TO_END = 10
IS_LONG = "HERALD_TEST_LONG" in os.environ


def a_pod(folder, *writable):
    """A command that becomes a program as in a pod: no root, a group of the pod's, and a root file system that is read-only
    but for these folders. Skips the test where that cannot be had."""
    for each in writable:
        each.mkdir(exist_ok=True)
        os.chown(each, USER, GROUP)
    mounts = " && ".join(f"mount --bind '{each}' '{each}'" for each in writable)
    # Mounts of their own that nothing is written to: /tmp, /dev, /proc and the like stay.
    script = (f"{mounts} && mount -o remount,bind,ro / && "
              f"exec setpriv --reuid {USER} --regid {USER} --groups {GROUP} --no-new-privs --inh-caps=-all \"$@\"")
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "pod"]
    tried = subprocess.run([*command, "sh", "-c", f"! touch /written-to && touch '{writable[0]}/written' && test -x '{herald.BINARY}'"],
                           capture_output=True, text=True) if os.geteuid() == 0 else None
    if tried is None or tried.returncode != 0:
        raise herald.Unavailable(f"no pod here: {tried.stderr.strip() if tried else 'that needs root'}")
    return command


def answer(port, path):
    """Status and body, on a connection of its own; None while nobody listens."""
    try:
        said = herald.Client(port, timeout=5).call("GET", path)
    except ConnectionRefusedError:
        return None
    return said.status, said.json


def events(process, name):
    lines = [json.loads(line) for line in process.log_file.read_text().splitlines() if line.startswith("{")]
    return [line for line in lines if line["event"] == name]


def must_wait(process, port, *words):
    """Alive and saying so: health is served, and the reason is in /readyz and, in one line, in the log."""
    status, said = herald.until(lambda: answer(port, "/healthz"), 5, f"{process.name} answers")
    assert status == 200, said

    def waits():
        assert process.alive, process.tail()
        status, said = answer(port, "/readyz")
        assert status == 503 and said["reason"] == "starting", said
        return said if all(word in said["message"] for word in words) else None
    herald.until(waits, 10, f"{process.name} says at /readyz that it waits: {words}")
    line = herald.until(lambda: events(process, "start_waits"), 5, f"{process.name} logs that it waits")[-1]
    assert line["seconds"] >= 0 and line["since"].endswith("Z"), line
    for word in words:
        assert word in line["reason"], line
    assert 'herald_not_ready{process="%s",reason="starting"} 1' % process.name in \
        herald.Client(port, timeout=5).call("GET", "/metrics").body.decode()


def must_end(process):
    began = time.monotonic()
    assert process.stop() == 0, process.tail()
    took = time.monotonic() - began
    assert took < SECONDS_TO_END, f"{process.name} took {took:.1f} s to end:\n{process.tail()}"


@contextlib.contextmanager
def _on_kafka():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            yield folder, broker, ["--kafka", broker.address, "--key-ring", folder / "ring"]
        finally:
            broker.stop()


def init(common):
    subprocess.run([herald.BINARY, "init", *map(str, common), "--replication", "1", "--admin-email", herald.ADMIN_EMAIL,
                    "--admin-key", herald.ADMIN_KEY], check=True, capture_output=True, timeout=60)


class Pair:
    """An API node and a worker, with addresses for their health."""

    def __init__(self, folder, common, before=()):
        self.ports = {"api": herald.free_port(), "worker": herald.free_port()}
        options = {"api": ["--data", folder / "data", "--artifacts", folder / "artifacts"], "worker": []}
        self.processes = {verb: herald.Process(verb, [verb, *common, *options[verb], "--listen", f"127.0.0.1:{port}"], folder,
                                               before=before) for verb, port in self.ports.items()}

    def each(self):
        return [(self.processes[verb], port) for verb, port in self.ports.items()]


def in_a_pod_a_start_waits_for_the_brokers_and_ends_when_it_is_told_to():
    with _on_kafka() as (folder, broker, common):
        init(common)
        folder.chmod(0o755)
        os.chown(folder / "ring", 0, GROUP)
        (folder / "ring").chmod(0o440)  # as Kubernetes gives a Secret
        before = a_pod(folder, folder / "data", folder / "artifacts")
        broker.kill()
        pair = Pair(folder, common, before)
        for process, port in pair.each():
            must_wait(process, port, broker.address)
        status, said = answer(pair.ports["api"], "/api/v1/registry/registered_models/1")
        assert status == 503 and broker.address in said["message"], said
        assert answer(pair.ports["worker"], "/api/v1/registry/registered_models/1")[0] == 404
        for process, _ in pair.each():
            must_end(process)
            assert events(process, "start_given_up"), process.tail()
            process.log_file.unlink()

        pair = Pair(folder, common, before)
        for process, port in pair.each():
            must_wait(process, port, broker.address)
        time.sleep(62 if IS_LONG else 0)  # how long the brokers are away, not a wait for something
        broker.start()
        for process, port in pair.each():
            herald.wait_until_ready(process, port)
            begun, over = events(process, "start_waits"), events(process, "start_goes_on")
            assert len(begun) == (2 if IS_LONG else 1) and len(over) == 1, process.tail(30)
            assert over[0]["waits_for"] == "brokers" and over[0]["seconds"] >= begun[-1]["seconds"], over
        for process, _ in pair.each():
            must_end(process)


def a_start_before_init_waits_for_the_installation():
    with _on_kafka() as (folder, broker, common):
        # The ring that init will take.
        subprocess.run([herald.BINARY, "init", *map(str, common), "--replication", "1", "--admin-email", herald.ADMIN_EMAIL,
                        "--topic-prefix", "other."], check=True, capture_output=True, timeout=60)
        pair = Pair(folder, common)
        for process, port in pair.each():
            must_wait(process, port, "herald init", "herald.")
            assert events(process, "start_waits")[-1]["waits_for"] == "installation"
        init(common)
        for process, port in pair.each():
            herald.wait_until_ready(process, port)
            # A broker that has just made all topics may be waited for, too.
            waits = [each["waits_for"] for each in events(process, "start_waits")]
            assert waits.count("installation") == 1, process.tail(30)
        for process, _ in pair.each():
            must_end(process)


def sigterm_ends_a_start_with_exit_code_0_from_its_first_moment():
    """The program ignores SIGPIPE from its first lines on: then it has begun."""
    def has_begun(status):
        ignored = next(line for line in status.read_text().splitlines() if line.startswith("SigIgn:"))
        return int(ignored.split()[1], 16) >> (signal.SIGPIPE - 1) & 1

    with herald.folder() as folder:
        for number in [signal.SIGTERM] * 15 + [signal.SIGINT] * 5:
            process = subprocess.Popen([herald.BINARY, "standalone", "--data", folder / "data", "--listen", "127.0.0.1:0"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            status = pathlib.Path(f"/proc/{process.pid}/status")
            while not has_begun(status):
                assert process.poll() is None
            process.send_signal(number)
            assert process.wait(60) == 0, process.returncode


def what_waiting_does_not_mend_ends_a_start_at_once():
    with herald.folder() as folder, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        closed = f"127.0.0.1:{herald.free_port()}"
        (folder / "rubbish").touch(0o600)
        subprocess.run([herald.BINARY, "standalone", "--data", folder / "file", "--listen", f"127.0.0.1:{taken.getsockname()[1]}"],
                       capture_output=True, timeout=30)
        assert not (folder / "file").exists(), "nothing is made before the address is had"
        ring = folder / "ring"
        ring.touch(0o600)
        ring.write_text("k1 " + "A" * 43 + "=\n")
        for code, words, options in (
                (2, "--tls-key", ["--key-ring", ring, "--tls-cert", folder / "certificate"]),
                (2, "--tls-cert", ["--key-ring", ring, "--tls-key", folder / "key"]),
                (3, "holds no key", ["--key-ring", folder / "rubbish"]),
                (1, "no key ring", ["--key-ring", folder / "missing"]),
                (1, "cannot listen", ["--key-ring", ring, "--listen", f"127.0.0.1:{taken.getsockname()[1]}"]),
                (1, "acks", ["--key-ring", ring, "--kafka-option", "acks=1"])):
            for verb, more in (("api", ["--data", folder / "data", "--artifacts", folder / "artifacts"]), ("worker", [])):
                listen = [] if "--listen" in options else ["--listen", "127.0.0.1:0"]
                done = subprocess.run([herald.BINARY, verb, "--kafka", closed, *more, *listen, *map(str, options)],
                                      capture_output=True, text=True, timeout=10)
                assert done.returncode == code and words in done.stderr, (verb, options, done.returncode, done.stderr)
                assert code != 2 or not (folder / "data").exists(), "wrong use makes nothing"


if __name__ == "__main__":
    herald.run()
