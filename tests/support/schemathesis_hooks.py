"""What schemathesis loads (SCHEMATHESIS_HOOKS): the server that it asks, for as long as it runs. A call may end the caller's
own credentials, as it should; then all later ones would prove nothing, and so the server begins anew.

Environment: HERALD_CONTRACT_PORT."""

import atexit
import os
import pathlib
import signal
import sys

import herald
import schemathesis

PORT = int(os.environ["HERALD_CONTRACT_PORT"])
# Webhooks are made to all kinds of places; names are looked up where nobody answers.
NOWHERE = ["--dns-servers", f"127.0.0.1:{herald.free_port()}"]


class Server:
    def __init__(self):
        self.count = 0
        self.begin()

    def begin(self):
        folder = pathlib.Path(f"data{self.count}").resolve()
        folder.mkdir()
        self.standalone = herald.Standalone(folder, *NOWHERE, port=PORT)
        self.count += 1
        client = self.standalone.client()
        client.version(client.model("m"), "v")
        client.close()

    def end(self):
        if self.standalone.process.alive:
            code = self.standalone.stop()
            if code != 0:
                print(f"the server ended with {code}:\n{self.standalone.process.tail()}", flush=True)
                os._exit(3)

    def is_lost(self):
        client = self.standalone.client()
        answer = client.call("GET", "/api/v1/uac-proxy/uac/getCurrentUser")
        groups = client.call("GET", "/api/v2/uac-proxy/organization/1/groups")
        client.close()
        return answer.status != 200 or groups.status != 200


server = Server()
atexit.register(server.end)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


@schemathesis.hook
def after_call(context, case, response):
    if case.method != "GET" and response.status_code < 300 and server.is_lost():
        server.end()
        server.begin()
        print(f"begun anew after {case.method} {case.path}", flush=True)
