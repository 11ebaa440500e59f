"""Dated versions: which one a request speaks, and how older ones are made of the newest (spec, "Versioning").

A breaking change is one `Change`: the date of the version that brought it, and for each operation concerned how an
older request becomes a newer one and a newer answer an older one. Handlers know the newest version alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from models.access.rules.keys import CURRENT_VERSION, SUPPORTED_VERSIONS
from models.base.errors import UnsupportedVersion

HEADER = "Service-Version"

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
