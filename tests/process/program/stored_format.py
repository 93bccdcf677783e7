"""Property: data of an earlier unreleased build are never misread: a start on them ends with exit code 3, says what to do, and
changes nothing."""

import hashlib
import subprocess
import tarfile

import herald

# A folder that a build of before the format number left behind: GENESIS, the first administrator, nothing else.
OLD_DATA = herald.ROOT / "tests/process/program/data_of_earlier_build.tar.gz"
DATABASES = {"log": "the log", "state": "the state database", "deliveries": "the history of deliveries"}


def start(folder):
    return subprocess.run([herald.BINARY, "standalone", "--data", folder, "--listen", "127.0.0.1:0", "--free-disk-mb", "64"],
                          capture_output=True, text=True, timeout=60)


def content(folder):
    return {path: hashlib.sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}


def data_of_a_build_without_a_number_are_refused_and_stay_as_they_are():
    with herald.folder() as folder:
        with tarfile.open(OLD_DATA) as old:
            old.extractall(folder)
        before = content(folder)
        for verb in (["standalone", "--listen", "127.0.0.1:0"], ["raise-level"], ["state-hash"]):
            done = subprocess.run([herald.BINARY, *verb, "--data", folder], capture_output=True, text=True, timeout=60)
            assert done.returncode == 3, f"{verb}: exit code {done.returncode}\n{done.stderr}"
            assert f"{folder}/herald/log was made by an earlier unreleased build: choose an empty --data" in done.stderr, done.stderr
        assert content(folder) == before


def each_database_has_its_own_number():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        assert server.stop() == 0
        for name, what in DATABASES.items():
            number = folder / "herald" / name / "herald-format"
            ours = number.read_text()
            number.unlink()
            done = start(folder)
            assert done.returncode == 3, done.stderr
            assert f"{what} in {number.parent} was made by an earlier unreleased build: choose an empty --data" in done.stderr
            number.write_text(str(int(ours) + 1))
            done = start(folder)
            assert done.returncode == 3, done.stderr
            assert f"{what} in {number.parent} was made by a later build" in done.stderr, done.stderr
            number.write_text(ours)
        server.start()
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
