"""Promises about sequences that must hold whatever was hit, checked against the network's own log."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.journeys.network_log import (
    CALL_SECONDS,
    KINDS,
    Json,
    Terms,
    broken_promises,
    duplicates,
    seeds_of,
    written_after,
)

GRACE = timedelta(seconds=CALL_SECONDS)
"""A call that was claimed before the person had to be left alone is still made."""
HELD = {"owner_wrote"}
UNDER_WAY = {"sending", "reconciling", "scheduled"}


@dataclass(frozen=True)
class History:
    """The history of one account: the network's log of executions, the service's rows, and what people did."""

    log: list[Json]
    actions: list[Json]
    enrollments: list[Json]
    profiles: Mapping[str, str]
    """The service's id of each person by the network's."""
    left_alone: Sequence[tuple[str, datetime, str]]
    """Person, time from which no further message may reach them, and reason."""
    terms: Terms


def broken_by(history: History) -> list[str]:
    """Return a description of every broken promise."""
    log = history.log
    return [
        *(f"done twice: {key}" for key in duplicates(log)),
        *(f"invited twice: {person}" for person in _invited_twice(history)),
        *broken_promises(log, seeds_of(log, history.actions, history.profiles), history.terms),
        *_not_executed(history),
        *_lost(history),
        *_stuck(history),
        *_written_after_stop(history),
    ]


def _invited_twice(history: History) -> list[str]:
    invites = Counter(entry["person_id"] for entry in history.log if entry["kind"] == "invite")
    return [person for person, count in invites.items() if count > 1]


def _not_executed(history: History) -> Iterator[str]:
    """Yield actions with outcome "sent" that the network has not executed."""
    executed = Counter((history.profiles[one["person_id"]], KINDS[one["kind"]]) for one in history.log)
    said = Counter((one["profile_id"], one["type"]) for one in history.actions if one["outcome"] == "sent")
    for what, count in said.items():
        if count > executed[what]:
            yield f"said to be sent {count} times, executed {executed[what]} times: {what}"


def _lost(history: History) -> Iterator[str]:
    """Yield enrolled people without an enrollment, and those who were never invited for no reason."""
    enrolled = sorted(one["profile_id"] for one in history.enrollments)
    asked = sorted(history.profiles.values())
    if enrolled != asked:
        yield f"not one enrollment each: {len(enrolled)} of {len(asked)}; missing {set(asked) - set(enrolled)}"
    invited = {history.profiles[one["person_id"]] for one in history.log if one["kind"] == "invite"}
    explained = {one["profile_id"] for one in history.actions if one["type"] == "invite" and one["outcome"] != "sent"}
    for one in history.enrollments:
        if one["status"] in {"completed", "replied"} and one["profile_id"] not in invited | explained:
            yield f"ended without an invite: {one}"


def _stuck(history: History) -> Iterator[str]:
    """Yield work that has not ended, unless a person has to settle an unclear outcome or the owner has taken over."""
    unsettled = {one["enrollment_id"] for one in history.actions if one["outcome"] == "unknown"}
    for one in history.enrollments:
        held = one["status"] == "paused" and one["reason"] in HELD
        if one["finished_at"] is None and not held and one["id"] not in unsettled:
            yield f"does not end: {one}"
    held_ids = {one["id"] for one in history.enrollments if one["status"] == "paused"}
    for one in history.actions:
        if one["outcome"] in UNDER_WAY and one["enrollment_id"] not in held_ids:
            yield f"does not end: {one}"


def _written_after_stop(history: History) -> Iterator[str]:
    """Yield executions after the person replied, opted out, was stopped or suppressed, or got a message by hand."""
    for person, at, why in history.left_alone:
        for entry in written_after(history.log, {person: at + GRACE}):
            yield f"after {why} at {at}: {entry}"
