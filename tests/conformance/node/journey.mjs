// What an agent does with the service, by any client of the protocol that has these methods.

import { assert, check } from "./checks.mjs";

const JOB = "Senior data engineer near Ghent, Belgium. 5+ years, Python and Kafka.";
const INTENT = { must: { titles: ["Data Engineer"], location: { countries: ["BE", "NL", "DE", "FR", "GB"] } } };
const WAIT_MS = 60_000;

/**
 * The checks that every client goes through. `call(name, args, options)` calls a tool with it, `refused` tells errors
 * of the protocol from all others.
 */
export async function journey(client, call, refused) {
  await check("lists every tool, each with a schema of its answer", async () => {
    const { tools } = await client.listTools();
    assert.ok(tools.length > 40, `${tools.length} tools`);
    assert.equal(new Set(tools.map((tool) => tool.name)).size, tools.length);
    assert.deepEqual(tools.filter((tool) => tool.outputSchema?.type !== "object"), []);
    assert.ok(tools.some((tool) => tool.name === "search_people_raw"), "the toolset `advanced` is missing");
  });
  await check("calls a free tool, whose answer fits its schema", async () => {
    const { structuredContent, content } = await call("get_account_overview");
    assert.equal(structuredContent.object, "account_overview");
    assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  });
  const runId = await search(call);
  await check("reads a guide and the run as resources", async () => {
    const { resources } = await client.listResources();
    const guide = await client.readResource({ uri: resources[0].uri });
    assert.equal(guide.contents[0].mimeType, "text/markdown");
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(resourceTemplates.some((template) => template.uriTemplate === "recruitmcp://runs/{run_id}"));
    const run = await client.readResource({ uri: `recruitmcp://runs/${runId}` });
    assert.equal(JSON.parse(run.contents[0].text).status, "completed");
  });
  await check("gets a prompt with arguments", async () => {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name).sort(), [
      "daily_reply_triage",
      "pipeline_review",
      "source_from_job_description",
    ]);
    const shown = await client.getPrompt({ name: "source_from_job_description", arguments: { job_description: JOB } });
    assert.ok(shown.messages[0].content.text.includes(JOB));
  });
  await errors(client, call, refused);
}

/** A search from its preview to its last page; the id of its run. */
async function search(call) {
  const planned = await check("previews a search: nothing is spent", async () => {
    const before = (await call("get_account_overview")).structuredContent.balance.balance_credits;
    const { structuredContent: preview } = await call("start_search", { intent: INTENT, target: 30 });
    assert.equal(preview.dry_run, true);
    assert.ok(preview.required_credits > 0);
    const after = (await call("get_account_overview")).structuredContent.balance.balance_credits;
    assert.equal(after, before);
    return preview.search_id;
  });
  const runId = await check("confirms it, and twice is once", async () => {
    const { structuredContent: first } = await call("start_search", { search_id: planned, confirm: true });
    const { structuredContent: again } = await call("start_search", { search_id: planned, confirm: true });
    assert.equal(first.replayed, false);
    assert.equal(again.replayed, true);
    assert.equal(again.run_id, first.run_id);
    return first.run_id;
  });
  await check("reads results until they are done, and is told how far they are", async () => {
    const told = [];
    const people = await results(call, runId, (progress) => told.push(progress));
    assert.ok(people.length >= 30, `${people.length} people`);
    assert.equal(new Set(people).size, people.length);
    assert.ok(told.length > 0, "no progress was told");
    assert.ok(told.every(({ progress, total }, at) => total >= 30 && (at === 0 || progress >= told[at - 1].progress)));
  });
  return runId;
}

/** The profile ids of all pages of a run. */
async function results(call, runId, onprogress) {
  const people = [];
  let cursor;
  for (;;) {
    const asked = { run_id: runId, wait_seconds: 25, limit: 20, view: "compact", ...(cursor ? { cursor } : {}) };
    const options = { onprogress, timeout: WAIT_MS, resetTimeoutOnProgress: true };
    const { structuredContent: page } = await call("get_search_results", asked, options);
    if (page.has_more || page.done) {
      people.push(...page.data.map((person) => person.profile_id));
    }
    if (page.done) {
      return people;
    }
    cursor = page.has_more ? page.next_cursor : cursor;
  }
}

async function errors(client, call, refused) {
  await check("an error of the service is a result that says so", async () => {
    const missing = await call("get_search_results", { run_id: "run_00000000000000000000000000" });
    assert.equal(missing.isError, true);
    assert.equal(JSON.parse(missing.content[0].text).error.code, "not_found");
  });
  await check("a wrong argument is named", async () => {
    const wrong = await call("start_search", { job_description: JOB, target: 3 });
    assert.equal(wrong.isError, true);
    assert.equal(JSON.parse(wrong.content[0].text).error.details.field, "target");
  });
  await check("an unknown tool, prompt and resource are errors of the protocol", async () => {
    await assert.rejects(call("no_such_tool"), refused);
    await assert.rejects(client.getPrompt({ name: "no_such_prompt" }), refused);
    await assert.rejects(client.readResource({ uri: "recruitmcp://nothing" }), refused);
  });
}
