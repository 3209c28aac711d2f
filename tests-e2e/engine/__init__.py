"""Tests of the built-in engine with the OpenAI SDK and real small models."""
