"""Property: whoever makes a client from the OpenAPI document, by openapi-typescript, oapi-codegen or openapi-python-client, plays
README's whole tour with it: the types fit without a cast, a conversion or an option, and no tool warns."""

import json
import os
import pathlib
import shutil
import subprocess

import herald
import serving
from tools import tools_for

HERE = pathlib.Path(__file__).parent
JOBS = HERE / "jobs"


def quietly(*command, cwd, environment=None):
    """Runs what must succeed; its output is returned, and told where it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, env={**os.environ, **(environment or {})}, capture_output=True,
                          text=True, timeout=300)
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{command}: exit code {done.returncode}: {said[-3000:]}"
    return said


def without_warning(*command, cwd, environment=None):
    said = quietly(*command, cwd=cwd, environment=environment)
    assert "warning" not in said.lower() and "skipping" not in said.lower(), said


# price = 3 * area + 10 * rooms + 50, as in README.
ONNX_MODEL = ("CAg6dwoaCgVob3VzZQoBdwoBYhIFcHJpY2UiBEdlbW0SAWcqEwgCCAEQAUIBd0oIAABAQAAAIEEqDQgBEAFCAWJKBAAASEJaGAoFaG91c2USDwoNCAESCQoDEgFu"
              "CgIIAmIYCgVwcmljZRIPCg0IARIJCgMSAW4KAggBQgQKABAN")


def play(make_client):
    """`make_client` makes a client of openapi.json in a folder and gives the command that takes the tour with it."""
    serving.need_onnx()
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), herald.Receiver()
        client = server.client()
        work = folder / "client"
        work.mkdir()
        (work / "openapi.json").write_bytes(client.call("GET", "/api/openapi.json").body)
        command, environment = make_client(work)
        given = {"HERALD_URL": f"http://127.0.0.1:{server.port}", "RECEIVER_URL": receiver.url, "SECRET": herald.SECRET,
                 "ADMIN": herald.ADMIN_EMAIL, "ADMIN_KEY": herald.ADMIN_KEY, "ONNX_MODEL": ONNX_MODEL}
        told = json.loads(quietly(*command, cwd=work, environment={**environment, **given}))
        version, build = told.pop("version"), told.pop("build")
        assert told == {
            "test_status": 200, "found": ["v1"], "bytes": "the bytes of a model", "refused_own_approval": 7, "waiting": ["ready"],
            "activity_state": "COMMITTED", "promotion": "COMPLETE", "safety_status": "safe", "builds": [True],
            "build_status": "finished", "stage_status": "active", "prices": [[320], [460]], "misfit": 3, "unconfirmed": 0, "stopped": 7,
            "is_repeated": True}, told
        receiver.wait_for(1, "PROMOTE")
        receiver.wait_for(1, "REQUEST_SCAN")
        promoted = json.loads(receiver.of_type("PROMOTE")[0].body)
        assert (promoted["id"], promoted["stage"]) == (version, "PRODUCTION"), (promoted, version)
        assert json.loads(receiver.of_type("REQUEST_SCAN")[0].body)["updated"]["buildID"] == build
        client.close()
        server.stop()
        receiver.stop()


def a_client_for_python_plays_the_tour():
    tools = tools_for("python")

    def make(work):
        path = {"PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
        without_warning(tools / "bin/openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "herald_client",
                        "--meta", "none", "--fail-on-warning", cwd=work, environment=path)
        shutil.copy(JOBS / "tour_python", work / "tour.py")
        without_warning(tools / "bin/mypy", "--strict", "--follow-imports=silent", "tour.py", cwd=work)
        return (tools / "bin/python", "tour.py"), {}
    play(make)


def a_client_for_typescript_plays_the_tour():
    tools = tools_for("typescript")

    def make(work):
        (work / "node_modules").symlink_to(tools / "node_modules")
        (work / "package.json").write_text('{"type": "module"}')
        shutil.copy(JOBS / "tour.ts", work)
        modules = tools / "node_modules/.bin"
        without_warning(modules / "openapi-typescript", "openapi.json", "-o", "herald.d.ts", cwd=work)
        without_warning(modules / "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "tour.ts",
                        cwd=work)
        return ("node", "tour.js"), {}
    play(make)


def a_client_for_go_plays_the_tour():
    tools = tools_for("go")
    go = shutil.which("go") or tools / "bin/go"

    def make(work):
        (work / "herald").mkdir()
        (work / "settings.yaml").write_text("package: herald\ngenerate: {models: true, client: true}\noutput: herald/client.go\n")
        shutil.copy(JOBS / "tour.go", work)
        without_warning(tools / "bin/oapi-codegen", "-config", "settings.yaml", "openapi.json", cwd=work)
        for file in ("go.mod", "go.sum"):
            shutil.copy(tools / "module" / file, work)
        without_warning(go, "build", "-o", "tour", ".", cwd=work)
        return (work / "tour",), {}
    play(make)


if __name__ == "__main__":
    herald.run()
