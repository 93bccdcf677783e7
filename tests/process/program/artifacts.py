"""Property: the bytes of artifacts: what the published client does with them (client_calls.md §4), who may use a signed URL and
how long, and that uploads which end badly leave nothing and change nothing (wire.md "Artifact URLs")."""

import hashlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse

import herald
from artifact_client import (REGISTRY, Versions, begun, files_of_bytes, must, passes_in_little_memory, raw_put, refused, serving,
                             stored_files, uploading, used)
from small_disk import SmallDisk


def the_published_client_uploads_downloads_replaces_and_deletes():
    with serving() as (_, versions, version):
        refused(versions.ask(version, "model", "PUT"), 404, 5, "model")
        for key in ("model", "model_api.json", "custom_modules", "a key with spaces/ü"):
            record = versions.add(version, key)["model_version"]
            entry = record["model"] if key == "model" else record["artifacts"][-1]
            assert entry["key"] == key and entry["upload_completed"] is False and entry["filename_extension"] == "bin", entry
            refused(versions.ask(version, key, "GET"), 404, 5, "no bytes yet")
            data = os.urandom(1_000_003)
            answer = versions.put(version, key, data)
            assert answer.status == 200 and answer.headers["etag"] == f'"{hashlib.sha256(data).hexdigest()}"', answer.headers
            got = versions.get(version, key)
            assert got.status == 200 and got.body == data and got.headers["etag"] == answer.headers["etag"]
            assert int(got.headers["content-length"]) == len(data)
        record = versions.read(version)
        assert record["model"]["upload_completed"] and all(each["upload_completed"] for each in record["artifacts"])
        assert record["model"]["serialization"] == "cloudpickle" and record["model"]["artifact_subtype"] == "sklearn"

        again = must(versions.put(version, "model", b"second bytes"))
        assert versions.get(version, "model").body == b"second bytes"
        assert must(used(versions.url(version, "model", "GET"), "HEAD")).headers["etag"] == again.headers["etag"]
        # Equal records change nothing, and what the server owns is ignored.
        changed = versions.must("PUT", versions.path(version), record)["model_version"]
        assert changed["model"]["upload_completed"] and versions.get(version, "model").body == b"second bytes"

        without = {**versions.read(version), "artifacts": record["artifacts"][1:]}
        versions.must("PUT", versions.path(version), without)
        refused(versions.ask(version, "model_api.json", "GET"), 404, 5)
        versions.must("PUT", versions.path(version), {name: value for name, value in without.items() if name != "model"})
        assert "model" not in versions.read(version)
        refused(versions.ask(version, "model", "GET"), 404, 5)
        versions.add(version, "model")
        refused(versions.ask(version, "model", "GET"), 404, 5, "no bytes yet")
        versions.must("DELETE", f"{REGISTRY}/model_versions/{version}/artifacts/custom_modules")
        assert [each["key"] for each in versions.read(version)["artifacts"]] == ["a key with spaces/ü"]
        refused(versions.client.call("PATCH", versions.path(version), {"artifacts": [{"key": "model", "path": "p"}]}), 400, 3, "model")
        # A changed path is another file.
        versions.add(version, "a key with spaces/ü", path="another")
        refused(versions.ask(version, "a key with spaces/ü", "GET"), 404, 5, "no bytes yet")


def ranges_are_answered_also_after_a_restart():
    with serving("f") as (_, versions, version):
        data = os.urandom(700_000)
        must(versions.put(version, "f", data))
        for restart in (False, True):
            if restart:
                versions.restart()
            for said, first, last in (("bytes=0-0", 0, 0), ("bytes=5-", 5, len(data) - 1), ("bytes=-7", len(data) - 7, len(data) - 1),
                                      ("bytes=300000-299999999", 300_000, len(data) - 1)):
                got = versions.get(version, "f", {"Range": said})
                assert got.status == 206 and got.body == data[first:last + 1], (said, got.status)
                assert got.headers["content-range"] == f"bytes {first}-{last}/{len(data)}", got.headers
            refused(versions.get(version, "f", {"Range": f"bytes={len(data)}-"}), 416, 3)
            for said in ("bytes=5-3", "bytes=0-1,4-5", "lines=1-2", "bytes=x-"):
                got = versions.get(version, "f", {"Range": said})
                assert got.status == 200 and got.body == data, said
            got = versions.get(version, "f", {"Range": "bytes=0-3", "If-Range": '"other"'})
            assert got.status == 200 and len(got.body) == len(data)
            assert versions.get(version, "f", {"Range": "bytes=0-3", "If-Range": got.headers["etag"]}).status == 206


