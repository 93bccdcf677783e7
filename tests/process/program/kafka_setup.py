"""Property: what an operator meets at the first start on Kafka says what is wrong and what mends it, and a mistake there
never costs a record later: no topic comes from a broker's defaults, no group loses its place in silence."""

import base64
import contextlib
import socket
import struct
import subprocess
import threading

import herald


@contextlib.contextmanager
def kafka(*options):
    """With options a broker of the test's own; without the one that is shared."""
    with herald.folder() as folder:
        broker = herald.Broker(folder, 1, *options) if options else herald.Broker.shared(folder)
        try:
            yield folder, broker
        finally:
            broker.stop()


def run(*arguments, seconds=60):
    """Exit code and everything that was said."""
    done = subprocess.run([herald.BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout + done.stderr


def ring(file, line=f"first {base64.b64encode(b'k' * 32).decode()}"):
    file.touch(0o600)
    file.write_text(line + "\n")


def common(folder, broker):
    return ["--kafka", broker.address, "--key-ring", folder / "key-ring"]


def init(folder, broker, *options):
    return run("init", *common(folder, broker), "--admin-email", herald.ADMIN_EMAIL, *options)


def must_say(said, *words):
    for word in words:
        assert word in said, f"{word!r} is not in:\n{said}"


def must_wait(process, *words):
    """It says so, with these words, and ends in peace when it is told to."""
    herald.until(lambda: "start_waits" in process.tail(50), 20, f"{process.name} says that it waits: {process.tail(50)}")
    must_say(process.log_file.read_text(), *words)
    assert process.stop() == 0, process.tail()


def a_node_that_starts_before_init_makes_no_topic_and_init_twice_is_fine():
    with kafka("--set", "auto.create.topics.enable=true", "--set", "offsets.retention.minutes=10080") as (folder, broker):
        ring(folder / "key-ring")
        for verb in (["api", "--artifacts", folder / "artifacts", "--data", folder / "api", "--listen", "127.0.0.1:0"], ["worker"]):
            must_wait(herald.Process(verb[0], [*verb, *common(folder, broker)], folder),
                      "herald init", "herald.", "kafka_waiting", broker.address)
        code, said = init(folder, broker)
        assert code == 1, "three copies on one broker"
        must_say(said, "3 copies", "1 answer", "--replication 1")
        code, said = init(folder, broker, "--replication", "1")
        assert code == 0, said
        must_say(said, "key ", "kafka_topics_created", "registry.commands", "kafka_offsets_kept_too_short")
        code, said = init(folder, broker, "--replication", "1")
        assert code == 0, said
        must_say(said, "exists already")
        assert "\nkey " not in said and "kafka_topics_created" not in said, said
        (folder / "key-ring").rename(folder / "kept")
        code, said = init(folder, broker, "--replication", "1")
        assert code == 3 and not (folder / "key-ring").exists(), (code, said)
        must_say(said, "key-ring is missing", "restore the file")
        (folder / "kept").rename(folder / "key-ring")

        worker = herald.Process("worker", ["worker", *common(folder, broker)], folder)
        herald.until(lambda: "kafka_offsets_kept_too_short" in worker.tail(50), 20, "the worker warns of short retention")
        must_say(worker.tail(50), "kafka_single_copy")
        assert worker.stop() == 0


def a_topic_made_by_others_is_refused_until_the_printed_command_mended_it():
    with kafka("--set", "auto.create.topics.enable=true") as (folder, broker):
        broker.tool("kafka.tools.ConsoleProducer", "--topic", "foreign.registry.commands", given="not Herald's\n")
        here = ["--topic-prefix", "foreign.", "--replication", "1"]
        code, said = init(folder, broker, *here)
        assert code == 3, (code, said)
        must_say(said, "foreign.registry.commands", "retention.ms is 604800000", "message.timestamp.type is CreateTime")
        mend = next(line.split() for line in said.splitlines() if line.strip().startswith("kafka-configs.sh "))
        assert mend[1:3] == ["--bootstrap-server", broker.address], mend
        broker.tool("kafka.admin.ConfigCommand", *mend[3:])
        code, said = init(folder, broker, *here)
        assert code == 3, (code, said)
        must_say(said, "does not begin with GENESIS")


@herald.kafka
def what_does_not_belong_together_is_refused_by_name():
    with kafka() as (folder, broker):
        here = ["--topic-prefix", herald.topic_prefix()]
        assert init(folder, broker, "--replication", "1", *here)[0] == 0
        ring(folder / "other", f"k {base64.b64encode(b'o' * 32).decode()}")
        ring(folder / "rubbish", "rubbish")
        for file, code_wanted, words in (("other", 3, ["--key-ring"]), ("rubbish", 3, ["rubbish", "base64"]),
                                         ("missing", 1, ["missing"])):
            code, said = run("api", "--kafka", broker.address, "--key-ring", folder / file, "--data", folder / "api",
                             "--artifacts", folder / "artifacts", *here)
            assert code == code_wanted, (file, code, said)
            must_say(said, *words)
        for option in ("--paused", "--retry-dead"):
            code, said = init(folder, broker, option, *here)
            assert code == 2, said
            must_say(said, "--from BACKUP is missing")
        must_wait(herald.Process("worker", ["worker", *common(folder, broker), "--topic-prefix", "none."], folder),
                  'prefix \\"none.\\"', "herald init")
        code, said = run("groups", *common(folder, broker), "--topic-prefix", "none.")
        assert code == 1, said
        must_say(said, "none.", "--topic-prefix")
        code, said = run("worker", *common(folder, broker), *here, "--kafka-option", "allow.auto.create.topics=true")
        assert code != 0
        must_say(said, "allow.auto.create.topics")


def a_wrong_address_is_named_with_its_cause():
    """Also a broker that hangs up on whoever comes without SASL or TLS."""
    with socket.socket() as strict:
        strict.bind(("127.0.0.1", 0))
        strict.listen(64)

        def hang_up():
            with contextlib.suppress(OSError):
                while True:
                    strict.accept()[0].close()
        threading.Thread(target=hang_up, daemon=True).start()
        closed = f"127.0.0.1:{herald.free_port()}"
        hangs_up = f"127.0.0.1:{strict.getsockname()[1]}"
        with herald.folder() as folder:
            ring(folder / "key-ring")
            processes = [(herald.Process(name, ["api", "--kafka", address, "--key-ring", folder / "key-ring", "--data", folder / name,
                                                "--artifacts", folder / "artifacts",
                                                "--listen", "127.0.0.1:0"], folder), address, words)
                         for name, address, words in (("closed", closed, ["Connection refused"]),
                                                      ("hangs-up", hangs_up, ["security.protocol"]))]
            for process, address, words in processes:
                must_wait(process, address, "does not answer", *words)
                log = process.log_file.read_text()
                must_say(next(line for line in log.splitlines() if "kafka_" in line), "kafka_waiting", address)
        strict.shutdown(socket.SHUT_RDWR)


def forget(broker, group):
    """DeleteGroups, version 0; Kafka's own tool for it is in none of the jars that a broker needs."""
    request = struct.pack(">hhihih", 42, 0, 1, -1, 1, len(group)) + group.encode()
    host, port = broker.address.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        answer = b""
        while len(answer) < 4 or len(answer) < 4 + struct.unpack(">i", answer[:4])[0]:
            answer += connection.recv(4096)
    assert struct.unpack(">h", answer[-2:])[0] == 0, answer


@herald.kafka
@herald.kafka
def who_may_change_webhooks_is_said_by_init_and_by_no_node():
    with kafka() as (folder, broker):
        cluster = herald.Cluster(folder, broker, api_nodes=1, workers=0)
        admin = cluster.client().second_admin()

        def created(name):
            return admin.call("POST", "/api/v1/uac-proxy/events/createWebhook",
                              {"name": name, "location": "https://example.org/", "all_events": True, "workspace_id": 1}).status

        assert created("refused") == 403
        code, said = run("api", *cluster.common, "--webhooks-by", "workspace-admins")
        assert code == 2, said
        for who, wanted in (("workspace-admins", 200), (None, 200), ("system-admins", 403)):
            code, said = run("init", *cluster.common, "--replication", "1", "--admin-email", herald.ADMIN_EMAIL,
                             *(["--webhooks-by", who] if who else []))
            assert code == 0, said
            herald.until(lambda: created(str(who)) == wanted, 10, f"webhooks are made with {who}: {wanted}")
        cluster.stop()


def a_group_whose_offsets_are_lost_goes_on_after_a_reset():
    with kafka() as (folder, broker):
        cluster = herald.Cluster(folder, broker, api_nodes=1, workers=1)
        receiver = herald.Receiver()
        client = cluster.client()
        client.webhook("w", receiver.url, types=("PROMOTE",))
        approver = client.second_admin()
        model = client.model("m")
        client.promote(approver, client.version(model, "v1"))
        receiver.wait_for(1)
        worker = cluster.workers[0]
        code, said = run("groups", "--reset", *cluster.common)
        assert code == 0, said  # nothing is lost: nothing is touched, though the group has a member
        assert worker.stop() == 0
        # As after a week without workers: the brokers have forgotten.
        forget(broker, f"{cluster.prefix}herald-events")
        client.promote(approver, client.version(model, "v2"))
        cluster.start_worker(0)
        assert cluster.workers[0].process.wait(30) == 3, cluster.workers[0].tail()
        must_say(cluster.workers[0].tail(), "events.", "no committed offset", "herald groups --reset")
        code, said = run("groups", *cluster.common)
        assert code == 1, said
        must_say(said, "herald-events events.promote[0]: no offset, the log has 0 to ")
        code, said = run("groups", "--reset", *cluster.common)
        assert code == 0, said
        must_say(said, "herald-events events.promote[0]: no offset, the log has 0 to ", "; resumes at 0")
        assert run("groups", *cluster.common)[0] == 0
        cluster.start_worker(0)
        assert len(receiver.wait_for(2)) == 2
        cluster.stop()
        receiver.stop()


if __name__ == "__main__":
    herald.run()
