"""A network between a process and a server of this machine, which can be cut: both ends keep their connections and hear nothing more."""

import socket
import threading

import herald


class Network:
    """Listens at `port` and passes everything on to the server's port, both ways, until cut() and again after heal()."""

    def __init__(self, to_port, port=None):
        self.to_port, self.whole = to_port, threading.Event()
        self.whole.set()
        self.listener = socket.create_server(("127.0.0.1", port or herald.free_port()))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to_port))
            except OSError:
                return
            self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    def pass_on(self, one, other):
        try:
            while data := one.recv(65_536):
                self.whole.wait()
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        self.whole.clear()

    def heal(self):
        self.whole.set()

    def stop(self):
        self.heal()
        for each in (self.listener, *self.sockets):
            each.close()
