"""A scripted upstream with OpenAI's speech and transcription API.

The request alone determines the response: the text `slow` gives an endless stream, `break off`
breaks the connection, and `reject` is refused, as is a recording with that prompt. Any other text
gives bytes that name the format, and any other recording is transcribed as a greeting.
"""

import email.parser
import email.policy
import json
import time

from scripted import ScriptedHandler, ScriptedUpstream

GREETING = "Hello from the recording."
TRANSLATION = "Hello in English."
LANGUAGE = "english"
SECONDS = 1.5
PIECE_BYTES = 4096
PIECES = 6
SLOW_PIECES_MAX = 600
SLOW_SECONDS_PER_PIECE = 0.02


def sound(response_format):
    """The audio bytes in this format."""
    if response_format == "wav":
        samples = b"\x01\x02" * (PIECES * PIECE_BYTES // 2)
        form = b"fmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0"
        # A streaming server does not know the length in advance.
        return b"RIFF\xff\xff\xff\xffWAVE" + form + b"data\xff\xff\xff\xff" + samples
    return (response_format.encode() * PIECES * PIECE_BYTES)[: PIECES * PIECE_BYTES]


class Handler(ScriptedHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/v1/audio/speech":
            return self.speak(json.loads(body))
        if self.path == "/v1/audio/translations":
            return self.send(200, {"text": TRANSLATION})
        return self.listen(form(self.headers["content-type"], body))

    def speak(self, body):
        self.server.upstream.requests.append(body)
        if body["input"] == "reject":
            return self.send(400, {"error": {"message": "The upstream rejects this."}})
        self.send_response(200)
        self.send_header("content-type", "application/octet-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        try:
            for number, piece in enumerate(self.pieces(body)):
                if body["input"] == "break off" and number == 2:
                    self.close_connection = True
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            self.server.upstream.hangups.release()

    def pieces(self, body):
        if body["input"] == "slow":
            for _ in range(SLOW_PIECES_MAX):
                time.sleep(SLOW_SECONDS_PER_PIECE)
                yield b"s" * PIECE_BYTES
            return
        whole = sound(body["response_format"])
        for start in range(0, len(whole), PIECE_BYTES):
            yield whole[start : start + PIECE_BYTES]

    def listen(self, fields):
        self.server.upstream.requests.append(fields)
        if fields.get("prompt") == ["reject"]:
            return self.send(400, {"error": {"message": "The upstream hears nothing."}})
        if fields["response_format"] == ["json"]:
            return self.send(200, {"text": GREETING, "usage": {"type": "duration", "seconds": 2}})
        half = SECONDS / 2
        answer = {
            "task": "transcribe",
            "language": LANGUAGE,
            "duration": SECONDS,
            "text": GREETING,
            "segments": [{"id": 0, "start": 0.0, "end": SECONDS, "text": f" {GREETING}"}],
        }
        if "word" in fields.get("timestamp_granularities[]", []):
            answer["words"] = [
                {"word": "Hello", "start": 0.0, "end": half},
                {"word": "recording", "start": half, "end": SECONDS},
            ]
        return self.send(200, answer)


class Upstream(ScriptedUpstream):
    handler = Handler


def form(content_type, body):
    """The fields of a form as lists of texts; for the file its name, type and length."""
    head = f"content-type: {content_type}\r\n\r\n".encode()
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    fields = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if part.get_filename() is None:
            fields.setdefault(name, []).append(content.decode())
        else:
            fields[name] = (part.get_filename(), part.get_content_type(), len(content))
    return fields
