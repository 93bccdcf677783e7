"""Property: the chart renders only what Kubernetes takes, gives no process a right, and refuses values that cannot work with a
sentence."""

import re
import subprocess

import yaml

import herald
import kubernetes

CHART = herald.ROOT / "deploy/chart"
TEMPLATES_MAX = 18
GOOD = {
    "image": {"repository": "example/herald"},
    "kafka": {"brokers": "kafka-1:9092,kafka-2:9092"},
    "keyRing": {"existingSecret": "herald-key-ring"},
    "admin": {"existingSecret": "herald-admin"},
    "artifacts": {"bucket": "s3://bucket/prefix", "credentialsSecret": "herald-s3"},
    "autoscaling": {"enabled": True, "prometheusAddress": "http://prometheus:9090"},
    "networkPolicy": {"enabled": True, "metricsFrom": [{"namespaceSelector": {}}]},
    "monitoring": {"podMonitor": {"enabled": True}, "rules": {"enabled": True}},
}
OTHERS = ("ScaledObject", "PodMonitor", "PrometheusRule")  # kinds that Kubernetes itself does not have


def _changed(path, value):
    """GOOD with one value other."""
    *parents, last = path.split(".")
    values = yaml.safe_load(yaml.safe_dump(GOOD))
    place = values
    for name in parents:
        place = place.setdefault(name, {})
    place[last] = value
    return values


def _rendered(folder, values, *words):
    (folder / "values.yaml").write_text(yaml.safe_dump(values))
    return subprocess.run([kubernetes.helm(), *(words or ("template", "well")), CHART, "-f", folder / "values.yaml"], capture_output=True,
                          text=True)


def _objects(folder, values):
    done = _rendered(folder, values)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def _containers(objects):
    for one in objects:
        if one["kind"] in ("Job", "Deployment", "StatefulSet"):
            yield one["spec"]["template"]["spec"]


def the_chart_has_the_version_of_the_program():
    version = re.search(r"^project\(herald VERSION (\S+) ", (herald.ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == version
    assert len(list((CHART / "templates").iterdir())) <= TEMPLATES_MAX


def the_chart_renders_only_what_kubernetes_takes():
    validate = kubernetes.validate()
    with herald.folder() as folder:
        linted = _rendered(folder, GOOD, "lint", "--strict")
        assert linted.returncode == 0, linted.stdout
        objects = _objects(folder, GOOD)
        plain = [one for one in objects if one["kind"] not in OTHERS]
        assert len(plain) >= 9 and {one["kind"] for one in objects} >= set(OTHERS)

        def complaint(of):
            (folder / "plain.yaml").write_text(yaml.safe_dump_all(of))
            done = subprocess.run([*validate, folder / "plain.yaml"], capture_output=True, text=True)
            return None if done.returncode == 0 else done.stdout + done.stderr
        assert not complaint(plain), complaint(plain)
        for index, one in enumerate(plain):
            if "spec" in one:
                assert complaint([{**one, "spec": {**one["spec"], "misspelt": 1}}]), f"a mistake in {one['kind']} is not seen"
        rules = next(one for one in objects if one["kind"] == "PrometheusRule")["spec"]
        assert rules == yaml.safe_load((herald.ROOT / "deploy/monitoring/rules.yaml").read_text())


def no_process_has_rights_and_each_gets_the_time_that_it_needs():
    with herald.folder() as folder:
        pods = list(_containers(_objects(folder, GOOD)))
        assert len(pods) == 3
        for pod in pods:
            assert pod["automountServiceAccountToken"] is False and pod["enableServiceLinks"] is False
            assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
            for container in pod["containers"]:
                assert container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                        "capabilities": {"drop": ["ALL"]}}
                assert "cpu" not in container["resources"]["limits"], "a worker with a limit of CPU waits for itself"
        api = next(pod for pod in pods if "lifecycle" in pod["containers"][0])
        before = api["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
        ending = int(re.search(r"ending_ms_max = ([\d']+)", (herald.ROOT / "program/options/limits.hpp").read_text())[1].replace("'", ""))
        assert api["terminationGracePeriodSeconds"] * 1000 > before * 1000 + ending
        scaled = next(one for one in _objects(folder, GOOD) if one["kind"] == "ScaledObject")["spec"]
        assert scaled["minReplicaCount"] >= 2 and scaled["maxReplicaCount"] <= 12


def every_option_of_the_chart_is_one_of_the_program():
    with herald.folder() as folder:
        for pod in _containers(_objects(folder, _changed("kafka.configSecret", "sasl"))):
            verb, *words = pod["containers"][0]["args"]
            said = subprocess.run([herald.BINARY, verb, "--help"], capture_output=True, text=True, check=True).stdout
            for word in words:
                assert re.search(rf"{word.partition('=')[0]}\b", said), f"herald {verb} has no {word}"


def hold_upgrades_the_workers_alone():
    with herald.folder() as folder:
        for hold, partition in ((False, 0), (True, 2)):
            api = next(one for one in _objects(folder, _changed("upgrade.hold", hold)) if one["kind"] == "StatefulSet")
            assert api["spec"]["updateStrategy"]["rollingUpdate"]["partition"] == partition


def the_chart_refuses_values_that_cannot_work():
    refused = [
        ("image.repository", "", "image.repository is missing"),
        ("kafka.brokers", "", "kafka.brokers is missing"),
        ("kafka.brokers", "kafka-1", "brokers"),
        ("keyRing.existingSecret", "", "keep a copy of it"),
        ("admin.existingSecret", "", "admin.existingSecret is missing"),
        ("artifacts.existingClaim", "claim", "are both set"),
        ("artifacts.bucket", "", "share the bytes of artifacts"),
        ("artifacts.credentialsSecret", "", "AWS_SECRET_ACCESS_KEY"),
        ("worker.replicas", 0, "worker/replicas|worker.replicas"),
        ("worker.replicas", 1, "with autoscaling it must be 2 or more"),
        ("autoscaling.maxReplicas", 13, "maxReplicas"),
        ("autoscaling.prometheusAddress", "", "herald_backlog_deliveries"),
        ("worker.resources.limits", {"cpu": "1"}, "limits"),
        ("webhooks.allowAddresses", ["10.0.0.1"], "allowAddresses"),
        ("api.replica", 3, "replica"),
    ]
    with herald.folder() as folder:
        for path, value, sentence in refused:
            done = _rendered(folder, _changed(path, value))
            assert done.returncode != 0, f"{path} {value!r} was taken"
            assert re.search(sentence, done.stderr), f"{path} {value!r}: {done.stderr}"


if __name__ == "__main__":
    herald.run()
