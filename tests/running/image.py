"""Property: the image is the same twice, holds nothing but what Herald needs, runs without rights and stops in time."""

import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import time

import debian
import herald
import podman

BUILD = herald.ROOT / "deploy/image/build"
NOT_THERE = 3  # its exit code where Debian's mirror has another version by now
STOP_SECONDS_MAX = 10


def _build(folder, *options):
    debian.need("dpkg-deb", "apt-get", "objcopy")
    made = subprocess.run([BUILD, "--program", herald.BINARY, "--out", folder, *options], capture_output=True, text=True)
    if made.returncode == NOT_THERE:
        raise herald.Unavailable(made.stderr.strip())
    assert made.returncode == 0, made.stderr
    return pathlib.Path(made.stdout.split()[0]), made.stdout.split()[1]


def _has_onnx():
    return (herald.ROOT / "build/onnxruntime/libonnxruntime.so.1").exists()


def _whole():
    return [] if _has_onnx() else ["--slim"]


def _layer(image):
    with tarfile.open(image) as outer:
        listed = json.load(outer.extractfile("manifest.json"))[0]
        content = outer.extractfile(listed["Layers"][0]).read()
        return tarfile.open(fileobj=io.BytesIO(content)), json.load(outer.extractfile(listed["Config"]))


def the_image_is_the_same_twice():
    debian.only_long("it makes an image twice")
    with herald.folder() as folder:
        (first, digest), (second, again) = [_build(folder / name, *_whole()) for name in ("first", "second")]
        assert digest == again
        assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()


def the_image_holds_no_shell_and_names_each_library():
    with herald.folder() as folder:
        image, _ = _build(folder, "--slim")
        layer, config = _layer(image)
        assert config["config"]["User"] == "10001:10001" and config["config"]["StopSignal"] == "SIGTERM"
        programs = [entry.name for entry in layer if entry.isreg() and re.search(r"(^|/)s?bin/", entry.name)]
        assert programs == ["usr/bin/herald"], programs
        assert not [entry.name for entry in layer if entry.mode & 0o6000], "a file runs with another's rights"
        assert {entry.uid for entry in layer} == {0, 10001}
        had = {pathlib.PurePosixPath(entry.name).name for entry in layer}
        loaded = {pathlib.Path(path).name for path in re.findall(r"=> (\S+)", subprocess.run(
            ["ldd", herald.BINARY], capture_output=True, text=True, check=True).stdout)}
        assert loaded <= had, loaded - had
        listed = {one["name"] for one in json.loads(image.with_suffix(".spdx.json").read_text())["packages"]}
        known = {name.removeprefix("var/lib/dpkg/status.d/") for name in layer.getnames() if name.startswith("var/lib/dpkg/status.d/")}
        assert known and known | {"herald"} == listed, known ^ listed
        for library in loaded:
            path = pathlib.Path("/usr/lib/x86_64-linux-gnu") / library
            for place in {path.resolve(), pathlib.Path("/") / path.resolve().relative_to("/usr")}:
                found = subprocess.run(["dpkg-query", "-S", place], capture_output=True, text=True)
                assert found.returncode != 0 or found.stdout.split(":")[0] in listed, f"{library} is not in the list"


def a_container_runs_without_rights_plays_the_main_job_and_stops_in_time():
    debian.need("podman")
    with herald.folder() as folder:
        containers = podman.Podman(folder)
        image, _ = _build(folder, *_whole())
        name = containers.run("load", "-q", "-i", image, check=True).stdout.split()[-1]
        port = herald.free_port()
        container = containers.run(
            "run", "-d", "--read-only", "--cap-drop=all", "--network=host", "-e", f"HERALD_LISTEN=127.0.0.1:{port}", "-e",
            f"HERALD_ADMIN_KEY={herald.ADMIN_KEY}", "-e", f"HERALD_ADMIN_EMAIL={herald.ADMIN_EMAIL}", "-v", "data:/var/lib/herald", name,
            check=True).stdout.strip()
        try:
            herald.until(lambda: _answers(port), 60, "it is ready")
            pid = json.loads(containers.run("inspect", container, check=True).stdout)[0]["State"]["Pid"]
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            assert re.search(r"^Uid:\t10001\t", status, re.MULTILINE), status
            assert re.search(r"^CapEff:\t0+$", status, re.MULTILINE) and re.search(r"^Seccomp:\t2$", status, re.MULTILINE), status
            played = subprocess.run([herald.ROOT / "deploy/play", "--write", f"http://127.0.0.1:{port}", "--email", herald.ADMIN_EMAIL,
                                     *([] if _has_onnx() else ["--no-predictions"])], capture_output=True, text=True,
                                    env={**os.environ, "HERALD_PLAY_KEY": herald.ADMIN_KEY})
            assert played.returncode == 0, played.stdout[-2000:]
            began = time.monotonic()
            os.kill(pid, 15)
            herald.until(lambda: not herald.is_running(pid), STOP_SECONDS_MAX, "it ends")
            print(f"stopped in {time.monotonic() - began:.2f} s")
            assert containers.run("wait", container, check=True).stdout.strip() == "0"
        except AssertionError:
            print(containers.run("logs", "--tail", "20", container).stdout)
            raise
        finally:
            containers.run("rm", "-f", container)


def _answers(port):
    try:
        return herald.readiness(port)
    except ConnectionError:
        return None


if __name__ == "__main__":
    herald.run()
