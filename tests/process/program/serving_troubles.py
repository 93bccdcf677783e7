"""Property: what cannot be served is the trouble of its endpoint and says why, in the refusal of its predictions, in its stage and in
the log; the node that it is on is ready all the same. What is gone leaves no metrics."""

import os
import struct
import threading

import herald
import serving
from small_disk import MIB, SmallDisk
from upstream_server import Upstream, build_at


def not_ready(server):
    """The reasons that the metric tells."""
    lines = herald.Client(server.port).call("GET", "/metrics").body.decode().splitlines()
    return [line for line in lines if line.startswith("herald_not_ready{") and not line.endswith(" 0")]


def a_model_that_is_down_when_a_node_starts_is_the_trouble_of_its_endpoint_alone():
    with herald.folder() as folder:
        model, other = Upstream(), Upstream()
        server = herald.Standalone(folder)
        client = server.client()
        registered = client.model("m")
        down, up = serving.Stage(client, "/down"), serving.Stage(client, "/up")
        down.update(build_at(client, registered, "down", model.url))
        up.update(build_at(client, registered, "up", other.url))
        model.stop()
        assert server.stop() == 0
        server.start()  # waits until /readyz is 200
        client = server.client()
        assert client.call("GET", "/v2/health/ready").status == 200 and not_ready(server) == []
        assert serving.predict(client, "/up", up.token, {}).status == 200
        refused = serving.predict(client, "/down", down.token, {})
        assert refused.status == 503 and "is not loaded on this node yet: " in refused.json["message"], refused
        assert "Connection refused" in refused.json["message"], refused
        shown = client.must("GET", down.place)["components"][0]
        assert shown["status"] == "active" and "Connection refused" in shown["message"], shown
        model = Upstream(model.port)
        herald.until(lambda: serving.predict(client, "/down", down.token, {}).status == 200, 30, "it is served once it is there")
        assert client.must("GET", down.place)["components"][0]["message"] == ""
        assert server.stop() == 0
        model.stop()
        other.stop()


def a_model_whose_runtime_is_missing_after_a_start_is_the_trouble_of_its_endpoint_alone():
    import onnx_models
    with herald.folder() as folder:
        library = herald.ROOT / "build/onnxruntime/libonnxruntime.so.1"
        server = herald.Standalone(folder, "--onnxruntime", library)
        client = server.client()
        build = serving.build_of(client, client.model("m"), "v", onnx_models.tiny())
        stage = serving.Stage(client, "/onnx")
        stage.update(build)
        assert server.stop() == 0
        server.options = ("--onnxruntime", folder / "nothing.so")
        server.start()
        refused = serving.predict(server.client(), "/onnx", stage.token, [[1.0]])
        assert refused.status == 503 and "nothing.so" in refused.json["message"], refused
        assert server.stop() == 0


def an_update_that_waits_for_its_model_says_why():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stage = serving.Stage(client, "/waits")
        port = herald.free_port()
        build = build_at(client, client.model("m"), "v", f"http://127.0.0.1:{port}/")
        stage.begin_update(build)
        why = f"the upstream server at http://127.0.0.1:{port}/ is unhealthy: "
        component = herald.until(lambda: next((each for each in stage.record()["components"] if each["message"]), None), 20, "it says why")
        assert component["status"] == "creating" and why in component["message"], component
        assert client.must("GET", stage.stages)["stages"][0]["components"][0]["message"] == component["message"]
        refused = serving.predict(client, "/waits", stage.token, {})
        assert refused.status == 503 and f"build {build} is not loaded on this node yet: {why}" in refused.json["message"], refused
        lines = [line for line in server.process.log_file.read_text().splitlines() if "model_not_loaded" in line]
        assert len(lines) == 1 and why in lines[0], lines
        model = Upstream(port)
        assert stage.ended()["components"][0]["message"] == ""
        assert server.stop() == 0
        model.stop()


def a_node_that_serves_no_predictions_says_so_for_good():
    with herald.folder() as folder:
        model = Upstream()
        server = herald.Standalone(folder, "--serve-predictions", "false")
        client = server.client()
        stage = serving.Stage(client, "/nowhere")
        stage.begin_update(build_at(client, client.model("m"), "v", model.url))
        record = stage.record()
        assert record["status"] == "creating" and "no node that serves predictions" in record["components"][0]["message"], record
        for path in ("/api/v1/predict/nowhere", "/api/v1/predict/unknown", "/v2/models/nowhere/infer"):
            refused = client.call("POST", path, {}, {"Access-token": stage.token})
            assert refused.status == 501 and "serves no predictions" in refused.json["error"], refused
            assert refused.headers["Retry-After"] is None, refused.headers
        assert client.call("GET", "/v2/health/ready").status == 503
        assert server.stop() == 0
        model.stop()


