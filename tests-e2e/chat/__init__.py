"""Real clients of chat, responses, completions and embeddings, in front of a scripted upstream."""
