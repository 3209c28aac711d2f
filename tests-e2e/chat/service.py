"""The service under test with a scripted upstream, and API keys for its clients."""

from scripted import ScriptedService

from chat.upstream import EMBEDDING_INPUTS_MAX, Upstream

CONFIG = """
[[provider]]
id = "scripted"
kind = "openai"
base_url = "{url}"
max_embedding_inputs = {inputs_max}

[[model]]
id = "small-text"
type = "text"
provider = "scripted"
tier = "XS"
context_tokens = 8192
max_completion_tokens = 2048
traits = ["default"]
capabilities = ["tools", "json_schema", "vision", "reasoning", "documents"]
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00", cache_input_usd_per_million = "0.50" }}

[[model]]
id = "large-text"
type = "text"
provider = "scripted"
tier = "L"
context_tokens = 8192
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "4.00" }}

[[model]]
id = "small-rerank"
type = "rerank"
provider = "scripted"
max_input_tokens = 512
price = {{ input_usd_per_million = "1.00", per_thousand_documents_usd = "2.00" }}

[[model]]
id = "small-moderation"
type = "moderation"
provider = "scripted"
traits = ["default"]
price = {{ input_usd_per_million = "1.00" }}

[[model]]
id = "small-embedding"
type = "embedding"
provider = "scripted"
dimensions = 3
price = {{ input_usd_per_million = "1.00", output_usd_per_million = "1.00" }}
"""
# The rate limit of `large-text` for the account `default`.
LARGE_REQUESTS_PER_MINUTE = 20


class ServiceCase(ScriptedService):
    upstream_class = Upstream
    config = CONFIG.replace("{inputs_max}", str(EMBEDDING_INPUTS_MAX))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.create_account("poor")
        cls.poor = cls.server.create_key("inference", account="poor")
