"""Both ends of deliveries, in a compiled program, so that they cost less than what is measured.

Environment: DELIVERY_ENDS, the program (default build/release/tests/support/delivery_ends).
"""

import os
import subprocess

import herald

PROGRAM = os.environ.get("DELIVERY_ENDS", herald.ROOT / "build/release/tests/support/delivery_ends")


class Ends:
    """The receiver, and what it has seen."""

    def __init__(self):
        self.process = subprocess.Popen([PROGRAM, "receive"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"

    def seen(self):
        """path → (deliveries, repeats, seconds of the last new one)"""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        words = iter(self.process.stdout.readline().split())
        return {path: (int(next(words)), int(next(words)), int(next(words)) / 1000) for path in words}

    def delivered(self):
        return sum(count for count, _, _ in self.seen().values())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


def send(client, requests, rate=0, callers=64):
    """Sends (path, body) as the client's user; seconds that it took."""
    lines = [f"{name}: {value}" for name, value in client.headers.items()] + ["content-type: application/json", ""]
    lines += [f"{path} {body}" for path, body in requests]
    done = subprocess.run([PROGRAM, "send", str(client.port), str(callers), str(rate)], input="\n".join(lines) + "\n",
                          stdout=subprocess.PIPE, text=True, check=True)
    bad, took_ms = done.stdout.split()
    assert bad == "0", f"{bad} answers were not 200"
    return int(took_ms) / 1000