def multipart_uploads_commit_in_order_and_drop_what_is_replaced():
    with serving("f") as (_, versions, version):
        parts = [os.urandom(300_000), os.urandom(200_000), b"end"]
        calls = f"{REGISTRY}/model_versions/{version}"

        def commit(number, etag):
            return versions.client.call("POST", f"{calls}/commitArtifactPart",
                                        {"model_version_id": version, "key": "f", "artifact_part": {"part_number": str(number), "etag": etag}})

        def finish():
            return versions.client.call("POST", f"{calls}/commitMultipartArtifact", {"model_version_id": version, "key": "f"})

        refused(finish(), 400, 9)
        etags = [must(versions.put(version, "f", data, number)).headers["etag"] for number, data in enumerate(parts, 1)]
        refused(commit(2, '"wrong"'), 400, 3, "etag")
        refused(commit(4, etags[0]), 400, 9, "part 4")
        refused(commit(1_001, etags[0]), 400, 3, "1000")
        must(commit(1, etags[0]))
        must(commit(3, etags[2]))
        refused(finish(), 400, 9, "part 2")
        must(commit(2, etags[1]))
        listed = versions.must("GET", f"{calls}/getCommittedArtifactParts?model_version_id={version}&key=f")["artifact_parts"]
        assert listed == [{"part_number": str(number), "etag": etag} for number, etag in enumerate(etags, 1)], listed
        must(finish())
        whole = b"".join(parts)
        got = versions.get(version, "f")
        assert got.body == whole and got.headers["etag"].endswith('-3"')
        assert versions.get(version, "f", {"Range": "bytes=299990-500001"}).body == whole[299_990:500_002]
        assert versions.must("GET", f"{calls}/getCommittedArtifactParts?key=f")["artifact_parts"] == []
        refused(versions.ask(version, "f", "PUT", 1_001), 400, 3, "1000")


def a_part_1_that_comes_again_loses_nothing_and_mixes_no_two_uploads():
    with serving("f") as (_, versions, version):
        calls = f"{REGISTRY}/model_versions/{version}"
        parts = [os.urandom(1_000), os.urandom(1_000), b"the tail"]

        def send(number, data):
            etag = must(versions.put(version, "f", data, number)).headers["etag"]
            part = {"part_number": str(number), "etag": etag}
            must(versions.client.call("POST", f"{calls}/commitArtifactPart", {"key": "f", "artifact_part": part}))
            return part

        def finish(**more):
            return versions.client.call("POST", f"{calls}/commitMultipartArtifact", {"key": "f", **more})

        first = [send(number, data) for number, data in enumerate(parts, 1)]
        shorter = [send(1, parts[0]), send(2, b"of a shorter file")]
        refused(finish(), 400, 9, "part 3", "not committed")
        refused(finish(artifact_parts=[shorter[0], first[1]]), 400, 3, "etag")
        must(finish(artifact_parts=shorter))
        assert versions.get(version, "f").body == parts[0] + b"of a shorter file"
        for number, data in enumerate(parts, 1):
            send(number, data)
        send(1, b"another beginning")
        refused(finish(), 400, 9, "part 2")
        for part in first[1:]:
            must(versions.client.call("POST", f"{calls}/commitArtifactPart", {"key": "f", "artifact_part": part}))
        must(finish(artifact_parts=[]))
        assert versions.get(version, "f").body == b"another beginning" + b"".join(parts[1:])


