"""A Debian 12 of a test's own: a root with packages, and one that systemd has booted in namespaces of its own."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import subprocess

import herald

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "herald"
BOOT = """
umount -R /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup || exit 1
exec systemd-nspawn -q -D "$1" --register=no --keep-unit --private-network -b
"""


def only_long(why):
    if "HERALD_TEST_LONG" not in os.environ:
        raise herald.Unavailable(f"{why}: only with HERALD_TEST_LONG=1")


def need(*tools):
    if os.geteuid() != 0:
        raise herald.Unavailable("that needs root")
    for tool in tools:
        if not shutil.which(tool):
            raise herald.Unavailable(f"there is no {tool} (deploy/dependencies running)")


def mirror():
    """Where this machine's own Debian comes from."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Created-By: Packages",
                             "Origin: Debian", "Label: Debian"], capture_output=True, text=True).stdout.split("\n")
    found = [line.split()[0] for line in listed if line.endswith(" bookworm")]
    if not found:
        raise herald.Unavailable("apt knows no mirror of Debian 12")
    return found[0]


def root(to, packages):
    """A copy of a root with these packages, which is made once and kept in the user's cache."""
    need("mmdebstrap")
    kept = CACHE / f"root-{hashlib.sha256(' '.join(sorted(packages)).encode()).hexdigest()[:16]}"
    if not kept.exists():
        fresh = kept.with_suffix(f".{os.getpid()}")
        made = subprocess.run(["mmdebstrap", "--mode=root", "--variant=essential", "--include=" + ",".join(packages), "bookworm", fresh,
                               f"deb {mirror()} bookworm main"], capture_output=True, text=True)
        if made.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise herald.Unavailable("no Debian can be made here: " + made.stderr.strip().splitlines()[-1])
        fresh.rename(kept)
    subprocess.run(["cp", "-a", "--reflink=auto", kept, to], check=True)


class Booted:
    """systemd as process 1 of a root, without a network but its own loopback."""

    def __init__(self, path, log):
        need("systemd-nspawn", "unshare", "nsenter")
        self.log = open(log, "ab")
        self.process = subprocess.Popen(["unshare", "-m", "--propagation", "private", "bash", "-c", BOOT, "boot", path],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        try:
            self.leader = herald.until(self._running_leader, 120, "systemd runs")
        except AssertionError:
            self.stop()
            raise herald.Unavailable(f"systemd does not boot here: {pathlib.Path(log).read_text(errors='replace')[-500:]}") from None

    def _running_leader(self):
        """systemd-nspawn's last child, once systemd is what it has become and all is started."""
        assert self.process.poll() is None, "systemd-nspawn has ended"
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        if not children:
            return None
        asked = subprocess.run(["nsenter", "-t", children[-1], "-a", "systemctl", "is-system-running"], capture_output=True, text=True)
        return children[-1] if asked.stdout.strip() in ("running", "degraded") else None

    def run(self, *command, check=False):
        """In the root, as its root."""
        done = subprocess.run(["nsenter", "-t", self.leader, "-a", *map(str, command)], capture_output=True, text=True, timeout=180)
        assert not check or done.returncode == 0, done
        return done

    def beside(self, *command, **options):
        """A program of this machine in that network."""
        return subprocess.run(["nsenter", "-t", self.leader, "-n", *map(str, command)], capture_output=True, text=True, **options)

    def stop(self):
        if hasattr(self, "leader"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(self.leader), 9)  # process 1 of its namespace: everything in it ends
        else:
            self.process.kill()
        self.process.wait(30)
        self.log.close()


@contextlib.contextmanager
def booted(packages):
    with herald.folder() as folder:
        path = folder / "root"
        root(path, ["systemd", "systemd-sysv", "dbus", *packages])
        machine = Booted(path, folder / "boot.log")
        try:
            yield machine, path
        finally:
            machine.stop()
