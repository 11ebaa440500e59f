// The strict client of the era with a handshake: `node legacy.mjs MCP_URL API_KEY`.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

import { assert, check, end } from "./checks.mjs";
import { forging } from "./forged.mjs";
import { journey } from "./journey.mjs";

const [url, key] = process.argv.slice(2);

async function connected(address, apiKey, fetch) {
  const client = new Client({ name: "legacy", version: "1" });
  const requestInit = apiKey ? { headers: { Authorization: `Bearer ${apiKey}` } } : {};
  const transport = new StreamableHTTPClientTransport(new URL(address), { requestInit, fetch });
  await client.connect(transport);
  const call = (name, args = {}, options = {}) =>
    client.callTool({ name, arguments: args }, CallToolResultSchema, options);
  return { client, call, transport };
}

const all = await check("shakes hands", async () => {
  const made = await connected(`${url}?toolsets=all`, key);
  assert.equal(made.transport.protocolVersion, "2025-11-25");
  assert.ok(made.client.getInstructions().includes("untrusted_text"));
  return made;
});
await check("without a key nothing is served", () => assert.rejects(connected(url, null), /unauthorized|401/i));
await check("another toolset serves fewer tools", async () => {
  const { client } = await connected(`${url}?toolsets=outreach`, key);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(names.includes("send_reply") && !names.includes("start_search"), names.join());
});
await check("the client checks answers against their schemas", async () => {
  const { client, call } = await connected(url, key, forging);
  await client.listTools();
  await assert.rejects(call("get_account_overview"), /output schema/);
});
if (all) {
  await journey(all.client, all.call, (error) => error instanceof McpError && error.code === -32602);
}
end();
