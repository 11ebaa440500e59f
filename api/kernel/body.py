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
    """The changes of the version `since`, by operation name."""

    since: str
    requests: Mapping[str, Convert] = field(default_factory=dict)
    answers: Mapping[str, Convert] = field(default_factory=dict)


CHANGES: tuple[Change, ...] = ()
"""Changes, newest first. No version has broken anything yet: 2026-10-13 answers like 2026-11-01."""


def requested_version(header: str | None, pinned: str | None) -> str:
    """Return the version of a request: the header's, else the one that its key pins. Raises `UnsupportedVersion`."""
    version = (pinned or CURRENT_VERSION) if header is None else header
    if version not in SUPPORTED_VERSIONS:
        raise UnsupportedVersion(SUPPORTED_VERSIONS)
    return version


def request_converters(version: str, operation: str, changes: Sequence[Change] = CHANGES) -> list[Convert]:
    """Return the converters that turn a request of `version` into one of the newest version, in order."""
    return [
        change.requests[operation]
        for change in reversed(changes)
        if change.since > version and operation in change.requests
    ]


def answer_converters(version: str, operation: str, changes: Sequence[Change] = CHANGES) -> list[Convert]:
    """Return the converters that turn an answer of the newest version into one of `version`, in order."""
    return [change.answers[operation] for change in changes if change.since > version and operation in change.answers]


def converted(value: JsonValue, converters: Sequence[Convert]) -> JsonValue:
    """Return the value after all converters."""
    for convert in converters:
        value = convert(value)
    return value


V = TypeVar("V")

LIMIT = 1024 * 1024
DRAIN = 16 * LIMIT
"""Bytes of an over-long body that are read and dropped, so that the caller can read the answer."""
MAX_DIGITS = 400
MAX_SHOWN = 200

Json = JsonValue
Path = tuple["Path | None", str | int]
"""A position in a body: the enclosing position and the last step. It becomes text only if the body is refused."""


async def read_body(request: Request) -> bytes:
    """Return the body's bytes. Raises `InvalidRequest` if there are more than 1 MiB."""
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
    """Return the JSON value of a body; an empty body is an empty object.

    Raises `InvalidRequest` if it is not UTF-8 or JSON, names a field twice, or contains invalid characters.
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
        raise InvalidRequest("This field is given twice; give it once.", field=twice[:MAX_SHOWN])
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
    """Refuse NUL characters and lone surrogates, which the database cannot store."""
    if "\x00" in value or any("\ud800" <= character <= "\udfff" for character in value):
        shown = field if isinstance(field, str) else _dotted(field)
        raise InvalidRequest("Texts must not contain NUL characters or lone surrogates.", field=shown)


class ParsedBody:
    """A parsed body, with the text that the strict validation reads."""

    __slots__ = ("text", "value")

    def __init__(self, value: Json, converters: list[Convert]) -> None:
        self.value = converted(value, converters)
        self.text = json.dumps(self.value, ensure_ascii=False)

    def canonical(self) -> bytes:
        """Return the same bytes for equal values, however they are written."""
        return json.dumps(self.value, sort_keys=True, separators=(",", ":")).encode()


def validated(checked: ParsedBody, adapter: TypeAdapter[V]) -> V:
    """Validate a body without converting JSON types: `"30"` is not a number, `1` is not true.

    FastAPI validates Python values, and strict validation of those would refuse the lists and texts that JSON uses for
    tuples, enums and times; pydantic's JSON mode accepts them. Raises `InvalidRequest` with the dotted path of the
    first refused field.
    """
    try:
        return adapter.validate_json(checked.text, strict=True)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        raise refused(problems, checked.value) from None


def refused(problems: Sequence[Mapping[str, Any]], given: JsonValue) -> InvalidRequest:
    """Return the first problem that pydantic found, with the field's dotted path. `given` is the checked value."""
    first = problems[0]
    field = dotted(first.get("loc", ()), given)
    message = _message(first)
    return InvalidRequest(f"{field}: {message}" if field else message, field=field)


def dotted(location: Sequence[int | str], given: JsonValue) -> str | None:
    """Return the path of a field, without the names of union members that pydantic adds to its locations."""
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
        return "this field is unknown."
    if problem.get("type") == "missing":
        return "this field is required."
    text = str(problem.get("msg", "is not valid")).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."
