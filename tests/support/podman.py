"""Containers for tests: podman with images and containers of the test's own, in a mount namespace where cgroup2 is whole."""

import os
import pathlib
import subprocess

import debian

ENTER = """
umount -R /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 125
exec "$@"
"""
# Limits that a process without CAP_SYS_RESOURCE may set.
SETTINGS = """[containers]
cgroups = "disabled"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
"""


class Podman:
    def __init__(self, folder):
        debian.need("podman", "unshare")
        self.folder = pathlib.Path(folder)
        (self.folder / "containers.conf").write_text(SETTINGS)
        done = self.run("info")
        if done.returncode != 0:
            raise debian.herald.Unavailable(f"podman does not run here: {done.stderr.strip()[-300:]}")

    def run(self, *words, check=False, seconds=300):
        done = subprocess.run(["unshare", "-m", "--propagation", "private", "bash", "-c", ENTER, "enter", "podman", "--root",
                               self.folder / "storage", "--runroot", self.folder / "run", "--cgroup-manager", "cgroupfs",
                               "--storage-driver", "vfs", *map(str, words)], capture_output=True, text=True, timeout=seconds,
                              env={**os.environ, "CONTAINERS_CONF": str(self.folder / "containers.conf")})
        assert not check or done.returncode == 0, done
        return done
