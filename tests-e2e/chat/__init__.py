"""Tests of chat, responses, completions and embeddings with real clients and a scripted upstream."""
