"""A proxy in front of Postgres that cuts, delays, drops and freezes traffic, like a bad network."""

import selectors
import socket
import threading
import time

CHUNK = 65_536
# More than any startup message.
STARTUP_BYTES_MAX = 10_000


class Fault:
    """The handling of bytes that arrive from now on."""

    PASS = "pass"
    # Both sides wait; the bytes are delivered when the fault ends.
    FREEZE = "freeze"
    # All bytes are accepted and dropped, as by a firewall that drops packets.
    SWALLOW = "swallow"


class FaultProxy:
    """Use it in a `with` statement so that it always ends. Connections are identified by their purpose:
    the last word of the session's application name (`write`, `read`, `lease`, `own`, `listen`, `pulse`)."""

    def __init__(self, postgres):
        self.target = ("127.0.0.1", postgres.port)

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        self.connections = set()
        self.faults = {}
        self.frozen_words = {}
        self.fault = Fault.PASS
        self.delay_seconds = 0
        self.is_refusing = False
        self.is_over = False
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.listener.close()
        self.cut()

    def url(self, direct):
        """The URL of the same database through this proxy."""
        head, tail = direct.rsplit(":", 1)
        return f"{head}:{self.port}/{tail.split('/', 1)[1]}"

    def cut(self):
        """Closes all connections."""
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            connection.close()

    def refuse(self, is_refusing):
        """Sets whether new connections are refused."""
        self.is_refusing = is_refusing

    def delay(self, seconds):
        """Sets the latency in each direction."""
        self.delay_seconds = seconds

    def set_fault(self, fault, purpose=None):
        """Sets the fault of all connections, old and new, or of those of one purpose."""
        if purpose is None:
            self.fault = fault
        else:
            self.faults[purpose] = fault

    def freeze_before(self, purpose, word):
        """Freezes the next connection of a purpose that sends a word, before that word is delivered. It stays
        frozen until it is cut."""
        self.frozen_words[purpose] = word

    def heal(self):
        """Ends all faults. Connections with dropped bytes are closed, because their streams have gaps."""
        self.fault, self.faults, self.delay_seconds, self.is_refusing = Fault.PASS, {}, 0, False
        self.frozen_words = {}
        with self.lock:
            holed = [connection for connection in self.connections if connection.has_holes]
        for connection in holed:
            connection.close()

    def fault_of(self, purpose):
        return self.faults.get(purpose, self.fault)

    def _accept(self):
        while not self.is_over:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.is_refusing:
                client.close()
                continue
            connection = Connection(self, client)
            with self.lock:
                self.connections.add(connection)
            threading.Thread(target=connection.run, daemon=True).start()


class Connection:
    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.server = None
        self.purpose = None
        self.has_holes = False
        self.is_cut = threading.Event()

    def run(self):
        try:
            self.server = socket.create_connection(self.proxy.target)
            for side in (self.client, self.server):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._pass_on()
        except OSError:
            pass
        finally:
            self.close()
            with self.proxy.lock:
                self.proxy.connections.discard(self)

    def close(self):
        self.is_cut.set()
        for side in (self.client, self.server):
            if side is not None:
                try:
                    side.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                side.close()

    def _pass_on(self):
        with selectors.DefaultSelector() as ready:
            ready.register(self.client, selectors.EVENT_READ, self.server)
            ready.register(self.server, selectors.EVENT_READ, self.client)
            while True:
                fault = self.proxy.fault_of(self.purpose)
                if fault == Fault.FREEZE:
                    time.sleep(0.02)
                    continue
                for key, _ in ready.select(timeout=0.05):
                    data = key.fileobj.recv(CHUNK)
                    if self.purpose is None and key.fileobj is self.client:
                        self.purpose = purpose_in(data)
                    # The fault may have changed during the wait for bytes.
                    fault = self.proxy.fault_of(self.purpose)
                    if fault == Fault.SWALLOW:
                        self.has_holes = True
                        if not data:
                            # The close is not forwarded to the other side either.
                            ready.unregister(key.fileobj)
                            if not ready.get_map():
                                return
                        continue
                    if not data:
                        return
                    word = self.proxy.frozen_words.get(self.purpose)
                    if word and key.fileobj is self.client and word in data:
                        self.proxy.frozen_words.pop(self.purpose, None)
                        self.has_holes = True
                        self.is_cut.wait()
                        return
                    if self.proxy.delay_seconds:
                        time.sleep(self.proxy.delay_seconds)
                    key.data.sendall(data)


def purpose_in(startup):
    """The purpose in a session's startup message; empty if there is none."""
    fields = startup[8:STARTUP_BYTES_MAX].split(b"\0")
    for name, value in zip(fields, fields[1:], strict=False):
        if name == b"application_name":
            return value.decode().rsplit(" ", 1)[-1]
    return ""
