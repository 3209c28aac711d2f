"""A minimal HTTP/2 client that sends raw frames, for tests that break the protocol's rules."""

import socket
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
INITIAL_WINDOW_SIZE = 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(**values):
    names = {"window": INITIAL_WINDOW_SIZE}
    return frame(SETTINGS, payload=b"".join(struct.pack(">HI", names[name], it) for name, it in values.items()))


def literal(name, value):
    """Encodes a header without compression; name and value must be shorter than 127 bytes."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def head(path, method=b"GET", more=()):
    """The header block of a request."""
    fields = [(b":method", method), (b":scheme", b"http"), (b":path", path.encode()), (b":authority", b"x"), *more]
    return b"".join(literal(name, value) for name, value in fields)


def request(stream, path, method=b"GET", more=(), ends=True):
    flags = END_HEADERS | (END_STREAM if ends else 0)
    return frame(HEADERS, flags, stream, head(path, method, more))


class Connection:
    """A connection on which the preface was sent. Use it in a `with` statement."""

    def __init__(self, address, window=65_535, timeout=60):
        self.socket = socket.create_connection(address, timeout=timeout)
        self.received = b""
        self.socket.sendall(PREFACE + settings(window=window))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """Returns False if the service has closed the connection."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def frames(self):
        """Yields received frames as (kind, flags, stream, payload) until the service closes the connection."""
        while True:
            while len(self.received) < 9 or len(self.received) < 9 + self._length():
                try:
                    read = self.socket.recv(65_536)
                except ConnectionError:
                    return
                if not read:
                    return
                self.received += read
            length = self._length()
            _, kind, flags, stream = struct.unpack(">IBBI", b"\0" + self.received[:9])
            payload, self.received = self.received[9 : 9 + length], self.received[9 + length :]
            yield kind, flags, stream, payload

    def _length(self):
        return int.from_bytes(self.received[:3], "big")
