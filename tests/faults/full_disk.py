"""Property: a full disk loses nothing that was answered with success, is told without folders or a database's words, and service
resumes by itself with as little room as a start needs."""

import http.client
import itertools
import os
import re
import subprocess
import threading
import time

import herald
from small_disk import SmallDisk


def write_until(port, model, is_over, seconds=60):
    """Four callers write; the names that were answered with success, and what the others were told."""
    kept, told, deadline = [], set(), time.monotonic() + seconds

    def write(caller):
        client = herald.Client(port)
        for number in herald.numbers():
            if is_over() or time.monotonic() > deadline:
                return
            name = f"{time.monotonic_ns()}-{caller}-{number}"
            try:
                answer = client.call("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                                     {"version": name, "readme_text": "r" * 20_000})
            except (OSError, http.client.HTTPException):  # what was compacted made room, and it opens its state again
                client = herald.Client(port)
                time.sleep(0.05)
                continue
            if answer.status == 200:
                kept.append((answer.json["model_version"]["id"], name))
            else:
                assert answer.status in (500, 503), answer
                told.add(answer.json["message"])
                time.sleep(0.05)

    callers = [threading.Thread(target=write, args=(caller,)) for caller in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return kept, told


def standalone_on(disk, folder, port):
    """Its data on the small disk, and its log beside it. It writes as long as there is any room."""
    server = herald.Process("standalone", ["standalone", "--data", disk.folder, "--listen", f"127.0.0.1:{port}", "--free-disk-mb", "0"],
                            folder, {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, "HERALD_ADMIN_KEY": herald.ADMIN_KEY})
    herald.wait_until_ready(server, port)
    return server


def ended(disk):
    for process in herald.Process.started:
        if process.alive:
            process.process.kill()
            process.process.wait()
    disk.end()


def service_resumes_by_itself_with_as_little_room_as_a_start_needs():
    with herald.folder() as folder:
        disk, port = SmallDisk(folder, 60), herald.free_port()
        try:
            server = standalone_on(disk, folder, port)
            model = herald.Client(port).model("m")
            attempts = itertools.count()
            kept, told = write_until(port, model, lambda: next(attempts) >= 400)
            assert not told, f"the disk was full before it was filled: {told}"
            disk.leave(2)
            reasons = []

            def is_full():
                reasons.append(herald.trouble(port))
                return reasons[-1] == "state_not_written"
            soon = time.monotonic() + 20
            more, told = write_until(port, model, lambda: time.monotonic() > soon or is_full())
            kept += more
            assert told, f"the disk never filled up: {set(reasons)}"
            herald.until(lambda: herald.trouble(port) != "no answer", 20, "it listens")
            told.add(herald.Client(port).call("GET", "/readyz").body.decode())
            for text in told:
                assert "/" not in text.replace("application/json", "") and "IO error" not in text, text
            if reasons[-1] == "state_not_written":
                assert re.search(r"once \d+ MB of its disk are free|within seconds", " ".join(told)), told
            disk.leave(8)
            herald.until(lambda: herald.readiness(port), 20, f"it serves again; said: {told}")
            client = herald.Client(port)
            client.version(model, "after")
            for version, name in kept:
                assert client.must("GET", f"/api/v1/registry/model_versions/{version}")["model_version"]["version"] == name
            assert server.stop() == 0
        finally:
            ended(disk)


def a_backup_onto_a_full_disk_fails_leaves_nothing_and_the_next_one_succeeds():
    with herald.folder() as folder:
        disk, path = SmallDisk(folder, 8), "/api/v1/uac-proxy/backups"
        try:
            server = herald.Standalone(folder, "--backups", disk.folder / "backups")
            client = server.client()
            model = client.model("m")
            for number in range(100):
                client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                            {"version": f"v{number}", "readme_text": "r" * 40_000})

            def made():
                client.must("POST", path, {})
                return herald.until(lambda: [row for row in client.must("GET", path)["backups"][:1] if row["state"] != "RUNNING"],
                                    30, "it has ended")[0]
            disk.leave(1)
            failed = made()
            assert failed["state"] == "FAILED" and "no room" in failed["message"], failed
            assert list((disk.folder / "backups").iterdir()) == []
            client.version(model, "served meanwhile")
            disk.leave(7)
            done = made()
            assert done["state"] == "DONE", done
            assert subprocess.run([herald.BINARY, "backup", "verify", done["path"]], capture_output=True).returncode == 0
            # A later one that fails leaves the good one alone.
            disk.leave(0)
            assert made()["state"] == "FAILED"
            assert [row["state"] for row in client.must("GET", path)["backups"]] == ["FAILED", "DONE"]
            assert server.stop() == 0
        finally:
            ended(disk)


def a_snapshot_onto_a_full_disk_fails_leaves_nothing_and_the_one_before_is_used():
    with herald.folder() as folder:
        disk, path, port = SmallDisk(folder, 80), "/api/v1/uac-proxy/snapshots", herald.free_port()
        try:
            server = standalone_on(disk, folder, port)
            client = herald.Client(port)
            model = client.model("m")
            client.must("POST", path, {})
            first = herald.until(lambda: client.must("GET", path)["snapshots"], 30, "it is taken")
            for number in range(200):
                client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                            {"version": f"v{number}", "readme_text": os.urandom(20_000).hex()})
            disk.leave(0)
            client.must("POST", path, {})
            herald.until(lambda: not client.must("GET", path)["is_taking"], 30, "it has ended")
            assert client.must("GET", path)["snapshots"] == first, "only the first is there"
            assert not (disk.folder / "herald/snapshot.unfinished").exists()
            assert len(list((disk.folder / "herald/snapshots").iterdir())) == 1
            disk.leave(40)

            def is_written():
                """The database found no room for its own rows: the next write has it opened again."""
                return herald.readiness(port) and herald.Client(port).call(
                    "POST", f"/api/v1/registry/registered_models/{model}/model_versions", {"version": str(time.monotonic_ns())}).status == 200
            herald.until(is_written, 30, "it serves")
            client = herald.Client(port)
            client.must("POST", path, {})
            herald.until(lambda: len(client.must("GET", path)["snapshots"]) == 2, 30, "the next one is taken")
            assert server.stop() == 0
        finally:
            ended(disk)


if __name__ == "__main__":
    herald.run()
