"""Tests the unmodified OpenAI SDK for Python: speech, streamed speech, and transcripts in every format."""

import time
import unittest

import openai

from audio.service import CHARACTER_USD, SAMPLES, SECOND_USD, ServiceCase
from audio.upstream import GREETING, LANGUAGE, SECONDS, TRANSLATION, sound

HANGUP_SECONDS_MAX = 10
SETTLE_SECONDS_MAX = 10
FILE_BYTES_MAX = 25 * 1024 * 1024
CONTENT_TYPES = {
    "mp3": "audio/mpeg",
    "opus": "audio/opus",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}


class PythonCase(ServiceCase):
    def client(self, **options):
        options = {"max_retries": 0, **options}
        client = openai.OpenAI(base_url=self.server.api, api_key=self.key, **options)
        self.addCleanup(client.close)
        return client


class Speech(PythonCase):
    def speak(self, text, **options):
        options = {"model": "tts-small", "voice": "ada", **options}
        return self.client().audio.speech.create(input=text, **options)

    def test_a_text_is_spoken_in_every_format_and_costs_its_characters(self):
        for response_format, content_type in CONTENT_TYPES.items():
            with self.subTest(response_format):
                before = self.balance()
                answer = self.speak("Grüße!", response_format=response_format)
                self.assertEqual(answer.response.headers["content-type"], content_type)
                expected = sound(response_format)
                self.assertEqual(len(answer.content), len(expected))
                if response_format == "wav":
                    # A complete file has its length in the header.
                    size = int.from_bytes(answer.content[40:44], "little")
                    self.assertEqual(size, len(expected) - 44)
                else:
                    self.assertEqual(answer.content, expected)
                self.assertAlmostEqual(before - self.balance(), 6 * CHARACTER_USD, places=9)

    def test_a_stream_arrives_while_it_is_made(self):
        create = self.client().audio.speech.with_streaming_response.create
        request = {"model": "tts-small", "voice": "ben", "input": "slow", "response_format": "pcm"}
        started = time.monotonic()
        with create(**request, extra_body={"streaming": True}) as answer:
            first = next(answer.iter_bytes(1024))
            self.assertEqual(first, b"s" * 1024)
            # The whole stream takes twelve seconds.
            self.assertLess(time.monotonic() - started, 5)
        self.assertTrue(self.upstream.hangups.acquire(timeout=HANGUP_SECONDS_MAX))

    def test_a_stream_is_whole_at_its_end_and_paid(self):
        before = self.balance()
        create = self.client().audio.speech.with_streaming_response.create
        request = {"model": "tts-small", "voice": "ben", "input": "Hello there."}
        with create(**request, extra_body={"streaming": True}) as answer:
            heard = b"".join(answer.iter_bytes())
        self.assertEqual(heard, sound("mp3"))
        self.assertAlmostEqual(before - self.balance(), 12 * CHARACTER_USD, places=9)

    def test_whoever_hangs_up_pays_for_the_text(self):
        before = self.balance()
        create = self.client().audio.speech.with_streaming_response.create
        request = {"model": "tts-small", "voice": "ada", "input": "slow"}
        with create(**request, extra_body={"streaming": True}) as answer:
            next(answer.iter_bytes(1024))
        self.assertTrue(self.upstream.hangups.acquire(timeout=HANGUP_SECONDS_MAX))
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while self.balance() == before and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertAlmostEqual(before - self.balance(), 4 * CHARACTER_USD, places=9)

    def test_a_stream_that_breaks_off_is_an_error_and_free(self):
        before = self.balance()
        create = self.client().audio.speech.with_streaming_response.create
        request = {"model": "tts-small", "voice": "ada", "input": "break off"}
        with create(**request, extra_body={"streaming": True}) as answer:
            # The exception's library depends on the SDK's version; the message does not.
            with self.assertRaisesRegex(Exception, "incomplete chunked read"):
                for _ in answer.iter_bytes():
                    pass
        self.assertEqual(before, self.balance())

    def test_a_file_that_breaks_off_is_an_error_and_free(self):
        before = self.balance()
        with self.assertRaises(openai.InternalServerError):
            self.speak("break off")
        self.assertEqual(before, self.balance())

    def test_instructions_reach_the_upstream(self):
        self.speak("Hello", instructions="whispering", speed=1.5)
        sent = self.upstream.requests[-1]
        self.assertEqual((sent["instructions"], sent["speed"]), ("whispering", 1.5))

    def test_a_wrong_voice_is_a_bad_request_that_lists_the_right_ones(self):
        with self.assertRaises(openai.BadRequestError) as raised:
            self.speak("Hello", voice="alloy")
        self.assertIn("ada, ben", raised.exception.response.text)

    def test_what_the_upstream_rejects_is_told_in_its_words(self):
        with self.assertRaises(openai.BadRequestError) as raised:
            self.speak("reject")
        self.assertIn("The upstream rejects this.", raised.exception.response.text)


