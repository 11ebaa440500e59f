// Signing in by either client: `node oauth.mjs legacy|modern MCP_URL`. Prints {"authorize": URL} for the person, who
// opens it in a browser; the browser is sent back to a server of this process.

import { createServer } from "node:http";

import * as modern from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError as LegacyUnauthorized } from "@modelcontextprotocol/sdk/client/auth.js";

import { assert, check, end } from "./checks.mjs";

const [era, url] = process.argv.slice(2);
const ERAS = {
  legacy: {
    unauthorized: LegacyUnauthorized,
    client: () => new LegacyClient({ name: "legacy", version: "1" }),
    transport: (options) => new LegacyTransport(new URL(url), options),
    finish: (transport, answer) => transport.finishAuth(answer.get("code")),
  },
  modern: {
    unauthorized: modern.UnauthorizedError,
    client: () =>
      new modern.Client({ name: "modern", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    transport: (options) => new modern.StreamableHTTPClientTransport(new URL(url), options),
    finish: (transport, answer) => transport.finishAuth(answer),
  },
};
const { unauthorized, client: newClient, transport: newTransport, finish } = ERAS[era];

/** What a program keeps between the parts of a sign-in. */
class Kept {
  constructor(redirectUrl) {
    this.redirectUrl = redirectUrl;
    this.expected = crypto.randomUUID();
    this.clientMetadata = {
      client_name: `The ${era} client`,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }
  state = () => this.expected;
  clientInformation = () => this.registered;
  saveClientInformation = (registered) => (this.registered = registered);
  tokens = () => this.given;
  saveTokens = (given) => (this.given = given);
  saveCodeVerifier = (verifier) => (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  redirectToAuthorization = (address) => console.log(JSON.stringify({ authorize: String(address) }));
}

/** A server that the browser is sent back to, and what it says there. */
async function listening() {
  let heard;
  const answered = new Promise((resolve) => (heard = resolve));
  const server = createServer((request, response) => {
    response.end("You can close this page.");
    heard(new URL(request.url, "http://127.0.0.1").searchParams);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}/callback`, answered };
}

async function overview(authProvider) {
  const client = newClient();
  await client.connect(newTransport({ authProvider }));
  await client.listTools();
  const { structuredContent } = await client.callTool({ name: "get_account_overview", arguments: {} });
  await client.close();
  return structuredContent.object;
}

const back = await listening();
const kept = new Kept(back.address);
const first = newTransport({ authProvider: kept });
await check("without a token the client finds out where to sign in, registers, and asks the person", async () => {
  await assert.rejects(newClient().connect(first), unauthorized);
  assert.ok(kept.registered.client_id && !kept.registered.client_secret);
});
await check("the person allows it, and the code is exchanged", async () => {
  const answer = await back.answered;
  assert.equal(answer.get("state"), kept.expected);
  await finish(first, answer);
  assert.equal(kept.given.token_type.toLowerCase(), "bearer");
  assert.ok(kept.given.refresh_token && kept.given.expires_in > 0);
});
await check("tools work with the token", async () => assert.equal(await overview(kept), "account_overview"));
await check("an access token that does not hold is refreshed by itself", async () => {
  const before = kept.given;
  kept.given = { ...before, access_token: "of-nobody" };
  assert.equal(await overview(kept), "account_overview");
  assert.notEqual(kept.given.access_token, before.access_token);
});
await check("after it was revoked nothing is served", async () => {
  const { refresh_token, access_token } = kept.given;
  const body = new URLSearchParams({ token: refresh_token, client_id: kept.registered.client_id });
  assert.equal((await fetch(new URL("/revoke", url), { method: "POST", body })).status, 200);
  const headers = { authorization: `Bearer ${access_token}`, "content-type": "application/json" };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  assert.equal((await fetch(url, { method: "POST", headers, body: JSON.stringify(message) })).status, 401);
});
end();
