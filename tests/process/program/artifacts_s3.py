"""Property: artifacts in a bucket of S3 are what they are in a folder: whole, compared with their digest, erased when nothing
refers to them; what goes wrong on the way to the bucket and passes is outlived, what stays is refused and leaves nothing."""

import contextlib
import hashlib
import http.client
import os
import subprocess
import time
import urllib.parse

import artifact_client
import herald
import s3
from artifact_client import REGISTRY, must, passes_in_little_memory, raw_put, refused

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": s3.KEY, "AWS_SECRET_ACCESS_KEY": s3.SECRET, "AWS_SESSION_TOKEN": "", "AWS_REGION": "us-east-1"}
OLD = 3 * 86_400  # seconds


class Versions(artifact_client.Versions):
    in_parts = True


def _standalone(folder, port):
    return herald.Standalone(folder / "data", "--artifacts", "s3://models/prefix", "--artifacts-endpoint", f"http://127.0.0.1:{port}",
                             environment=ENVIRONMENT)


@contextlib.contextmanager
def _serving():
    """A gateway, a proxy before it, a standalone over both, and a version with the artifact f."""
    with herald.folder() as folder, s3.Gateway(folder) as gateway, s3.Proxy(gateway.port) as proxy:
        (folder / "data").mkdir()
        server = _standalone(folder, proxy.port)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        yield gateway, proxy, server, versions, version
        assert server.stop() == 0


def objects_are_stored_read_in_ranges_replaced_and_erased():
    with _serving() as (gateway, _, _, versions, version):
        assert gateway.files("prefix") == ([gateway.bucket / "prefix/owner"], []), "nothing is left of the look at start but the mark"
        data = os.urandom(20_000_003)  # in three parts
        for key, stored in (("f", data), ("g", b"small"), ("empty", b"")):
            versions.add(version, key)
            answer = must(versions.put(version, key, stored, part=0))
            assert answer.headers["etag"] == f'"{hashlib.sha256(stored).hexdigest()}"', answer.headers
            assert versions.get(version, key).body == stored
        bytes_of, digests = gateway.files()
        assert len(bytes_of) == len(digests) == 3
        assert {file.name[17:] for file in digests} == {hashlib.sha256(each).hexdigest() for each in (data, b"small", b"")}
        for restart in (False, True):
            if restart:
                versions.restart()
            for said, first, last in (("bytes=0-0", 0, 0), ("bytes=5-", 5, len(data) - 1), ("bytes=-7", len(data) - 7, len(data) - 1),
                                      ("bytes=8388600-8388700", 8_388_600, 8_388_700)):
                got = versions.get(version, "f", {"Range": said})
                assert got.status == 206 and got.body == data[first:last + 1], (said, got.status)
        must(versions.put(version, "f", b"second", part=0))
        assert versions.get(version, "f").body == b"second"
        must(versions.put(version, "g", b"small", part=0))
        assert versions.get(version, "g").body == b"small", "the same bytes once more"
        herald.until(lambda: [len(each) for each in gateway.files()] == [4, 4], 60, "the first of the two objects of the same bytes is erased")


def a_bucket_belongs_to_one_installation():
    with _serving() as (gateway, proxy, server, versions, version):
        must(versions.put(version, "f", b"bytes", part=0))
        assert "generation 1" in (gateway.bucket / "prefix/owner").read_text()
        other = gateway.folder / "other"
        done = subprocess.run([herald.BINARY, "standalone", "--data", other, "--listen", "127.0.0.1:0", "--free-disk-mb", "64", *server.options],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **ENVIRONMENT})
        assert done.returncode == 3 and "belongs to generation 1" in done.stderr, done
        proxy.often(-1, 503, "GET", path="owner")
        refused(versions.put(version, "f", b"unsure", part=0), 503, 14, "the store of artifacts")
        proxy.well()
        assert versions.get(version, "f").body == b"bytes"


