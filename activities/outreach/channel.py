"""The port of a channel: find a person, send, read back what is unclear, listen. The network is the first adapter.

A second channel is an adapter of this port, a member of `models.outreach.rules.actions.ChannelName`, and the types of
action that go by it.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.context import Learned
from models.outreach.engine.record import CallResult, ChannelReading
from models.outreach.rules.callbacks import Callback


class Channel(Protocol):
    """By what claimed actions are carried out. `ActionSpec.call` says which call a type of action needs."""

    async def find(self, account: str, person: str) -> Learned:
        """Look, always afresh, at how an account and a person stand; both are named by the provider's ids.

        Raises `NetworkError`.
        """

    async def send(self, claimed: ClaimedAction, in_time: Callable[[], bool]) -> CallResult:
        """Carry the action out once, unless the person or the owner wrote, or time has run out.

        `in_time` is asked right before the write: false means not to make it any more.
        """

    async def read_back(self, claimed: ClaimedAction, at: datetime) -> ChannelReading:
        """Read once, always afresh, what became of the action; the reading begins now, `at` by service time."""


class ListeningChannel(Protocol):
    """What a channel announces. `account_id` is ours, `provider_id` the provider's. Raises `NetworkError`."""

    async def arrived(self, account_id: str, provider_id: str, callback: Callback) -> None:
        """Look at what a callback of kind `message` or `relation` announces. May come twice."""

    async def read_chats(self, account_id: str, provider_id: str, since: datetime | None) -> None:
        """Find the messages later than `since` that no callback announced."""

    async def read_invites(self, account_id: str, provider_id: str) -> None:
        """Find the invites that are no longer pending."""
