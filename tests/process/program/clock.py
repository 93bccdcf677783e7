"""Property: one wrong wall clock cannot leap a standalone Herald's time, and cannot hold it up (design.md §1 "Time")."""

import os
import time

import herald

DAY = 24 * 3600


def shifted(days):
    return {"LD_PRELOAD": os.environ["PRELOADED_SHIFTED_CLOCK"], "HERALD_CLOCK_SHIFT_SECONDS": str(days * DAY),
            "HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, "HERALD_ADMIN_KEY": herald.ADMIN_KEY}


def start(folder, days, *options, port):
    return herald.Process(f"shifted {days}", ["standalone", "--data", folder, "--listen", f"127.0.0.1:{port}",
                                              "--free-disk-mb", "64", *options], folder, shifted(days))


def made_at(client, name):
    """When the log says that a new model was made, in seconds from now."""
    answer = client.must("POST", "/api/v1/registry/workspaces/default/registered_models", {"name": name})
    return int(answer["registered_model"]["time_created"]) / 1000 - time.time()


@herald.preloads
def a_wall_clock_that_is_far_ahead_is_refused_unless_it_is_accepted():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        assert abs(made_at(server.client(), "now")) < 60
        assert server.stop() == 0
        refused = start(folder, 31, port=server.port)
        assert refused.process.wait(30) == 3 and "--accept-clock" in refused.tail(), refused.tail()
        accepted = start(folder, 31, "--accept-clock", port=server.port)
        herald.wait_until_ready(accepted, server.port)
        assert abs(made_at(server.client(), "later") - 31 * DAY) < 60
        assert accepted.stop() == 0


@herald.preloads
def a_wall_clock_that_jumps_back_is_told_and_holds_nothing_up():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        assert server.stop() == 0
        ahead = start(folder, 20, port=server.port)
        herald.wait_until_ready(ahead, server.port)
        first = made_at(server.client(), "far ahead")
        assert ahead.stop() == 0
        server.start()
        assert herald.metric(server.port, "herald_clock_off_seconds") < -19 * DAY
        assert '"clock_off"' in server.process.log_file.read_text()
        client = server.client()
        second = made_at(client, "on from there")
        receiver = herald.Receiver()
        hook = client.webhook("hook", receiver.url)
        tried = client.must("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook})
        assert tried["status_code"] == 200, "a test's deadline goes by the log's time"
        receiver.stop()
        time.sleep(2)
        assert abs(made_at(client, "later") - second) < 1, "the log's time stands still while the wall clock is behind"
        assert abs(second - first) < 60, "time went back"
        assert server.stop() == 0


if __name__ == "__main__":
    herald.run()
