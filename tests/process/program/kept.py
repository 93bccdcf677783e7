"""Property: nobody keeps what he should not: no answer may be cached but the bytes of artifacts, which are asked for again by their
etag; and a connection is kept as long as the operator says."""

import http.client
import socket
import time
import urllib.parse

import herald
import serving


def no_answer_may_be_cached_but_the_bytes_of_artifacts():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, "/price")
        paths = ["/api/v1/uac-proxy/uac/getCurrentUser", f"{stage.place}/accesstokens", "/api/v1/uac-proxy/feature-flags",
                 "/api/openapi.json", "/api/no/such/path", "/healthz"]
        for path in paths:
            told = client.call("GET", path).headers
            assert (told["Cache-Control"], told["X-Content-Type-Options"]) == ("no-store", "nosniff"), (path, told)
        refused = herald.Client(server.port, "nobody@example.com", "wrong").call("GET", paths[0])
        assert refused.status == 401 and refused.headers["Cache-Control"] == "no-store", refused
        asked = serving.predict(client, "/price", stage.token, [1])
        assert asked.headers["Cache-Control"] == "no-store", asked.headers
        version = serving.version_with_model(client, client.model("m"), "v", b"the bytes")
        url = urllib.parse.urlsplit(client.must("POST", f"/api/v1/registry/model_versions/{version}/getUrlForArtifact",
                                                {"key": "model", "method": "GET"})["url"])
        got = client.call("GET", f"{url.path}?{url.query}")
        assert got.body == b"the bytes" and got.headers["ETag"], got
        assert got.headers["Cache-Control"] == "private, no-cache" and got.headers["X-Content-Type-Options"] == "nosniff", got.headers
        client.close()
        server.stop()


def _seconds_until_closed(port, at_most):
    """How long the server keeps an idle connection after an answer; at_most when it keeps it longer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=at_most)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    start = time.monotonic()
    try:
        assert connection.sock.recv(1) == b""
    except socket.timeout:
        return at_most
    finally:
        connection.close()
    return time.monotonic() - start


def a_kept_connection_stays_as_long_as_the_operator_says():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--idle-seconds", "1")
        closed_after = _seconds_until_closed(server.port, 10)
        assert 0.5 < closed_after < 5, f"{closed_after} s"
        server.stop()
        server.options = ()
        server.start()
        assert _seconds_until_closed(server.port, 3) == 3
        server.stop()


if __name__ == "__main__":
    herald.run()
