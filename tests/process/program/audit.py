"""Property: the audit says who did what, also what was refused, and an export of it shows every later change: offline, by the
installation's public key alone."""

import datetime
import json
import subprocess

import herald

AUDIT = "/api/v1/uac-proxy/audit"


def verified(folder, lines, key, *more):
    """Exit code and text of `herald audit verify`."""
    file = folder / "export"
    file.write_text("".join(line + "\n" for line in lines))
    done = subprocess.run([herald.BINARY, "audit", "verify", file, "--public-key", key, *more], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def exported(client):
    answer = client.call("GET", f"{AUDIT}/export")
    assert answer.status == 200, answer
    return answer.body.decode().splitlines()


def commands_of_users_are_told_refused_ones_too_and_strangers_leave_nothing():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("m")
        version = client.version(model, "v", {"Idempotency-Key": "k"})
        client.version(model, "v", {"Idempotency-Key": "k"})
        user, identity = client.user("u@example.com")
        assert user.call("POST", f"/api/v1/registry/registered_models/{model}/model_versions", {"version": "w"}).status == 404
        entries = client.must("GET", AUDIT)["entries"]
        assert [(one["action"], one["resource_type"], one["resource_id"], one["user_id"], one["outcome"]) for one in entries] == [
            ("create_version", "REGISTERED_MODEL_VERSION", "", identity, "NOT_FOUND"),
            ("create_user", "USER", identity, "1", "OK"),
            ("create_version", "REGISTERED_MODEL_VERSION", version, "1", "OK"),
            ("create_model", "REGISTERED_MODEL", model, "1", "OK")], entries
        assert all(one["address"].startswith("127.0.0.1") for one in entries), entries
        before = client.must("GET", AUDIT)["total_records"]
        stranger = herald.Client(server.port, "nobody@example.com", "wrong")
        refused = herald.metric(server.port, 'herald_access_refused_total{reason="UNAUTHENTICATED"}') or 0
        for _ in range(20):
            assert stranger.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x"}).status == 401
        assert user.call("GET", f"/api/v1/registry/model_versions/{version}").status == 404
        assert client.must("GET", AUDIT)["total_records"] == before
        assert herald.metric(server.port, 'herald_access_refused_total{reason="UNAUTHENTICATED"}') >= refused + 20
        lines = [line for line in server.process.log_file.read_text().splitlines() if '"event":"access_refused"' in line]
        assert 1 <= len(lines) <= 5, lines
        server.stop()


def entries_are_found_by_each_filter_and_page_by_page():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        for name in "abcde":
            client.model(name)
        user, identity = client.user("u@example.com")
        user.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": "x"})
        all_entries = client.must("GET", AUDIT)["entries"]
        found = lambda query: client.must("GET", f"{AUDIT}?{query}")
        assert [one["user_id"] for one in found("user=u@example.com")["entries"]] == [identity]
        assert found(f"user={identity}&outcome=OK")["entries"] == []
        assert found("outcome=REFUSED")["total_records"] == "1" and found("outcome=OK")["total_records"] == "6"
        assert found("outcome=NOT_FOUND")["total_records"] == "1"
        assert [one["resource_id"] for one in found("resource=REGISTERED_MODEL/3")["entries"]] == ["3"]
        assert {one["workspace_id"] for one in found("workspace=default")["entries"]} == {"1"}
        middle = all_entries[3]["time"]
        newer, older = found(f"since={middle}"), found(f"until={middle}")
        assert newer["entries"] + older["entries"] == all_entries
        paged, token = [], ""
        for _ in range(3):
            page = found(f"page_limit=3&page_token={token}")
            paged += page["entries"]
            token = page["next_page_token"]
            assert page["total_records"] == "7"
        assert paged == all_entries and token == ""
        assert found("page_limit=3&page_number=2")["entries"] == all_entries[3:6]
        for query in ("outcome=GOOD", "since=yesterday", "page_limit=1001", "page_token=x"):
            assert client.call("GET", f"{AUDIT}?{query}").status == 400, query
        assert client.call("GET", f"{AUDIT}?workspace=nowhere").status == 404
        # An admin of a workspace asks for that one; others for none.
        second = client.second_admin()
        assert second.must("GET", f"{AUDIT}?workspace=default")["entries"]
        for who, path, status in ((second, AUDIT, 403), (second, f"{AUDIT}/export", 403), (user, AUDIT, 403),
                                  (user, f"{AUDIT}?workspace=default", 404)):
            assert who.call("GET", path).status == status, (path, status)
        server.stop()


def an_export_shows_each_change_of_it():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        for name in range(12):
            client.model(f"m{name}")
        key = client.must("GET", f"{AUDIT}/public-key")["public_key"]
        log = client.must("GET", f"{AUDIT}/public-key")["log_id"]
        lines = exported(client)
        server.stop()
        code, text = verified(folder, lines, key)
        assert code == 0 and "12 rows" in text, text
        last = datetime.datetime.fromtimestamp(int(json.loads(lines[11])["time"]) / 1000, datetime.timezone.utc)
        assert last.strftime("%Y-%m-%dT%H:%M:%S") in text and log in text, text
        code, text = verified(folder, lines, key, "--log-id", log)
        assert code == 0, text
        code, text = verified(folder, lines, key, "--log-id", "00" * 16)
        assert code == 1 and f"it is of the log {log}, not of {'00' * 16}" in text, text

        def changed(line, **members):
            return json.dumps({**json.loads(line), **members})

        seal = json.loads(lines[-1])
        shorter = {**seal, "head": {**seal["head"], "last": "11", "hash": json.loads(lines[10])["hash"]}}
        for what, altered, said in (
                ("changed", lines[:4] + [changed(lines[4], user_id="2")] + lines[5:], "row 5 was changed"),
                ("the first changed", [changed(lines[0], user_id="2")] + lines[1:], "row 1 was changed"),
                ("the last changed", lines[:11] + [changed(lines[11], address="10.0.0.1")] + lines[12:], "row 12 was changed"),
                ("its hash changed", lines[:4] + [changed(lines[4], hash="00" * 32)] + lines[5:], "row 5 was changed"),
                ("removed", lines[:4] + lines[5:], "row 5 was removed"),
                ("the first removed", lines[1:], "row 1 was removed"),
                ("three removed", lines[:4] + lines[7:], "rows 5 to 7 were removed"),
                ("swapped", lines[:4] + [lines[5], lines[4]] + lines[6:], "row 6 stands at another place"),
                ("twice", lines[:5] + lines[4:], "row 5 was added"),
                ("added", lines[:12] + [changed(lines[11], sequence="13")] + lines[12:], "row 13 was"),
                ("added behind the end", lines + lines[:1], "line 14 was added"),
                ("the end cut off", lines[:-1], "the end is cut off"),
                ("the last rows cut off", lines[:9] + lines[12:], "rows 10 to 12 were removed"),
                ("the seal changed", lines[:11] + [json.dumps(shorter)], "signature"),
                ("all cut off", lines[12:], "rows 1 to 12 were removed"),
                ("nothing", [], "the end is cut off")):
            code, text = verified(folder, altered, key)
            assert code == 1 and said in text, f"{what}: {code} {text}"
        code, text = verified(folder, lines, "11" * 32)
        assert code == 1 and "another installation" in text, text
        for words in (["verify"], ["show", "x"], ["verify", folder / "none"]):
            done = subprocess.run([herald.BINARY, "audit", *words, "--public-key", key], capture_output=True, text=True)
            assert done.returncode in (1, 2) and done.stderr, words


if __name__ == "__main__":
    herald.run()
