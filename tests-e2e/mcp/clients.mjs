// Calls the MCP server with both official SDKs for Node, one per generation of the protocol.
import assert from "node:assert/strict";
import { Client as HandshakeClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HandshakeTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = new URL(process.env.MCP_URL);
const requestInit = { headers: { Authorization: `Bearer ${process.env.API_KEY}` } };
const question = { model: "small-text", messages: [{ role: "user", content: "Say hello" }] };

async function check(client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === "chat"));
  const answer = await client.callTool({ name: "chat", arguments: question });
  assert.equal(answer.content[0].text, "Hello from the upstream.");
  await client.close();
}

const info = { name: "tollgate-test", version: "1.0.0" };
await check(new HandshakeClient(info), new HandshakeTransport(url, { requestInit }));
const versionNegotiation = { mode: { pin: "2026-07-28" } };
await check(new Client(info, { versionNegotiation }), new StreamableHTTPClientTransport(url, { requestInit }));
console.log("ok");
