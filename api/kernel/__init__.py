'''The kernel of all operations: who may call, previews, idempotency, one transaction, workflows woken after the commit.

To add an operation, write its handler in the file of its noun and give it a name, a scope, an effect and a route:

    @operation("runs.start", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND)
    async def start_run(ctx: Context, ask: StartRun) -> RunStarted:
        """Plan and price one source and, unless previewing, start working through it."""

- `ask` is a model of the subject's schemas (subclass of `Ask`), an id (`str`), None, or a dataclass of ids and a model.
- The answer is a subclass of `Answer`, or None for 204. Rows never leave the API: build the answer from them.
- `ctx.session` is inside the operation's transaction. The handler never commits. Operations with `Effect.READ` run
  statement by statement without a transaction (PostgreSQL's read committed means the same for them) and must not write.
- With `Effect.SPEND` or `SEND` the operation takes `?dry_run=true` and otherwise needs an Idempotency-Key; the handler
  reads `ctx.dry_run`, and whatever a preview writes is rolled back. The kernel adds `dry_run: true` to the answer.
- After a deadlock the whole handler is repeated in a new transaction, so it must change nothing outside the database.
- `await ctx.wake(Subject("run", run.id))` wakes a waiting row. `await ctx.note("key.created", subject_id=…)` audits.
- Work outside the transaction goes into the operation's `beforehand=`, which runs first and may refuse, or into the
  handler's `ctx.afterwards`, which answers once the rows are committed and woken (`Effect.WRITE` only).
- `events.emit(ctx.session, ctx.tenant, EventType…, data, now=ctx.now)` publishes an event, if the transaction commits.
- `ctx.tenant` scopes every query; `ctx.payer` pays; `ctx.now` is service time (`await ctx.read_clock()` after locks).
- Errors are classes of `models.base.errors`, raised anywhere.

An operation that spends and gets its answer from a worker's step writes and wakes a row (or finds the row of an earlier
attempt with its key) and returns `Awaited(wait, answer)`. The kernel commits and wakes the row without completing the
key's record, waits outside any transaction, and calls `answer` in the transaction that completes the record. If `wait`
raises, the key is released; a caller that has waited too long gets `idempotency_in_progress`, and an equal request
resumes with the same row. `after_call` awaits an upstream call, new or found:

    call_id = await calls.find_open_call(ctx.session, ctx.use)
    call_id = call_id or await calls.admit_call(ctx.session, ctx.vault, ctx.use, …, kind=…, ask=…)
    return after_call(call_id, answer)

An answer that names a person without the profile id adds the person's mark to `ctx.about`, so that erasing the person
also deletes the answer stored for repeated calls. The kernel finds profile ids by itself.

A list takes a subclass of `PageAsk` and answers `Listing[View]`:

    paging = ctx.paging(ask)                                   # or within=run_id: the list of one run
    found = await runs.list_runs(ctx.session, ctx.tenant, paging.page, status=ask.status)   # models.base.paging.fetch
    return paging.listing(found, _shown)                       # a run as its view

The route is declared on the operation: a `Noun` groups routes in the documentation, and its methods create them.

    RUNS = Noun("Runs", "Working a plan until enough candidates are delivered.")

    @operation(..., route=RUNS.post("/runs", status=202, location="/runs/{answer.run.id}"))
    async def start_run(ctx: Context, ask: StartRun) -> RunStarted | RunPreview: ...

    @operation(..., route=RUNS.get("/runs/{run_id:id}"))
    async def get_run(ctx: Context, run_id: str) -> RunView: ...

    @operation(..., route=RUNS.get("/runs"))
    async def list_runs(ctx: Context, ask: ListRuns) -> Listing[RunView]: ...

`api.kernel.routing` turns it into a FastAPI route: the operation's name is the operation id, the handler's docstring
the description, and the type of `ask` defines the input (`inputs_of`): None, the one id of the path, a model of the
query (GET) or body, a model that adds ids of the path to its base class, or a dataclass of ids and one model.
`{...:id}` in a path keeps `:` out of ids. `other=` is a second answer with its own status, `sheet=` a spreadsheet of
the list, and `completed=` adds input that only HTTP has. A new module is listed in `api.operations.MODULES`.

The key and the scope are checked before the input is read; `dry_run`, `Idempotency-Key`, versions, errors and their
documentation need no further code.
'''
