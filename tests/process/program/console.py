"""Property: the way into the console: a standalone says where it is, `herald sign-in-link` prints a link that signs a browser in
once, each sign-in is a line of the log, and a session ends on all sides when the key that made it is taken away."""

import json
import subprocess

import herald

SESSION = "/api/v1/console/session"
OF_CONSOLE = {"herald-console": "1"}


def _events(folder, name):
    rows = [json.loads(line) for line in (folder / "standalone.log").read_text().splitlines() if line.startswith("{")]
    return [row for row in rows if row["event"] == name]


def _browser(port):
    """Without credentials in headers."""
    client = herald.Client(port)
    client.headers = {}
    return client


def _redeemed(port, link):
    """The answer that the page behind the link gets."""
    return _browser(port).call("POST", SESSION + "/redeem", {"code": link.rsplit("#", 1)[1], "browser": "b"}, headers=OF_CONSOLE)


def a_link_signs_in_once_and_the_session_ends_with_the_key_behind_it():
    with herald.folder() as folder:
        port = herald.free_port()
        place = f"127.0.0.1:{port}"
        process = herald.Process("standalone", ["standalone", "--data", folder, "--listen", place, "--free-disk-mb", "64"], folder,
                                 {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL})
        herald.wait_until_ready(process, port)
        said = _events(folder, "console")[0]
        assert said["url"] == f"http://{place}/", said
        assert said["sign_in"] == f"herald sign-in-link --data {folder} --listen {place}", said
        words = said["sign_in"].split()[1:]
        link = subprocess.run([herald.BINARY, *words], capture_output=True, text=True, check=True).stdout.strip()
        assert link.startswith(f"http://{place}/sign-in#"), link
        key = dict(line.split(" ", 1) for line in (folder / "herald/admin-key").read_text().splitlines())["key"]
        client = herald.Client(port, herald.ADMIN_EMAIL, key)
        came = _redeemed(port, link)
        assert came.status == 200, came
        assert _redeemed(port, link).status == 404
        signed_in = _events(folder, "signed_in")
        assert [(row["email"], row["by"], row["remote"]) for row in signed_in] == [(herald.ADMIN_EMAIL, "link", "127.0.0.1")], signed_in
        assert link.rsplit("#", 1)[1] not in (folder / "standalone.log").read_text(), "the code is in the log"
        cookie = {"cookie": came.headers["set-cookie"].split(";")[0], **OF_CONSOLE}
        browser = _browser(port)
        assert browser.call("GET", SESSION, headers=cookie).json["info"]["email"] == herald.ADMIN_EMAIL
        second = client.must("POST", "/api/v1/uac-proxy/uac/addDevKey", {})["secondary_dev_key"]
        other = herald.Client(port, herald.ADMIN_EMAIL, second)
        other.must("DELETE", "/api/v1/uac-proxy/uac/deletePrimaryDevKey")
        assert browser.call("GET", SESSION, headers=cookie).json == {}
        assert browser.call("GET", "/api/v1/uac-proxy/uac/getCurrentUser", headers=cookie).status == 401
        assert process.stop() == 0


def the_cookie_opens_neither_predictions_nor_artifacts():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        came = client.call("POST", SESSION, {"browser": "b"}, headers=OF_CONSOLE)
        cookie = {"cookie": came.headers["set-cookie"].split(";")[0], **OF_CONSOLE}
        browser = _browser(server.port)
        assert browser.call("GET", SESSION, headers=cookie).json["info"]["email"] == herald.ADMIN_EMAIL
        for method, path in (("POST", "/api/v1/predict/fraud"), ("POST", "/api/v1/batch-predict/fraud"), ("GET", "/v2/models/fraud"),
                             ("GET", "/api/v1/registry/artifact_bytes/1?key=model")):
            answer = browser.call(method, path, {} if method == "POST" else None, headers=cookie)
            assert 400 <= answer.status < 500, (path, answer)
        server.stop()


if __name__ == "__main__":
    herald.run()
