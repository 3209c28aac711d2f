"""A scripted upstream with OpenAI's image API.

The prompt alone determines the response: `fail` is an internal error, `forbidden` is a policy refusal,
`reject` is refused, and `slow` is delayed. Anything else gives an image of one colour.
"""

import base64
import email.parser
import email.policy
import json
import struct
import time
import zlib

from scripted import ScriptedHandler, ScriptedUpstream

SLOW_SECONDS = 2


def png(width, height, colour=(200, 60, 60)):
    """Encodes an image of one colour independently of the service's own code."""
    row = b"\0" + bytes(colour) * width
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(row * height)),
        (b"IEND", b""),
    ]
    written = b"\x89PNG\r\n\x1a\n"
    for kind, content in chunks:
        written += struct.pack(">I", len(content)) + kind + content
        written += struct.pack(">I", zlib.crc32(kind + content))
    return written


def size_of(picture):
    """Width and height of a PNG or JPEG."""
    if picture.startswith(b"\xff\xd8"):
        at = 2
        while picture[at + 1] not in (0xC0, 0xC1, 0xC2):
            at += 2 + struct.unpack(">H", picture[at + 2 : at + 4])[0]
        height, width = struct.unpack(">HH", picture[at + 5 : at + 9])
        return width, height
    assert picture.startswith(b"\x89PNG\r\n\x1a\n"), picture[:16]
    return struct.unpack(">II", picture[16:24])


class Handler(ScriptedHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/images/generations":
            fields = json.loads(body)
        else:
            fields = form(self.headers["content-type"], body)
        self.server.upstream.requests.append(fields)
        prompt = fields["prompt"]
        if prompt == "fail":
            return self.send(500, {"error": {"message": "out of memory"}})
        if prompt == "reject":
            return self.send(400, {"error": {"message": "The upstream rejects this."}})
        if prompt == "forbidden":
            error = {"code": "content_policy_violation", "message": "not that"}
            return self.send(400, {"error": error})
        if prompt == "slow":
            time.sleep(SLOW_SECONDS)
        width, height = (int(side) for side in fields["size"].split("x"))
        made = base64.b64encode(png(width, height)).decode()
        return self.send(200, {"created": 1, "data": [{"b64_json": made}]})


class Upstream(ScriptedUpstream):
    handler = Handler


def form(content_type, body):
    """The fields of a form as texts, and its files as lists of their names and sizes."""
    head = f"content-type: {content_type}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    fields = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if part.get_filename() is None:
            fields[name] = content.decode()
        else:
            fields.setdefault(name, []).append((part.get_filename(), size_of(content)))
    return fields
