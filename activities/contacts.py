"""The steps of a contact lookup: what is due, and one call for everybody whose details are not yet paid for."""

from collections.abc import Collection

from temporalio import activity

from activities.background import BackgroundSteps
from activities.people import People
from activities.upstream.ports import FetchStatus
from models.database import Database
from models.rules.contacts import ContactKind
from models.secrets import Vault
from models.stores import contacts, people
from models.stores.contacts import LOOKUPS, Answered
from workflows import names
from workflows.contracts import NextStep, Step


class ContactSteps:
    """What a lookup asks of the database and of the contacts source."""

    def __init__(self, database: Database, vault: Vault, source: People | None) -> None:
        self._database = database
        self._vault = vault
        self._people = source
        self._steps = BackgroundSteps(database, LOOKUPS, call=names.CONTACTS_FIND, what="looks contact details up")

    @activity.defn(name=names.CONTACTS_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return await self._steps.next(step.id)

    @activity.defn(name=names.CONTACTS_FIND)
    async def find(self, step: Step) -> NextStep:
        """Ask for everybody who is left and keep what was found."""
        asked = await self._database.run(lambda session: contacts.begin(session, step.id, step.number))
        if asked is not None:
            await self._steps.guarded(step, lambda: self._find(step, asked))
        return await self._steps.next(step.id)

    async def _find(self, step: Step, asked: Collection[str]) -> None:
        if self._people is None:
            raise RuntimeError("this worker serves no upstream queue")
        async with self._database.transaction() as session:
            named = await people.source_ids(session, self._people.source.name, asked)
        owners = {source_ids[-1]: person for person, source_ids in named.items()}
        results = await self._people.contacts(list(owners)) if owners else ()
        values = {
            (owners[result.asked], kind): found
            for result in results
            for kind, found in ((ContactKind.EMAIL, result.emails), (ContactKind.PHONE, result.phones))
        }
        again = {owners[result.asked] for result in results if result.status is FetchStatus.RETRY}
        answered = Answered(values, again)
        await self._database.run(
            lambda session: contacts.settle(session, self._vault, step.id, step.number, asked=asked, answered=answered)
        )
