"""A small disk of a test's own, which can be filled."""

import os
import subprocess

import herald

MIB = 1 << 20


class SmallDisk:
    """Mounted at `folder`/disk until end(), or as long as the `with` lasts."""

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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