def a_client_uploads_in_parts_and_reads_the_whole():
    with _serving() as (_, _, _, versions, version):
        parts = [os.urandom(9_000_000), os.urandom(200_000), b"end"]
        calls = f"{REGISTRY}/model_versions/{version}"
        for number, data in enumerate(parts, 1):
            etag = must(versions.put(version, "f", data, number)).headers["etag"]
            versions.must("POST", f"{calls}/commitArtifactPart",
                          {"model_version_id": version, "key": "f", "artifact_part": {"part_number": str(number), "etag": etag}})
        versions.must("POST", f"{calls}/commitMultipartArtifact", {"model_version_id": version, "key": "f"})
        whole = b"".join(parts)
        for restart in (False, True):
            if restart:
                versions.restart()
            assert versions.get(version, "f", {"Range": "bytes=8999990-9200001"}).body == whole[8_999_990:9_200_002]
            assert versions.get(version, "f").body == whole


@herald.preloads  # a sanitizer keeps freed memory for a while
def large_artifacts_pass_in_little_memory():
    with herald.folder() as folder, s3.Gateway(folder) as gateway:
        (folder / "data").mkdir()
        server = _standalone(folder, gateway.port)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        passes_in_little_memory(versions, version, "f", restarts=(False, True))
        assert server.stop() == 0


def a_server_with_tls_is_used_when_its_certificate_is_trusted():
    with herald.folder() as folder:
        files = certificate, key = folder / "certificate", folder / "key"
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=s3",
                               "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        with s3.Gateway(folder, certificate=files) as gateway:
            (folder / "data").mkdir()
            options = ("--artifacts", "s3://models", "--artifacts-endpoint", f"https://127.0.0.1:{gateway.port}")
            done = subprocess.run([herald.BINARY, "standalone", "--data", folder / "refused", "--listen", "127.0.0.1:0", *options],
                                  capture_output=True, text=True, timeout=60, env={**os.environ, **ENVIRONMENT})
            assert done.returncode == 1 and "certificate" in done.stderr, done.stderr
            server = herald.Standalone(folder / "data", *options, "--extra-ca", certificate, environment=ENVIRONMENT)
            versions = Versions(server)
            version = versions.new("v")
            versions.add(version, "f")
            data = os.urandom(10_000_000)
            must(versions.put(version, "f", data, part=0))
            versions.restart()
            assert versions.get(version, "f", {"Range": "bytes=9000000-"}).body == data[9_000_000:]
            assert [len(each) for each in gateway.files("objects")] == [1, 1], "without a prefix they are at the top"
            assert server.stop() == 0


def faults_that_pass_are_outlived_by_uploads_and_downloads():
    with _serving() as (gateway, proxy, _, versions, version):
        data = os.urandom(18_000_000)
        for name, stored in (("small", b"small"), ("large", data)):
            for what in (500, 503, "refuse", "lose"):
                for methods in (("PUT",), ("POST",), ("HEAD",)):
                    left = proxy.often(2, what, *methods)
                    must(versions.put(version, "f", stored, part=0))
                    if name == "large" or methods == ("PUT",):
                        assert left[0] == 0, (name, what, methods)
                    proxy.well()
                    assert versions.get(version, "f").body == stored, (name, what, methods)
        for what in (500, 503, "refuse", ("cut", 0), ("cut", 5_000_000)):
            left = proxy.often(3, what, "GET")
            assert versions.get(version, "f").body == data, what
            assert left[0] == 0, what
            left = proxy.often(2, what, "GET")
            assert versions.get(version, "f", {"Range": "bytes=1000-17000000"}).body == data[1_000:17_000_001], what
            assert left[0] == 0, what
        left = proxy.often(1, "lose", "POST", path="uploadId")
        must(versions.put(version, "f", data, part=0))
        assert left[0] == 0, "the upload was put together, and only the answer lost"
        proxy.often(1, ("wait", 12), "PUT")
        must(versions.put(version, "f", b"slow", part=0))
        proxy.often(1, ("wait", 12), "GET")
        assert versions.get(version, "f").body == b"slow"
        proxy.well()
        herald.until(lambda: gateway.files()[0] and len(gateway.files()[0]) == len(gateway.files()[1]), 10, "no bytes are without their digest")


