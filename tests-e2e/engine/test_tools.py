"""Tests of tool calls with a real model that was trained for them. It is large and downloaded on demand:
`tollgate models pull qwen2.5-coder-0.5b` with the data directory of TOLLGATE_TEST_MODELS."""

import json
import pathlib
import unittest

import openai

from engine.service import MODELS, EngineCase, user

MODEL = "qwen2.5-coder-0.5b"
HAS_MODEL = bool(MODELS) and pathlib.Path(MODELS, MODEL).is_dir()


def tool(name, description, **properties):
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


CITY = {"type": "string", "description": "The name of a city."}
WEATHER = tool("get_weather", "Tells the weather of a city now.", city=CITY)
TIME = tool("get_time", "Tells the time in a city now.", city=CITY)
TOOLS = [WEATHER, TIME]
QUESTION = "What is the weather in Paris now? Use a tool."


@unittest.skipUnless(HAS_MODEL, f"TOLLGATE_TEST_MODELS has no {MODEL}")
class ToolsTest(EngineCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.command("models", "pull", MODEL)

    def chat(self, messages, **options):
        options = {"model": MODEL, "max_completion_tokens": 200, "temperature": 0, **options}
        return self.until_ready(lambda: self.client().chat.completions.create(messages=messages, **options))

    def check_calls(self, choice, names):
        """Asserts that the calls are of these functions, with a city each."""
        self.assertEqual(choice.finish_reason, "tool_calls", choice)
        calls = choice.message.tool_calls
        self.assertEqual([call.function.name for call in calls], names)
        self.assertEqual(len({call.id for call in calls}), len(calls))
        arguments = [json.loads(call.function.arguments) for call in calls]
        for argument in arguments:
            self.assertEqual(list(argument), ["city"])
        return arguments

    def test_a_model_calls_a_tool_when_it_is_required(self):
        answer = self.chat(user(QUESTION), tools=TOOLS, tool_choice="required")
        choice = answer.choices[0]
        names = [call.function.name for call in choice.message.tool_calls]
        self.assertLessEqual(set(names), {"get_weather", "get_time"})
        self.check_calls(choice, names)

    def test_a_named_tool_is_the_one_that_is_called(self):
        for name in ("get_weather", "get_time"):
            named = {"type": "function", "function": {"name": name}}
            answer = self.chat(user(QUESTION), tools=TOOLS, tool_choice=named)
            [argument] = self.check_calls(answer.choices[0], [name])
            self.assertIn("Paris", argument["city"])

    def test_a_model_calls_a_tool_of_its_own_accord(self):
        answer = self.chat(user(QUESTION), tools=TOOLS)
        [argument] = self.check_calls(answer.choices[0], ["get_weather"])
        self.assertEqual(argument, {"city": "Paris"})

    def test_no_tool_is_called_where_none_may_be(self):
        answer = self.chat(user(QUESTION), tools=TOOLS, tool_choice="none")
        choice = answer.choices[0]
        self.assertFalse(choice.message.tool_calls)
        self.assertNotEqual(choice.finish_reason, "tool_calls")
        self.assertNotIn("<tool_call>", choice.message.content)

    def test_one_call_is_enough_where_no_parallel_ones_are_wanted(self):
        question = user("What is the weather in Paris and in Rome?")
        answer = self.chat(question, tools=[WEATHER], tool_choice="required", parallel_tool_calls=False)
        self.check_calls(answer.choices[0], ["get_weather"])

    def test_several_calls_come_at_once(self):
        question = user("What is the weather in Paris, and what is the weather in Rome? Call the tool twice.")
        answer = self.chat(question, tools=[WEATHER], tool_choice="required")
        names = [call.function.name for call in answer.choices[0].message.tool_calls]
        arguments = self.check_calls(answer.choices[0], names)
        cities = [argument["city"] for argument in arguments]
        self.assertEqual(cities, ["Paris", "Rome"])

    def test_a_stream_tells_the_same_calls(self):
        options = {"tools": TOOLS, "tool_choice": "required"}
        whole = self.chat(user(QUESTION), **options).choices[0].message.tool_calls
        stream = self.chat(user(QUESTION), stream=True, **options)
        told, finishes = {}, []
        for chunk in stream:
            for choice in chunk.choices:
                finishes += [choice.finish_reason] if choice.finish_reason else []
                for call in choice.delta.tool_calls or []:
                    name, arguments = told.get(call.index, ("", ""))
                    name += call.function.name or ""
                    told[call.index] = (name, arguments + (call.function.arguments or ""))
        expected = [(call.function.name, call.function.arguments) for call in whole]
        self.assertEqual([told[index] for index in sorted(told)], expected)
        self.assertEqual(finishes, ["tool_calls"])

    def test_a_tools_result_is_read_in_the_next_turn(self):
        named = {"type": "function", "function": {"name": "get_weather"}}
        first = self.chat(user(QUESTION), tools=TOOLS, tool_choice=named)
        said = first.choices[0].message
        result = {
            "role": "tool",
            "tool_call_id": said.tool_calls[0].id,
            "content": json.dumps({"weather": "snow", "celsius": -7}),
        }
        turns = [*user(QUESTION), said.model_dump(exclude_none=True), result]
        # A model this small repeats the result instead of using it in a sentence.
        answer = self.chat(turns, tools=TOOLS, tool_choice="none")
        self.assertIn("snow", answer.choices[0].message.content)
        self.assertEqual(answer.choices[0].finish_reason, "stop")

    def test_a_model_that_knows_no_tools_says_so(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.client().chat.completions.create(model="smollm2-135m", messages=user(QUESTION), tools=TOOLS)
        self.assertIn("tools", caught.exception.response.text)
