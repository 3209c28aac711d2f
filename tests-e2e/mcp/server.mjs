// An MCP server of the older generation, made with the official SDK for Node: with a handshake and sessions.
import http from "node:http";
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const sessions = new Map();

function buildServer() {
  const server = new McpServer({ name: "weather", version: "1.0.0" });
  const options = { description: "The temperature of a city.", inputSchema: { city: z.string() } };
  server.registerTool("get_weather", options, async ({ city }) => ({
    content: [{ type: "text", text: `12 degrees in ${city}` }],
  }));
  return server;
}

async function findTransport(request) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  await buildServer().connect(transport);
  return transport;
}

const listener = http.createServer(async (request, response) => {
  if (request.headers.authorization !== "Bearer operators-token") {
    response.writeHead(401).end();
    return;
  }
  const transport = await findTransport(request);
  await transport.handleRequest(request, response);
});
listener.listen(0, "127.0.0.1", () => console.log(listener.address().port));
