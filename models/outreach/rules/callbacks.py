"""Callbacks of the outreach provider: who may send them, whether they are genuine, and what they hint at.

The API compares the token in the path, checks the signature over the raw bytes and stores them; the worker reads the
event. An event is only a hint: nothing changes before the network itself has been read again.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from models.base.secrets import Vault

SIGNATURE_HEADER = "unipile-signature"
TOLERANCE_SECONDS = 300
"""How old or early, by wall time, a signature may be."""
MAX_BYTES = 1_048_576
"""The largest callback that is taken."""
MOST_SIGNATURES = 8
MAX_ID_LENGTH = 500
TOKEN_PURPOSE = "network callback token"  # noqa: S105 - a purpose, not a secret
SECRET_PURPOSE = "network callback secret"  # noqa: S105 - a purpose, not a secret
"""The purpose under which `Vault` seals the secret of the registered endpoint."""

_UNIX_TIME = re.compile(r"[0-9]{1,12}", re.ASCII)


def callback_token(vault: Vault) -> str:
    """The last path segment of the callback address: 64 hex digits, the same as long as SECRET_KEY is."""
    return vault.keyed_hash(TOKEN_PURPOSE, "path").hex()


def callback_url(public_url: str, token: str) -> str:
    """Where the provider sends its events."""
    return f"{public_url.rstrip('/')}/callbacks/outreach/{token}"


def token_matches(given: str, expected: str) -> bool:
    """Compare the token of a request in constant time; a mismatch is a 404."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


class Signature(StrEnum):
    """What a check says. All but `valid` are answered with 401, nothing is stored but a count."""

    VALID = "valid"
    MISSING = "missing"
    MALFORMED = "malformed"
    STALE = "stale"
    WRONG = "wrong"


def check_signature(raw: bytes, header: str | None, *, secrets: Sequence[str], wall_time: float) -> Signature:
    """Check `t=<unix seconds>,v0=<hex>[,v0=…]`: HMAC-SHA256 over `<t>.<raw>`; any secret with any `v0` will do.

    Two secrets are given while the endpoint's is being replaced. `wall_time` is Unix time, not service time. Every
    comparison is made, each in constant time, so that the time taken tells nothing. Reference, section 9.
    """
    if header is None:
        return Signature.MISSING
    parts = [part.strip().partition("=") for part in header.split(",")]
    times = [value for name, _, value in parts if name == "t"]
    signatures = [value for name, _, value in parts if name == "v0"]
    if len(times) != 1 or not _UNIX_TIME.fullmatch(times[0]) or not 1 <= len(signatures) <= MOST_SIGNATURES:
        return Signature.MALFORMED
    if abs(wall_time - int(times[0])) > TOLERANCE_SECONDS:
        return Signature.STALE
    expected = [sign(raw, secret=secret, at=times[0]) for secret in secrets]
    given = [signature.encode("utf-8", "surrogatepass") for signature in signatures]
    genuine = [hmac.compare_digest(each, one.encode()) for each in given for one in expected]
    return Signature.VALID if any(genuine) else Signature.WRONG


def sign(raw: bytes, *, secret: str, at: str) -> str:
    """The hex HMAC-SHA256 of `<at>.<raw>`."""
    return hmac.new(secret.encode(), at.encode() + b"." + raw, hashlib.sha256).hexdigest()


class InvalidCallback(ValueError):
    """The body is no event: not a JSON object, or without `id` or `type`. The message does not repeat the body."""


def returned(event_id: str, account_id: str, state: str) -> bytes:
    """What is kept of a browser's return: the provider's id of the account, and the link's state."""
    body = {"id": event_id, "type": RETURNED, "account_id": account_id, "payload": {"state": state}}
    return json.dumps(body).encode()


