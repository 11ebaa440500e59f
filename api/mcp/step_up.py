"""Telling a client that signed in that a call needs more than it was granted: 403 around the tool's own answer."""

from starlette.types import Message, Send

from api.kernel.auth import Audiences
from api.kernel.middleware import RequestEntry
from models.access.rules.keys import Scope
from models.base.errors import InsufficientScope

FORBIDDEN = 403


def note_missing_scope(error: Exception, entry: RequestEntry) -> None:
    """Keep which scope an access token lacks. API keys are as they are: their answers stay plain."""
    signed_in = entry.admission is not None and entry.admission.audience is not None
    if signed_in and isinstance(error, InsufficientScope):
        entry.lacking = Scope(str(error.details["required_scope"]))


class SteppingUp:
    """Sends an answer; as a challenge when a scope turned out to be lacking before it began."""

    def __init__(self, send: Send, entry: RequestEntry, audiences: Audiences, path: str) -> None:
        self._send = send
        self._entry = entry
        self._audiences = audiences
        self._path = path

    async def __call__(self, message: Message) -> None:
        """Send a part of the answer."""
        lacking, caller = self._entry.lacking, self._entry.caller
        if message["type"] == "http.response.start" and lacking is not None and caller is not None:
            challenge = self._audiences.step_up(self._path, caller.power.scopes | {lacking})
            headers = [*message.get("headers", ()), (b"www-authenticate", challenge.encode())]
            message = {**message, "status": FORBIDDEN, "headers": headers}
        await self._send(message)
