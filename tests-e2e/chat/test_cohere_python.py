"""Tests the unmodified Cohere SDK for Python, for reranking: ordered results, tokens, and errors."""

import unittest

import cohere

from chat.service import ServiceCase

QUERY = "ships in a harbour"
DOCUMENTS = ["bread from flour", "a harbour full of ships in a storm", "ships"]


class Rerank(ServiceCase):
    def client(self, kind=cohere.ClientV2, key=None):
        return kind(api_key=key or self.key, base_url=self.server.url)

    def test_documents_are_ordered_and_counted(self):
        ranked = self.client().rerank(model="small-rerank", query=QUERY, documents=DOCUMENTS)
        self.assertEqual([result.index for result in ranked.results], [1, 2, 0])
        self.assertEqual(ranked.results[0].relevance_score, 1.0)
        words = 3 * len(QUERY.split()) + sum(len(text.split()) for text in DOCUMENTS)
        self.assertEqual(ranked.meta.tokens.input_tokens, words)
        self.assertEqual(ranked.meta.billed_units.input_tokens, words)
        self.assertTrue(ranked.id)

    def test_the_best_are_chosen(self):
        ranked = self.client().rerank(model="small-rerank", query=QUERY, documents=DOCUMENTS, top_n=2)
        self.assertEqual([result.index for result in ranked.results], [1, 2])

    def test_the_older_client_gets_its_documents_back(self):
        ranked = self.client(cohere.Client).rerank(
            model="small-rerank", query=QUERY, documents=DOCUMENTS, top_n=1, return_documents=True
        )
        self.assertEqual(ranked.results[0].document.text, DOCUMENTS[1])

    def test_errors_have_their_classes(self):
        for error, options in [
            (cohere.BadRequestError, {"documents": []}),
            (cohere.NotFoundError, {"model": "no-such-model"}),
            (cohere.UnauthorizedError, {"key": "sk-wrong"}),
        ]:
            key = options.pop("key", None)
            asked = {"model": "small-rerank", "query": QUERY, "documents": DOCUMENTS, **options}
            with self.assertRaises(error):
                self.client(key=key).rerank(**asked)


if __name__ == "__main__":
    unittest.main()
