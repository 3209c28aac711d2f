// The configuration of MCP clients for the service's own MCP server.

import type { Snippet } from "./snippets";

const KEY = "SERVICE_INFERENCE_KEY_…";

export function mcpClients(site: string): Snippet[] {
  const url = `${site}/mcp`;
  const headers = { Authorization: `Bearer ${KEY}` };
  return [
    {
      name: "Claude Code",
      text: `claude mcp add --transport http tollgate ${url} --header "Authorization: Bearer ${KEY}"`,
    },
    {
      name: "Codex",
      text: [
        `# ~/.codex/config.toml, with the key in the environment variable TOLLGATE_KEY`,
        `[mcp_servers.tollgate]`,
        `url = "${url}"`,
        `bearer_token_env_var = "TOLLGATE_KEY"`,
      ].join("\n"),
    },
    {
      name: "Cursor",
      text: JSON.stringify({ mcpServers: { tollgate: { url, headers } } }, null, 2),
    },
  ];
}
