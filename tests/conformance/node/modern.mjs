// The client of the era without a handshake: `node modern.mjs MCP_URL API_KEY`.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { assert, check, end } from "./checks.mjs";
import { forging } from "./forged.mjs";
import { journey } from "./journey.mjs";

const VERSION = "2026-07-28";
const [url, key] = process.argv.slice(2);

async function connected(address, apiKey, fetch) {
  const client = new Client({ name: "modern", version: "1" }, { versionNegotiation: { mode: { pin: VERSION } } });
  const requestInit = apiKey ? { headers: { Authorization: `Bearer ${apiKey}` } } : {};
  await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit, fetch }));
  const call = (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options);
  return { client, call };
}

const all = await check("discovers the server", async () => {
  const made = await connected(`${url}?toolsets=all`, key);
  assert.equal(made.client.getNegotiatedProtocolVersion(), VERSION);
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
  await journey(all.client, all.call, (error) => error instanceof ProtocolError && error.code === -32602);
}
end();