def urls_are_good_for_what_they_say_by_whom_they_say_and_as_long():
    with serving("f", "g") as (server, versions, version):
        must(versions.put(version, "f", b"good"))
        stranger, _ = server.client().user("stranger@example.com")
        refused(versions.ask(version, "f", "GET", client=stranger), 404, 5)
        refused(versions.ask(version, "f", "PUT", client=stranger), 404, 5)
        refused(versions.ask(version, "f", "POST"), 400, 3, "GET or PUT")
        put, get = versions.url(version, "f", "PUT"), versions.url(version, "f", "GET")
        before = versions.state()
        # Whoever has the URL needs nothing else; what else is sent does not matter.
        for headers in ({}, {"Content-Type": "text/html"}, {"Grpc-Metadata-email": "nobody", "Grpc-Metadata-developer_key": "wrong"}):
            assert must(used(get, "GET", headers=headers)).body == b"good"
        for url in (put, get):
            refused(used(url, "GET" if url == put else "PUT", None if url == put else b"x"), 403, 7)
            for altered in (url[:-1] + ("0" if url[-1] != "0" else "1"), url[:-70] + ("0" if url[-70] != "0" else "1") + url[-69:],
                            url.rsplit("/", 1)[0] + "/nothing", url.rsplit("?", 1)[0] + "?", url + "0", url.replace("?signature=", "?Signature="),
                            url.replace("?signature=", "0?signature=")):
                refused(used(altered, "PUT" if url == put else "GET", b"bad" if url == put else None), 403, 7)
        assert versions.state() == before and used(get, "GET").body == b"good"
        # The path of the entry is another one when the bytes arrive.
        versions.add(version, "f", path="moved")
        for url, method in ((put, "PUT"), (get, "GET")):
            refused(used(url, method, b"late" if method == "PUT" else None), 404, 5)
        # What is no artifact as it is.
        fresh = versions.url(version, "f", "PUT")
        refused(used(fresh, "PUT", b"middle", {"Content-Range": "bytes 5-10/20"}), 400, 3, "Content-Range")
        refused(used(fresh, "PUT", b"packed", {"Content-Encoding": "gzip"}), 415, 3, "Content-Encoding")
        must(used(fresh, "PUT", b"plain", {"Content-Encoding": "identity"}))
        # The range of HEAD is that of no byte.
        head = used(versions.url(version, "f", "GET"), "HEAD", headers={"Range": "bytes=0-1"})
        assert head.status == 200 and head.headers["content-length"] == "5", head.headers
        # The lock has closed in between.
        closed = versions.new("closed", lock_level=2, artifacts=[{"key": "f", "path": "p"}])
        refused(versions.ask(closed, "f", "PUT"), 403, 7, "locked for changes")
        refused(versions.client.call("DELETE", f"{REGISTRY}/model_versions/{closed}/artifacts/f"), 403, 7, "locked for changes")
        # It closes after the URL was made.
        open_one = versions.new("open", artifacts=[{"key": "f", "path": "p"}])
        must(versions.put(open_one, "f", b"before"))
        put, get = versions.url(open_one, "f", "PUT"), versions.url(open_one, "f", "GET")
        versions.must("PUT", f"{REGISTRY}/model_versions/{open_one}/lock", {"id": open_one, "lock_level": 2})
        refused(used(put, "PUT", b"after"), 403, 7, "locked for changes")
        assert must(used(get, "GET")).body == b"before"


def the_urls_of_a_user_end_with_the_user():
    with serving("f") as (server, versions, version):
        must(versions.put(version, "f", b"good"))
        second = server.client().second_admin()
        put, get = (versions.url(version, "f", method, client=second) for method in ("PUT", "GET"))
        assert must(used(get, "GET")).body == b"good"
        user = second.must("GET", "/api/v1/uac-proxy/uac/getCurrentUser")["verta_info"]["user_id"]
        versions.must("POST", "/api/v1/uac-proxy/uac/deleteUser", {"user_id": user})
        refused(used(put, "PUT", b"bad"), 404, 5)
        refused(used(get, "GET"), 404, 5)
        assert versions.get(version, "f").body == b"good"


