"""Tests unmodified LangChain with its OpenAI package: chats, streams, tools, schemas and embeddings."""

import unittest

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from chat.service import ServiceCase
from chat.upstream import CITY, GREETING, PROMPT_TOKENS


class City(BaseModel):
    """A city."""

    city: str
    population: int


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"sun in {city}"


class LangChain(ServiceCase):
    def model(self, **options):
        options = {"model": "small-text", "max_retries": 0, **options}
        return ChatOpenAI(base_url=self.server.api, api_key=self.key, **options)

    def test_a_chat_is_answered_with_its_usage(self):
        answer = self.model().invoke("Hi")
        self.assertEqual(answer.content, GREETING)
        self.assertEqual(answer.usage_metadata["input_tokens"], PROMPT_TOKENS)

    def test_a_stream_adds_up_and_has_its_usage(self):
        whole = None
        for chunk in self.model(stream_usage=True).stream("Hi"):
            whole = chunk if whole is None else whole + chunk
        self.assertEqual(whole.content, GREETING)
        self.assertEqual(whole.usage_metadata["input_tokens"], PROMPT_TOKENS)

    def test_a_tool_is_called_and_its_result_is_read(self):
        model = self.model().bind_tools([get_weather])
        asked = [HumanMessage("What is the weather in Paris?")]
        called = model.invoke(asked)
        self.assertEqual(called.tool_calls[0]["args"], {"city": "Paris"})
        result = get_weather.invoke(called.tool_calls[0])
        self.assertIsInstance(result, ToolMessage)
        answer = model.invoke([*asked, called, result])
        self.assertEqual(answer.content, "The tool says: sun in Paris")

    def test_an_answer_is_parsed_into_a_model_of_its_schema(self):
        model = self.model().with_structured_output(City, method="json_schema")
        self.assertEqual(model.invoke("A city?"), City(**CITY))

    def test_texts_are_embedded_in_their_order(self):
        embeddings = OpenAIEmbeddings(
            base_url=self.server.api,
            api_key=self.key,
            model="small-embedding",
            # Otherwise LangChain first splits the text into tokens of OpenAI's models.
            check_embedding_ctx_length=False,
        )
        vectors = embeddings.embed_documents(["a", "bb", "ccc"])
        self.assertEqual([vector[0] for vector in vectors], [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
