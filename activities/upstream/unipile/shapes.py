"""The provider's JSON as values of `ports/network.py`: unknown fields are ignored, unknown words survive. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from activities.upstream.ports.network import (
    CallbackEndpoint,
    Distance,
    MessageSent,
    NetworkAccount,
    NetworkChat,
    NetworkMessage,
    PersonOnNetwork,
    ProviderStanding,
    RequestState,
    SentRequest,
)

Json = Mapping[str, Any]

MAX_ID_LENGTH = 500

_DISTANCES = {
    "SELF": Distance.SELF,
    "FIRST_DEGREE": Distance.FIRST,
    "SECOND_DEGREE": Distance.SECOND,
    "THIRD_DEGREE": Distance.THIRD,
    "OUT_OF_NETWORK": Distance.OUT_OF_NETWORK,
}
_REQUEST_STATES = {
    "PENDING": RequestState.PENDING,
    "IGNORED": RequestState.IGNORED,
    "WITHDRAWN": RequestState.WITHDRAWN,
}
_STANDINGS = {
    "running": ProviderStanding.READY,
    "degraded": ProviderStanding.READY,
    "partial": ProviderStanding.READY,
    "disconnected": ProviderStanding.DISCONNECTED,
    "errored": ProviderStanding.INTERRUPTED,
    "error": ProviderStanding.INTERRUPTED,
    "paused": ProviderStanding.SUSPENDED,
}


class Unreadable(Exception):
    """The answer is JSON, but not what was asked for."""


def account(body: Json) -> NetworkAccount:
    """An account. Raises `Unreadable`."""
    return NetworkAccount(
        id=required_id(body),
        user_id=short_text(body.get("user_id")),
        name=short_text(body.get("name")),
        standing=standing(body),
        created_at=moment(body.get("created_at")),
    )


def standing(body: Json) -> ProviderStanding:
    """How an account stands (reference, section 4): a lock outweighs the status."""
    if body.get("is_locked") is True:
        return ProviderStanding.RESTRICTED
    known = _STANDINGS.get(str(body.get("status")), ProviderStanding.UNKNOWN)
    if known is not ProviderStanding.READY:
        return known
    if body["status"] != "running" and _classic(body) not in (None, "running"):
        return ProviderStanding.INTERRUPTED
    sync = body.get("initial_sync")
    running = isinstance(sync, dict) and sync.get("status") in ("pending", "running")
    return ProviderStanding.CONNECTING if running else ProviderStanding.READY


def person(body: Json) -> PersonOnNetwork:
    """A profile. Raises `Unreadable`."""
    specifics = body.get("specifics")
    found: Json = specifics if isinstance(specifics, dict) else {}
    state = found.get("relation_request_status")
    person_id, slug = required_id(body), short_text(body.get("public_identifier"))
    return PersonOnNetwork(
        id=person_id,
        public_identifier=slug,
        profile_url=short_text(body.get("profile_url")),
        display_name=short_text(body.get("display_name")),
        first_name=short_text(body.get("first_name")),
        last_name=short_text(body.get("last_name")),
        distance=_DISTANCES.get(str(found.get("network_distance")), Distance.UNKNOWN),
        request_state=RequestState.NONE if state is None else _REQUEST_STATES.get(str(state), RequestState.UNKNOWN),
        request=_own_request(found.get("relation_request"), person_id=person_id, slug=slug),
        visit_token=short_text(found.get("notify_visit_token")),
    )


def request(body: Json) -> SentRequest:
    """An invite that we sent. Raises `Unreadable`."""
    if body.get("type") != "sent":
        raise Unreadable
    user = body.get("user")
    invited: Json = user if isinstance(user, dict) else {}
    return SentRequest(
        id=required_id(body),
        person_id=short_text(invited.get("id")),
        public_identifier=short_text(invited.get("public_identifier")),
        sent_at=moment(body.get("created_at")),
        note=short_text(body.get("message")),
    )


def chat(body: Json) -> NetworkChat:
    """A chat. Raises `Unreadable`."""
    restrictions = body.get("restrictions")
    refused = isinstance(restrictions, list) and "send_message" in restrictions
    return NetworkChat(
        id=required_id(body),
        person_id=short_text(body.get("user_id")),
        one_to_one=body.get("type") == "1to1" or body.get("is_1to1") is True,
        writable=not (refused or body.get("is_readonly") is True),
        last_message_at=moment(body.get("last_message_timestamp")),
    )


def message(body: Json) -> NetworkMessage:
    """A message. Raises `Unreadable`, also when it does not say who wrote it."""
    from_owner, chat_id = body.get("is_sender"), short_text(body.get("chat_id"))
    if not isinstance(from_owner, bool) or chat_id is None:
        raise Unreadable
    return NetworkMessage(
        id=required_id(body),
        chat_id=chat_id,
        sender_id=short_text(body.get("sender_id")),
        text=body["text"] if isinstance(body.get("text"), str) else None,
        sent_at=moment(body.get("timestamp")),
        from_owner=from_owner,
        is_event=body.get("is_event") is True,
        is_deleted=body.get("is_deleted") is True,
    )


def sent(body: Json, *, chat_id: str | None = None) -> MessageSent:
    """What came of a message: its id comes as text, as a list of texts, or not at all."""
    told = body.get("message_id")
    ids = [short_text(each) for each in told] if isinstance(told, list) else [short_text(told)]
    return MessageSent(
        chat_id=short_text(body.get("chat_id")) or chat_id, message_id=next(iter(filter(None, ids)), None)
    )


def endpoint(body: Json) -> CallbackEndpoint:
    """A webhook endpoint. Raises `Unreadable`, also when it does not tell its secret."""
    url, secret, events = body.get("url"), short_text(body.get("secret")), body.get("trigger_events")
    if not isinstance(url, str) or secret is None or not isinstance(events, list):
        raise Unreadable
    names = frozenset(name for name in events if isinstance(name, str))
    return CallbackEndpoint(id=required_id(body), url=url, secret=secret, events=names)


def required_id(body: Json) -> str:
    """The `id` of anything. Raises `Unreadable`."""
    found = short_text(body.get("id"))
    if found is None:
        raise Unreadable
    return found


def short_text(value: object) -> str | None:
    """A text of reasonable length; null for anything else."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_LENGTH else None


def moment(value: object) -> datetime | None:
    """A time with its zone; null for anything else."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def provider_time(at: datetime) -> str:
    """A time as the provider reads it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _classic(body: Json) -> object:
    metadata = body.get("metadata")
    products = metadata.get("products_connection_status") if isinstance(metadata, dict) else None
    return products.get("classic") if isinstance(products, dict) else None


def _own_request(body: object, *, person_id: str, slug: str | None) -> SentRequest | None:
    if not isinstance(body, dict) or body.get("type") != "sent" or short_text(body.get("id")) is None:
        return None
    return SentRequest(
        id=body["id"],
        person_id=person_id,
        public_identifier=slug,
        sent_at=moment(body.get("created_at")),
        note=short_text(body.get("message")),
    )
