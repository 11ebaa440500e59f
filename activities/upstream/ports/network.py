"""What the service asks of a professional network, in our own terms; each provider has one adapter.

Every failure is one of the classes of `network_errors.py`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class ProviderStanding(StrEnum):
    """How an account stands at the provider (reference, section 4). Only `ready` may act."""

    READY = "ready"
    CONNECTING = "connecting"  # signed in, its first synchronisation is not finished
    DISCONNECTED = "disconnected"  # the owner has to sign in again
    INTERRUPTED = "interrupted"  # the provider's trouble, passes by itself: ask again in five minutes
    RESTRICTED = "restricted"  # locked: held until the owner has looked at it
    SUSPENDED = "suspended"  # our contract with the provider is inactive: an operator has to act
    UNKNOWN = "unknown"  # a word we do not know: held, and an operator is told


@dataclass(frozen=True, slots=True)
class NetworkAccount:
    """A connected account. `id` is the provider's, `user_id` the owner's id in the network."""

    id: str
    user_id: str | None
    name: str | None
    standing: ProviderStanding
    created_at: datetime | None


class Distance(StrEnum):
    """How far a person is from the account's owner."""

    SELF = "self"
    FIRST = "first"  # connected
    SECOND = "second"
    THIRD = "third"
    OUT_OF_NETWORK = "out_of_network"
    UNKNOWN = "unknown"


class RequestState(StrEnum):
    """What became of the last invite between the two."""

    NONE = "none"
    PENDING = "pending"
    IGNORED = "ignored"
    WITHDRAWN = "withdrawn"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SentRequest:
    """An invite of the account's owner that is pending. `note` is its text, where the provider returns it."""

    id: str
    person_id: str | None
    public_identifier: str | None
    sent_at: datetime | None
    note: str | None


@dataclass(frozen=True, slots=True)
class PersonOnNetwork:
    """A person as one account sees them. `id` is what invites and chats take; `public_identifier` is the URL slug.

    `request` is the pending invite of the owner, null when there is none or the pending one came from the person.
    `visit_token` is used up by a visit and short-lived; null when this person cannot be visited.
    """

    id: str
    public_identifier: str | None
    profile_url: str | None
    display_name: str | None
    first_name: str | None
    last_name: str | None
    distance: Distance
    request_state: RequestState
    request: SentRequest | None
    visit_token: str | None

    @property
    def connected(self) -> bool:
        """Whether the person is a first-degree relation: the only proof that an invite was accepted."""
        return self.distance is Distance.FIRST


@dataclass(frozen=True, slots=True)
class NetworkChat:
    """A conversation. `person_id` is the other one of a one-to-one chat; `writable` is false when it is read-only."""

    id: str
    person_id: str | None
    one_to_one: bool
    writable: bool
    last_message_at: datetime | None


@dataclass(frozen=True, slots=True)
class NetworkMessage:
    """A message. `from_owner` is true for what the account's owner or we wrote; `text` is null when there is none."""

    id: str
    chat_id: str
    sender_id: str | None
    text: str | None
    sent_at: datetime | None
    from_owner: bool
    is_event: bool
    is_deleted: bool

    @property
    def written_by_person(self) -> bool:
        """Whether the other person wrote it: in a one-to-one chat with an enrolled person this is a reply."""
        return not (self.from_owner or self.is_event or self.is_deleted)


@dataclass(frozen=True, slots=True)
class MessageSent:
    """The network took a message. Ids are null when it did not return them: find them by reading the chat."""

    chat_id: str | None
    message_id: str | None


@dataclass(frozen=True, slots=True)
class CallbackEndpoint:
    """Where the provider sends its events: `secret` signs them. `events` are those it agreed to send."""

    id: str
    url: str
    secret: str
    events: frozenset[str]

    @property
    def tells_acceptance(self) -> bool:
        """Whether acceptances are announced; if not, only polling finds them."""
        return bool(self.events & {"relation.new", "relation.request.accept"})


class OutreachNetwork(Protocol):
    """A provider that acts in a network for connected accounts. `account_id` is always the provider's id.

    Reads are repeated once when they fail in passing; writes are made once and never repeated. `fresh` asks the
    provider for the present state instead of its copy, which may be an hour old: use it before a send, for every
    reading back of an unclear outcome, and for what a callback announces.

    Errors of every call: `NetworkBusy`, `NetworkNotConfigured`, `LimitReached`, `AccountTrouble`, `PersonRefused`,
    `AskRefused`, `FeatureMissing`. Writes also: `AlreadyDone`, `OutcomeUnknown`.
    """

    name: str

    async def connect_link(
        self, *, state: str, redirect_url: str, expires_at: datetime, account_id: str | None = None
    ) -> str:
        """The address where an owner signs in, valid until `expires_at`; with `account_id` to sign in again.

        `state` comes back in the redirect and in the callback. Making another link undoes nothing.
        """
        ...

    async def account(self, account_id: str) -> NetworkAccount | None:
        """The account as it stands now, never from the copy; null when the provider no longer has it."""
        ...

    async def delete_account(self, account_id: str) -> None:
        """Disconnect for good; also succeeds when the account is gone already."""
        ...

    async def person(self, account_id: str, person: str, *, fresh: bool = False) -> PersonOnNetwork:
        """A person by id or URL slug, `me` for the owner."""
        ...

    async def invite(self, account_id: str, person_id: str, note: str | None) -> SentRequest:
        """Send an invite; `note` has at most 300 UTF-16 units, null for none."""
        ...

    async def withdraw(self, account_id: str, request_id: str) -> None:
        """Withdraw an invite of `sent_requests`; `AlreadyDone(GONE)` when it is pending no longer."""
        ...

    async def visit(self, account_id: str, person_id: str) -> None:
        """Read the profile afresh and leave a visit; `PersonRefused(NO_VISIT)` when that person cannot be visited.

        A visit cannot be read back: after `OutcomeUnknown` it counts as done.
        """
        ...

    async def chat_with(self, account_id: str, person_id: str) -> NetworkChat | None:
        """The one-to-one chat with a person as it is now; null when there is none."""
        ...

    async def chat(self, account_id: str, chat_id: str) -> NetworkChat | None:
        """A chat as it is now; null when there is no such chat."""
        ...

    async def message(self, account_id: str, chat_id: str, message_id: str) -> NetworkMessage | None:
        """One message as it is now; null when there is no such message."""
        ...

    async def messages(
        self, account_id: str, chat_id: str, *, since: datetime | None = None
    ) -> tuple[NetworkMessage, ...]:
        """Messages of a chat later than `since`, oldest first, all pages, always fresh."""
        ...

    async def send_message(self, account_id: str, chat_id: str, text: str) -> MessageSent:
        """Write into an existing chat."""
        ...

    async def start_chat(self, account_id: str, person_id: str, text: str) -> MessageSent:
        """Write to a first-degree relation; the network itself uses the existing chat where there is one."""
        ...

    async def sent_requests(self, account_id: str) -> tuple[SentRequest, ...]:
        """All pending invites of the owner, all pages, always fresh. Whatever was answered has vanished from it."""
        ...

    async def chats(self, account_id: str, *, since: datetime | None = None) -> tuple[NetworkChat, ...]:
        """Chats with a message later than `since`, newest first, all pages, always fresh."""
        ...

    async def ensure_callbacks(self, url: str) -> CallbackEndpoint:
        """Have events sent to `url`: find the endpoint with this address or register it. Repeating it is harmless."""
        ...

    async def close(self) -> None:
        """Close what is open."""
        ...