def endpoints_that_are_gone_leave_no_metrics_whoever_asked_them():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        stages = [serving.Stage(client, f"/gone/{number}") for number in range(8)]
        threads = []
        for number in range(32):  # connections, on all event loops
            def ask():
                mine = server.client()
                for stage in stages:
                    assert serving.predict(mine, stage.path, stage.token, {}).status == 400
            threads.append(threading.Thread(target=ask))
            threads[-1].start()
        for thread in threads:
            thread.join()

        def shown():
            return [line for line in client.call("GET", "/metrics").body.decode().splitlines() if '"/gone/' in line]
        assert shown()
        for stage in stages:
            client.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}")
        herald.until(lambda: not shown(), 10, "nothing is told of endpoints that are gone")
        assert server.stop() == 0


def copies_of_models_give_way_before_the_disk_refuses_writes():
    import onnx_models as om

    def model(factor):
        """Of 12 MB."""
        return om.model(om.graph([om.node("Mul", ("x", "w"), ("y",))], [om.value("x", om.FLOAT, (1,))], [om.value("y", om.FLOAT, (1,))],
                                 [om.weight("w", om.FLOAT, (1,), struct.pack("<f", factor))]), note="n" * 12_000_000)
    with herald.folder() as folder, SmallDisk(folder, 500) as disk:
        data = disk.folder / "data"
        data.mkdir()
        server = herald.Standalone(data, "--artifacts", folder / "artifacts")
        client = server.client()

        def names():
            return {each.name for each in (data / "herald/models").iterdir()}

        def write():
            return client.call("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": os.urandom(8).hex()}).status
        registered, other = client.model("m"), client.model("other")
        stage = serving.Stage(client, "/served")
        stage.update(serving.build_of(client, registered, "v", model(2)))
        served, order = names(), []
        for factor in range(3, 9):
            before = names()
            serving.build_of(client, other, f"v{factor}", model(factor))
            order += names() - before
        assert len(served) == 1 and len(order) == 6
        disk.leave(67)  # 64 must stay free
        herald.until(lambda: order[0] not in names(), 20, "one makes room")
        assert len(names()) >= 4 and "disk_low" not in server.process.log_file.read_text()
        disk.leave(50)

        def has_room():
            room = os.statvfs(disk.folder)
            return room.f_bavail * room.f_bsize >= 64 * MIB
        herald.until(lambda: order[1] not in names() and has_room() and write() == 200, 20, "there is room, and writes are taken")
        left = names() - served
        assert left and served <= names() and left == set(order[-len(left):]), (names(), served, order)
        disk.leave(15)
        herald.until(lambda: names() == served, 20, "those that are not served go, although they are not enough")
        (disk.folder / "filling").unlink()
        herald.until(lambda: write() == 200, 20, "writes are taken again")
        assert names() == served

        late = serving.build_of(client, other, "late", model(9))
        assert server.stop() == 0
        server.start()
        client = server.client()
        assert len(names()) == 2, "a restart keeps what has a build"
        client.must("DELETE", f"/api/v1/registry/registered_models/{other}")
        herald.until(lambda: client.call("GET", f"{serving.DEPLOYMENT}/builds/{late}").status == 404, 20, "its build is gone")
        assert server.stop() == 0
        server.start()
        herald.until(lambda: names() == served, 20, "the copy of a build that is gone goes, too")
        assert serving.predict(server.client(), "/served", stage.token, {"x": [1]}).status == 200
        assert server.stop() == 0


def copies_of_models_that_fail_are_named():
    import onnx_models
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client, copies = server.client(), folder / "herald/models"
        build = serving.build_of(client, client.model("m"), "v", onnx_models.tiny())
        for each in copies.iterdir():
            each.unlink()
        copies.rmdir()
        copies.write_text("no folder")  # also for a superuser
        stage = serving.Stage(client, "/broken")
        stage.begin_update(build)
        text = f"the copies of models in {copies} failed: "
        herald.until(lambda: any(text in each["message"] for each in stage.record()["components"]), 20, "the component says so")
        refused = serving.predict(client, "/broken", stage.token, [[1.0]])
        # 400 once the update has ended.
        assert refused.status in (400, 503) and text in refused.json["message"], refused
        assert server.stop() == 0
        process = herald.Process("again", ["standalone", "--data", folder, "--listen", "127.0.0.1:0"], folder)
        assert process.process.wait(30) == 1 and text in process.log_file.read_text(), process.tail()


if __name__ == "__main__":
    herald.run()
