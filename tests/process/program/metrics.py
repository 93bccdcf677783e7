"""Property: what an operator's alerts are made of shows its cause: each metric changes when what it tells of happens."""

import http.client
import json
import os
import ssl
import subprocess
import threading
import time

import herald


@herald.preloads
@herald.alone
def appends_that_are_slow_and_deliveries_that_wait_are_seen():
    with herald.folder() as folder:
        slow, release = folder / "slow", threading.Event()
        server = herald.Standalone(folder, environment={"LD_PRELOAD": os.environ["PRELOADED_SLOW_SYNC"],
                                                        "SLOW_SYNC_TRIGGER": str(slow)})
        client = server.client()

        def metric(name):
            return herald.metric(server.port, name) or 0

        def slow_appends():
            return metric("herald_append_seconds_count") - metric('herald_append_seconds_bucket{le="1"}')
        hanging, failing = herald.Receiver(lambda _: 200 if release.wait(14) else 500), herald.Receiver(lambda _: 500)
        client.webhook("hanging", hanging.url)
        approver, model = client.second_admin(), client.model("m")
        for number in range(3):
            client.promote(approver, client.version(model, f"v{number}"))
        herald.until(lambda: metric('herald_waiting{stage="attempt"}') >= 1 and metric('herald_waiting{stage="lane"}') >= 2, 10,
                     "one attempt is under way, two deliveries wait in the lane")
        assert metric('herald_waiting{stage="write"}') == 0
        assert slow_appends() == 0, "the disk is not that slow"
        assert metric("herald_outbox_rows") == 0 and metric("herald_log_bytes") > 1000
        client.webhook("failing", failing.url)
        transition = client.approved_transition(approver, client.version(model, "slow"))
        slow.touch()
        client.stage("commit", {"transition_id": transition})
        herald.until(lambda: metric('herald_waiting{stage="write"}') >= 1, 20, "the delivery that failed is on its way to a retry topic")
        assert slow_appends() >= 1 and metric("herald_append_seconds_sum") > 1.4
        slow.unlink()
        herald.until(lambda: metric('herald_waiting{stage="write"}') == 0, 20, "nothing is on its way any more")
        release.set()
        herald.until(lambda: metric('herald_waiting{stage="lane"}') == 0, 20, "the lane is empty")
        assert server.stop() == 0
        hanging.stop()
        failing.stop()


def a_disk_without_room_and_a_certificate_that_ends_are_seen():
    with herald.folder() as folder:
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "10",
                        "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
        trusting = ssl.create_default_context(cafile=certificate)
        trusting.check_hostname = False
        port = herald.free_port()

        def call(method, path, body=None):
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=5, context=trusting)
            try:
                connection.request(method, path, body, {"Grpc-Metadata-email": herald.ADMIN_EMAIL,
                                                        "Grpc-Metadata-developer_key": herald.ADMIN_KEY})
                answer = connection.getresponse()
                return herald.Answer(answer.status, answer.headers, answer.read())
            except OSError:
                return herald.Answer(0, {}, b"")
            finally:
                connection.close()

        def metrics():
            lines = [line.rpartition(" ") for line in call("GET", "/metrics").body.decode().splitlines() if line[0] != "#"]
            return {name: float(value) for name, _, value in lines}
        terabyte = 1024 * 1024
        for free_mb, is_refused in ((64, 0), (1000 * terabyte, 1)):
            process = herald.Process("https", ["standalone", "--data", folder, "--listen", f"127.0.0.1:{port}", "--free-disk-mb", free_mb,
                                               "--tls-cert", certificate, "--tls-key", key], folder,
                                     {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, "HERALD_ADMIN_KEY": herald.ADMIN_KEY})
            herald.until(lambda: call("GET", "/readyz").status == 200, 30, "the node is ready")
            seen = metrics()
            assert abs(seen["herald_certificate_expiry_seconds"] - 10 * 24 * 3600) < 120, seen["herald_certificate_expiry_seconds"]
            disk = os.statvfs(folder)
            assert abs(seen["herald_disk_free_bytes"] - disk.f_bavail * disk.f_frsize) < 2 ** 30, seen["herald_disk_free_bytes"]
            assert seen["herald_writes_refused"] == is_refused
            assert sum(value for name, value in seen.items() if name.startswith("herald_not_ready{")) == 0, "deletes must arrive"
            made = call("POST", "/api/v1/registry/workspaces/default/registered_models", json.dumps({"name": f"m{free_mb}"}))
            assert made.status == (503 if is_refused else 200), made
            time.sleep(1.1)  # the certificate's end is told in seconds
            assert metrics()["herald_certificate_expiry_seconds"] < seen["herald_certificate_expiry_seconds"]
            assert process.stop() == 0, process.tail()


if __name__ == "__main__":
    herald.run()
