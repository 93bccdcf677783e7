"""Property: clients that openapi-python-client, openapi-typescript and oapi-codegen make from the OpenAPI document, without a
warning, play the whole main job: a model, a version, its promotion, which a receiver is told of, a build and its scan."""

import json
import os
import pathlib
import shutil
import subprocess

import herald
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


def play(make_client):
    """`make_client` makes a client of openapi.json in a folder and gives the command that plays the job with it."""
    with herald.folder() as folder:
        server, receiver = herald.Standalone(folder), herald.Receiver()
        client = server.client()
        work = folder / "client"
        work.mkdir()
        (work / "openapi.json").write_bytes(client.call("GET", "/api/openapi.json").body)
        command, environment = make_client(work)
        approver = client.second_admin()
        people = {"HERALD_URL": f"http://127.0.0.1:{server.port}", "RECEIVER_URL": receiver.url,
                  "AUTHOR": herald.ADMIN_EMAIL, "AUTHOR_KEY": herald.ADMIN_KEY,
                  "APPROVER": approver.headers["Grpc-Metadata-email"],
                  "APPROVER_KEY": approver.headers["Grpc-Metadata-developer_key"]}
        told = json.loads(quietly(*command, cwd=work, environment={**environment, **people}))
        receiver.wait_for(1, "PROMOTE")
        receiver.wait_for(1, "REQUEST_SCAN")
        promoted = json.loads(receiver.of_type("PROMOTE")[0].body)
        assert (promoted["id"], promoted["stage"]) == (str(told["version"]), "PRODUCTION"), (promoted, told)
        assert json.loads(receiver.of_type("REQUEST_SCAN")[0].body)["updated"]["buildID"] == int(told["build"])
        assert told["activity_state"] == "COMMITTED" and told["safety_status"] == "safe" and told["builds"] == 1, told
        assert told["refusal_code"] == 5, told
        assert client.must("GET", f"/api/v1/deployment/builds/{told['build']}/scan")["safety_status"] == "safe"
        client.close()
        server.stop()
        receiver.stop()


@herald.computes
def a_client_for_python_plays_the_main_job():
    tools = tools_for("python")

    def make(work):
        path = {"PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
        without_warning(tools / "bin/openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "herald_client",
                        "--meta", "none", "--fail-on-warning", cwd=work, environment=path)
        return (tools / "bin/python", JOBS / "main_job_python"), {"PYTHONPATH": str(work)}
    play(make)


@herald.computes
def a_client_for_typescript_plays_the_main_job():
    tools = tools_for("typescript")

    def make(work):
        (work / "node_modules").symlink_to(tools / "node_modules")
        (work / "package.json").write_text('{"type": "module"}')
        shutil.copy(JOBS / "main_job.ts", work)
        modules = tools / "node_modules/.bin"
        without_warning(modules / "openapi-typescript", "openapi.json", "-o", "herald.d.ts", cwd=work)
        without_warning(modules / "tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", "main_job.ts",
                        cwd=work)
        return ("node", "main_job.js"), {}
    play(make)


@herald.computes
def a_client_for_go_plays_the_main_job():
    tools = tools_for("go")
    go = shutil.which("go") or tools / "bin/go"

    def make(work):
        (work / "herald").mkdir()
        (work / "settings.yaml").write_text("package: herald\ngenerate: {models: true, client: true}\n"
                                            "output-options: {skip-prune: true}\noutput: herald/client.go\n")
        shutil.copy(JOBS / "main_job.go", work)
        without_warning(tools / "bin/oapi-codegen", "-config", "settings.yaml", "openapi.json", cwd=work)
        quietly(go, "mod", "init", "example.org/job", cwd=work)
        quietly(go, "mod", "tidy", cwd=work)
        without_warning(go, "build", "-o", "job", ".", cwd=work)
        return (work / "job",), {}
    play(make)


if __name__ == "__main__":
    herald.run()
