"""Tests of the errors below /v1, with OpenAI's Python SDK and without a key."""

import json
import unittest
import urllib.error
import urllib.request

import openai
from catalogue import CONFIG
from server import Server

MESSAGES = [{"role": "user", "content": "Hi"}]
REQUEST_SECONDS_MAX = 30


class OpenAiErrors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server(config=CONFIG))
        cls.key = cls.server.create_key("inference")

    def raised(self, error, key=None, **fields):
        base_url = f"{self.server.url}/v1"
        with openai.OpenAI(base_url=base_url, api_key=key or self.key, max_retries=0) as client:
            with self.assertRaises(error) as raised:
                client.chat.completions.create(**{"messages": MESSAGES, **fields})
        return raised.exception

    def test_the_sdk_prints_which_model_was_meant(self):
        error = self.raised(openai.NotFoundError, model="small-txt")
        self.assertIn("Did you mean small-text?", str(error))
        self.assertEqual(error.type, "invalid_request_error")

    def test_the_sdk_knows_the_field_that_is_wrong(self):
        error = self.raised(openai.BadRequestError, model="small-text", temperature=9)
        self.assertEqual(error.param, "temperature")
        self.assertIn("temperature: Must be at most 2", str(error))

    def test_the_sdk_prints_what_is_wrong_with_the_key(self):
        error = self.raised(openai.AuthenticationError, key="wrong", model="small-text")
        self.assertEqual(error.code, "invalid_api_key")
        self.assertIn("Authentication failed", error.message)

    def test_a_caller_without_a_key_is_told_how_to_pay(self):
        body = json.dumps({"model": "small-text", "messages": MESSAGES}).encode()
        address = f"{self.server.url}/v1/chat/completions"
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(address, data=body, headers=headers)
        with self.assertRaises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(request, timeout=REQUEST_SECONDS_MAX)
        with raised.exception as answer:
            self.assertEqual(answer.code, 402)
            self.assertTrue(answer.headers["payment-required"])
            error = json.load(answer)["error"]
        self.assertEqual(set(error), {"message", "type", "param", "code"})
        self.assertEqual(error["code"], "AUTHENTICATION_REQUIRED")


if __name__ == "__main__":
    unittest.main()
