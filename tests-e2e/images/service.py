"""The service under test with image generation and edit models, and API keys for its clients."""

import json
import urllib.request

from scripted import ScriptedService

from images.upstream import Upstream

CONFIG = """
[[provider]]
id = "scripted"
kind = "openai"
base_url = "{url}"

[[model]]
id = "painter"
type = "image"
provider = "scripted"
traits = ["default"]
price = {{ per_image_usd = "0.01" }}

[[model]]
id = "tiered"
type = "image"
provider = "scripted"
aspect_ratios = ["1:1", "16:9"]
resolutions = ["1K", "2K"]
qualities = ["low", "high"]
default_quality = "high"

[model.price]
resolutions = {{ "1K" = "0.05", "2K" = "0.09" }}
quality = {{ "1K" = {{ low_usd = "0.02", medium_usd = "0.03", high_usd = "0.05" }} }}

[[model]]
id = "editor"
type = "inpaint"
provider = "scripted"
traits = ["default"]
aspect_ratios = ["1:1", "16:9"]
combine_images = true
price = {{ per_edit_usd = "0.04", included_images = 1, additional_image_usd = "0.005" }}
"""


class ServiceCase(ScriptedService):
    upstream_class = Upstream
    config = CONFIG

    def post(self, path, body):
        """The status, headers and content of a response."""
        data = json.dumps(body).encode()
        request = urllib.request.Request(f"{self.server.api}{path}", data=data)
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()
