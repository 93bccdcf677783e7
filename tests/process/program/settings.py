"""Property: what an operator says is done or refused with exit code 2, naming the option, what it holds and what would be right;
nothing is ignored in silence, and no installation begins that nobody could sign in to or whose key ring is the wrong one."""

import os
import re
import shutil
import subprocess
import time

import herald


def refused(folder, *arguments, code=2, environment=None, seconds=30):
    """What is said; nothing but that is done."""
    done = subprocess.run([herald.BINARY, *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=seconds,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == code, f"{arguments} {environment}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr


def must_say(said, *words):
    for word in words:
        assert word in said, f"{word!r} is not in:\n{said}"


def serving(folder, toml):
    """What a standalone with this file says when it serves."""
    config = folder / "herald.toml"
    config.write_text(toml)
    server = herald.Standalone(folder, "--config", config)
    said = server.process.log_file
    line = herald.until(lambda: re.findall(r'.*"event":"serving".*', said.read_text()), 10, "it says that it serves")[0]
    assert server.stop() == 0
    said.unlink()
    return line


def a_key_ring_that_lost_a_key_is_refused_while_a_secret_needs_it():
    with herald.folder() as folder:
        ring = folder / "herald/key-ring"
        server = herald.Standalone(folder)

        def add_webhook(name):
            server.client().must("POST", "/api/v1/uac-proxy/events/createWebhook",
                                 {"name": name, "location": "https://example.org/", "all_events": True, "mutual_secret": name})
        add_webhook("first")
        assert server.stop() == 0
        one = ring.read_text()
        two = one + "k2 " + "A" * 43 + "=\n"
        three = two + "k3 " + "B" * 43 + "=\n"
        ring.write_text(two)
        server.start()
        add_webhook("second")
        assert server.stop() == 0
        start = ("standalone", "--data", folder, "--listen", "127.0.0.1:0", "--free-disk-mb", "64")
        for shortened in (one, one + "k3 " + "B" * 43 + "=\n", one + "k2 " + "B" * 43 + "=\n"):
            ring.write_text(shortened)
            must_say(refused(folder, *start, code=3), "the secret of webhook 2 does not open", "older keys")
        ring.write_text(three)
        server.start()
        assert server.stop() == 0


def values_of_another_kind_are_refused_wherever_they_stand():
    with herald.folder() as folder:
        config = folder / "herald.toml"
        for toml, words in (("allow-http = []", ["allow-http is []", "true or false"]),
                            ("allow-http = 2020-01-01", ["allow-http is 2020-01-01", "true or false"]),
                            ("allow-http = 1", ["allow-http is 1", "true or false"]),
                            ("[allow-addresses]\nx = 1", ["allow-addresses is a table", "list of texts"]),
                            ("allow-addresses = 10.0", ["allow-addresses is 10.0", "list of texts"]),
                            ('allow-addresses = ["10.0.0.0/8", 7]', ["allow-addresses holds 7", "list of texts"]),
                            ('allow-addresses = [["10.0.0.0/8"]]', ["allow-addresses holds [", "list of texts"]),
                            ("free-disk-mb = 1e9", ["free-disk-mb is 1", "a whole number"]),
                            ("free-disk-mb = [64]", ["free-disk-mb is [ 64 ]", "a whole number"]),
                            ("free-disk-mb = -1", ['free-disk-mb is "-1"', "must be a number"]),
                            ('public-url = "models.example.com"', ['public-url is "models.example.com"', "must be a URL"]),
                            ('public-url = "https://"', ["must be a URL"]),
                            ('public-url = "https://h/?q"', ["must be a URL"]),
                            ("require-approval-for = [3]", ["require-approval-for holds 3", "list of texts"]),
                            ("listen = 8080", ["listen is 8080", "a text in quotes"]),
                            ("kafka-option = 1.5", ["kafka-option is 1.5", "list of texts"]),  # an option of other verbs
                            ("header-prefix = []", ['header-prefix is ""', "one or more names"]),
                            ('config = "other.toml"', ['there is no option "config"']),
                            ("help = true", ['there is no option "help"']),
                            ("verify = tru", ["line 1"])):
            config.write_text(toml + "\n")
            said = refused(folder, "standalone", "--config", config)
            must_say(said, *words)
        config.write_text("allow-http = []\n")
        must_say(refused(folder, "standalone", "--allow-http", "--config", config), "allow-http is []")
        assert not (folder / "herald-data").exists()


def lists_are_taken_as_lists_and_an_empty_one_is_the_empty_value():
    with herald.folder() as folder:
        assert '"webhook_addresses":"public",' in serving(folder, "allow-addresses = []\nrequire-approval-for = []\n")
        line = serving(folder, 'allow-addresses = ["10.0.0.0/8", "192.168.0.0/16"]\nallow-http = false\nfree-disk-mb = 64\n')
        must_say(line, '"webhook_addresses":"public,10.0.0.0/8,192.168.0.0/16"', '"webhook_http":false')
        server = herald.Standalone(folder)
        client = server.client()
        transition = client.stage("create", {"model_version_id": client.version(client.model("m"), "v"), "desired_stage": "PRODUCTION"})
        assert client.stage("commit", {"transition_id": transition["id"]})["activity_state"] == "COMMITTED", "no stage needs an approval"
        assert server.stop() == 0


def a_file_that_cannot_be_read_is_refused_with_the_reason():
    with herald.folder() as folder:
        must_say(refused(folder, "standalone", "--config", folder), str(folder), "is a folder")
        must_say(refused(folder, "standalone", environment={"HERALD_CONFIG": str(folder)}), str(folder), "is a folder")
        must_say(refused(folder, "standalone", "--config", folder / "none"), "none", "No such file")
        must_say(refused(folder, "standalone", "--config", "/dev/zero"), "/dev/zero", "must be a regular file")
        (folder / "large").write_bytes(b"#" * (1024 * 1024 + 1))
        must_say(refused(folder, "standalone", "--config", folder / "large"), "large", "must be at most 1048576 bytes")
        (folder / "latin1").write_bytes(b'data = "\xff"\n')
        must_say(refused(folder, "standalone", "--config", folder / "latin1"), "latin1", "line 1")


def an_installation_that_nobody_could_sign_in_to_is_not_begun():
    with herald.folder() as folder:
        ring = folder / "ring"
        wrong = [({"HERALD_ADMIN_EMAIL": value}, ["--admin-email", *words]) for value, words in (
            ("admin@example.com\n", ["ends with a newline"]), ("a\tb@example.com", ["U+0009"]), ("a b@example.com", ["name@example.org"]),
            ("a@b@c", ["name@example.org"]), ("@", ["name@example.org"]), ("a" * 300 + "@example.com", ["312 bytes"]), ("nobody", ["name@example.org"]))]
        wrong += [({"HERALD_ORGANIZATION": value}, ["--organization", *words]) for value, words in (
            ("acme\n", ["ends with a newline"]), ("a\x1bb", ["U+001B"]), ("x" * 257, ["257 bytes", "256"]), (" ", ["white space"]), ("", ["empty"]))]
        wrong.append(({"HERALD_ADMIN_KEY": herald.ADMIN_KEY + "\n"}, ["key", "ends with a newline"]))
        for environment, words in wrong:
            environment = {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, **environment}
            must_say(refused(folder, "standalone", "--data", folder, environment=environment), *words)
            must_say(refused(folder, "init", "--kafka", "127.0.0.1:1", "--key-ring", ring, environment=environment), *words)
        for stages in ("UNKNOWN", "production", "PRODUCTION,UNKNOWN", "none,PRODUCTION"):
            said = refused(folder, "standalone", "--data", folder, "--require-approval-for", stages)
            must_say(said, "--require-approval-for", "DEVELOPMENT, STAGING, PRODUCTION, ARCHIVED, UNASSIGNED", "none")
        assert not list(folder.iterdir()), "something was made"


def what_is_missing_or_said_twice_is_told_in_plain_words():
    with herald.folder() as folder:
        address = f"127.0.0.1:{herald.free_port()}"
        for arguments in ((), ("--data", "x"), ("--verify",)):
            must_say(refused(folder, *arguments), "herald: a verb is missing", "standalone, ", "raise-level")
        must_say(refused(folder, "standalone", "--listen", address, "--listen", "127.0.0.1:1"),
                 f'herald: --listen is given 2 times: "{address}" and "127.0.0.1:1"; give it once')
        must_say(refused(folder, "standalone", "--allow-addresses", "10.0.0.0/8", "--allow-addresses", "192.168.0.0/16"), "with commas")
        must_say(refused(folder, "standalone", "--listen", address, "--metrics-listen", address), "--metrics-listen must differ from --listen")
        must_say(refused(folder, "standalone", "--data", ""), "--data is empty")
        must_say(refused(folder, "standalone", environment={"HERALD_DATA": ""}), "--data is empty")
        (folder / "text").write_text("no certificate\n")
        for file in ("text", "none"):
            must_say(refused(folder, "standalone", "--data", "data", "--extra-ca", file), f"--extra-ca {file} cannot be used")
        for verb in ("raise-level", "state-hash"):
            must_say(refused(folder, verb, "--data", "nope", code=1), "no installation in --data nope", "nope/herald/log does not exist")
        assert [one.name for one in folder.iterdir()] == ["text"], "something was made"


def name_servers_are_addresses_with_ports():
    with herald.folder() as folder:
        for servers in ("127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1:", "127.0.0.1:x", "dns.example.org", "127.0.0.1:53,,127.0.0.2",
                        "[::1", "[::1]:70000", "[127.0.0.1]:53", "127.0.0.1:53, 127.0.0.2:53"):
            must_say(refused(folder, "standalone", "--data", folder, "--dns-servers", servers), "--dns-servers", "1 to 65535")
        server = herald.Standalone(folder, "--dns-servers", "127.0.0.1:5353,[::1]:5353,127.0.0.1,::1")
        assert server.stop() == 0


def who_may_change_webhooks_follows_the_option_at_each_start():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        admin = server.client().second_admin()

        def created(name):
            return admin.call("POST", "/api/v1/uac-proxy/events/createWebhook",
                              {"name": name, "location": "https://example.org/", "all_events": True, "workspace_id": 1})

        refused_to_admins = created("a")
        assert refused_to_admins.status == 403 and "needs a system administrator" in refused_to_admins.json["message"]
        for options, wanted in ((["--webhooks-by", "workspace-admins"], 200), (["--webhooks-by", "workspace-admins"], 200), ([], 403)):
            server.process.kill()
            server.options = options
            server.start()
            admin.close()
            herald.until(lambda: created(f"b{herald.free_port()}").status == wanted, 10, f"{options}: {wanted}")
        server.stop()
        must_say(refused(folder, "standalone", "--webhooks-by", "nobody"), "--webhooks-by", "system-admins or workspace-admins")


def a_key_ring_that_is_lost_is_not_made_anew():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        model = server.client().model("m")
        assert server.stop() == 0
        ring, kept = folder / "herald/key-ring", folder / "kept"
        ring.rename(kept)
        run = ["standalone", "--data", folder, "--listen", f"127.0.0.1:{server.port}", "--free-disk-mb", "64"]
        for _ in range(2):
            must_say(refused(folder, *run, code=3), str(ring), "is missing", "restore the file")
            assert not ring.exists()
        (folder / "herald/log").rename(folder / "log")  # what this machine has applied still tells
        must_say(refused(folder, *run, code=3), "is missing", "restore the file")
        assert not ring.exists()
        shutil.rmtree(folder / "herald/log")
        (folder / "log").rename(folder / "herald/log")
        kept.rename(ring)
        server.start()
        assert server.client().must("GET", f"/api/v1/registry/registered_models/{model}")
        assert server.stop() == 0


def a_key_ring_that_is_no_file_is_told_what_it_is():
    with herald.folder() as folder:
        (folder / "file").write_text("")
        for verb in (["standalone", "--data", folder], ["worker", "--kafka", "127.0.0.1:1"],
                     ["init", "--kafka", "127.0.0.1:1", "--admin-email", herald.ADMIN_EMAIL]):
            for path, words in ((folder, ["is a folder"]), ("/dev/null", ["is a device"]), (folder / "file/ring", ["cannot be read", "Not a directory"])):
                said = refused(folder, *verb, "--key-ring", path, code=3)
                must_say(said, str(path), *words)
                assert "chmod" not in said, said


def groups_ends_with_a_text_when_no_broker_answers():
    with herald.folder() as folder:
        address = f"127.0.0.1:{herald.free_port()}"
        began = time.monotonic()
        must_say(refused(folder, "groups", "--kafka", address, code=1, seconds=120), address, "does not answer", "Connection refused")
        assert time.monotonic() - began < 35


if __name__ == "__main__":
    herald.run()
