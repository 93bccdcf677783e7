"""Property: a model at whose load the process ends again and again is left out, and everything else goes on."""

import json
import pathlib
import time

import herald
import onnx_models
import serving


def mark_of(server, build):
    return pathlib.Path(server.folder) / "herald" / "loads" / f"build-{build}"


def start_again(server):
    """Without waiting until it is ready: it is that only later, while a model does not load."""
    server.process = herald.Process("standalone", ["standalone", "--data", server.folder, "--listen", f"127.0.0.1:{server.port}",
                                                   "--free-disk-mb", "64"], server.folder)


def answer(server, stage):
    try:
        return serving.predict(server.client(), stage.path, stage.token, {"x": [1.0]})
    except OSError:
        return herald.Answer(0, {}, b"")


@herald.computes
def a_model_at_whose_load_the_process_is_killed_twice_fails_its_update_and_the_others_answer():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("m")
        quick = serving.Stage(client, "/quick")
        quick.update(serving.build_of(client, model, "quick", onnx_models.identity(onnx_models.FLOAT, (1,))))
        hanging = serving.build_of(client, model, "hanging", onnx_models.slow_to_load())
        stage = serving.Stage(client, "/hanging")
        stage.begin_update(hanging)
        mark = mark_of(server, hanging)
        for ends in (1, 2):
            herald.until(lambda: mark.exists() and mark.stat().st_size == ends, 30, f"load {ends} of the model begins")
            server.process.kill()
            start_again(server)
        stage.client = server.client()
        herald.until(lambda: answer(server, quick).status == 200, 60, "the other endpoint answers")
        record = stage.ended()
        assert record["status"] == "error" and "ended the process of this node 2 times" in json.dumps(record), record
        assert server.stop() == 0


def an_active_model_that_ended_the_process_twice_is_503_and_answers_once_its_mark_is_removed():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("m")
        stages = [serving.Stage(client, path) for path in ("/bad", "/good")]
        builds = [serving.build_of(client, model, f"v{at}", onnx_models.identity(onnx_models.FLOAT, (1,)) +
                                   onnx_models.chunk(6, f"note {at}")) for at in range(2)]
        for stage, build in zip(stages, builds):
            stage.update(build)
        bad, good = stages
        mark = mark_of(server, builds[0])
        assert mark.parent.exists() and not mark.exists(), "a load that has ended leaves no mark"
        assert server.stop() == 0
        mark.write_bytes(b"xx")  # what two ends of the process leave
        start_again(server)
        herald.until(lambda: answer(server, good).status == 200, 30, "the other endpoint answers")
        herald.until(lambda: b"ended the process" in answer(server, bad).body, 30, "the endpoint says why it does not answer")
        assert answer(server, bad).status == 503
        mark.unlink()
        herald.until(lambda: answer(server, bad).status == 200, 60, "it is loaded again")
        assert server.stop() == 0


@herald.alone
def models_whose_runs_do_not_end_hold_up_others_for_seconds_and_the_end_of_the_process_not_at_all():
    serving.need_onnx()
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        client = server.client()
        model = client.model("m")
        quick = serving.build_of(client, model, "quick", onnx_models.identity(onnx_models.FLOAT, (1,)))
        hanging = serving.build_of(client, model, "hanging", onnx_models.slow_to_load())
        stages = []
        for at in range(4):  # different batching: each of them is loaded by itself
            stages.append(serving.Stage(client, f"/hanging{at}"))
            stages[-1].begin_update(hanging, batching={"size_max": 2 + at, "delay_ms_max": 1})
        for stage in stages:
            client.must("DELETE", f"{serving.DEPLOYMENT}/endpoints/{stage.endpoint}")
        begin = time.monotonic()
        serving.Stage(client, "/quick").update(quick)
        assert time.monotonic() - begin < 15, time.monotonic() - begin
        last = serving.Stage(client, "/last")
        last.begin_update(hanging)
        herald.until(lambda: mark_of(server, hanging).exists(), 30, "the load begins")
        begin = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - begin < 10, time.monotonic() - begin


if __name__ == "__main__":
    herald.run()
