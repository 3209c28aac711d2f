"""Tests a client from openapi-python-client: the whole document becomes code, and responses decode."""

import importlib
import pathlib
import sys
import unittest

from generated.service import GeneratedCase

# File bodies have no class; nothing else may be left out.
ALLOWED_WARNING = "Unsupported content_type"


class PythonClient(GeneratedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tool = pathlib.Path(sys.executable).with_name("openapi-python-client")
        line = [tool, "generate", "--path", cls.document, "--output-path", cls.folder / "python", "--meta", "none"]
        cls.told = cls.run_tool(*line)
        sys.path.insert(0, str(cls.folder))
        cls.addClassCleanup(sys.path.remove, str(cls.folder))
        client = importlib.import_module("python.client")
        cls.client = client.AuthenticatedClient(base_url=cls.server.api, token=cls.key)

    def call(self, path, **fields):
        return importlib.import_module(f"python.api.{path}").sync(client=self.client, **fields)

    def test_nothing_of_the_document_is_left_out_but_files(self):
        refused = [line for line in self.told.splitlines() if line.startswith("Unable to process schema")]
        self.assertEqual(refused, [])
        left_out = [line for line in self.told.splitlines() if line.startswith("Cannot parse")]
        self.assertEqual([line for line in left_out if ALLOWED_WARNING not in line], [])

    def test_models_decode_with_all_their_members(self):
        models = importlib.import_module("python.models")
        listed = self.call("models.list_models", type_=models.ModelFilter.ALL)
        small = next(model for model in listed.data if model.id == "small-text")
        self.assertIsInstance(small, models.ModelText)
        self.assertEqual(small.model_spec.available_context_tokens, 8192)
        kinds = {type(model).__name__ for model in listed.data}
        self.assertIn("ModelEmbedding", kinds)

    def test_a_chat_is_answered(self):
        models = importlib.import_module("python.models")
        message = models.MessageUser(role="user", content="Hi")
        body = models.ChatCompletionRequest(messages=[message], model="small-text")
        answer = self.call("chat.create_chat_completion", body=body)
        self.assertIsInstance(answer, models.ChatCompletion)
        self.assertTrue(answer.choices[0].message.content)

    def test_a_refusal_decodes(self):
        models = importlib.import_module("python.models")
        body = models.ChatCompletionRequest(messages=[], model="small-text")
        answer = self.call("chat.create_chat_completion", body=body)
        self.assertEqual(answer.error, "Invalid request parameters")


if __name__ == "__main__":
    unittest.main()