def faults_that_stay_are_refused_and_leave_nothing():
    with _serving() as (gateway, proxy, server, versions, version):
        must(versions.put(version, "f", b"good", part=0))
        files, state = gateway.files(), versions.state()
        data = os.urandom(9_000_000)
        for what, method, path, stored in ((500, "PUT", "", b"bad"), (403, "PUT", "", b"bad"), (500, "PUT", "-", b"bad"),
                                           (503, "POST", "uploads", data), ("refuse", "PUT", "partNumber=2", data),
                                           (500, "POST", "uploadId", data), (500, "HEAD", "", data)):
            proxy.often(-1, what, method, path=path)
            refused(versions.put(version, "f", stored, part=0), 503, 14, "the store of artifacts")
            proxy.well()
            herald.until(lambda: gateway.files() == files, 10, f"nothing is left after {what} {method} {path}")
            assert versions.state() == state and versions.get(version, "f").body == b"good", (what, method, path)
            assert not [each for each in (gateway.bucket / ".sgwtmp/multipart").rglob("*") if each.is_file()], (what, method, path)
        proxy.often(-1, 503, "GET")
        refused(versions.get(version, "f"), 503, 14, "SlowDown")
        proxy.well()
        gateway.stop()
        refused(versions.put(version, "f", b"bad", part=0), 503, 14)
        refused(versions.get(version, "f"), 503, 14)
        gateway.start()
        assert versions.get(version, "f").body == b"good"
        # An upload that its client breaks off.
        half = raw_put(server, versions.url(version, "f", "PUT"), "Content-Length: 20000000\r\n", b"x" * 12_000_000)
        assert b" 200 " not in half
        herald.until(lambda: gateway.files() == files and not list((gateway.bucket / ".sgwtmp/multipart").glob("*/*")), 10,
                     "nothing is left of the half of an upload")


def bytes_that_changed_in_the_bucket_or_on_the_way_are_not_given_out():
    with _serving() as (gateway, proxy, _, versions, version):
        data = os.urandom(2_000_000)
        must(versions.put(version, "f", data, part=0))
        versions.restart()

        def cut_off():
            try:
                got = versions.get(version, "f")
                raise AssertionError(f"{got.status}, {len(got.body)} bytes")
            except http.client.IncompleteRead as cut:
                assert len(cut.partial) < len(data)
        proxy.often(1, "spoil", "GET", path="objects/")
        cut_off()
        proxy.often(1, "spoil", "GET", path="objects/")
        refused(versions.get(version, "f", {"Range": "bytes=0-3"}), 500, 13, "no longer holds what was stored")
        proxy.well()
        assert versions.get(version, "f", {"Range": "bytes=0-3"}).body == data[:4]
        (file,), _ = gateway.files()
        versions.restart()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        cut_off()
        refused(versions.get(version, "f", {"Range": "bytes=0-3"}), 500, 13)
        file.write_bytes(data[:-1])
        refused(versions.get(version, "f"), 500, 13, "another length")
        must(versions.put(version, "f", data, part=0))
        assert versions.get(version, "f").body == data, "the same bytes repair what was damaged"
        herald.until(lambda: not file.exists(), 30, "the damaged object is erased")
        (file,), _ = gateway.files()
        file.unlink()
        refused(versions.get(version, "f"), 500, 13, "not there")
        must(versions.put(version, "f", data, part=0))
        assert versions.get(version, "f").body == data, "the same bytes repair what was lost"


def _aged(where):
    then = time.time() - OLD
    for each in [*where.rglob("*"), where]:
        os.utime(each, (then, then))


