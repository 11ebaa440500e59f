"""The invariants detect each broken promise about sequences."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from tests.chaos.invariants import History, broken_by
from tests.journeys.network_log import Json, Terms

AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
"""A Tuesday, ten in the morning in Brussels."""


def executed(seq: int, kind: str, person: str, text: str | None, at: datetime) -> Json:
    return {"seq": seq, "kind": kind, "person_id": person, "text": text, "at": at.isoformat()}


def action(kind: str, profile: str, outcome: str = "sent", text: str = "Hi") -> Json:
    return {
        "id": f"{kind} {profile}",
        "type": kind,
        "outcome": outcome,
        "profile_id": profile,
        "enrollment_id": f"enrollment of {profile}",
        "created_at": AT.isoformat(),
        "seed": "seed",
        "rendered": {"text": text},
    }


def enrollment(profile: str, status: str = "completed", reason: str | None = None) -> Json:
    finished = AT.isoformat() if status not in {"paused", "active"} else None
    return {
        "id": f"enrollment of {profile}",
        "profile_id": profile,
        "status": status,
        "reason": reason,
        "finished_at": finished,
    }


SOUND = History(
    log=[executed(1, "invite", "ann", "Hi", AT), executed(2, "invite", "bob", "Hi", AT + timedelta(hours=1))],
    actions=[action("invite", "p-ann"), action("invite", "p-bob")],
    enrollments=[enrollment("p-ann"), enrollment("p-bob", "paused", "owner_wrote")],
    profiles={"ann": "p-ann", "bob": "p-bob"},
    left_alone=[("bob", AT + timedelta(hours=2), "owner")],
    terms=Terms("acc_1", date(2026, 12, 1)),
)


def test_a_sound_history_breaks_nothing() -> None:
    assert broken_by(SOUND) == []


@pytest.mark.parametrize(
    ("history", "said"),
    [
        (
            replace(
                SOUND,
                log=[*SOUND.log, executed(3, "invite", "ann", "Hi", AT + timedelta(hours=2))],
                actions=[*SOUND.actions, action("invite", "p-ann")],
            ),
            "done twice",
        ),
        (
            replace(
                SOUND,
                log=[*SOUND.log, executed(3, "invite", "ann", "Other words", AT + timedelta(hours=2))],
                actions=[*SOUND.actions, action("invite", "p-ann", text="Other words")],
            ),
            "invited twice",
        ),
        (replace(SOUND, log=SOUND.log[:1]), "said to be sent"),
        (replace(SOUND, enrollments=SOUND.enrollments[:1]), "not one enrollment each"),
        (replace(SOUND, log=SOUND.log[1:], actions=SOUND.actions[1:]), "ended without an invite"),
        (replace(SOUND, enrollments=[enrollment("p-ann", "active"), SOUND.enrollments[1]]), "does not end"),
        (replace(SOUND, actions=[action("invite", "p-ann", "sending"), SOUND.actions[1]]), "does not end"),
        (replace(SOUND, left_alone=[("bob", AT, "opt-out")]), "after opt-out"),
        (
            replace(SOUND, log=[SOUND.log[0], executed(2, "invite", "bob", "Hi", AT + timedelta(seconds=20))]),
            "too close",
        ),
        (
            replace(SOUND, log=[SOUND.log[0], executed(2, "invite", "bob", "Hi", AT + timedelta(days=4))]),
            "outside hours",
        ),
    ],
)
def test_a_broken_promise_is_reported(history: History, said: str) -> None:
    assert [fault for fault in broken_by(history) if fault.startswith(said)]


def test_an_enrollment_whose_unclear_outcome_waits_for_a_person_is_not_stuck() -> None:
    unclear = replace(
        SOUND,
        log=SOUND.log[1:],
        actions=[action("invite", "p-ann", "unknown"), SOUND.actions[1]],
        enrollments=[enrollment("p-ann", "active"), SOUND.enrollments[1]],
    )
    assert broken_by(unclear) == []
