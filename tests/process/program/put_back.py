"""Property: a PUT of the version that was just read, minus defaults and in any order, is no change at CLOSED and REDACT, whatever
the version is made of (wire.md §3, "What is a change"; client_calls.md §3). The seed is HERALD_TEST_SEED, else 1."""

import os
import random

import herald
from published_client import ARTIFACTS, CREATE, DELETE, LOCKS, READ, REGISTRY, STAGES, Team, UPDATE, as_message, path_of, stored_at

VERSIONS = 150


class _Maker:
    """Versions of random parts, and what a client makes of a record before it writes it back."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one_of(self, *choices):
        return self.random.choice(choices)

    def value(self, depth=0):
        """Any JSON."""
        kind = self.random.randrange(10 if depth < 4 else 6)
        if kind == 0:
            return self.one_of(None, True, False, [], {})
        if kind == 1:
            return self.one_of(0, 1, -1, 2 ** 53, 2 ** 53 + 1, 2 ** 63, -2 ** 63, 10 ** 20, 10 ** 25, self.random.randrange(-10 ** 18, 10 ** 18))
        if kind == 2:
            return self.one_of(0.0, -0.0, 1.0, 0.1, 1e-300, 1.5e300, 123456789.123456789, 5e-324, 1e21, 1e23)
        if kind == 3:
            return self.random.random() * 10 ** self.random.randrange(-20, 20)
        if kind < 6:
            return self.one_of("", "0", "é☃😀", "\u0001", "\"\\/", "null", "NaN", "a" * 300)
        if kind < 8:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {f"{self.one_of('a', '', '0', 'x y', 'é')}{number}": self.value(depth + 1) for number in range(self.random.randrange(4))}

    def entry(self, key, kind):
        return {"key": key, "path": self.one_of("", f"p/{key}"), "path_only": self.one_of(True, False), "artifact_type": kind,
                "linked_artifact_id": self.one_of("", "7"), "filename_extension": self.one_of("", "zip"), "serialization": "",
                "artifact_subtype": self.one_of("", "x"), "upload_completed": False}

    def some(self, most, make):
        return [make(number) for number in range(self.random.randrange(most + 1))]

    def version(self):
        made = {"attributes": self.some(4, lambda number: {"key": f"k{number}", "value": self.value(), "value_type": self.random.randrange(4)}),
                "artifacts": self.some(2, lambda number: self.entry(f"a{number}", self.random.randrange(8))),
                "datasets": self.some(2, lambda number: self.entry(f"d{number}", 3)), "labels": self.some(3, lambda _: self.one_of("a", "b", "c"))}
        python = {"version": {"major": self.one_of(0, 3), "minor": self.one_of(0, 9), "patch": 0, "suffix": ""},
                  "requirements": self.some(1, lambda _: {"library": "n", "constraint": "", "version": {"major": 0}}),
                  "raw_requirements": self.one_of("", "x\n")}
        optional = {"environment": self.one_of({"python": python, "command_line": [], "environment_variables": [{"name": "A", "value": ""}]},
                                               {"docker": {"repository": "", "tag": "t"}}, {"docker": {}}),
                    "model": self.entry("model", 1),
                    "docker_metadata": {"request_port": self.one_of(0, 5000), "request_path": "", "health_path": "/h"},
                    "code_blob_map": {f"n{number}": self.one_of({"git": {"repo": "r", "is_dirty": self.one_of(0, 1, 2), "hash": ""}}, {"git": {}}, {},
                                                                {"notebook": {"path": {"path": "n", "size": "0"}, "git_repo": {}}})
                                      for number in range(self.random.randrange(3))}}
        return {**made, **{name: part for name, part in optional.items() if self.one_of(True, False)}}

    def rewritten(self, value):
        """The same value: whole numbers with a fraction or without, members in any order."""
        if isinstance(value, list):
            return [self.rewritten(item) for item in value]
        if isinstance(value, dict):
            return {name: self.rewritten(value[name]) for name in self.random.sample(list(value), len(value))}
        if isinstance(value, float) and value.is_integer() and abs(value) < 1e22:
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2 ** 53:
            return self.one_of(value, float(value))
        return value

    def without_defaults(self, message):
        if isinstance(message, list):
            return [self.without_defaults(item) for item in message]
        if not isinstance(message, dict):
            return message
        return {name: self.without_defaults(value) for name, value in message.items() if value is True or value not in ("", "0", 0, [], None)}

    def as_put(self, read):
        out = as_message(read, {"stage": STAGES, "lock_level": LOCKS})
        if out.get("archived") == "UNKNOWN":
            del out["archived"]
        for name in {"artifacts", "datasets"} & set(out):
            out[name] = [self.without_defaults(as_message(entry, {"artifact_type": ARTIFACTS})) for entry in out[name]]
        if "model" in out:
            out["model"] = self.without_defaults(as_message(out["model"], {"artifact_type": ARTIFACTS}))
        for name in {"environment", "docker_metadata"} & set(out):
            out[name] = self.one_of(self.rewritten, self.without_defaults)(out[name])
        if "code_blob_map" in out:
            out["code_blob_map"] = {name: self.without_defaults(blob) for name, blob in out["code_blob_map"].items()}
        if "attributes" in out:
            out["attributes"] = [{**as_message(one, {}), "value": self.rewritten(one["value"])} for one in out["attributes"]]
        return {name: out[name] for name in self.random.sample(list(out), len(out))}


def what_was_read_is_written_back_at_every_lock_level():
    seed = int(os.environ.get("HERALD_TEST_SEED", "1"))
    with herald.folder() as folder, Team(folder) as team:
        team.shared("team", [CREATE, READ, UPDATE, DELETE])
        model, maker = team.a.create_model("m", workspace="team")["id"], _Maker(seed)
        for number in range(VERSIONS):
            made = team.b.create_version(model, f"v{number}", **maker.version())
            team.a.must("PUT", f"{stored_at(made)}/lock", {"lock_level": maker.one_of(2, 3)})
            read = team.b.version(made["id"])
            sent = maker.as_put(read)
            answer = team.b.call("PUT", path_of(made), sent)
            assert answer.status == 200, f"HERALD_TEST_SEED={seed}, version {number}: {answer}\nread {read}\nsent {sent}"
            assert answer.json["model_version"] == read, f"HERALD_TEST_SEED={seed}, version {number}: {answer.json}\nread {read}"
            # The same with one ingredient changed is a change.
            extra = [*sent.get("attributes", []), {"key": "another", "value": 1}]
            team.b.refused(403, 7, "", "PUT", path_of(made), {**sent, "attributes": extra})
        assert team.a.must("POST", f"{REGISTRY}/registered_models/{model}/model_versions/find", {})["total_records"] == str(VERSIONS)


if __name__ == "__main__":
    herald.run()
