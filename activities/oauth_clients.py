"""Reading the metadata documents by which OAuth clients describe themselves, at addresses that strangers chose."""

from temporalio import activity

from activities.upstream.guard import Guard, Read
from models.database import Database
from models.rules.oauth.clients import MAX_DOCUMENT, ClientMetadata, RefusedClient, read_document
from models.stores.oauth import clients
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

HEADERS = {"Accept": "application/json", "User-Agent": "sourcing-and-outreach-oauth/1"}
LIMIT_SECONDS = 15
"""For a read with its two transactions; after that its worker counts as dead and it is read again."""
OK = 200


class ClientSteps:
    """What a client's document asks of the database and of the client. Without a `guard` nothing is read."""

    def __init__(self, database: Database, guard: Guard | None) -> None:
        self._database = database
        self._guard = guard

    @activity.defn(name=names.CLIENT_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether somebody waits for the document."""
        wanted = await self._database.run(lambda session: clients.next_document(session, step.id))
        if wanted.url is None:
            return NextStep(do=Do.DONE)
        call = Call(
            step=names.CLIENT_READ,
            queue=Queue.WEBHOOKS,
            summary="reads the client's description",
            limit_seconds=LIMIT_SECONDS,
            fairness_key=step.id,
        )
        return NextStep(do=Do.ACT, call=call)

    @activity.defn(name=names.CLIENT_READ)
    async def read(self, step: Step) -> NextStep:
        """Read the document once and write what it says."""
        if self._guard is None:
            raise RuntimeError("this worker serves no webhooks queue")
        wanted = await self._database.run(lambda session: clients.next_document(session, step.id))
        if wanted.url is not None:
            answer = await self._guard.get(wanted.url, HEADERS, most=MAX_DOCUMENT)
            found = _understood(answer, wanted.url)
            await self._database.run(lambda session: clients.note_document(session, step.id, found))
        return await self.next(step)


def _understood(answer: Read, client_id: str) -> ClientMetadata | str:
    """The client, or why its document cannot be taken."""
    if answer.error is not None:
        return f"Its metadata document cannot be read ({answer.error})."
    if answer.status_code != OK:
        return f"Its metadata document is answered with status {answer.status_code}."
    if answer.media_type != "application/json" and not answer.media_type.endswith("+json"):
        return "Its metadata document is not application/json."
    try:
        return read_document(answer.body, client_id=client_id)
    except RefusedClient as error:
        return str(error)
