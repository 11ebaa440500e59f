"""Request bodies: read with a limit, checked as text and JSON, brought to the newest version, validated strictly."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from starlette.requests import Request

from models.access.rules.keys import CURRENT_VERSION, SUPPORTED_VERSIONS
from models.base.errors import InvalidRequest, UnsupportedVersion

VERSION_HEADER = "Service-Version"

Convert = Callable[[JsonValue], JsonValue]


@dataclass(frozen=True, slots=True)
class Change:
    """What changed with the version `since`, by operation name."""

    since: str
    requests: Mapping[str, Convert] = field(default_factory=dict)
    answers: Mapping[str, Convert] = field(default_factory=dict)


CHANGES: tuple[Change, ...] = ()
"""Newest first. Nothing has been broken yet: 2026-10-13 answers as 2026-11-01 does."""


def requested_version(header: str | None, pinned: str | None) -> str:
    """The version of a request: the header's, else the one its key pins. Raises `UnsupportedVersion`."""
    version = (pinned or CURRENT_VERSION) if header is None else header
    if version not in SUPPORTED_VERSIONS:
        raise UnsupportedVersion(SUPPORTED_VERSIONS)
    return version


def request_converters(version: str, operation: str, changes: Sequence[Change] = CHANGES) -> list[Convert]:
    """What makes a request of `version` one of the newest, to be applied in order."""
    return [
        change.requests[operation]
        for change in reversed(changes)
        if change.since > version and operation in change.requests
    ]


def answer_converters(version: str, operation: str, changes: Sequence[Change] = CHANGES) -> list[Convert]:
    """What makes an answer of the newest version one of `version`, to be applied in order."""
    return [change.answers[operation] for change in changes if change.since > version and operation in change.answers]


def converted(value: JsonValue, converters: Sequence[Convert]) -> JsonValue:
    """The value after every converter."""
    for convert in converters:
        value = convert(value)
    return value


V = TypeVar("V")

LIMIT = 1024 * 1024
DRAIN = 16 * LIMIT
"""So much of an over-long body is read and dropped, so that the caller gets to read the answer."""
MAX_DIGITS = 400
MAX_SHOWN = 200

Json = JsonValue
Path = tuple["Path | None", str | int]
"""A position in a body: the enclosing position, and the last step. It becomes text only when the body is refused."""


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


def refused(problems: Sequence[Mapping[str, Any]], given: JsonValue) -> InvalidRequest:
    """What pydantic found wrong first, with the dotted path of the field. `given` is the value that was checked."""
    first = problems[0]
    field = dotted(first.get("loc", ()), given)
    message = _message(first)
    return InvalidRequest(f"{field}: {message}" if field else message, field=field)


def dotted(location: Sequence[int | str], given: JsonValue) -> str | None:
    """The path of a field. Names of union members, which pydantic puts into its locations, are left out."""
    path: list[str] = []
    for place, step in enumerate(location):
        last = place == len(location) - 1
        if isinstance(given, dict) and isinstance(step, str) and (step in given or last):
            given = given.get(step)
        elif isinstance(given, list) and isinstance(step, int):
            given = given[step] if step < len(given) else None
        elif path or not last:
            continue
        path.append(str(step))
    return ".".join(path) or None


def _message(problem: Mapping[str, Any]) -> str:
    if problem.get("type") == "extra_forbidden":
        return "this field is not known."
    if problem.get("type") == "missing":
        return "this field is required."
    text = str(problem.get("msg", "is not valid")).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
