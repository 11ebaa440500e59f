// Checks of one client: each is one line of JSON on standard output, and the exit code says whether all of them hold.

import assert from "node:assert/strict";
import { inspect } from "node:util";

let failed = 0;

/** Do something that must not throw; answers what it returns, or undefined. */
export async function check(name, work) {
  const began = performance.now();
  let problem = null;
  let result;
  try {
    result = await work();
  } catch (error) {
    problem = inspect(error).slice(0, 2000); // with what caused it
    failed += 1;
  }
  console.log(JSON.stringify({ check: name, problem, seconds: (performance.now() - began) / 1000 }));
  return result;
}

/** End the process: 0 when every check held. */
export function end() {
  process.exit(failed === 0 ? 0 : 1);
}

export { assert };