class Translation(PythonCase):
    def test_a_recording_is_translated_and_costs_its_seconds(self):
        before = self.balance()
        with open(SAMPLES / "tone.wav", "rb") as file:
            answer = self.client().audio.translations.create(model="asr-small", file=file)
        self.assertEqual(answer.text, TRANSLATION)
        self.assertAlmostEqual(before - self.balance(), 2 * SECOND_USD, places=9)


class Transcription(PythonCase):
    def transcribe(self, name="tone.wav", **options):
        with open(SAMPLES / name, "rb") as file:
            create = self.client().audio.transcriptions.create
            return create(model="asr-small", file=file, **options)

    def test_every_kind_of_file_is_written_down_and_costs_its_seconds(self):
        recordings = [path for path in sorted(SAMPLES.iterdir()) if path.suffix != ".md"]
        for sample in recordings:
            with self.subTest(sample.name):
                before = self.balance()
                self.assertEqual(self.transcribe(sample.name).text, GREETING)
                self.assertAlmostEqual(before - self.balance(), 2 * SECOND_USD, places=9)
                name, _, length = self.upstream.requests[-1]["file"]
                self.assertEqual(length, sample.stat().st_size)
                self.assertEqual(name, f"audio{sample.suffix}")

    def test_json_is_the_text(self):
        answer = self.transcribe(response_format="json")
        self.assertEqual(answer.text, GREETING)

    def test_text_is_bare(self):
        self.assertEqual(self.transcribe(response_format="text"), GREETING)

    def test_the_long_form_has_language_length_and_segments(self):
        answer = self.transcribe(response_format="verbose_json")
        self.assertEqual((answer.language, answer.duration), (LANGUAGE, SECONDS))
        self.assertEqual((answer.text, answer.words), (GREETING, None))
        self.assertEqual([segment.end for segment in answer.segments], [SECONDS])

    def test_words_have_their_times(self):
        answer = self.transcribe(response_format="verbose_json", timestamp_granularities=["word", "segment"])
        self.assertEqual([word.word for word in answer.words], ["Hello", "recording"])
        self.assertEqual(answer.words[1].start, SECONDS / 2)
        self.assertEqual(len(answer.segments), 1)

    def test_subtitles(self):
        srt = self.transcribe(response_format="srt")
        self.assertEqual(srt, f"1\n00:00:00,000 --> 00:00:01,500\n{GREETING}\n\n")
        vtt = self.transcribe(response_format="vtt")
        self.assertTrue(vtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n"))

    def test_our_own_timestamps(self):
        answer = self.transcribe(extra_body={"timestamps": True})
        self.assertEqual(answer.timestamps["segment"][0]["end"], SECONDS)
        self.assertEqual(answer.timestamps["word"][0]["word"], "Hello")

    def test_hints_reach_the_upstream(self):
        self.transcribe(language="en", prompt="Tollgate", temperature=0.25)
        sent = self.upstream.requests[-1]
        hints = (sent["language"], sent["prompt"], sent["temperature"])
        self.assertEqual(hints, (["en"], ["Tollgate"], ["0.25"]))

    def test_a_file_that_is_too_large_has_its_code(self):
        for extra in (1, 9 * 1024 * 1024):
            with self.subTest(extra), self.assertRaises(openai.APIStatusError) as raised:
                file = ("large.wav", b"\0" * (FILE_BYTES_MAX + extra))
                self.client().audio.transcriptions.create(model="asr-small", file=file)
            self.assertEqual(raised.exception.status_code, 413)
            self.assertEqual(raised.exception.response.json()["code"], "PAYLOAD_TOO_LARGE")

    def test_what_is_no_recording_is_a_bad_request(self):
        with self.assertRaises(openai.BadRequestError) as raised:
            file = ("speech.wav", b"just words" * 100)
            self.client().audio.transcriptions.create(model="asr-small", file=file)
        self.assertEqual(raised.exception.response.json()["code"], "INVALID_AUDIO_FORMAT")

    def test_what_the_upstream_cannot_hear_is_unprocessable_and_free(self):
        before = self.balance()
        with self.assertRaises(openai.UnprocessableEntityError) as raised:
            self.transcribe(prompt="reject")
        self.assertIn("The upstream hears nothing.", raised.exception.response.text)
        self.assertEqual(before, self.balance())


if __name__ == "__main__":
    unittest.main()