class CallbackKind(StrEnum):
    """What a callback asks us to look at."""

    RETURNED = "returned"  # an owner's browser came back from a link: nothing the provider said
    CONNECTED = "connected"  # an owner went through a link: bind the account by `state`; it is not ready yet
    STANDING = "standing"  # the account changed: read it
    REMOVED = "removed"  # the account is gone
    MESSAGE = "message"  # read the message, or the chat
    RELATION = "relation"  # read the person: accepted only when connected
    OTHER = "other"  # unknown or not of interest: ignored and counted


@dataclass(frozen=True, slots=True)
class Callback:
    """One event, reduced to what says where to look. Fields of other kinds are null, as is what was not sent.

    `person` is an id of the network or a URL slug. `status` is the last word of `account.status.*`.
    """

    id: str
    type: str
    kind: CallbackKind
    account_id: str | None
    created_at: datetime | None
    state: str | None = None
    status: str | None = None
    chat_id: str | None = None
    message_id: str | None = None
    person: str | None = None

    @property
    def subject(self) -> str:
        """The same for every event about the same thing, whatever its id: for dropping repetitions."""
        about = self.message_id or self.person or self.id
        return f"{self.kind}:{self.account_id}:{about}"


RETURNED = "link.returned"
"""Our own word for a browser that came back with a link's state; kept like a callback, believed less."""
_STATUS = "account.status."
_KINDS: Mapping[str, CallbackKind] = {
    RETURNED: CallbackKind.RETURNED,
    "account.add": CallbackKind.CONNECTED,
    "account.reconnect": CallbackKind.CONNECTED,
    "account.remove": CallbackKind.REMOVED,
    "account.locked": CallbackKind.STANDING,
    "account.unlocked": CallbackKind.STANDING,
    "message.new": CallbackKind.MESSAGE,
    "relation.new": CallbackKind.RELATION,
    "relation.request.accept": CallbackKind.RELATION,
}


def read_callback(raw: bytes) -> Callback:
    """Read the envelope `{id, type, created_at, account_id, payload}` and the ids of its payload; the rest is dropped.

    Raises:
        InvalidCallback: see there. An unknown `type` is not an error.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidCallback("the body is not JSON") from None
    if not isinstance(body, dict):
        raise InvalidCallback("the body is not an object")
    event_id, type_ = _id(body.get("id")), _id(body.get("type"))
    if event_id is None or type_ is None:
        raise InvalidCallback("the event has no id or no type")
    kind = CallbackKind.STANDING if type_.startswith(_STATUS) else _KINDS.get(type_, CallbackKind.OTHER)
    payload = body.get("payload")
    found = _found(kind, payload if isinstance(payload, dict) else {})
    return Callback(
        id=event_id,
        type=type_,
        kind=kind,
        account_id=_id(body.get("account_id")),
        created_at=_moment(body.get("created_at")),
        status=type_.removeprefix(_STATUS) if type_.startswith(_STATUS) else None,
        **found,
    )


def _found(kind: CallbackKind, payload: Mapping[str, Any]) -> dict[str, str | None]:
    if kind in (CallbackKind.CONNECTED, CallbackKind.RETURNED):
        return {"state": _id(payload.get("state"))}
    if kind is CallbackKind.MESSAGE:
        message = next(_message_ids(payload), None)
        return {"chat_id": _id(payload.get("chat_id")), "message_id": message}
    if kind is CallbackKind.RELATION:
        return {"person": next(_people(payload), None)}
    return {}


def _message_ids(payload: Mapping[str, Any]) -> Iterator[str]:
    for name in ("id", "message_id"):
        value = payload.get(name)
        for each in value if isinstance(value, list) else [value]:
            if (known := _id(each)) is not None:
                yield known


def _people(payload: Mapping[str, Any]) -> Iterator[str]:
    user = payload.get("user")
    for holder in (user if isinstance(user, dict) else {}, payload):
        for name in ("id", "user_id", "provider_id", "public_identifier"):
            # The id of the payload itself may be that of the relation, not of the person.
            if (holder is not payload or name != "id") and (known := _id(holder.get(name))) is not None:
                yield known


def _id(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_LENGTH and value.isprintable() else None


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
