"""Tests the unmodified OpenAI SDK for Python: chats, streams, tools, schemas, embeddings, moderations and errors."""

import base64
import json
import mimetypes
import pathlib
import struct
import time
import unittest
import urllib.request

import openai
import pydantic

from chat.service import LARGE_REQUESTS_PER_MINUTE, ServiceCase
from chat.upstream import CACHED_TOKENS, CITY, GREETING, PROMPT_TOKENS, SLOW_WORDS_MAX

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABAAQMAAACQp+OdAAAAA1BMVEX/AAAZ4gk3"
    "AAAAD0lEQVR42mNgGAWjgJoAAAJAAAGccsTLAAAAAElFTkSuQmCC"
)
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
GOLDEN = pathlib.Path(__file__).parents[2] / "crates/formats/documents/tests/golden"
HANGUP_SECONDS_MAX = 10
SETTLE_SECONDS_MAX = 10


class City(pydantic.BaseModel):
    city: str
    population: int


def user(content):
    return [{"role": "user", "content": content}]


class PythonCase(ServiceCase):
    def client(self, key=None, **options):
        options = {"max_retries": 0, **options}
        client = openai.OpenAI(base_url=self.server.api, api_key=key or self.key, **options)
        self.addCleanup(client.close)
        return client

    def balance(self):
        request = urllib.request.Request(f"{self.server.api}/billing/balance")
        request.add_header("Authorization", f"Bearer {self.admin}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)["balances"]["usd"]


class Chat(PythonCase):
    def test_a_chat_is_answered_and_costs_what_its_tokens_cost(self):
        before = self.balance()
        answer = self.client().chat.completions.create(model="small-text", messages=user("Hi"))
        self.assertEqual(answer.choices[0].message.content, GREETING)
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.model, "small-text")
        self.assertEqual(answer.usage.prompt_tokens, PROMPT_TOKENS)
        self.assertEqual(answer.usage.prompt_tokens_details.cached_tokens, CACHED_TOKENS)
        cost = (PROMPT_TOKENS - CACHED_TOKENS) * 1e-6 + CACHED_TOKENS * 0.5e-6
        cost += answer.usage.completion_tokens * 4e-6
        self.assertAlmostEqual(answer.cost["usd"], cost, places=12)
        self.assertAlmostEqual(before - self.balance(), cost, places=9)

    def test_every_reply_carries_its_request_id_and_what_is_left(self):
        raw = self.client().chat.completions.with_raw_response.create(model="small-text", messages=user("Hi"))
        self.assertRegex(raw.headers["x-request-id"], "^[0-9a-f]{32}$")
        self.assertEqual(raw.parse()._request_id, raw.headers["x-request-id"])
        self.assertGreater(float(raw.headers["x-balance-remaining"]), 0)

    def test_a_stream_comes_in_pieces_and_ends_with_its_usage(self):
        stream = self.client().chat.completions.create(
            model="small-text",
            messages=user("Hi"),
            stream=True,
            stream_options={"include_usage": True},
        )
        chunks = list(stream)
        pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
        self.assertEqual("".join(pieces), GREETING)
        self.assertGreater(len(pieces), 2)
        self.assertEqual({chunk.id for chunk in chunks}, {chunks[0].id})
        self.assertEqual({chunk.model for chunk in chunks}, {"small-text"})
        self.assertEqual(chunks[-1].choices, [])
        self.assertEqual(chunks[-1].usage.prompt_tokens, PROMPT_TOKENS)

    def test_the_streaming_helper_puts_the_answer_together(self):
        with self.client().chat.completions.stream(model="small-text", messages=user("Hi")) as stream:
            for _ in stream:
                pass
            answer = stream.get_final_completion()
        self.assertEqual(answer.choices[0].message.content, GREETING)

    def test_a_tool_is_called_and_its_result_is_read(self):
        client = self.client()
        asked = user("What is the weather in Paris?")
        answer = client.chat.completions.create(
            model="small-text", messages=asked, tools=[WEATHER], tool_choice="required"
        )
        call = answer.choices[0].message.tool_calls[0]
        self.assertEqual(answer.choices[0].finish_reason, "tool_calls")
        self.assertEqual(json.loads(call.function.arguments), {"city": "Paris"})
        result = {"role": "tool", "tool_call_id": call.id, "content": "sun"}
        messages = [*asked, answer.choices[0].message, result]
        answer = client.chat.completions.create(model="small-text", messages=messages, tools=[WEATHER])
        self.assertEqual(answer.choices[0].message.content, "The tool says: sun")

    def test_a_streamed_tool_call_is_put_together(self):
        with self.client().chat.completions.stream(
            model="small-text", messages=user("Weather?"), tools=[WEATHER]
        ) as stream:
            answer = stream.get_final_completion()
        call = answer.choices[0].message.tool_calls[0]
        self.assertEqual(call.function.name, "get_weather")
        self.assertEqual(json.loads(call.function.arguments), {"city": "Paris"})

    def test_an_answer_is_parsed_into_a_model_of_its_schema(self):
        answer = self.client().chat.completions.parse(
            model="small-text", messages=user("A city?"), response_format=City
        )
        self.assertEqual(answer.choices[0].message.parsed, City(**CITY))
        sent = self.upstream.requests[-1]["response_format"]["json_schema"]
        self.assertEqual((sent["name"], sent["strict"]), ("City", True))

    def test_an_image_reaches_the_upstream(self):
        parts = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": PIXEL}},
        ]
        answer = self.client().chat.completions.create(model="small-text", messages=user(parts))
        self.assertEqual(answer.choices[0].message.content, "I see 1 image.")

    def test_a_document_reaches_the_upstream(self):
        data = "data:application/pdf;base64," + base64.b64encode(b"%PDF-1.7").decode()
        parts = [
            {"type": "text", "text": "Sum it up."},
            {"type": "file", "file": {"filename": "report.pdf", "file_data": data}},
        ]
        answer = self.client().chat.completions.create(model="small-text", messages=user(parts))
        self.assertEqual(answer.choices[0].message.content, "I read report.pdf.")

    def test_the_text_of_a_file_reaches_the_upstream(self):
        # As in the SDK's guides: encoded, with the type that Python guesses.
        for name, text in {
            "python-docx.docx": "Quarterly report\nRevenue rose by 12 %",
            "openpyxl.xlsx": "2025-02-28\tTea\t2.3\t10",
            "ebooklib.epub": "Chapter 1\nIt was day.",
            "reportlab-form.pdf": "Name:\tAda Lovelace\n\nCity:\tLondon",
            "pdflatex.pdf": "The difficult office flow",
        }.items():
            media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
            content = base64.b64encode((GOLDEN / name).read_bytes()).decode()
            data = f"data:{media_type};base64,{content}"
            part = {"type": "file", "file": {"filename": name, "file_data": data}}
            self.client().chat.completions.create(model="large-text", messages=user([part]))
            sent = self.upstream.requests[-1]["messages"][-1]["content"][0]["text"]
            self.assertTrue(sent.startswith(f"[File: {name}]\n"), sent)
            self.assertIn(text, sent)

    def test_an_address_of_the_operators_network_is_a_bad_request(self):
        asked = len(self.upstream.requests)
        for url in ("http://169.254.169.254/latest/meta-data/", "http://localhost:8080/a.png"):
            part = {"type": "image_url", "image_url": {"url": url}}
            with self.assertRaises(openai.BadRequestError) as raised:
                self.client().chat.completions.create(model="small-text", messages=user([part]))
            self.assertIn("did not pass validation checks", raised.exception.response.text)
        self.assertEqual(len(self.upstream.requests), asked)

    def test_thoughts_come_beside_the_answer(self):
        answer = self.client().chat.completions.create(model="small-text", messages=user("think"))
        self.assertEqual(answer.choices[0].message.reasoning_content, "Hm.")
        self.assertEqual(answer.choices[0].message.content, GREETING)


