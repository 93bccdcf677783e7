"""Property: a node never serves a state that does not belong to its log: a wiped log is refused with exit code 3, a lost
or damaged state database is made again from the log, to the same hash (P5)."""

import http.client
import os
import shutil
import signal
import struct
import subprocess
import time

import herald


def filled(server):
    """Some state to lose; the hash that shows it."""
    client = server.client()
    model = client.model("m")
    for number in range(300):
        client.version(model, f"v{number}")
    return herald.readiness(server.port), model


def same_again(server, before, model):
    """Started again, the registry holds the same, at the same hash where the offset is the same."""
    now = herald.readiness(server.port)
    found = server.client().must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find",
                                 {"pagination": {"page_number": 1, "page_limit": 1}})
    assert found["total_records"] == "300", found
    assert now["next_offset"] >= before["next_offset"], (now, before)
    return now


def refused(process, what):
    code = process.process.wait(60)
    assert code == 3, f"exit code {code}, not 3: {process.tail()}"
    assert what in process.tail(), f"the reason does not say \"{what}\": {process.tail()}"


def a_wiped_log_is_refused():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        filled(server)
        assert server.stop() == 0
        key_file = folder / "herald/admin-key"
        key_file.write_text("the key of the log that will be missing")
        shutil.rmtree(folder / "herald/log")
        process = herald.Process("again", ["standalone", "--data", folder, "--listen", f"127.0.0.1:{server.port}",
                                           "--free-disk-mb", "64"], folder)
        refused(process, "log")
        assert key_file.read_text() == "the key of the log that will be missing", "the administrator's key went with a start that was refused"
        assert not (folder / "herald/admin-key.new").exists()


def a_wiped_kafka_log_is_refused():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
            client = cluster.client()
            client.model("m")
            cluster.stop()
            broker.run("stop")
            broker.run("wipe")
            broker.start()
            cluster.init()
            cluster.start_node(0, wait=False)
            refused(cluster.nodes[0], "log")
        finally:
            broker.stop()


def cut_log(segment, first):
    """Cuts off the batches from offset `first` on: what a broker without flush.messages=1 loses in a power failure."""
    data, place = segment.read_bytes(), 0
    while place < len(data):
        offset, length = struct.unpack_from(">qi", data, place)
        if offset >= first:
            break
        place += 12 + length
    assert 0 < place < len(data), f"no batch to cut at {first} in {segment}"
    os.truncate(segment, place)


def a_node_that_stood_still_while_its_log_was_cut_and_grew_anew_is_refused():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        try:
            cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0)
            client = cluster.client()
            model = client.model("m")
            for number in range(20):
                client.version(model, f"before {number}")
            stopped = cluster.nodes[0]
            applied = herald.readiness(cluster.ports[0])["next_offset"]
            stopped.kill(signal.SIGSTOP)
            broker.kill()
            cut_log(broker.folder / f"node-1/data/{cluster.prefix}registry.commands-0/00000000000000000000.log", applied - 6)
            broker.start()

            cluster.ports.append(herald.free_port())
            cluster.nodes.append(None)
            cluster.start_node(1)
            other = cluster.client(1)
            for number in range(30):
                other.version(model, f"meanwhile {number}")
            assert herald.readiness(cluster.ports[1])["next_offset"] > applied
            start = time.monotonic()
            stopped.kill(signal.SIGCONT)
            other.version(model, "after")
            refused(stopped, "cut or created anew")
            other.version(model, "later")
            assert time.monotonic() - start < 5, f"{time.monotonic() - start:.1f} s"
            assert "state_rebuild" not in stopped.log_file.read_text()
            assert list((folder / "api-0/herald/state").glob("MANIFEST*")), "the state is gone"
            cluster.start_node(0, wait=False)
            refused(cluster.nodes[0], "cut or created anew")
            other.version(model, "last")
            cluster.stop()
        finally:
            broker.stop()


@herald.alone  # beside others a compaction of the start may still run, and its read would be the one that fails
def an_io_error_of_a_read_is_no_reason_to_drop_the_state():
    """After the first the database is opened again in the process; after the second the process ends, the state is kept."""
    with herald.folder() as folder:
        trigger = folder / "fail-a-read"
        server = herald.Standalone(folder, environment={"LD_PRELOAD": os.environ["PRELOADED_FAILING_READS"],
                                                        "FAILING_READS_TRIGGER": str(trigger)})
        before, model = filled(server)
        assert server.stop() == 0
        server.start()  # moves what was written ahead into a table
        process = server.process

        def read_until(true, what):
            def once():
                try:
                    server.client().call("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find", {})
                except (OSError, http.client.HTTPException):
                    pass
                return true()
            herald.until(once, 30, what)

        trigger.touch()
        read_until(lambda: not trigger.exists(), "a read fails")
        herald.until(lambda: "state_unreadable" in process.log_file.read_text(), 10, "it is said")
        herald.wait_until_ready(process, server.port)  # no search before the next failure: it would fill the cache
        trigger.touch()
        read_until(lambda: not trigger.exists(), "another read fails")
        assert process.process.wait(30) == 1, process.tail()
        server.start()
        same_again(server, before, model)
        assert server.stop() == 0
        assert "state_rebuild" not in process.log_file.read_text()


def a_deleted_state_database_is_rebuilt_to_the_same_hash():
    """Two copies of the data are started: one keeps its database, one makes it again. A node speaks in the log when it
    starts, so the hashes are compared through what each says of the place before: the same commands give the same."""
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        before, model = filled(server)
        server.process.kill()
        shutil.rmtree(folder / "herald/state")
        server.start()
        same_again(server, before, model)
        server.process.kill()
        kept = hash_at(folder, before["next_offset"])
        assert kept == before["hash"], "the database made again has another hash at the offset where the old one was"


def hash_at(folder, next_offset):
    """What a fresh database holds after exactly so many records of the log."""
    done = subprocess.run([herald.BINARY, "state-hash", "--data", folder, "--at", str(next_offset)], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def flip_a_byte(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)


def a_flipped_byte_in_the_state_database_is_rebuilt_to_the_same_hash():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        before, model = filled(server)
        assert server.stop() == 0
        server.start()  # moves what was written ahead into a table
        assert server.stop() == 0
        flip_a_byte(max((folder / "herald/state").glob("*.sst"), key=lambda file: file.stat().st_size))
        server.options = ("--verify",)
        server.start()
        same_again(server, before, model)
        assert "state_rebuild" in server.process.log_file.read_text(), "the damage was not noticed"
        server.stop()


def a_flipped_byte_in_what_was_written_ahead_costs_only_the_time_to_apply_again():
    """RocksDB keeps what comes before the damage; the rest comes from the log."""
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        before, model = filled(server)
        assert server.stop() == 0
        flip_a_byte(max((folder / "herald/state").glob("*.log"), key=lambda file: file.stat().st_size))
        server.start()
        same_again(server, before, model)
        server.stop()


if __name__ == "__main__":
    herald.run()
