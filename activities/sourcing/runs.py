"""The steps of a run: what is due, a page of a search, a chunk of profiles."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import structlog

from activities.sourcing.people import PeopleCalls
from activities.steps import steps
from activities.upstream.ports.people import (
    FetchStatus,
    SourceBusy,
    SourceError,
    SourceRefusedQuery,
    SourceUnusable,
    TokenRefused,
)
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do, NextStep, Queue, Step, served_step
from models.people.rules.profiles import Profile
from models.people.store import people
from models.people.store.people import Sighting
from models.sourcing.engine import decide, deliver
from models.sourcing.engine.deliver import ChunkAsk, PageRead, PageToRead
from models.sourcing.rules.order import best_first

log = structlog.get_logger(__name__)


@steps
class RunSteps:
    """What a run asks of the database and of the people source. `queue_seconds`: when a queued call is shown."""

    def __init__(self, database: Database, vault: Vault, people: PeopleCalls, *, queue_seconds: float) -> None:
        self._database = database
        self._vault = vault
        self._people = people
        self._queue_seconds = queue_seconds

    @served_step("run.next")
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a page, profiles, waiting, or nothing more."""
        decision = await self._database.run(
            lambda session: decide.decide_run(session, step.id, queue_seconds=self._queue_seconds)
        )
        return decision.next_step

    @served_step(decide.RUN_QUEUED)
    async def queued(self, step: Step) -> NextStep:
        """Show the run as waiting for quota while its call is still queued."""
        look_again = timedelta(seconds=self._queue_seconds)
        decision = await self._database.run(
            lambda session: decide.still_queued(session, step.id, step.number, look_again=look_again)
        )
        return decision.next_step

    @served_step(decide.RUN_READ_PAGE, Queue.UPSTREAM)
    async def read_page(self, step: Step) -> NextStep:
        """Read one page of the tier's search and keep it."""
        ask = await self._database.run(lambda session: deliver.begin_page(session, step.id, step.number))
        if ask is not None:
            await self._guarded(step, lambda: self._read_page(step.id, step.number, ask))
        return await self.next(step)

    @served_step(decide.RUN_READ_AHEAD, Queue.UPSTREAM)
    async def read_ahead(self, step: Step) -> NextStep:
        """Read the page that will be needed next while profiles are fetched. Decides nothing and delays nothing."""
        ask = await self._database.run(lambda session: deliver.begin_ahead(session, step.id))
        if ask is not None:
            try:
                await self._read_page(step.id, None, ask)
            except SourceError as error:
                log.info("run.not_read_ahead", run_id=step.id, error=type(error).__name__)
        return NextStep(do=Do.WAIT)

    @served_step(decide.RUN_FETCH_PROFILES, Queue.SERVICE, Queue.UPSTREAM)
    async def fetch_profiles(self, step: Step) -> NextStep:
        """Fetch the chunk's profiles that are not cached and deliver the chunk."""
        ask = await self._database.run(lambda session: deliver.begin_profiles(session, step.id, step.number))
        if ask is not None:
            await self._guarded(step, lambda: self._fetch_profiles(step, ask))
        return await self.next(step)

    async def _guarded(self, step: Step, call: Callable[[], Awaitable[None]]) -> None:
        """Make the call; what the source answers instead of data becomes the run's state."""
        try:
            await call()
        except SourceBusy as busy:
            after = _announced(busy)
            at_least = timedelta(seconds=busy.cooldown_seconds or 0)
            await self._database.run(
                lambda session: decide.put_off_run(session, step.id, step.number, after=after, at_least=at_least)
            )
        except (SourceUnusable, SourceRefusedQuery) as error:
            final = isinstance(error, SourceRefusedQuery)
            log.warning("run.source_unusable", run_id=step.id, error=type(error).__name__)
            await self._database.run(lambda session: decide.unusable(session, step.id, step.number, final=final))

    async def _read_page(self, run_id: str, number: int | None, ask: PageToRead) -> None:
        source = self._people
        async with self._database.transaction() as session:
            directory = await source.directory(session, ask.tier.filters)
        try:
            page = await source.search(ask.tier.filters, directory, size=ask.size, token=ask.token)
        except TokenRefused:
            # The source forgot the search: begin it again; people already on earlier pages are sorted out as known.
            page = await source.search(ask.tier.filters, directory, size=ask.size, token=None)
        found = best_first(page.people, lambda person: person.profile, wishes=ask.wishes, anchors=ask.anchors)
        read = PageRead(
            sightings=tuple(Sighting(source.source.name, person.source_id, person.profile_url) for person in found),
            next_token=page.next_token,
            total=page.total,
        )
        await self._database.run(
            lambda session: deliver.keep_page(session, self._vault, run_id, number=number, ask=ask, page=read)
        )

    async def _fetch_profiles(self, step: Step, ask: ChunkAsk) -> None:
        fetched: dict[str, Profile] = {}
        again: list[str] = []
        if ask.live:
            fetched, again = await self._fetch(ask)
        await self._database.run(
            lambda session: deliver.deliver_chunk(session, step.id, step.number, fetched, again=again)
        )

    async def _fetch(self, ask: ChunkAsk) -> tuple[dict[str, Profile], list[str]]:
        source = self._people
        async with self._database.transaction() as session:
            named = await people.source_ids(session, source.source.name, ask.live)
            directory = await source.directory(session)
        asked = {named[one][-1]: one for one in ask.live if one in named}
        results = await source.fetch(list(asked), directory) if asked else ()
        owners = await source.owners(self._database, self._vault, asked, results, workspace_id=ask.workspace_id)
        fetched = {
            owners[result.asked]: result.profile.model_copy(update={"id": owners[result.asked]})
            for result in results
            if result.status is FetchStatus.FOUND and result.profile is not None
        }
        again = [owners[result.asked] for result in results if result.status is FetchStatus.RETRY]
        return fetched, again


def _announced(busy: SourceBusy) -> timedelta | None:
    """Return how long the source asks to be left alone, by its wall clock; null when it did not say."""
    return None if busy.retry_at is None else max(busy.retry_at - datetime.now(UTC), timedelta(seconds=1))
