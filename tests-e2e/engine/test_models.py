"""Tests of chats, schemas, embeddings and audio with models that run on this machine."""

import concurrent.futures
import decimal
import json
import math
import re

from engine.service import EngineCase, user

# The output limit of the built-in chat model, and a prompt that it would not end by itself.
ANSWER_TOKENS_MAX = 1024
ENDLESS = "Write a very long story."
SENTENCE = "The quick brown fox jumps over the lazy dog."
# With limits: at this temperature a small model may write digits or letters without end.
CITY = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "population": {"type": "integer", "minimum": 0, "maximum": 40_000_000},
    },
    "required": ["name", "population"],
    "additionalProperties": False,
}


class ModelsTest(EngineCase):
    def chat(self, text, **options):
        options = {"model": "default", "max_completion_tokens": 32, "temperature": 0, **options}
        return self.client().chat.completions.create(messages=user(text), **options)

    def balance_usd(self):
        report = json.loads(self.server.command("accounts", "show", "default", "--json"))
        return decimal.Decimal(report["balances"]["USD"])

    def test_a_chat_is_answered_and_paid(self):
        before = self.balance_usd()
        answer = self.until_ready(lambda: self.chat("What is the capital of France?"))
        self.assertTrue(answer.choices[0].message.content.strip())
        usage = answer.usage
        price = usage.prompt_tokens * decimal.Decimal("1e-8")
        price += usage.completion_tokens * decimal.Decimal("2e-8")
        self.assertEqual(before - self.balance_usd(), price.quantize(decimal.Decimal("1e-9")))

    def test_an_answer_ends_at_the_models_bound_where_its_caller_names_none(self):
        self.until_ready(lambda: self.chat("Hello."))
        before = self.balance_usd()
        # Streamed, because this many tokens take long on a busy machine.
        usage = {"include_usage": True}
        *_, last, summary = self.chat(ENDLESS, max_completion_tokens=None, stream=True, stream_options=usage)
        self.assertEqual(last.choices[0].finish_reason, "length")
        self.assertEqual(summary.usage.completion_tokens, ANSWER_TOKENS_MAX)
        price = summary.usage.prompt_tokens * decimal.Decimal("1e-8")
        price += ANSWER_TOKENS_MAX * decimal.Decimal("2e-8")
        self.assertEqual(before - self.balance_usd(), price.quantize(decimal.Decimal("1e-9")))
        respond = self.client().responses.create
        *_, last = respond(model="default", input=ENDLESS, temperature=0, stream=True)
        self.assertEqual(last.type, "response.incomplete")
        self.assertEqual(last.response.incomplete_details.reason, "max_output_tokens")
        self.assertEqual(last.response.usage.output_tokens, ANSWER_TOKENS_MAX)

    def test_a_stream_comes_in_pieces_and_says_the_same(self):
        whole = self.until_ready(lambda: self.chat("Count from one to five."))
        stream = self.chat("Count from one to five.", stream=True)
        pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
        self.assertLess(3, len(pieces))
        self.assertEqual("".join(pieces), whole.choices[0].message.content)

    def test_a_schema_is_kept(self):
        schema = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
        for seed in (1, 2, 3):
            answer = self.until_ready(
                lambda seed=seed: self.chat(
                    "Describe a city as JSON.",
                    response_format=schema,
                    max_completion_tokens=200,
                    temperature=1,
                    seed=seed,
                )
            )
            choice = answer.choices[0]
            self.assertEqual(choice.finish_reason, "stop", choice)
            city = json.loads(choice.message.content)
            self.assertEqual(set(city), {"name", "population"})
            self.assertIsInstance(city["population"], int)
            self.assertIn(city["population"], range(40_000_001))

    def test_four_chats_at_once_say_what_they_say_alone(self):
        # Batching changes rounding, so that long texts may diverge where two tokens are nearly equally
        # likely. These answers have clear and different beginnings.
        questions = [
            "What is the capital of France?",
            "Who wrote Romeo and Juliet?",
            "What is the chemical formula of water?",
            "Which planet is closest to the sun?",
        ]

        def begin(question):
            return self.chat(question, max_completion_tokens=8).choices[0].message.content

        alone = [self.until_ready(lambda question=question: begin(question)) for question in questions]
        self.assertEqual(len(set(alone)), 4, alone)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            self.assertEqual(list(pool.map(begin, questions)), alone)

    def test_sentences_alike_have_embeddings_alike(self):
        texts = ["A man is eating food.", "Someone has a meal.", "The stock market fell today."]
        create = self.client().embeddings.create
        answer = self.until_ready(lambda: create(model="default", input=texts))
        vectors = [item.embedding for item in answer.data]
        self.assertEqual({len(vector) for vector in vectors}, {384})
        near, far = cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2])
        self.assertLess(0.4, near)
        self.assertLess(far, 0.3)

    def test_what_is_spoken_is_understood(self):
        client = self.client()
        speak, transcribe = client.audio.speech.create, client.audio.transcriptions.create
        for model, voice in [("tts-hibari", "af_heart"), ("tts-kokoro", "af_sky")]:
            sound = self.until_ready(
                lambda model=model, voice=voice: speak(model=model, voice=voice, input=SENTENCE, response_format="mp3")
            )
            file = ("speech.mp3", sound.content)
            heard = self.until_ready(lambda file=file: transcribe(model="moonshine-tiny", file=file))
            self.assertEqual(words(heard.text), words(SENTENCE), model)

    def test_the_terminal_has_a_conversation(self):
        self.until_ready(lambda: self.chat("Hello."))
        said = self.server.command("chat", "What is the capital of France?")
        self.assertTrue(said.strip())
        tried = json.loads(self.server.command("models", "test", "smollm2-135m", "--json"))
        self.assertEqual(tried["id"], "smollm2-135m")
        # The temporary key was removed again.
        keys = json.loads(self.server.command("keys", "list", "--json"))
        self.assertNotIn("a `tollgate` command", [key["description"] for key in keys])


def cosine(a, b):
    def length(vector):
        return math.sqrt(sum(x * x for x in vector))

    return sum(x * y for x, y in zip(a, b, strict=True)) / (length(a) * length(b))


def words(text):
    return re.findall(r"[a-z]+", text.lower())
