"""Messages of JSON-RPC before anybody acts on them: what is none is refused, never dropped in silence."""

from pydantic import JsonValue

from models.base.errors import InvalidRequest

VERSION = "2.0"
LONGEST_ID = 200
_ANSWERS = ("result", "error")


def check_message(message: JsonValue) -> dict[str, JsonValue]:
    """The message, once it is known to be a request, a notification or an answer.

    Raises `InvalidRequest` naming the member that is wrong. A request whose id is no text or whole number would
    otherwise pass for a notification: accepted, and never done.
    """
    if not isinstance(message, dict):
        raise InvalidRequest("A message is a JSON object.")
    if message.get("jsonrpc") != VERSION:
        raise InvalidRequest(f'jsonrpc: must be "{VERSION}".', field="jsonrpc")
    if "id" in message and not _is_id(message["id"], may_be_null="error" in message):
        raise InvalidRequest(f"id: must be a whole number or a text of at most {LONGEST_ID} characters.", field="id")
    if "method" not in message and not any(name in message for name in _ANSWERS):
        raise InvalidRequest("method: this field is required.", field="method")
    if not isinstance(message.get("method", ""), str):
        raise InvalidRequest("method: must be a text.", field="method")
    if not isinstance(message.get("params", {}), dict):
        raise InvalidRequest("params: must be an object.", field="params")
    return message


def wants_progress(message: dict[str, JsonValue]) -> bool:
    """Whether the request asks to be told how far it is."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and meta.get("progressToken") is not None


def _is_id(value: JsonValue, *, may_be_null: bool) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_ID
    if value is None:
        return may_be_null
    return isinstance(value, int) and not isinstance(value, bool)