def what_uploads_left_whose_node_was_killed_is_removed_when_it_is_old():
    with _serving() as (gateway, proxy, server, versions, version):
        must(versions.put(version, "f", b"good", part=0))
        good = gateway.files()
        uploads = gateway.bucket / ".sgwtmp/multipart"

        def killed_when(true, path, data):
            proxy.often(-1, ("wait", 60), "PUT", path=path)
            url = versions.url(version, "f", "PUT")
            parts = urllib.parse.urlsplit(url)
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
            connection.putrequest("PUT", f"{parts.path}?{parts.query}")
            connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            herald.until(true, 20, f"the upload waits before {path}")
            server.process.kill()
            connection.close()
            proxy.well()
        killed_when(lambda: any("partNumber=2" in path for _, path in proxy.seen), "partNumber=2", os.urandom(17_000_000))
        versions.start()
        digest = hashlib.sha256(b"without a digest").hexdigest()
        killed_when(lambda: any(digest in path for _, path in proxy.seen), digest, b"without a digest")
        assert len(gateway.files()[0]) == len(good[0]) + 1 and len(gateway.files()[1]) == len(good[1])
        proxy.seen.clear()
        server.start()
        herald.until(lambda: [each for each in proxy.seen if "list-type=2" in each[1] and "start-after" in each[1]], 60, "the node looks for strays")
        assert len(gateway.files()[0]) == len(good[0]) + 1, "what is young stays"
        server.process.kill()
        _aged(gateway.bucket)
        server.start()
        herald.until(lambda: gateway.files() == good and not list(uploads.glob("*/*")), 60, "what uploads left is removed")
        versions.client = server.client()
        assert versions.get(version, "f").body == b"good", "what the registry has stays, however old"


def a_bucket_that_cannot_be_used_is_refused_at_start():
    with herald.folder() as folder, s3.Gateway(folder) as gateway:
        here = ("--artifacts-endpoint", f"http://127.0.0.1:{gateway.port}")
        bucket = "s3://models/prefix"
        for location, options, changed, code, words in (
                ("s3://absent/prefix", here, {}, 1, ["there is no bucket absent", "NoSuchBucket"]),
                (bucket, here, {"AWS_ACCESS_KEY_ID": "stranger"}, 1, ["AWS_ACCESS_KEY_ID stranger", "No user exists"]),
                (bucket, here, {"AWS_SECRET_ACCESS_KEY": "wrong"}, 1, ["SignatureDoesNotMatch"]),
                (bucket, (*here, "--artifacts-region", "eu-central-1"), {}, 1, ["not in region eu-central-1", "--artifacts-region", "in us-east-1"]),
                (bucket, (), {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{herald.free_port()}"}, 1, ["cannot be used", "refused"]),
                (bucket, here, {"AWS_SECRET_ACCESS_KEY": ""}, 2, ["AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"]),
                ("s3://", here, {}, 2, ["s3://BUCKET/PREFIX"]),
                ("s3://Models", here, {}, 2, ["small letters"]),
                ("s3://models/a//b", here, {}, 2, ["s3://BUCKET/PREFIX"]),
                ("gs://models", here, {}, 2, ["a folder", "s3://BUCKET/PREFIX"]),
                (bucket, ("--artifacts-endpoint", "127.0.0.1:9000"), {}, 2, ["--artifacts-endpoint", "http://"]),
                (bucket, ("--artifacts-endpoint", "http://127.0.0.1:9000/path"), {}, 2, ["has a path"]),
                (bucket, (*here, "--artifacts-region", "Europe!"), {}, 2, ["is not a region"])):
            done = subprocess.run([herald.BINARY, "standalone", "--data", folder / "data", "--listen", "127.0.0.1:0", "--free-disk-mb", "64",
                                   "--artifacts", location, *options], capture_output=True, text=True, timeout=60,
                                  env={**os.environ, **ENVIRONMENT, **changed})
            said = done.stderr + done.stdout
            assert done.returncode == code and all(word in said for word in words), (location, options, changed, done.returncode, said)
            assert s3.SECRET not in said


if __name__ == "__main__":
    herald.run()
