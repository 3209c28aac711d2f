"""The catalogue of the client tests, without an engine."""

CONFIG = """
[[provider]]
id = "nowhere"
kind = "openai"
base_url = "http://127.0.0.1:9/v1"

[[model]]
id = "small-text"
type = "text"
provider = "nowhere"
context_tokens = 8192
traits = ["default"]
price = { input_usd_per_million = "0.10", output_usd_per_million = "0.40" }
"""
