"""Property: the Debian packages install a service that runs without rights, is started when it serves, comes back after a
crash, and leaves nothing but data."""

import hashlib
import os
import re
import shutil
import subprocess

import debian
import herald

UNIT = herald.ROOT / "deploy/systemd/herald@.service"
EXPOSURE_MAX = 15  # tenths, of systemd-analyze
SERVICE = "herald@standalone"
FOLDER = "var/lib/private/herald/standalone/herald"


def _packages(folder):
    debian.need("dpkg-deb", "dpkg-shlibdeps", "objcopy")
    made = subprocess.run([herald.ROOT / "deploy/package", "--program", herald.BINARY, "--out", folder], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return made.stdout.split()


def _depends(package):
    listed = subprocess.run(["dpkg-deb", "-f", package, "Depends"], capture_output=True, text=True, check=True).stdout
    return re.sub(r" \([^)]*\)|\s", "", listed).split(",")


def the_unit_is_hardened():
    if not shutil.which("systemd-analyze"):
        raise herald.Unavailable("there is no systemd-analyze")
    rated = subprocess.run(["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}", UNIT], capture_output=True,
                           text=True)
    assert rated.returncode == 0, rated.stdout[-300:]
    with herald.folder() as folder:
        weaker = folder / UNIT.name
        weaker.write_text(re.sub("SystemCallFilter=.*\n|ProtectSystem=.*\n", "", UNIT.read_text()))
        rated = subprocess.run(["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}", weaker], capture_output=True)
        assert rated.returncode != 0, "the bar lets a weaker unit pass"
        # Every line is one that systemd knows.
        known = folder / "known@.service"
        known.write_text(UNIT.read_text().replace("/usr/bin/herald", "/bin/true").replace("Documentation=man:herald(1)\n", ""))
        checked = subprocess.run(["systemd-analyze", "verify", "--man=no", known], capture_output=True, text=True)
        assert checked.returncode == 0 and not checked.stderr.strip(), checked


def the_packages_are_the_same_twice_and_lintian_finds_no_error():
    debian.only_long("it packs everything twice")
    debian.need("lintian")
    with herald.folder() as folder:
        built = [_packages(folder / name) for name in ("first", "second")]
        first, second = [[hashlib.sha256(open(file, "rb").read()).hexdigest() for file in files] for files in built]
        assert first == second and first, built
        checked = subprocess.run(["lintian", "--fail-on", "error", *built[0]], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


def _state(machine, name):
    return machine.run("systemctl", "show", "-P", name, SERVICE, check=True).stdout.strip()


def _ready(machine):
    return machine.beside("curl", "-sf", "http://127.0.0.1:8080/readyz").returncode == 0


def _play(machine, root):
    key = re.search(r"^key (\S+)$", (root / FOLDER / "admin-key").read_text(), re.MULTILINE)[1]
    words = [] if (herald.ROOT / "build/onnxruntime/libonnxruntime.so.1").exists() else ["--no-predictions"]
    played = machine.beside(herald.ROOT / "deploy/play", "--write", "http://127.0.0.1:8080", "--email", "admin@localhost", *words,
                            env={**os.environ, "HERALD_PLAY_KEY": key})
    assert played.returncode == 0, played.stdout[-2000:]


def the_package_installs_starts_when_it_serves_restarts_and_purges():
    debian.only_long("it makes a Debian and boots it")
    with herald.folder() as made:
        packages = _packages(made)
        with debian.booted(_depends(packages[0])) as (machine, root):
            for package in packages:
                shutil.copy(package, root / "root")
            machine.run("sh", "-c", "dpkg -i /root/*.deb", check=True)
            assert machine.run("herald", "version", check=True).stdout.startswith("herald ")
            machine.run("systemctl", "start", SERVICE, check=True)
            assert _ready(machine), "start returned before it served"
            rated = machine.run("systemd-analyze", "security", f"--threshold={EXPOSURE_MAX}", SERVICE)
            assert rated.returncode == 0, rated.stdout[-300:]
            _play(machine, root)

            machine.run("systemctl", "kill", "-s", "KILL", SERVICE, check=True)
            herald.until(lambda: _state(machine, "NRestarts") == "1" and _ready(machine), 60, "it is started again after a kill")
            machine.run("systemctl", "stop", SERVICE, check=True)
            assert (_state(machine, "Result"), _state(machine, "ExecMainStatus")) == ("success", "0")

            (root / "etc/herald/standalone.env").write_text("HERALD_LISTEN=nowhere\n")
            assert machine.run("systemctl", "start", SERVICE).returncode != 0
            assert (_state(machine, "ExecMainStatus"), _state(machine, "NRestarts")) == ("2", "0"), "wrong use is not tried again"

            # The key ring of a cluster: root's alone, and yet read.
            shutil.copy(root / FOLDER / "key-ring", root / "etc/herald/key-ring")
            os.chmod(root / "etc/herald/key-ring", 0o600)
            (root / "etc/herald/worker.env").write_text("HERALD_KAFKA=127.0.0.1:1\nHERALD_LISTEN=127.0.0.1:8081\n")
            machine.run("systemctl", "start", "--no-block", "herald@worker", check=True)
            herald.until(lambda: "start_waits" in machine.run("journalctl", "-u", "herald@worker").stdout, 60, "the worker waits for Kafka")

            machine.run("dpkg", "--purge", "herald", "herald-onnxruntime", check=True)
            left = machine.run("find", "/etc", "/usr", "/lib", "/var/lib", "-name", "*herald*").stdout.split()
            assert not [path for path in left if not re.match(r"/(var/lib/(private/)?herald|etc/herald$)", path)], left
            assert os.listdir(root / "etc/herald") == ["key-ring"]


if __name__ == "__main__":
    herald.run()
