"""Property: what a process lacks from its first moment on (memory, threads, standard streams, a file) is told in one line or
changes nothing; and whatever hangs, it ends when it is told to."""

import os
import signal
import socket
import subprocess
import threading
import time

import herald

ENVIRONMENT = {"HERALD_ADMIN_EMAIL": herald.ADMIN_EMAIL, "HERALD_ADMIN_KEY": herald.ADMIN_KEY}


def started(folder, before, port):
    """A standalone, started by a shell after the command `before`."""
    log = open(folder / "log.txt", "wb")
    return subprocess.Popen(["bash", "-c", f"{before}; exec \"$0\" \"$@\"", herald.BINARY, "standalone", "--data", folder / "data",
                             "--listen", f"127.0.0.1:{port}", "--free-disk-mb", "64"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                            env={**os.environ, **ENVIRONMENT}, start_new_session=True)


def ended(process, seconds, what):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"{what}: not ended within {seconds} s") from None


@herald.preloads  # a sanitizer needs all addresses there are
def without_memory_a_start_ends_with_a_text_and_a_signal_ends_what_did_start():
    told = 0
    for kib in (120_000, *range(200_000, 650_000, 50_000)):
        with herald.folder() as folder:
            port = herald.free_port()
            process = started(folder, f"ulimit -v {kib}", port)
            try:
                herald.until(lambda: process.poll() is not None or herald.readiness(port), 10, "ended or ready")
            except AssertionError:
                pass  # a thread may lack memory for good; then the signal must do
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            code = ended(process, 30, f"{kib} KiB")
            said = (folder / "log.txt").read_text("utf-8", "replace")
            assert code in (0, 1) and "terminate called" not in said, f"{kib} KiB: exit code {code}\n{said[-2000:]}"
            assert code == 0 or "herald: " in said or "error while loading" in said, f"{kib} KiB:\n{said[-2000:]}"
            told += "there is not enough memory" in said
    assert told, "no start lacked memory"


def a_process_without_standard_streams_serves_and_ends_as_any():
    for closing in ("exec 0<&- 1>&- 2>&-", "exec 2>&-", "exec 1>&- 2>&-"):
        with herald.folder() as folder:
            port = herald.free_port()
            process = started(folder, closing, port)
            herald.until(lambda: process.poll() is not None or herald.readiness(port), 20, "ended or ready")
            assert process.poll() is None, f"{closing}: ended with {process.returncode}"
            closed = [number for number in range(3) if f"{number}<&-" in closing or f"{number}>&-" in closing]
            for number in closed:
                assert os.readlink(f"/proc/{process.pid}/fd/{number}") == "/dev/null", closing
            process.send_signal(signal.SIGTERM)
            assert ended(process, 20, closing) == 0


def a_closed_terminal_ends_it_as_any_stop_unless_nohup_was_said():
    for before, is_ended in (("true", True), ("trap '' HUP", False)):
        with herald.folder() as folder:
            port = herald.free_port()
            process = started(folder, before, port)
            herald.until(lambda: process.poll() is not None or herald.readiness(port), 20, "ended or ready")
            process.send_signal(signal.SIGHUP)
            if not is_ended:
                time.sleep(0.5)  # it would end sooner
                assert process.poll() is None, f"{before}: ended with {process.returncode}"
                process.send_signal(signal.SIGTERM)
            assert ended(process, 20, before) == 0


def a_log_whose_lock_cannot_be_opened_says_why():
    with herald.folder() as folder:
        server = herald.Standalone(folder)
        run = [herald.BINARY, "standalone", "--data", folder, "--listen", f"127.0.0.1:{herald.free_port()}"]
        second = subprocess.run(run, capture_output=True, text=True, timeout=30)
        assert second.returncode == 1 and "is in use by another process" in second.stderr, second.stderr
        assert server.stop() == 0
        lock = folder / "herald/log/LOCK"
        lock.unlink()
        lock.mkdir()
        done = subprocess.run(run, capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and "Is a directory" in done.stderr and "cannot be opened" in done.stderr, done.stderr
        assert "in use" not in done.stderr, done.stderr


def a_process_ends_within_ten_seconds_whatever_hangs():
    with herald.folder() as folder, socket.create_server(("127.0.0.1", 0)) as silent:
        server = herald.Standalone(folder)
        client = server.client()
        hook = client.webhook("w", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        answers = []
        caller = threading.Thread(target=lambda: answers.append(
            server.client().call("POST", "/api/v1/uac-proxy/events/triggerTest", {"webhook_id": hook})))
        caller.start()
        taken, _ = silent.accept()
        with taken:
            began = time.monotonic()
            assert server.stop() == 0
            took = time.monotonic() - began
            caller.join()
        assert took < 11, f"{took:.1f} s"  # a second for a busy machine
        assert answers[0].status == 503, answers


if __name__ == "__main__":
    herald.run()
