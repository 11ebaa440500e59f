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
  looks at `ctx.dry_run`, and whatever a preview writes is rolled back. The kernel adds `dry_run: true` to the answer.
- Deadlocks repeat the whole handler in a new transaction, so nothing outside the database may be changed by it.
- `await ctx.wake(Subject("run", run.id))` wakes a waiting row. `await ctx.note("key.created", subject_id=…)` audits.
- What must not happen inside the transaction goes before it, into the operation's `beforehand=` (may refuse), or after
  it, into the handler's `ctx.afterwards` (answers once the rows are committed and woken; `Effect.WRITE` only).
- `events.emit(ctx.session, ctx.tenant, EventType…, data, now=ctx.now)` publishes an event, if the transaction commits.
- `ctx.tenant` scopes every query; `ctx.payer` pays; `ctx.now` is service time (`await ctx.read_clock()` after locks).
- Errors are classes of `models.base.errors`, raised anywhere.

An operation that spends, and whose answer a worker's step gives, writes and wakes a row (or finds that of an earlier
attempt with its key) and answers `Awaited(wait, answer)`: the kernel commits and wakes it without completing the key's
record, waits outside of any transaction, and calls `answer` in the transaction that completes the record. When `wait`
raises, the key is free again; a caller who has waited too long gets `idempotency_in_progress`, and an equal request
resumes with the same row. `after_call` awaits an upstream call, admitted or found:

    call_id = await calls.find_open_call(ctx.session, ctx.use)
    call_id = call_id or await calls.admit_call(ctx.session, ctx.vault, ctx.use, …, kind=…, ask=…)
    return after_call(call_id, answer)

An answer that names a person without the profile id adds the person's mark to `ctx.about`, so that erasing the person
also deletes the answer stored for repeated calls. The kernel finds profile ids by itself.

A list takes a subclass of `PageAsk` and answers `Listing[View]`:

    paging = ctx.paging(ask)                                   # or within=run_id: the list of one run
    found = await runs.list_runs(ctx.session, ctx.tenant, paging.page, status=ask.status)   # models.base.paging.fetch
    return paging.listing(found, _shown)                       # a run as its view

The route stands on the operation: a `Noun` groups routes in the documentation, and its methods make them.

    RUNS = Noun("Runs", "Working a plan until enough candidates are delivered.")

    @operation(..., route=RUNS.post("/runs", status=202, location="/runs/{answer.run.id}"))
    async def start_run(ctx: Context, ask: StartRun) -> RunStarted | RunPreview: ...

    @operation(..., route=RUNS.get("/runs/{run_id:id}"))
    async def get_run(ctx: Context, run_id: str) -> RunView: ...

    @operation(..., route=RUNS.get("/runs"))
    async def list_runs(ctx: Context, ask: ListRuns) -> Listing[RunView]: ...

`api.kernel.routing` makes a FastAPI route from it: the operation's name is the operation id, the handler's docstring
the description, and the type of `ask` says what is read from where (`inputs_of`): None, the one id of the path, a
model of the query (GET) or body, a model that adds ids of the path to its base class, or a dataclass of ids and one
model.
`{...:id}` in a path keeps `:` out of ids. `other=` is a second answer with a status of its own, `sheet=` a spreadsheet
of the list, `completed=` fills in what HTTP alone says. A new module is listed in `api.operations.MODULES`.

The key and the scope are checked before the input is read; `dry_run`, `Idempotency-Key`, versions, errors and their
documentation need no code of their own.
'''
