"""Property: the OpenAPI document says what the server does. schemathesis makes requests of it, good and bad, and finds no
answer that the document does not allow, nothing taken that it forbids, and nothing that works without credentials.

Every run makes the same examples, and the same limits of each member; random ones come on top. The short form has the limits of
every fourth operation only.

Environment: HERALD_TEST_LONG, the limits of all operations, 1,000 random examples of an operation in place of 5, and 1,000
sequences of calls in place of 60; HERALD_SEED, of the examples."""

import json
import os
import re
import subprocess

import herald
from tools import tools_for

SEED = os.environ.get("HERALD_SEED", "8")
SEED_OF_SEQUENCES = os.environ.get("HERALD_SEED", "5")  # one whose short form goes by links
IS_LONG = bool(os.environ.get("HERALD_TEST_LONG"))
EXAMPLES, SEQUENCES, LIMITS_OF_ONE_IN = (1000, 1000, 1) if IS_LONG else (5, 60, 4)
HOOKS = herald.ROOT / "tests/support/schemathesis_hooks.py"
# Whether a request that fits is taken is not checked: what the state forbids (code 9) is 400 here, too.
COMMON = ["--exclude-checks", "positive_data_acceptance", "--suppress-health-check", "all", "--no-color", "--no-shrink",
          "--continue-on-failure", "--request-timeout", "60", "--seed", SEED, "--workers", "1",
          "-H", f"Grpc-Metadata-email: {herald.ADMIN_EMAIL}", "-H", f"Grpc-Metadata-developer_key: {herald.ADMIN_KEY}"]
# What refuses a request before its values are looked at refuses it, too.
REFUSALS = '[checks]\nnegative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 414, 415, 422, 428, 429, "5xx"]\n'
# With these a POST finds a place for what it makes, and what links from it is reached.
PLACES = '[parameters]\n"path.workspace" = "default"\n"path.org" = "1"\n'


def served(folder):
    folder.mkdir()
    server = herald.Standalone(folder)
    document = server.client().must("GET", "/api/openapi.json")
    assert server.stop() == 0
    return document


def operations(document):
    return sorted(operation["operationId"] for methods in document["paths"].values() for operation in methods.values())


def started(folder, document, *options, only=()):
    """One run of schemathesis with a server of its own, which the hooks start: nobody outside the run is asked anything."""
    tools = tools_for("schemathesis")
    folder.mkdir()
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "places.toml").write_text(REFUSALS + (PLACES if "stateful" in options else ""))
    port = herald.free_port()
    command = [tools / "bin/schemathesis", "--config-file", folder / "places.toml", "run", folder / "openapi.json",
               "--url", f"http://127.0.0.1:{port}", *COMMON, *options]
    for name in only:
        command += ["--include-operation-id", name]
    with open(folder / "said", "wb") as said:
        return subprocess.Popen(list(map(str, command)), cwd=folder, stdout=said, stderr=subprocess.STDOUT,
                                env={**os.environ, "SCHEMATHESIS_HOOKS": str(HOOKS), "HERALD_CONTRACT_PORT": str(port),
                                     "PYTHONPATH": str(HOOKS.parent)})


def over(process, folder):
    """What schemathesis said, and whether it found nothing."""
    try:
        code = process.wait(7000)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)
    said = (folder / "said").read_text("utf-8", "replace")
    assert code in (0, 1), f"exit code {code}: {said[-3000:]}"
    return code == 0, said


def must_be_clean(process, folder):
    is_clean, said = over(process, folder)
    failures = said.find("= ERRORS =") if "= ERRORS =" in said else said.find("= FAILURES =")
    assert is_clean, f"{said[failures:failures + 6000]}\n…\n{said[-1500:]}"
    return said


@herald.alone
def no_request_made_from_the_document_is_answered_otherwise_than_it_says():
    """Half of the operations in each of as many processes as there are cores: most of the time is schemathesis' own."""
    with herald.folder() as folder:
        document = served(folder / "first")
        names = operations(document)
        shards = max(2, len(os.sched_getaffinity(0)))
        runs = []
        for index in range(shards):
            mine = names[index::shards]
            with_limits = mine[::LIMITS_OF_ONE_IN]
            for phases, only in (("examples,coverage,fuzzing", with_limits),
                                 ("examples,fuzzing", sorted(set(mine) - set(with_limits)))):
                place = folder / f"shard{len(runs)}"
                if only:
                    runs.append((started(place, document, "--phases", phases, "-n", EXAMPLES, only=only), place))
        tested = 0
        for process, place in runs:
            said = must_be_clean(process, place)
            tested += int(re.search(r"Tested: (\d+)", said).group(1))
            print(re.search(r"\d+ generated, .*", said).group())
        assert tested == len(names), f"{tested} of {len(names)} operations were tested"


@herald.computes
def what_a_call_makes_is_found_changed_and_missed_as_its_links_say():
    with herald.folder() as folder:
        document = served(folder / "first")
        links = [name for methods in document["paths"].values() for operation in methods.values()
                 for name in operation["responses"].get("200", {}).get("links", {})]
        assert {"get_model", "create_version", "get_version", "get_build"} <= set(links), links
        assert set(links) <= set(operations(document)), links
        said = must_be_clean(started(folder / "run", document, "--phases", "stateful", "-n", SEQUENCES, "--seed", SEED_OF_SEQUENCES), folder / "run")
        covered = re.search(r"API Links: +(\d+) covered", said)
        assert covered and int(covered.group(1)) > 0, said
        print(covered.group(), re.search(r"\d+ generated, .*", said).group())


@herald.computes
def a_document_that_lies_is_found_out():
    """Each lie about one operation; without them the same run finds nothing."""
    def says_less(document):
        del document["components"]["responses"]["404"]
        for operation in document["paths"]["/api/v1/registry/registered_models/{model_id}"].values():
            del operation["responses"]["404"]

    def forbids(document):
        body = document["paths"]["/api/v1/registry/registered_models/find"]["post"]["requestBody"]["content"]["application/json"]
        body["schema"] = {"type": "object", "additionalProperties": False, "properties": {}}

    def answers_otherwise(document):
        for operation in document["paths"]["/api/v1/uac-proxy/feature-flags"].values():
            operation["responses"]["200"]["content"]["application/json"]["schema"] = {"type": "array"}

    with herald.folder() as folder:
        document = served(folder / "first")
        for name, lie in (("get_model", says_less), ("find_all_models", forbids), ("list_feature_flags", answers_otherwise)):
            lying = json.loads(json.dumps(document))
            lie(lying)
            if name not in operations(lying):
                name = next(operation["operationId"] for operation in lying["paths"]["/api/v1/uac-proxy/feature-flags"].values())
            place = folder / lie.__name__
            is_clean, said = over(started(place, lying, "--phases", "coverage,fuzzing", "-n", 20, only=[name]), place)
            assert not is_clean and "= FAILURES =" in said, f"{lie.__name__} was not found: {said[-2000:]}"


if __name__ == "__main__":
    herald.run()