class Streams(PythonCase):
    def test_a_caller_who_leaves_early_ends_the_work_and_pays_for_a_part(self):
        before = self.balance()
        stream = self.client().chat.completions.create(model="small-text", messages=user("slow"), stream=True)
        for number, _ in enumerate(stream):
            if number == 5:
                break
        stream.close()
        self.assertTrue(self.upstream.hangups.acquire(timeout=HANGUP_SECONDS_MAX))
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while self.balance() == before and time.monotonic() < deadline:
            time.sleep(0.05)
        paid = before - self.balance()
        self.assertGreater(paid, 0)
        self.assertLess(paid, SLOW_WORDS_MAX * 4e-6)

    def test_an_upstream_that_breaks_off_is_an_error_and_not_a_short_answer(self):
        stream = self.client().chat.completions.create(model="small-text", messages=user("break off"), stream=True)
        with self.assertRaises(openai.APIError) as raised:
            list(stream)
        self.assertEqual(raised.exception.code, "upstream_error")


class Responses(PythonCase):
    def test_a_text_is_answered(self):
        answer = self.client().responses.create(model="small-text", instructions="Be kind.", input="Hi")
        self.assertEqual(answer.output_text, GREETING)
        self.assertEqual((answer.status, answer.model), ("completed", "small-text"))
        self.assertEqual(answer.usage.input_tokens, PROMPT_TOKENS)
        self.assertEqual(answer.usage.input_tokens_details.cached_tokens, CACHED_TOKENS)

    def test_a_stream_is_put_together_by_the_helper(self):
        with self.client().responses.stream(model="small-text", input="think") as stream:
            events = list(stream)
            answer = stream.get_final_response()
        self.assertEqual(answer.output_text, GREETING)
        self.assertEqual([item.type for item in answer.output], ["reasoning", "message"])
        numbers = [event.sequence_number for event in events]
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_a_function_is_called_and_its_output_is_read(self):
        client = self.client()
        tools = [{"type": "function", **WEATHER["function"]}]
        asked = user("What is the weather in Paris?")
        answer = client.responses.create(model="small-text", input=asked, tools=tools)
        call = answer.output[0]
        self.assertEqual((call.type, call.name), ("function_call", "get_weather"))
        self.assertEqual(json.loads(call.arguments), {"city": "Paris"})
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "sun"}
        answer = client.responses.create(model="small-text", input=[*asked, *answer.output, result], tools=tools)
        self.assertEqual(answer.output_text, "The tool says: sun")

    def test_a_file_is_read_or_passed_on(self):
        content = base64.b64encode((GOLDEN / "reportlab-form.pdf").read_bytes()).decode()
        data = f"data:application/pdf;base64,{content}"
        parts = [
            {"type": "input_text", "text": "Who is it?"},
            {"type": "input_file", "filename": "form.pdf", "file_data": data},
        ]
        self.client().responses.create(model="large-text", input=user(parts))
        sent = self.upstream.requests[-1]["messages"][-1]["content"][1]["text"]
        self.assertEqual(sent, "[File: form.pdf]\nName:\tAda Lovelace\n\nCity:\tLondon")
        answer = self.client().responses.create(model="small-text", input=user(parts))
        self.assertEqual(answer.output_text, "I read form.pdf.")

    def test_an_answer_is_parsed_into_a_model_of_its_schema(self):
        answer = self.client().responses.parse(model="small-text", input="A city?", text_format=City)
        self.assertEqual(answer.output_parsed, City(**CITY))

    def test_an_upstream_that_breaks_off_is_a_failed_response(self):
        events = list(self.client().responses.create(model="small-text", input="break off", stream=True))
        self.assertEqual(events[-1].type, "response.failed")
        self.assertEqual(events[-1].response.error.code, "upstream_error")

    def test_a_response_is_stored_continued_and_deleted(self):
        client = self.client()
        first = client.responses.create(model="small-text", input="I am Ada.", store=True, metadata={"a": "b"})
        self.assertEqual(client.responses.retrieve(first.id).output_text, GREETING)
        items = list(client.responses.input_items.list(first.id))
        self.assertEqual(items[0].content[0].text, "I am Ada.")
        second = client.responses.create(model="small-text", input="Who?", previous_response_id=first.id)
        self.assertEqual((second.previous_response_id, second.output_text), (first.id, GREETING))
        sent = json.dumps(self.upstream.requests[-1]["messages"])
        self.assertTrue(all(text in sent for text in ("I am Ada.", GREETING, "Who?")), sent)
        client.responses.delete(first.id)
        with self.assertRaises(openai.NotFoundError):
            client.responses.retrieve(first.id)

    def test_a_conversation_grows_with_its_turns(self):
        client = self.client()
        conversation = client.conversations.create(
            items=[{"type": "message", "role": "user", "content": "I am Ada."}], metadata={"topic": "names"}
        )
        self.assertEqual(conversation.metadata, {"topic": "names"})
        client.responses.create(model="small-text", input="Who?", conversation=conversation.id)
        items = list(client.conversations.items.list(conversation.id, order="asc"))
        self.assertEqual([item.content[0].text for item in items], ["I am Ada.", "Who?", GREETING])
        one = client.conversations.items.retrieve(items[0].id, conversation_id=conversation.id)
        self.assertEqual(one.id, items[0].id)
        client.conversations.items.delete(items[0].id, conversation_id=conversation.id)
        added = client.conversations.items.create(conversation.id, items=[{"role": "user", "content": "More."}])
        self.assertEqual(added.data[0].content[0].text, "More.")
        self.assertEqual(len(list(client.conversations.items.list(conversation.id))), 3)
        client.conversations.update(conversation.id, metadata={"topic": "more"})
        self.assertEqual(client.conversations.retrieve(conversation.id).metadata, {"topic": "more"})
        self.assertTrue(client.conversations.delete(conversation.id).deleted)

    def test_a_background_response_is_polled_and_cancelled(self):
        client = self.client()
        answer = client.responses.create(model="small-text", input="Hi", background=True)
        self.assertIn(answer.status, ("queued", "in_progress"))
        deadline = time.monotonic() + SETTLE_SECONDS_MAX
        while answer.status in ("queued", "in_progress") and time.monotonic() < deadline:
            time.sleep(0.1)
            answer = client.responses.retrieve(answer.id)
        self.assertEqual((answer.status, answer.output_text), ("completed", GREETING))
        slow = client.responses.create(model="small-text", input="slow", background=True)
        self.assertEqual(client.responses.cancel(slow.id).status, "cancelled")
        self.assertEqual(client.responses.cancel(slow.id).status, "cancelled")

    def test_a_background_stream_is_resumed(self):
        client = self.client()
        stream = client.responses.create(model="small-text", input="Hi", background=True, stream=True)
        begun = [next(iter(stream)) for _ in range(1)]
        stream.close()
        name = begun[0].response.id
        rest = list(client.responses.retrieve(name, stream=True, starting_after=begun[-1].sequence_number))
        numbers = [event.sequence_number for event in [*begun, *rest]]
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(rest[-1].type, "response.completed")
        self.assertEqual(rest[-1].response.output_text, GREETING)


