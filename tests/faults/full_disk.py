"""Property: a full disk loses nothing that was answered with success, is told without folders or a database's words, and service
resumes by itself with as little room as a start needs."""

import os
import re
import subprocess
import threading
import time

import herald

MIB = 1 << 20


class Disk:
    """A small disk of its own, and a file that fills it up."""

    def __init__(self, folder, mib):
        self.folder = folder / "disk"
        self.folder.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "none", self.folder], capture_output=True, text=True)
        if made.returncode != 0:
            raise herald.Unavailable(f"no disk can be mounted here: {made.stderr.strip()}")

    def leave(self, mib):
        """Makes just this much free, as far as the others' files let it."""
        with open(self.folder / "filling", "ab") as filling:
            filling.truncate(0)
            disk = os.statvfs(self.folder)
            os.posix_fallocate(filling.fileno(), 0, max(1, disk.f_bavail * disk.f_bsize - mib * MIB))

    def end(self):
        subprocess.run(["umount", "-l", self.folder], check=True)


def write_until(port, model, is_over, seconds=60):
    """Four callers write; the names that were answered with success, and what the others were told."""
    kept, told, deadline = [], set(), time.monotonic() + seconds

    def write(caller):
        client = herald.Client(port)
        for number in herald.numbers():
            if is_over() or time.monotonic() > deadline:
                return
            name = f"{time.monotonic_ns()}-{caller}-{number}"
            answer = client.call("POST", f"/api/v1/registry/registered_models/{model}/model_versions",
                                 {"version": name, "readme_text": "r" * 20_000})
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


def service_resumes_by_itself_with_as_little_room_as_a_start_needs():
    with herald.folder() as folder:
        disk, port = Disk(folder, 60), herald.free_port()
        try:
            server = herald.Process("standalone", ["standalone", "--data", disk.folder, "--listen", f"127.0.0.1:{port}", "--free-disk-mb", "0"],
                                    folder, {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, "HERALD_ADMIN_KEY": herald.ADMIN_KEY})
            herald.wait_until_ready(server, port)
            model = herald.Client(port).model("m")
            soon = time.monotonic() + 3
            kept, _ = write_until(port, model, lambda: time.monotonic() > soon)
            disk.leave(2)
            reasons = []

            def is_full():
                reasons.append(herald.trouble(port))
                return reasons[-1] == "state_not_written"
            soon = time.monotonic() + 20
            more, told = write_until(port, model, lambda: time.monotonic() > soon or is_full())
            kept += more
            assert told, f"the disk never filled up: {set(reasons)}"
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
            for process in herald.Process.started:
                if process.alive:
                    process.process.kill()
                    process.process.wait()
            disk.end()


if __name__ == "__main__":
    herald.run()
