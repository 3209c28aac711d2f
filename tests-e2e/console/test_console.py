"""Tests of the console in Debian's Chromium, on a service with a scripted upstream."""

import os
import re
import unittest

from chat.service import ServiceCase

from console.mcp_server import ScriptedMcpServer
from console.suite import browse

SUITE_SECONDS_MAX = 600
# A model whose provider cannot be reached.
UNREACHABLE = """
[[provider]]
id = "nobody"
kind = "openai"
base_url = "http://127.0.0.1:9/v1"

[[model]]
id = "out-of-reach"
type = "text"
provider = "nobody"
tier = "S"
context_tokens = 8192
price = { input_usd_per_million = "1.00", output_usd_per_million = "4.00" }
"""


# Servers are read at the start only, so they are in the first configuration.
MCP_SERVERS = """
[[mcp_server]]
label = "weather"
description = "Weather of cities"
url = "%s"
price_per_call_usd = "0.002"

[[mcp_server]]
label = "broken"
url = "http://127.0.0.1:9/mcp"
free = true
"""


class Console(ServiceCase):
    @classmethod
    def setUpClass(cls):
        mcp_server = cls.enterClassContext(ScriptedMcpServer())
        cls.config = ServiceCase.config + MCP_SERVERS % mcp_server.url
        super().setUpClass()
        cls.server.configure(cls.server.config + UNREACHABLE)
        cls.server.command("models", "reload")

    def test_the_console_in_a_browser(self):
        said = "".join(self.server.output)
        link = re.search(r"console, this link signs in once as the operator: (\S+)", said).group(1)
        operator = self.server.create_operator_key()
        socket = os.path.join(self.server.folder, "data", "tollgate.sock")
        keys = {"ADMIN_KEY": self.admin, "INFERENCE_KEY": self.key, "OPERATOR_KEY": operator, "CONTROL_SOCKET": socket}
        browse(self, self.server, "console.test.mjs", SUITE_SECONDS_MAX, CONSOLE_LINK=link, **keys)


if __name__ == "__main__":
    unittest.main()
