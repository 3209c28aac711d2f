"""An MCP server made with the official SDK for Python, which speaks both generations of the protocol."""

import socket

import uvicorn

from mcp.server import MCPServer

server = MCPServer("weather")


@server.tool()
def get_weather(city: str) -> str:
    """The temperature of a city."""
    return f"12 degrees in {city}"


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error")).run(sockets=[listener])
