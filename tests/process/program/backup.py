"""Property: what was backed up is there again after a restore: the same content by its digest, users with their keys, and
every delivery that was not done, under its webhook-id. A backup that is not whole, or of another key ring, is refused."""

import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time

import herald


def run(*arguments, code=0):
    done = subprocess.run([herald.BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, f"{arguments}: {done.returncode}, not {code}: {done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def told(output, name):
    return next(line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(name + " "))


def content_of(folder):
    return run("state-hash", "--content", "--data", folder).strip()


def filled(folder, receiver=None):
    """An installation that was stopped, with a receiver that fails, if one is given."""
    server = herald.Standalone(folder)
    client = server.client()
    if receiver:
        client.webhook("hook", receiver.url)
    approver = client.second_admin()
    model = client.model("m")
    for number in range(3):
        client.promote(approver, client.version(model, f"v{number}"))
    if receiver:
        receiver.wait_for(3)
        time.sleep(0.5)  # the failed attempts become records
    return server, model


def with_key_ring_of(folder, other):
    (other / "herald").mkdir(parents=True)
    shutil.copy(folder / "herald/key-ring", other / "herald/key-ring")
    return other


def backed_up(folder, receiver=None):
    server, model = filled(folder, receiver)
    assert server.stop() == 0
    return run("backup", "create", folder / "one.backup", "--data", folder), model


def after_a_restore_the_content_is_the_same_and_deliveries_go_on_under_their_ids():
    with herald.folder() as folder:
        is_well = []
        receiver = herald.Receiver(lambda delivery: 200 if is_well else 500)
        made, model = backed_up(folder, receiver)
        failed = {one.id for one in receiver.deliveries}
        assert len(failed) == 3 and int(told(made, "deliveries")) >= 3, (failed, made)
        before = content_of(folder)
        assert told(made, "content") == before
        assert run("backup", "verify", folder / "one.backup") == made
        other = with_key_ring_of(folder, folder / "other")
        restored = run("restore", folder / "one.backup", "--data", other)
        assert told(restored, "generation") == "2" and told(restored, "content") == before, restored
        assert content_of(other) == before
        is_well.append(True)
        receiver.deliveries.clear()
        server = herald.Standalone(other)
        client = server.client()
        versions = client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find",
                               {"pagination": {"page_number": 1, "page_limit": 10}})
        assert versions["total_records"] == "3", versions
        herald.until(lambda: {one.id for one in receiver.deliveries} == failed, 60, "every delivery came, under its id")
        client.version(model, "after")
        assert server.stop() == 0
        receiver.stop()


def deliveries_that_were_done_before_a_restore_are_not_pending_after_it():
    with herald.folder() as folder:
        receiver = herald.Receiver()
        backed_up(folder, receiver)
        other = with_key_ring_of(folder, folder / "other")
        run("restore", folder / "one.backup", "--data", other)
        server = herald.Standalone(other)
        for version in (1, 2, 3):
            told = server.client().must("GET", f"/api/v1/registry/model_versions/{version}/promotion")["deliveries"]
            assert {name: int(count) for name, count in told.items()} == {"pending": 0, "succeeded": 0, "dead": 0, "unknown": 1}, told
        server.stop()
        receiver.stop()


def restored_events_go_on_to_new_and_old_webhooks():
    with herald.folder() as folder:
        backed_up(folder)
        other = with_key_ring_of(folder, folder / "other")
        run("restore", folder / "one.backup", "--data", other)
        receiver = herald.Receiver()
        server = herald.Standalone(other)
        client = server.client()
        client.webhook("new", receiver.url)
        approver = client.second_admin("third@example.com")
        client.promote(approver, client.version(client.model("n"), "v"))
        receiver.wait_for(1)
        server.stop()
        # The state is made again from the log alone.
        shutil.rmtree(other / "herald/state")
        server.start()
        assert server.client().model("o")
        server.stop()
        receiver.stop()


def a_paused_restore_delivers_nothing_until_it_is_resumed():
    with herald.folder() as folder:
        is_well = []
        receiver = herald.Receiver(lambda delivery: 200 if is_well else 500)
        backed_up(folder, receiver)
        failed = {one.id for one in receiver.deliveries}
        other = with_key_ring_of(folder, folder / "other")
        run("restore", folder / "one.backup", "--paused", "--data", other)
        is_well.append(True)
        receiver.deliveries.clear()
        server = herald.Standalone(other)
        time.sleep(8)  # longer than the shortest wait of a retry
        assert not receiver.deliveries, receiver.deliveries
        server.stop()
        run("resume", "--data", other)
        server.start()
        herald.until(lambda: {one.id for one in receiver.deliveries} == failed, 60, "every delivery came, under its id")
        server.stop()
        receiver.stop()


def a_backup_that_was_changed_or_cut_is_refused_and_nothing_is_left():
    with herald.folder() as folder:
        backed_up(folder)
        whole = (folder / "one.backup").read_bytes()
        other = with_key_ring_of(folder, folder / "other")
        for place in range(0, len(whole), max(1, len(whole) // 40)):
            bad = folder / "bad.backup"
            bad.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
            run("backup", "verify", bad, code=3)
        for size in (0, 5, 16, 100, len(whole) // 2, len(whole) - 1):
            (folder / "bad.backup").write_bytes(whole[:size])
            run("backup", "verify", folder / "bad.backup", code=3)
        (folder / "bad.backup").write_bytes(whole + b"x")
        run("backup", "verify", folder / "bad.backup", code=3)
        run("restore", folder / "bad.backup", "--data", other, code=3)
        assert sorted(path.name for path in (other / "herald").iterdir()) == ["key-ring"]


def a_restore_with_another_key_ring_or_into_an_installation_is_refused():
    with herald.folder() as folder:
        backed_up(folder)
        assert "already" in run("restore", folder / "one.backup", "--data", folder, code=3)
        (folder / "stranger").mkdir()
        herald.Standalone(folder / "stranger").stop()
        other = with_key_ring_of(folder / "stranger", folder / "other")
        assert "key ring" in run("restore", folder / "one.backup", "--data", other, code=3)
        assert "one.backup" in run("backup", "create", folder / "one.backup", "--data", folder, code=1)


@herald.computes
def what_is_killed_leaves_no_half_backup_and_no_half_installation():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("m")
        for number in range(2_000):
            client.version(model, f"v{number}")
        server.stop()
        whole = folder / "one.backup"
        before = told(run("backup", "create", whole, "--data", folder), "content")
        for number in range(6):
            killed = folder / f"killed-{number}.backup"
            process = herald.Process(f"create-{number}", ["backup", "create", killed, "--data", folder], folder)
            time.sleep(0.03 * number)
            process.kill(signal.SIGKILL)
            assert not killed.exists() or told(run("backup", "verify", killed), "content") == before
        other = with_key_ring_of(folder, folder / "other")
        for number in range(6):
            process = herald.Process(f"restore-{number}", ["restore", whole, "--data", other], folder)
            time.sleep(0.05 * number)
            process.kill(signal.SIGKILL)
            if (other / "herald/log").exists():
                break
            refused = subprocess.run([herald.BINARY, "standalone", "--data", other, "--listen", "127.0.0.1:0"],
                                     capture_output=True, text=True, timeout=30) if (other / "herald/restoring").exists() else None
            assert refused is None or refused.returncode == 3, refused
        else:
            run("restore", whole, "--data", other)
        assert content_of(other) == before


@herald.computes
def a_state_that_was_lost_begins_with_the_snapshot():
    with herald.folder() as folder:
        server = herald.Standalone(folder, "--log-requests", "false")
        model = server.client().model("m")

        def fill(number):
            client = server.client()
            for each in range(1_300):
                client.version(model, f"v{number}-{each}")

        threads = [threading.Thread(target=fill, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.stop()
        server.start()  # what is due is taken at once
        herald.until(lambda: "snapshot_taken" in server.process.log_file.read_text(), 30, "a snapshot is taken")
        server.client().version(model, "behind it")
        server.stop()
        shutil.rmtree(folder / "herald/state")
        server.start()
        assert "snapshot_loaded" in server.process.log_file.read_text(), server.process.tail()
        found = server.client().must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find",
                                     {"pagination": {"page_number": 1, "page_limit": 1}})
        assert found["total_records"] == "10401", found
        now = herald.readiness(server.port)
        server.stop()
        assert run("state-hash", "--data", folder, "--at", now["next_offset"]).strip() == now["hash"]


BACKUPS, SNAPSHOTS = "/api/v1/uac-proxy/backups", "/api/v1/uac-proxy/snapshots"


def made_over_http(client, seconds=60):
    begun = client.must("POST", BACKUPS, {})["backup"]
    assert begun["state"] == "RUNNING", begun

    def ended():
        row = next(row for row in client.must("GET", BACKUPS)["backups"] if row["name"] == begun["name"])
        return row if row["state"] != "RUNNING" else None
    return herald.until(ended, seconds, "the backup has ended")


def a_running_process_makes_backups_and_lists_them_also_after_a_restart():
    with herald.folder() as folder:
        receiver = herald.Receiver(lambda delivery: 500)
        server, model = filled(folder, receiver)
        client = server.client()
        assert client.must("GET", BACKUPS) == {"backups": [], "total_records": "0", "next_page_token": ""}
        plain, _ = client.user("plain@example.com")
        for method, path, body in (("POST", BACKUPS, {}), ("GET", BACKUPS, None), ("POST", SNAPSHOTS, {}), ("GET", SNAPSHOTS, None)):
            refused = plain.call(method, path, body)
            assert refused.status == 403 and refused.json["code"] == 7, refused
            assert herald.Client(server.port, key="wrong").call(method, path, body).status == 401
        stop, failures = threading.Event(), []

        def write():
            writer = server.client()
            for number in herald.numbers():
                if stop.is_set():
                    return
                answer = writer.call("POST", f"/api/v1/registry/registered_models/{model}/model_versions", {"version": f"w{number}"})
                if answer.status != 200:
                    failures.append(answer)

        writer = threading.Thread(target=write)
        writer.start()
        row = made_over_http(client)
        stop.set()
        writer.join()
        assert not failures, failures
        assert row["state"] == "DONE" and int(row["bytes"]) > 0 and len(row["digest"]) == 64, row
        assert int(row["carried_deliveries"]) >= 3 and row["artifacts_lost"] == "0", row
        assert os.stat(row["path"]).st_mode & 0o077 == 0
        said = run("backup", "verify", row["path"])
        assert told(said, "content") == row["content_digest"] and told(said, "offset") == row["offset"], (said, row)
        assert server.stop() == 0
        assert run("state-hash", "--content", "--data", folder, "--at", row["offset"]).strip() == row["content_digest"]
        server.start()
        assert server.client().must("GET", BACKUPS)["backups"] == [row]
        server.stop()
        receiver.stop()
        # What it made is worth something: the machine is lost, but for that file, the key ring and the artifacts.
        other = with_key_ring_of(folder, folder / "other")
        shutil.copy(row["path"], folder / "kept.backup")
        shutil.rmtree(folder / "herald")
        restored = run("restore", folder / "kept.backup", "--data", other)
        assert told(restored, "content") == row["content_digest"] == content_of(other), restored


def a_backup_names_the_artifacts_whose_bytes_are_lost_and_so_does_its_restore():
    with herald.folder() as folder:
        server, model = filled(folder)
        client = server.client()
        version = client.must("POST", f"/api/v1/registry/registered_models/{model}/model_versions", {
            "version": "a", "artifacts": [{"key": key, "path": key, "artifact_type": 4} for key in ("kept", "lost")]})["model_version"]["id"]
        for key in ("kept", "lost"):
            url = client.must("POST", f"/api/v1/registry/model_versions/{version}/getUrlForArtifact",
                              {"model_version_id": version, "key": key, "method": "PUT", "artifact_type": 4, "part_number": "0"})["url"]
            put = client.call("PUT", url[url.index("/", 8):], raw=key.encode() * 1_000)
            assert put.status == 200, put
        row = made_over_http(client)
        assert (row["artifacts_compared"], row["artifacts_lost"], row["lost_artifacts"]) == ("2", "0", []), row
        digest = hashlib.sha256(b"lost" * 1_000).hexdigest()
        for lost in (folder / "herald/artifacts").rglob(f"{digest}-*"):
            lost.unlink()
        time.sleep(0.01)  # another name
        row = made_over_http(client)
        assert (row["state"], row["artifacts_lost"], row["lost_artifacts"]) == ("DONE", "1", [digest]), row
        server.stop()
        other = with_key_ring_of(folder, folder / "other")
        done = subprocess.run([herald.BINARY, "restore", row["path"], "--data", other, "--artifacts", folder / "herald/artifacts"],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and digest in done.stderr and "1 of 2" in done.stderr, done


def a_snapshot_that_was_asked_for_is_taken_while_serving_and_begins_a_lost_state():
    with herald.folder() as folder:
        server, model = filled(folder)
        client = server.client()
        client.must("POST", SNAPSHOTS, {})
        taken = herald.until(lambda: client.must("GET", SNAPSHOTS)["snapshots"], 30, "it is listed")
        assert int(taken[0]["offset"]) > 0 and int(taken[0]["bytes"]) > 0 and len(taken[0]["digest"]) == 64, taken
        client.version(model, "behind it")
        server.stop()
        shutil.rmtree(folder / "herald/state")
        server.start()
        assert "snapshot_loaded" in server.process.log_file.read_text(), server.process.tail()
        found = server.client().must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find", {})
        assert found["total_records"] == "4", found
        server.stop()


class Moved(herald.Cluster):
    """On Kafka, begun with a backup of a standalone in the folder above."""
    retries_dead = False

    def init(self):
        shutil.copy(self.folder.parent / "herald/key-ring", self.folder / "key-ring")
        self.from_backup = ["init", *self.common, "--replication", 1, "--from", self.folder.parent / "one.backup",
                            *(["--retry-dead"] if self.retries_dead else [])]
        self.said = run(*self.from_backup)


class Reviving(Moved):
    retries_dead = True


def stored(broker, cluster, topic):
    """The folders of a topic's partitions."""
    return list((broker.folder / "node-1/data").glob(f"{cluster.prefix}{topic}-*"))


@herald.kafka
def a_standalone_moves_to_kafka_with_its_deliveries():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        is_well = []
        dead = []

        def answer(delivery):
            if is_well:
                return 200
            dead.extend([] if dead else [delivery.id])
            return (500, {"webhook-delivery": "abort-message"}) if delivery.id in dead else 500
        receiver = herald.Receiver(answer)
        made, model = backed_up(folder, receiver)
        sent = {one.id for one in receiver.deliveries}
        assert len(sent) == 3 and int(told(made, "deliveries")) >= 3, (sent, made)
        assert (folder / "standalone.log").read_text().count("delivery_dead") == 1
        is_well.append(True)
        receiver.deliveries.clear()
        moved = folder / "moved"
        moved.mkdir()
        cluster = Moved(moved, broker, api_nodes=2, workers=1)
        assert told(cluster.said, "content") == told(made, "content"), cluster.said
        versions = cluster.client().must("POST", f"/api/v1/registry/registered_models/{model}/model_versions/find",
                                         {"pagination": {"page_number": 1, "page_limit": 10}})
        assert versions["total_records"] == "3", versions
        herald.until(lambda: {one.id for one in receiver.deliveries} == sent - set(dead), 90, "every retry came, under its id")
        kept = [log for each in stored(broker, cluster, "dead") for log in each.glob("*.log") if log.stat().st_size]
        assert len(kept) == 1, kept  # as dead, with its reason
        # Nothing is restored over what lives, and so nothing is delivered again.
        assert "already" in run(*cluster.from_backup, code=3)
        approver = cluster.client().second_admin("third@example.com")
        cluster.client().promote(approver, cluster.client().version(model, "promoted there"))
        herald.until(lambda: {one.id for one in receiver.deliveries} - sent, 30, "what is promoted there comes, too")
        time.sleep(3)
        assert len(receiver.deliveries) == len({one.id for one in receiver.deliveries}), receiver.deliveries
        cluster.agree()
        cluster.stop()
        # The same move once more, to topics of another prefix, for those that shall have what was dead, too.
        receiver.deliveries.clear()
        again = folder / "again"
        again.mkdir()
        reviving = Reviving(again, broker, api_nodes=1, workers=1)
        herald.until(lambda: {one.id for one in receiver.deliveries} == sent, 90, "every one came, under its id")
        assert {one.event for one in receiver.deliveries if one.id in dead} and len(dead) == 1
        reviving.stop()
        broker.stop()
        receiver.stop()


def what_was_lost_with_a_topic_is_published_again_and_only_while_no_node_publishes():
    with herald.folder() as folder:
        broker = herald.Broker(folder)
        receiver = herald.Receiver()
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=1)
        client = cluster.client()
        client.webhook("hook", receiver.url)
        approver = client.second_admin()
        model = client.model("m")
        for number in range(5):
            client.promote(approver, client.version(model, f"v{number}"))
        receiver.wait_for(5)
        sent = {one.id for one in receiver.deliveries}
        time.sleep(3)  # the publisher's heartbeat says that they are published
        assert "API nodes are running" in run("republish", *cluster.common, code=3)
        cluster.agree()
        cluster.stop()
        assert run("republish", *cluster.common) == "published 0 events again\n"
        broker.kill()
        lost = stored(broker, cluster, "events.promote")
        assert lost
        for each in lost:
            shutil.rmtree(each)
        broker.start()
        run("init", *cluster.common, "--replication", 1, "--admin-email", herald.ADMIN_EMAIL)
        run("groups", "--reset", *cluster.common)
        assert run("republish", *cluster.common) == "published 5 events again\n"
        assert run("republish", *cluster.common) == "published 0 events again\n"
        receiver.deliveries.clear()
        cluster.start_worker(0)
        for index in range(2):
            cluster.start_node(index)
        herald.until(lambda: {one.id for one in receiver.deliveries} == sent, 60, "every event came again, under its id")
        cluster.client().promote(approver_of(cluster, approver), cluster.client().version(model, "later"))
        herald.until(lambda: {one.id for one in receiver.deliveries} - sent, 30, "what comes later, too")
        cluster.stop()
        broker.stop()
        receiver.stop()


def approver_of(cluster, approver):
    return herald.Client(cluster.ports[0], approver.headers["Grpc-Metadata-email"], approver.headers["Grpc-Metadata-developer_key"])


@herald.kafka
def a_new_node_of_a_cluster_begins_with_the_snapshot_of_another():
    with herald.folder() as folder:
        broker = herald.Broker.shared(folder)
        cluster = herald.Cluster(folder, broker, api_nodes=2, workers=0)
        client = cluster.client(0)
        model = client.model("m")
        for number in range(20):
            client.version(model, f"v{number}")
        client.must("POST", SNAPSHOTS, {})
        herald.until(lambda: client.must("GET", SNAPSHOTS)["snapshots"], 30, "it is taken")
        assert cluster.client(1).must("GET", SNAPSHOTS)["snapshots"], "the other node sees it, too"
        assert cluster.nodes[1].stop() == 0
        shutil.rmtree(folder / "api-1/herald/state")
        cluster.start_node(1)
        assert "snapshot_loaded" in cluster.nodes[1].log_file.read_text(), cluster.nodes[1].tail()
        cluster.agree()
        cluster.stop()
        broker.stop()


if __name__ == "__main__":
    herald.run()