class Completions(PythonCase):
    def test_a_text_is_continued(self):
        answer = self.client().completions.create(model="small-text", prompt="one two", suffix="four", max_tokens=8)
        self.assertEqual(answer.choices[0].text, " two before four")
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.usage.prompt_tokens, PROMPT_TOKENS)

    def test_a_stream_adds_up(self):
        stream = self.client().completions.create(model="small-text", prompt="one two", stream=True)
        self.assertEqual("".join(chunk.choices[0].text for chunk in stream), " two")

    def test_several_texts_are_continued_and_repeated(self):
        answer = self.client().completions.create(model="small-text", prompt=["one two", "three"], echo=True)
        texts = [choice.text for choice in answer.choices]
        self.assertEqual(texts, ["one two two", "three three"])
        self.assertEqual([choice.index for choice in answer.choices], [0, 1])


class Moderations(PythonCase):
    def test_each_text_gets_its_verdict(self):
        answer = self.client().moderations.create(model="small-moderation", input=["a hit", "a kiss"])
        self.assertEqual([result.flagged for result in answer.results], [True, False])
        self.assertEqual(answer.results[0].category_scores.violence, 1.0)
        self.assertEqual(answer.model, "small-moderation")

    def test_parts_get_one_verdict_from_the_default_model(self):
        parts = [{"type": "text", "text": "a kiss"}, {"type": "text", "text": "a hit"}]
        answer = self.client().moderations.create(input=parts)
        self.assertEqual([result.flagged for result in answer.results], [True])


