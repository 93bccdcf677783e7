"""What the lints share: the project's files, what they include, how they are compiled, results that still hold.

A result holds while the file, every project header it reaches, its compile command and the tool's own
configuration are the same bytes; so a second run only looks at what changed, also in another folder or after a fresh
start: results are kept in $XDG_CACHE_HOME/herald/lint (~/.cache). With HERALD_TEST_LONG nothing is taken from there.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE_PROJECT = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
INCLUDE_FOREIGN = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# Programs that show what the coroutine lint must find: bad on purpose, and nobody's style.
CORPUS = "tests/lint/coroutine/corpus/"


def tracked(root=ROOT):
    """Paths (as text, from the root) of every file that is or is about to be part of the repository."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, check=True, capture_output=True).stdout.decode()
    return sorted(path for path in set(listing.split("\0")) if path and (root / path).is_file())


def cpp_files(root=ROOT):
    return [path for path in tracked(root) if path.endswith((".cpp", ".hpp")) and not path.startswith(CORPUS)]


def read(path, root=ROOT):
    return (root / path).read_text(encoding="utf-8")


def project_includes(path, root=ROOT):
    """The project's files that this one names, as paths from the root (includes are written from there, or, by CMake in
    what is compiled as one, from the disk's root)."""
    for name in INCLUDE_PROJECT.findall(read(path, root)):
        beside = pathlib.PurePath(path).parent / name
        if (root / name).is_file():
            yield str((root / name).relative_to(root))
        elif (root / beside).is_file():
            yield str(beside)


def reached(path, root=ROOT, seen=None):
    """The file and every project header that it includes, however indirectly."""
    seen = set() if seen is None else seen
    if path not in seen:
        seen.add(path)
        for name in project_includes(path, root):
            reached(name, root, seen)
    return seen


def compiled_units(build):
    """Path from the root -> compiler arguments that matter to a parser. In a unity build the path is mostly that of a file
    in BUILD which includes several sources."""
    flags = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        if file.is_relative_to(ROOT) and file.exists():
            flags[str(file.relative_to(ROOT))] = parser_flags(shlex.split(entry["command"]))
    return flags


def compile_commands(build):
    """As compiled_units(), for each source by itself."""
    flags = compiled_units(build)
    for unit in [path for path in flags if "/Unity/" in path]:
        together = flags.pop(unit)
        flags.update((source, together) for source in project_includes(unit))
    return flags


def parser_flags(words):
    """Without the launcher, compiler, input and output."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT"):
            skip = word != "-c"
        elif word.startswith(("-I", "-D", "-std", "-isystem", "-f", "-W", "-O")):
            kept.append(word)
            skip = False
        elif kept and kept[-1] in ("-isystem", "-I"):
            kept.append(word)
    return kept


def fingerprint(path, flags, configuration):
    """The same wherever the project lies."""
    here = str(ROOT).encode()
    digest = hashlib.sha256("\0".join([path, *flags, configuration]).encode().replace(here, b""))
    for name in sorted(reached(path)):
        digest.update(name.encode())
        digest.update((ROOT / name).read_bytes().replace(here, b""))
    return digest.hexdigest()


def check_each(paths, flags_of, configuration, check, kind):
    """Runs check(path, flags) -> complaint ("" is good) for each path on every core; remembers good results, of this
    kind of lint. Returns the complaints."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    results = cache / "herald" / "lint" / kind
    results.mkdir(parents=True, exist_ok=True)
    complaints = []

    def one(path):
        good = results / fingerprint(path, flags_of[path], configuration)
        if good.exists() and "HERALD_TEST_LONG" not in os.environ:
            good.touch()
            return ""
        complaint = check(path, flags_of[path])
        if not complaint:
            good.touch()
        return complaint

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, complaint in zip(paths, pool.map(one, paths)):
            if complaint:
                complaints.append(f"{path}:\n{complaint}")
    forget_old(results)
    return complaints


def forget_old(results):
    """Results that were not asked for in a month are of files that have changed since."""
    oldest = time.time() - 30 * 24 * 3600
    for result in results.iterdir():
        if result.stat().st_mtime < oldest:
            result.unlink(missing_ok=True)


def finish(complaints, what):
    """Prints the complaints, or what was found in order, and ends the program accordingly."""
    for complaint in complaints:
        print(complaint)
    print(f"{len(complaints)} complaints" if complaints else what)
    sys.exit(1 if complaints else 0)
