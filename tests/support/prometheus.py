"""Prometheus for tests: its programs, and a server of the test's own on loopback."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request

import herald


def tool(name):
    """`prometheus` or `promtool`: the machine's own, else of Debian's package, unpacked into the user's cache: installed, it
    would run as a service."""
    found = shutil.which(name)
    if found:
        return found
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "herald"
    unpacked = cache / "prometheus"
    if not unpacked.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as fresh:
            try:
                subprocess.run(["apt-get", "-q", "download", "prometheus"], cwd=fresh, check=True, capture_output=True)
                package = next(pathlib.Path(fresh).glob("*.deb"))
                subprocess.run(["dpkg-deb", "-x", package, f"{fresh}/root"], check=True, capture_output=True)
                os.rename(f"{fresh}/root", unpacked)
            except (OSError, StopIteration, subprocess.CalledProcessError) as failure:
                raise herald.Unavailable(f"no {name} here: {failure}") from None
    return unpacked / "usr/bin" / name


class Prometheus:
    """Scrapes `targets`, {job: port or (port, "https")}, each second."""

    def __init__(self, folder, targets):
        program = tool("prometheus")
        jobs = []
        for job, where in targets.items():
            port, scheme = where if isinstance(where, tuple) else (where, "http")
            jobs.append({"job_name": job, "scheme": scheme, "tls_config": {"insecure_skip_verify": True},
                         "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]})
        config = pathlib.Path(folder) / "prometheus.json"
        config.write_text(json.dumps({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": jobs}))
        self.port = herald.free_port()
        self.log = open(pathlib.Path(folder) / "prometheus.log", "ab")
        self.process = subprocess.Popen([program, f"--config.file={config}", f"--storage.tsdb.path={folder}/prometheus",
                                         f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def query(self, expression):
        """The series that it gives now; None while the server does not answer."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError as failure:
            assert getattr(failure, "code", 503) == 503, f"{expression}: {failure.read().decode()}"
            return None

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()
