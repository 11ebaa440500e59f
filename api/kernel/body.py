"""Request bodies: read with a limit, checked as text and as JSON, then validated strictly as what they claim to be."""

import json
from collections import Counter
from typing import NoReturn, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from starlette.requests import Request

from api.kernel.middleware import refused
from api.kernel.versions import Convert, converted
from models.base.errors import InvalidRequest

V = TypeVar("V")

LIMIT = 1024 * 1024
DRAIN = 16 * LIMIT
"""So much of an over-long body is read and dropped, so that the caller gets to read the answer."""
MAX_DIGITS = 400
MAX_SHOWN = 200

Json = JsonValue
Path = tuple["Path | None", str | int]
"""A place in a body: the place around it, and the last step. A text of it is made for whoever is refused alone."""


async def read_body(request: Request) -> bytes:
    """The body's bytes. Raises `InvalidRequest` when there are more than 1 MiB."""
    declared = request.headers.get("content-length", "")
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= LIMIT:
            chunks.append(chunk)
        elif size > DRAIN:
            break
    if size > LIMIT or (declared.isdigit() and int(declared) > LIMIT):
        raise InvalidRequest("The body is larger than 1 MiB.")
    return b"".join(chunks)


def parse_body(raw: bytes) -> Json:
    """The JSON value of a body; an empty one is an empty object.

    Raises `InvalidRequest` for what is not UTF-8 or JSON, names a field twice, or holds characters that no text has.
    """
    if not raw:
        return {}
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest("The body is not valid UTF-8.") from error
    try:
        value: Json = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
        if "\\u" in text:
            _check_texts(value, None)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("The body is not valid JSON.") from error
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    if len(made) != len(pairs):
        count = Counter(name for name, _ in pairs)
        twice = next(name for name, times in count.items() if times > 1)
        raise InvalidRequest("This field is given twice.", field=twice[:MAX_SHOWN])
    return made


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("a number of too many digits")
    return int(digits)


def _check_texts(value: Json, path: Path | None) -> None:
    if isinstance(value, str):
        check_text(value, field=path)
    elif isinstance(value, dict):
        for name, inner in value.items():
            check_text(name, field=path)
            _check_texts(inner, (path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _check_texts(inner, (path, place))


def _dotted(path: Path | None) -> str | None:
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(str(step))
    return ".".join(reversed(steps))[:MAX_SHOWN] or None


def check_text(value: str, *, field: Path | str | None) -> None:
    """Refuse NUL characters and halves of surrogate pairs: no text has them, and no database keeps them."""
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        shown = field if isinstance(field, str) else _dotted(field)
        raise InvalidRequest("Texts must not hold NUL characters or lone surrogates.", field=shown)


class ParsedBody:
    """A body that was parsed, with the text that the strict validation reads."""

    __slots__ = ("text", "value")

    def __init__(self, value: Json, converters: list[Convert]) -> None:
        self.value = converted(value, converters)
        self.text = json.dumps(self.value, ensure_ascii=False)

    def canonical(self) -> bytes:
        """The same bytes for the same value, whatever its spelling."""
        return json.dumps(self.value, sort_keys=True, separators=(",", ":")).encode()


def validated(checked: ParsedBody, adapter: TypeAdapter[V]) -> V:
    """Validate a body, taking JSON types as they are: `"30"` is no number, `1` is not true.

    FastAPI validates Python values, where strictness would refuse the lists and texts that JSON has for tuples, enums
    and moments; pydantic's JSON mode knows the difference. Raises `InvalidRequest` with the dotted path of the first
    field refused.
    """
    try:
        return adapter.validate_json(checked.text, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise refused(problems, checked.value) from None