class Embeddings(PythonCase):
    def test_vectors_come_in_the_order_of_their_texts_over_several_upstream_requests(self):
        texts = ["a", "bb", "ccc", "dddd", "eeeee"]
        answer = self.client().embeddings.create(model="small-embedding", input=texts)
        self.assertEqual([entry.embedding[0] for entry in answer.data], [1, 2, 3, 4, 5])
        self.assertEqual([entry.index for entry in answer.data], [0, 1, 2, 3, 4])
        self.assertEqual(answer.usage.prompt_tokens, 15)

    def test_floats_and_base64_are_the_same_numbers(self):
        client = self.client()
        floats = client.embeddings.create(model="small-embedding", input="abc", encoding_format="float")
        self.assertEqual(floats.data[0].embedding, [3, 0.5, -0.25])
        # The SDK requests base64 by itself and decodes it.
        self.assertEqual(
            client.embeddings.create(model="small-embedding", input="abc").data[0].embedding,
            floats.data[0].embedding,
        )
        text = client.embeddings.create(model="small-embedding", input="abc", encoding_format="base64")
        packed = struct.pack("<3f", 3, 0.5, -0.25)
        self.assertEqual(base64.b64decode(text.data[0].embedding), packed)


class Batches(PythonCase):
    def start(self, *bodies):
        lines = [
            json.dumps({"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions", "body": body})
            for number, body in enumerate(bodies)
        ]
        file = self.client().files.create(file=("lines.jsonl", "\n".join(lines).encode()), purpose="batch")
        batch = self.client().batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"a": "b"}
        )
        return file, batch

    def wait(self, batch):
        deadline = time.monotonic() + 60
        while batch.status in ("validating", "in_progress", "finalizing", "cancelling"):
            self.assertLess(time.monotonic(), deadline, batch)
            time.sleep(0.1)
            batch = self.client().batches.retrieve(batch.id)
        return batch

    def test_a_batch_runs_and_its_files_are_read_and_deleted(self):
        good = {"model": "small-text", "messages": [{"role": "user", "content": "Hi"}]}
        file, batch = self.start(good, {"model": "no-such-model", "messages": []})
        batch = self.wait(batch)
        self.assertEqual((batch.status, batch.metadata), ("completed", {"a": "b"}))
        counts = batch.request_counts
        self.assertEqual((counts.total, counts.completed, counts.failed), (2, 1, 1))
        result = json.loads(self.client().files.content(batch.output_file_id).text)
        self.assertEqual(result["response"]["status_code"], 200)
        failed = json.loads(self.client().files.content(batch.error_file_id).text)
        self.assertEqual(failed["custom_id"], "1")
        self.assertIn(batch.id, [listed.id for listed in self.client().batches.list(limit=5)])
        self.assertEqual(self.client().files.retrieve(batch.output_file_id).purpose, "batch_output")
        self.assertIn(file.id, [listed.id for listed in self.client().files.list()])
        self.assertTrue(self.client().files.delete(file.id).deleted)
        with self.assertRaises(openai.NotFoundError):
            self.client().files.retrieve(file.id)

    def test_a_batch_is_cancelled(self):
        good = {"model": "small-text", "messages": [{"role": "user", "content": "Hi"}]}
        _, batch = self.start(*[good] * 200)
        cancelled = self.client().batches.cancel(batch.id)
        self.assertIn(cancelled.status, ("cancelling", "cancelled"))
        self.assertEqual(self.wait(cancelled).status, "cancelled")

    def test_a_faulty_file_names_its_lines(self):
        file = self.client().files.create(file=("lines.jsonl", b"{}\n{broken"), purpose="batch")
        batch = self.client().batches.create(
            input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
        )
        batch = self.wait(batch)
        self.assertEqual(batch.status, "failed")
        self.assertEqual({fault.line for fault in batch.errors.data}, {1, 2})


