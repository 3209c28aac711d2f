"""The OpenAI SDK in front of the built-in engine, with the real small models."""
