// A connection on which answers are forged: a client that checks answers against their schemas must notice.

const WAS = '"object":"account_overview"';
const IS = '"object":1';

/** `fetch`, with the structured answer of get_account_overview changed to what its schema does not allow. */
export async function forging(url, init) {
  const answer = await fetch(url, init);
  if (!String(init?.body ?? "").includes('"tools/call"')) {
    return answer;
  }
  const { status, headers } = answer;
  return new Response((await answer.text()).replace(WAS, IS), { status, headers });
}