def uploads_that_end_badly_leave_nothing():
    with serving("f") as (server, versions, version):
        must(versions.put(version, "f", b"good"))
        files = stored_files(server)
        url = versions.url(version, "f", "PUT")
        half = b"x" * 1_000_000
        assert b" 200 " not in raw_put(server, url, "Content-Length: 2000000\r\n", half)
        assert b" 200 " not in raw_put(server, url, "Transfer-Encoding: chunked\r\n", b"F4240\r\n" + half + b"\r\n")
        assert b" 400 " in raw_put(server, url, "Transfer-Encoding: chunked\r\n", b"5\r\nabcdefgh\r\n0\r\n\r\n")
        assert b" 400 " in raw_put(server, url, "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"hello")
        assert b" 413 " in raw_put(server, url, "Content-Length: 5000000001\r\n", b"x", hang_up=False)
        herald.until(lambda: stored_files(server) == files, 10, "nothing is left of the uploads")
        assert versions.get(version, "f").body == b"good"
        # Longer than said: what is behind the end is no part of it.
        answer = raw_put(server, url, "Content-Length: 4\r\n", b"more than 4 \r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 ") and answer.count(b" 200 ") == 1, answer
        assert versions.get(version, "f").body == b"more"
        # Without a length, and none at all.
        data = os.urandom(300_000)
        must(used(versions.url(version, "f", "PUT"), "PUT", data, chunked=True))
        assert versions.get(version, "f").body == data
        must(used(versions.url(version, "f", "PUT"), "PUT", b""))
        assert versions.get(version, "f").body == b""


def nobody_takes_all_places_of_uploads_or_downloads():
    with serving("f", "large") as (server, versions, version):
        url = versions.url(version, "f", "PUT")
        uploads = [uploading(url) for _ in range(2)]
        herald.until(lambda: len(stored_files(server)) == 2, 10, "both are under way")
        answer = raw_put(server, url, "Content-Length: 1000\r\nExpect: 100-continue\r\n", b"", hang_up=False)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"2 uploads by this URL" in answer, "it is refused before it is told to continue"
        uploads += [uploading(versions.url(version, "f", "PUT")) for _ in range(6)]
        herald.until(lambda: len(stored_files(server)) == 8, 10, "eight are under way")
        refused(used(versions.url(version, "f", "PUT"), "PUT", b"x"), 503, 14, "8 uploads of this user")
        second = server.client().second_admin()
        must(used(versions.url(version, "f", "PUT", client=second), "PUT", b"another's"))
        for connection in uploads:
            connection.close()
        herald.until(lambda: used(url, "PUT", b"mine").status == 200, 10, "their places are free again")

        must(versions.put(version, "large", b"x" * 30_000_000))
        url = versions.url(version, "large", "GET")
        downloads = [begun(url, "GET", receive_buffer=65_536) for _ in range(16)]
        assert all(connection.recv(12) == b"HTTP/1.1 200" for connection in downloads)
        refused(used(url, "GET"), 503, 14, "16 downloads by this URL")
        must(used(versions.url(version, "large", "GET"), "GET", headers={"Range": "bytes=0-5"}))
        for connection in downloads:
            connection.close()
        herald.until(lambda: used(url, "GET", headers={"Range": "bytes=0-5"}).status == 206, 10, "and those of downloads")


def started(folder, *options):
    """How a process ends that refuses to start."""
    return subprocess.run([herald.BINARY, "standalone", "--data", folder, "--listen", "127.0.0.1:0", "--free-disk-mb", "64", *map(str, options)],
                          capture_output=True, text=True, timeout=60, env={**os.environ, "HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL,
                                                                           "HERALD_ADMIN_KEY": herald.ADMIN_KEY})


def a_store_without_its_mark_is_not_taken_for_this_one():
    with herald.folder() as folder:
        store = folder / "store"
        server = herald.Standalone(folder, "--artifacts", store)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        must(versions.put(version, "f", b"bytes"))
        assert server.stop() == 0
        store.rename(folder / "unmounted")
        for _ in range(2):  # also with the folder that the first start has made
            done = started(folder, "--artifacts", store)
            assert done.returncode == 3 and "check that its disk is mounted" in done.stderr, done
        shutil.rmtree(store)
        (folder / "unmounted").rename(store)
        versions.start()
        assert versions.get(version, "f").body == b"bytes"
        # Another installation does not get it, whatever its operator says.
        for option in ([], ["--accept-artifacts"]):
            done = started(folder / "another", "--artifacts", store, *option)
            assert done.returncode == 3 and "belongs to generation 1" in done.stderr, done
        assert versions.get(version, "f").body == b"bytes"
        assert server.stop() == 0
        shutil.rmtree(store)
        server.options = ("--artifacts", store, "--accept-artifacts")
        versions.start()
        refused(versions.get(version, "f"), 500, 13, "lost or damaged")
        must(versions.put(version, "f", b"bytes"))
        assert server.stop() == 0
        server.options = ("--artifacts", store)
        versions.start()
        assert versions.get(version, "f").body == b"bytes"
        assert server.stop() == 0


def a_restored_copy_takes_the_store_only_when_told_and_then_the_old_one_does_not_start():
    with herald.folder() as folder:
        store = folder / "store"
        server = herald.Standalone(folder, "--artifacts", store)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        must(versions.put(version, "f", b"bytes"))
        old_url = versions.url(version, "f", "GET")
        assert server.stop() == 0
        copy = folder / "copy"
        (copy / "herald").mkdir(parents=True)
        shutil.copy(folder / "herald/key-ring", copy / "herald/key-ring")
        for verb in (["backup", "create", folder / "one.backup", "--data", folder], ["restore", folder / "one.backup", "--data", copy]):
            subprocess.run([herald.BINARY, *map(str, verb)], check=True, capture_output=True, timeout=60)
        done = started(copy, "--artifacts", store)
        assert done.returncode == 3 and "--accept-artifacts" in done.stderr and "generation 1" in done.stderr, done
        taken = herald.Standalone(copy, "--artifacts", store, "--accept-artifacts", port=server.port)
        versions.client = taken.client()
        assert versions.get(version, "f").body == b"bytes"
        refused(used(old_url, "GET"), 403, 7, "another installation")
        must(versions.put(version, "f", b"newer"))
        assert taken.stop() == 0
        done = started(folder, "--artifacts", store)
        assert done.returncode == 3 and "belongs to generation 2" in done.stderr, done


def a_store_that_is_taken_while_the_old_one_runs_gets_nothing_from_it_and_ends_it():
    with herald.folder() as folder:
        store = folder / "store"
        server = herald.Standalone(folder, "--artifacts", store)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        must(versions.put(version, "f", b"bytes"))
        objects = lambda: sorted(file for file in (store / "objects").rglob("*") if file.is_file())
        before, owner = objects(), (store / "owner").read_text()
        (store / "owner").unlink()  # as of a disk that is not there
        refused(versions.put(version, "f", b"lost"), 503, 14, "is not there")
        (store / "owner").write_text(owner.replace("generation 1", "generation 2"))
        refused(versions.put(version, "f", b"late"), 503, 14, "belongs to generation 2")
        assert objects() == before
        assert server.process.process.wait(30) == 3, server.process.tail()
        assert "taken over: it belongs to generation 2" in server.process.tail(), server.process.tail()


def urls_for_callers_without_a_host_name_the_address_that_they_called():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        body = json.dumps({"key": "f", "method": "PUT"})
        headers = "".join(f"{name}: {value}\r\n" for name, value in server.client().headers.items())
        with socket.create_connection(("127.0.0.1", server.port), 30) as caller:
            caller.sendall(f"POST {REGISTRY}/model_versions/{version}/getUrlForArtifact HTTP/1.0\r\n{headers}"
                           f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            answer = b""
            while piece := caller.recv(65536):
                answer += piece
        url = json.loads(answer.split(b"\r\n\r\n", 1)[1])["url"]
        assert url.startswith(f"http://127.0.0.1:{server.port}{REGISTRY}/"), url
        must(used(url, "PUT", b"bytes"))
        assert server.stop() == 0


def two_uploads_at_once_on_one_key_give_one_of_them_whole():
    with serving("f") as (_, versions, version):
        datas = [bytes([number]) * 3_000_000 for number in range(6)]
        urls = []
        for _ in datas:
            urls.append(versions.url(version, "f", "PUT"))
            time.sleep(0.002)  # URLs of one millisecond are the same one, which takes two uploads at a time
        answers = [None] * len(datas)

        def upload(index):
            answers[index] = used(urls[index], "PUT", datas[index])
        threads = [threading.Thread(target=upload, args=[index]) for index in range(len(datas))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(answer.status == 200 for answer in answers), answers
        assert versions.get(version, "f").body in datas


def what_changes_on_the_disk_during_a_download_or_under_the_same_time_is_not_given_out_as_a_whole():
    with serving("f") as (server, versions, version):
        data = os.urandom(40_000_000)
        must(versions.put(version, "f", data))
        file, = stored_files(server)

        def change():
            with open(file, "r+b") as opened:
                opened.seek(30_000_000)
                opened.write(bytes(byte ^ 1 for byte in data[30_000_000:30_000_064]))
        before = file.stat()
        change()
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        for _ in range(2):
            with begun(versions.url(version, "f", "GET"), "GET", "Connection: close\r\n") as connection:
                assert len(_received(connection)) < len(data), "the same time of modification does not hide it"
        must(versions.put(version, "f", data))
        file = next(each for each in stored_files(server) if each != file)
        with begun(versions.url(version, "f", "GET"), "GET", "Connection: close\r\n", receive_buffer=65_536) as connection:
            assert connection.recv(12) == b"HTTP/1.1 200"
            change()
            assert len(_received(connection)) < len(data), "it is cut off"
        assert damaged(server) == 3
        # What is erased during a download is still given out as it was.
        must(versions.put(version, "f", data))
        with begun(versions.url(version, "f", "GET"), "GET", "Connection: close\r\n", receive_buffer=65_536) as connection:
            assert connection.recv(12) == b"HTTP/1.1 200"
            for each in stored_files(server):
                each.unlink()
            assert _received(connection).endswith(data)


def _received(connection):
    received = bytearray()
    try:
        while more := connection.recv(1_000_000):
            received += more
    except ConnectionError:
        pass  # it was cut off
    return received


def killed_in_the_middle_of_an_upload_nothing_is_left_and_what_was_answered_is_there():
    with serving("f", "g") as (server, versions, version):
        data = os.urandom(5_000_000)
        must(versions.put(version, "f", data))
        parts = urllib.parse.urlsplit(versions.url(version, "g", "PUT"))
        with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
            connection.sendall(f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n".encode() + data)
            herald.until(lambda: len(stored_files(server)) == 2, 10, "the upload is under way")
            server.process.kill()
        versions.start()
        herald.until(lambda: len(stored_files(server)) == 1, 10, "its file is removed")
        assert versions.get(version, "f").body == data
        refused(versions.ask(version, "g", "GET"), 404, 5)
        must(versions.put(version, "g", b"again"))
        assert versions.get(version, "g").body == b"again"


def bytes_that_changed_on_the_disk_are_not_given_out():
    with serving("f") as (server, versions, version):
        data = os.urandom(2_000_000)
        must(versions.put(version, "f", data))
        file, = stored_files(server)
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        try:
            got = versions.get(version, "f")
            raise AssertionError(f"{got.status}, {len(got.body)} bytes")
        except http.client.IncompleteRead as cut:
            assert len(cut.partial) < len(data)
        refused(versions.get(version, "f", {"Range": "bytes=0-3"}), 500, 13)
        file.write_bytes(data[:-1])
        refused(versions.get(version, "f"), 500, 13, "1999999 bytes", "upload them again")
        must(versions.put(version, "f", data))
        assert versions.get(version, "f").body == data, "the same bytes repair what was damaged"
        herald.until(lambda: not file.exists(), 30, "the damaged object is erased")
        file, = stored_files(server)
        file.unlink()
        before = damaged(server)
        for headers in ({}, {"Range": "bytes=0-3"}):
            lost = versions.get(version, "f", headers)
            refused(lost, 500, 13, "lost or damaged")
            assert str(server.folder) not in lost.json["message"], lost
        assert must(used(versions.url(version, "f", "GET"), "HEAD")).headers["content-length"] == str(len(data))
        assert damaged(server) == before + 2
        assert "artifact_damaged" in server.process.tail(100), server.process.tail()
        must(versions.put(version, "f", data))
        assert versions.get(version, "f").body == data, "the same bytes repair what was lost"
        versions.restart()
        herald.until(lambda: len(stored_files(server)) == 1 and stored_files(server) != [file], 30, "the lost object is forgotten")
        assert versions.get(version, "f").body == data


def damaged(server):
    shown = server.client().call("GET", "/metrics").body.decode()
    return next(float(line.split()[1]) for line in shown.splitlines() if line.startswith("herald_artifacts_damaged_total "))


def _started_later(folder, seconds, port):
    process = herald.Process(f"{seconds} s later", ["standalone", "--data", folder, "--listen", f"127.0.0.1:{port}", "--free-disk-mb", "64"],
                             folder, {"LD_PRELOAD": os.environ["PRELOADED_SHIFTED_CLOCK"], "HERALD_CLOCK_SHIFT_SECONDS": str(seconds)})
    herald.wait_until_ready(process, port)
    return process


@herald.preloads
def an_hour_later_a_url_is_refused_and_two_days_later_what_nothing_refers_to_is_gone():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        versions = Versions(server)
        version = versions.new("v")
        for key in ("f", "g"):
            versions.add(version, key)
        must(versions.put(version, "f", b"first"))
        must(versions.put(version, "g", b"first"))
        must(versions.put(version, "f", b"second"))
        must(versions.put(version, "f", b"third"))
        part = must(versions.put(version, "g", b"a part", 2)).headers["etag"]
        assert len(stored_files(server)) in (4, 5), "the second object of the same bytes may be gone already"
        old = versions.url(version, "f", "GET"), versions.url(version, "f", "PUT")
        assert server.stop() == 0
        for hours in (2, 23, 45):  # after a leap of over a day nothing ends for a day
            process = _started_later(folder, hours * 3600, server.port)
            versions.client = server.client()
            refused(used(old[0], "GET"), 403, 7, "expired")
            refused(used(old[1], "PUT", b"late"), 403, 7, "expired")
            versions.must("GET", f"{REGISTRY}/model_versions/{version}")
            if hours < 45:
                assert process.stop() == 0
        herald.until(lambda: len(stored_files(server)) == 3, 60, "what nothing refers to is erased, and the part in another day")
        assert versions.get(version, "f").body == b"third" and versions.get(version, "g").body == b"first"
        refused(versions.client.call("POST", f"{REGISTRY}/model_versions/{version}/commitArtifactPart",
                                     {"key": "g", "artifact_part": {"part_number": "2", "etag": part}}), 400, 9, "part 2")
        assert process.stop() == 0


def a_full_disk_refuses_uploads_and_leaves_what_was_there():
    with herald.folder() as folder, SmallDisk(folder, 20) as disk:
        server = herald.Standalone(folder, "--artifacts", disk.folder / "artifacts")
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        data = os.urandom(8_000_000)
        must(versions.put(version, "f", data))
        answer = raw_put(server, versions.url(version, "f", "PUT"), "Content-Length: 30000000\r\n", b"x" * 30_000_000, hang_up=False)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"the store of artifacts is full" in answer, answer[:300]
        assert len(files_of_bytes(disk.folder)) == 1
        assert versions.get(version, "f").body == data
        must(versions.put(version, "f", b"small"))
        assert versions.get(version, "f").body == b"small"
        assert server.stop() == 0


def an_upload_ends_before_it_stops_all_other_writes():
    with herald.folder() as folder, SmallDisk(folder, 300) as disk:
        (disk.folder / "data").mkdir()
        server = herald.Standalone(disk.folder / "data")
        versions = Versions(server)
        version = versions.new("v")
        versions.add(version, "f")
        must(versions.put(version, "f", b"small"))
        size = 250_000_000
        answer = raw_put(server, versions.url(version, "f", "PUT"), f"Content-Length: {size}\r\n", b"x" * size, hang_up=False)
        assert answer.startswith(b"HTTP/1.1 503 ") and b"the store of artifacts is full" in answer, answer[:300]
        assert len(stored_files(server)) == 1, "nothing is left of it"
        versions.new("another")
        must(versions.put(version, "f", b"other"))
        assert versions.get(version, "f").body == b"other"
        assert server.stop() == 0


def a_folder_that_cannot_be_used_and_an_address_are_refused_at_start():
    with herald.folder() as folder:
        (folder / "file").write_text("")
        for value, code, word in ((folder / "file", 1, "the store of artifacts cannot be used"), ("ftp://host/folder", 2, "a folder")):
            done = subprocess.run([herald.BINARY, "standalone", "--data", folder / "data", "--listen", "127.0.0.1:0", "--artifacts", str(value)],
                                  capture_output=True, text=True, timeout=30)
            assert done.returncode == code and word in done.stderr, (value, done.returncode, done.stderr)


def large_artifacts_pass_in_little_memory():
    with serving("f") as (_, versions, version):
        passes_in_little_memory(versions, version, "f")


if __name__ == "__main__":
    herald.run()
