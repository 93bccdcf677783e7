"""Property: deploy/run says how far its build is. What it started goes on when one process of it ends: it says which, with its
last lines and how to start it again, and it ends only when nobody serves any more."""

import os
import pathlib
import re
import shlex
import signal
import subprocess
import tarfile
import threading
import urllib.request

import herald

STAND_INS = {"dependencies": 0, "onnxruntime": 3}  # what is installed is not the matter here, and predictions neither


OLD_DATA = herald.ROOT / "tests/process/program/data_of_earlier_build.tar.gz"


def a_root(folder):
    """As the project's, with the program under test as if it had just been built."""
    deploy = folder / "deploy"
    deploy.mkdir()
    for each in (herald.ROOT / "deploy").iterdir():
        if each.name not in STAND_INS:
            (deploy / each.name).symlink_to(each)
    tools = folder / "tools"
    tools.mkdir()
    for path, code in [(deploy / name, code) for name, code in STAND_INS.items()] + [(tools / "cmake", 0), (tools / "ninja", 0)]:
        path.write_text(f"#!/bin/sh\nexit {code}\n")
        path.chmod(0o755)
    built = folder / "build/release"
    built.mkdir(parents=True)
    (built / "build.ninja").touch()
    (built / "herald").symlink_to(herald.BINARY)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}


def _ports_that_are_free():
    """Two, one after the other."""
    while True:
        port = herald.free_port()
        try:
            with herald.socket.socket() as probe:
                probe.bind(("127.0.0.1", port + 1))
            return port
        except OSError:
            continue


class Run:
    def __init__(self, folder, *options):
        self.port = _ports_that_are_free()
        self.text = ""
        self.process = subprocess.Popen(
            [folder / "deploy/run", *options, "--listen", f"127.0.0.1:{self.port}", "--data", folder / "data"], env=a_root(folder),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while piece := os.read(self.process.stdout.fileno(), 65536):
            self.text += piece.decode()

    def wait_for(self, pattern, seconds=30):
        return herald.until(lambda: re.search(pattern, self.text), seconds, f"it says {pattern}, but:\n{self.text}")

    def pid_of(self, *words):
        """Of the process that it started with these words."""
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            said = path.read_bytes().decode("utf-8", "replace").split("\0")
            if all(word in said for word in words) and self.is_ours(path.parent):
                return int(path.parent.name)
        raise AssertionError(f"no process has {words}")

    def is_ours(self, process):
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1]) == self.process.pid

    def is_served(self, port):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5).status == 200
        except OSError:
            return False


def a_build_says_how_far_it_is_and_shows_what_failed():
    with herald.folder() as folder:
        made = [f"o{number}" for number in range(20)]
        (folder / "build.ninja").write_text("\n".join([
            "rule make", "  command = touch $out", "rule fail", "  command = echo 'a.cpp:1: no such name' >&2; exit 3",
            *(f"build {name}: make" for name in made), f"build all: phony {' '.join(made)}", "build bad: fail",
            # ninja says "0 of 1" before a step that has the terminal, as it does before it runs CMake again
            "build alone: make", "  pool = console", ""]))

        def built(target):
            ended = subprocess.run([herald.ROOT / "deploy/build", folder, target], capture_output=True, text=True)
            return ended.returncode, ended.stdout.splitlines()
        code, lines = built("all")
        assert code == 0 and len(lines) == 10 and lines[-1] == "  20 of 20", lines
        assert re.fullmatch(r"  2 of 20, (less than a minute|about \d+ min) left", lines[0]), lines
        assert built("all") == (0, [])
        assert built("alone") == (0, [])
        code, lines = built("bad")
        assert code != 0 and "a.cpp:1: no such name" in lines, lines


def a_process_that_is_killed_takes_no_other_with_it():
    with herald.folder() as folder:
        herald.Broker(folder / "probe").stop()  # skips the test where there is no Kafka
        run = Run(folder, "--kafka")
        again = None
        try:
            run.wait_for("Ctrl-C stops it", 120)
            os.kill(run.pid_of("worker"), signal.SIGKILL)
            told = run.wait_for(r"(worker-\d) ended with exit code 137[^$]*again:\n\n  (.*)\n")
            assert f"data/logs/{told[1]}.log" in run.text and '"event":"delivering"' in run.text, run.text
            assert run.is_served(run.port) and run.is_served(run.port + 1) and run.process.poll() is None
            again = subprocess.Popen(shlex.split(told[2]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            herald.until(lambda: '"event":"delivering"' in again.stdout.readline(), 30, "the command that it said works")

            os.kill(run.pid_of("api", f"127.0.0.1:{run.port}"), signal.SIGKILL)
            run.wait_for("api-1 ended with exit code 137")
            assert run.is_served(run.port + 1) and run.process.poll() is None
            os.kill(run.pid_of("api", f"127.0.0.1:{run.port + 1}"), signal.SIGKILL)
            run.wait_for("no process is left that serves")
            assert run.process.wait(30) == 1
        finally:
            for each in filter(None, (again, run.process)):
                if each.poll() is None:
                    each.terminate()
                    each.wait(60)


def data_of_an_earlier_build_are_named_as_the_folder_to_remove():
    with herald.folder() as folder:
        with tarfile.open(OLD_DATA) as old:
            old.extractall(folder / "data")
        run = Run(folder)
        run.wait_for("data of an earlier unreleased build")
        run.wait_for(f"rm -r {folder}/data")
        assert run.process.wait(30) == 1


if __name__ == "__main__":
    herald.run()
