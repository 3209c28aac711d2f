"""A Python client of openapi-generator: it is generated, and its calls decode."""

import importlib
import pathlib
import sys
import unittest

from generated.service import GeneratedCase

PACKAGE = "made_client"
# Only the client itself: its tests and its pages would double the time.
PARTS = "apis,models,supportingFiles,apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"


class OpenapiGenerator(GeneratedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tool = pathlib.Path(sys.executable).with_name("openapi-generator-cli")
        line = [tool, "generate", "-g", "python", "-i", cls.document, "-o", cls.folder / "made"]
        line += ["--global-property", PARTS, "--additional-properties", f"packageName={PACKAGE}"]
        cls.run_tool(*line)
        sys.path.insert(0, str(cls.folder / "made"))
        cls.addClassCleanup(sys.path.remove, str(cls.folder / "made"))
        cls.made = importlib.import_module(PACKAGE)
        settings = cls.made.Configuration(host=cls.server.api, access_token=cls.key)
        cls.client = cls.enterClassContext(cls.made.ApiClient(settings))

    def chat(self, model):
        messages = [{"role": "user", "content": "Hi"}]
        body = self.made.ChatCompletionRequest.from_dict({"model": model, "messages": messages})
        return self.made.ChatApi(self.client).create_chat_completion(body)

    def test_models_decode_with_all_their_members(self):
        # The generated type is a union with the form for requests that have `anthropic-version`.
        listed = self.made.ModelsApi(self.client).list_models(type=self.made.ModelFilter.ALL)
        self.assertIsInstance(listed.actual_instance, self.made.ModelList)
        models = {model.actual_instance.id: model.actual_instance for model in listed.actual_instance.data}
        self.assertIsInstance(models["small-text"], self.made.ModelText)
        self.assertEqual(models["small-text"].model_spec.available_context_tokens, 8192)
        self.assertIn("ModelEmbedding", {type(model).__name__ for model in models.values()})

    def test_a_chat_is_answered(self):
        answer = self.chat("small-text")
        self.assertTrue(answer.choices[0].message.content)

    def test_a_refusal_decodes(self):
        with self.assertRaises(self.made.exceptions.NotFoundException) as raised:
            self.chat("no-such-model")
        self.assertIsInstance(raised.exception.data, self.made.StandardError)
        self.assertIn("model not found", raised.exception.data.error)


if __name__ == "__main__":
    unittest.main()
