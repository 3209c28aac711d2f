"""Calls the MCP server with the official SDK for Python, in both generations of the protocol."""

import asyncio
import os

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

QUESTION = {"model": "small-text", "messages": [{"role": "user", "content": "Say hello"}]}


async def check(mode):
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
    async with create_mcp_http_client(headers=headers) as http_client:
        transport = streamable_http_client(os.environ["MCP_URL"], http_client=http_client)
        async with Client(transport, mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "chat" in names, names
            answer = await client.call_tool("chat", QUESTION)
            assert answer.content[0].text == "Hello from the upstream.", answer


async def main():
    for mode in ("legacy", "auto"):
        await check(mode)


asyncio.run(main())