class Errors(PythonCase):
    def check(self, error, ask):
        with self.assertRaises(error) as raised:
            ask()
        return raised.exception

    def chat(self, client, prompt="Hi", **options):
        options = {"model": "small-text", "messages": user(prompt), **options}
        return lambda: client.chat.completions.create(**options)

    def test_a_bad_field_is_a_bad_request_that_names_it(self):
        error = self.check(openai.BadRequestError, self.chat(self.client(), temperature=3))
        self.assertIn("temperature", str(error.body) + error.response.text)

    def test_what_the_upstream_rejects_is_told_in_its_words(self):
        error = self.check(openai.BadRequestError, self.chat(self.client(), "reject"))
        self.assertIn("The upstream rejects this.", error.response.text)

    def test_a_wrong_key_is_an_authentication_error(self):
        self.check(openai.AuthenticationError, self.chat(self.client(key="wrong")))

    def test_an_empty_account_is_told_apart_by_its_code(self):
        error = self.check(openai.APIStatusError, self.chat(self.client(key=self.poor)))
        self.assertEqual(error.status_code, 402)
        self.assertEqual(error.response.json()["code"], "INSUFFICIENT_BALANCE")

    def test_an_unknown_model_is_not_found_and_the_nearest_is_named(self):
        error = self.check(openai.NotFoundError, self.chat(self.client(), model="small-txt"))
        self.assertIn("small-text", error.response.text)

    def test_going_too_fast_is_a_rate_limit_error_with_its_wait(self):
        client = self.client()
        for _ in range(LARGE_REQUESTS_PER_MINUTE):
            self.chat(client, model="large-text", max_tokens=16)()
        error = self.check(openai.RateLimitError, self.chat(client, model="large-text"))
        self.assertLessEqual(1, int(error.response.headers["retry-after"]))
        self.assertEqual(error.response.headers["x-ratelimit-remaining-requests"], "0")

    def test_an_overloaded_upstream_is_asked_again_after_the_wait_it_named(self):
        started = time.monotonic()
        answer = self.chat(self.client(max_retries=1), "overloaded")()
        self.assertEqual(answer.choices[0].message.content, GREETING)
        self.assertLessEqual(1, time.monotonic() - started)


if __name__ == "__main__":
    unittest.main()
