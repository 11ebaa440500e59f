"""Reconciling: when the network is read back, and what the readings say."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.answers import (
    CHECKS,
    SENDING_LIVES,
    Outgoing,
    ReadingBack,
    ReadingVerdict,
    Seen,
    next_check,
    overdue,
    read_invite,
    read_messages,
    read_withdrawal,
    verdict,
)

CLAIMED = datetime(2027, 3, 1, 9, 0, tzinfo=UTC)
SECONDS = timedelta(seconds=1)
MINUTES = timedelta(minutes=1)


def readings(*pairs: tuple[float, Seen]) -> list[ReadingBack]:
    return [ReadingBack(CLAIMED + minutes * MINUTES, seen) for minutes, seen in pairs]


def test_a_claim_lives_130_seconds() -> None:
    assert not overdue(CLAIMED, CLAIMED + 130 * SECONDS)
    assert overdue(CLAIMED, CLAIMED + 131 * SECONDS)


def test_checks_come_1_5_15_and_60_minutes_after_the_claim() -> None:
    seen: list[ReadingBack] = []
    times = []
    while (due := next_check(CLAIMED, seen)) is not None:
        times.append(due - CLAIMED)
        seen.append(ReadingBack(due, Seen.UNREADABLE))
    assert times == [minutes * MINUTES for minutes in (1, 5, 15, 60)]
    assert verdict(CLAIMED, seen) is ReadingVerdict.UNKNOWN


def test_absence_is_believed_the_second_time_after_a_quarter_of_an_hour() -> None:
    seen: list[ReadingBack] = []
    while (due := next_check(CLAIMED, seen)) is not None:
        seen.append(ReadingBack(due, Seen.ABSENT))
    assert [one.at - CLAIMED for one in seen] == [1 * MINUTES, 5 * MINUTES, 15 * MINUTES]
    assert verdict(CLAIMED, seen) is ReadingVerdict.NOT_DONE


def test_checks_after_downtime_are_made_up_for_two_minutes_apart() -> None:
    late = readings((180, Seen.ABSENT))
    assert verdict(CLAIMED, late) is ReadingVerdict.OPEN
    assert next_check(CLAIMED, late) == CLAIMED + 182 * MINUTES
    assert verdict(CLAIMED, [*late, *readings((182, Seen.ABSENT))]) is ReadingVerdict.NOT_DONE


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], ReadingVerdict.OPEN),
        ([(1, Seen.DONE)], ReadingVerdict.DONE),
        ([(1, Seen.ABSENT), (5, Seen.ABSENT)], ReadingVerdict.OPEN),
        ([(2, Seen.ABSENT), (15, Seen.ABSENT)], ReadingVerdict.OPEN),  # the first is within the life of the call
        ([(130 / 60, Seen.ABSENT), (15, Seen.ABSENT)], ReadingVerdict.NOT_DONE),
        ([(5, Seen.ABSENT), (14.9, Seen.ABSENT)], ReadingVerdict.OPEN),
        ([(14, Seen.ABSENT), (15, Seen.ABSENT)], ReadingVerdict.OPEN),  # too close to each other
        ([(5, Seen.ABSENT), (15, Seen.UNREADABLE)], ReadingVerdict.OPEN),
        ([(5, Seen.UNREADABLE), (15, Seen.ABSENT)], ReadingVerdict.OPEN),
        ([(5, Seen.ABSENT), (15, Seen.DONE)], ReadingVerdict.DONE),
        ([(5, Seen.UNEXPLAINED)], ReadingVerdict.UNKNOWN),
        ([(5, Seen.ABSENT), (15, Seen.ABSENT), (15, Seen.UNEXPLAINED)], ReadingVerdict.UNKNOWN),
        ([(5, Seen.UNEXPLAINED), (15, Seen.DONE)], ReadingVerdict.DONE),
        ([(1, Seen.MOOT)], ReadingVerdict.MOOT),
        ([(1, Seen.ABSENT), (5, Seen.MOOT)], ReadingVerdict.MOOT),
        ([(1, Seen.MOOT), (5, Seen.DONE)], ReadingVerdict.DONE),
        ([(1, Seen.ABSENT), (5, Seen.UNREADABLE), (15, Seen.UNREADABLE), (60, Seen.ABSENT)], ReadingVerdict.UNKNOWN),
        ([(1, Seen.ABSENT), (5, Seen.ABSENT), (15, Seen.UNREADABLE), (60, Seen.ABSENT)], ReadingVerdict.NOT_DONE),
    ],
)
def test_what_readings_say_together(pairs: list[tuple[float, Seen]], expected: ReadingVerdict) -> None:
    assert verdict(CLAIMED, readings(*pairs)) is expected


@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(list(Seen))), max_size=6))
@settings(deadline=None)
def test_sending_again_needs_two_late_readings_without_any_trace(pairs: list[tuple[int, Seen]]) -> None:
    made = [ReadingBack(CLAIMED + seconds * SECONDS, seen) for seconds, seen in pairs]
    said = verdict(CLAIMED, made)
    if said is ReadingVerdict.NOT_DONE:
        counted = sorted(one.at for one in made if one.seen is Seen.ABSENT and one.at - CLAIMED >= SENDING_LIVES)
        assert len(counted) >= 2
        assert counted[-1] >= CLAIMED + 15 * MINUTES
        assert {one.seen for one in made} <= {Seen.ABSENT, Seen.UNREADABLE}
    assert (next_check(CLAIMED, made) is not None) == (said is ReadingVerdict.OPEN)
    if said is ReadingVerdict.OPEN:
        assert len(made) < len(CHECKS)


def sent(minutes: float, text: str, id_: str = "msg_1") -> Outgoing:
    return Outgoing(id_, text, CLAIMED + minutes * MINUTES)


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], Seen.ABSENT),
        ([sent(0.1, "Hello\nAnna")], Seen.DONE),
        ([sent(0.1, "  Hello\r\nAnna\n")], Seen.DONE),
        ([sent(-1, "Hello\nAnna")], Seen.DONE),
        ([sent(-1.1, "Hello\nAnna")], Seen.ABSENT),  # an older one of the same words
        ([sent(0.1, "Something else")], Seen.UNEXPLAINED),
        ([sent(0.1, "hello\nanna")], Seen.UNEXPLAINED),
        ([sent(0.1, "Something else"), sent(0.2, "Hello\nAnna", "msg_2")], Seen.DONE),
        ([sent(0.1, "Something else", "msg_known")], Seen.ABSENT),
        ([sent(0.1, "Hello\nAnna", "msg_known")], Seen.ABSENT),
        ([sent(-5, "Something else")], Seen.ABSENT),
    ],
)
def test_what_a_chat_shows(messages: list[Outgoing], expected: Seen) -> None:
    assert read_messages(messages, text="Hello\nAnna", claimed_at=CLAIMED, explained={"msg_known"}) is expected


@pytest.mark.parametrize(
    ("connected", "pending", "listed", "minutes", "expected"),
    [
        (True, False, False, None, Seen.DONE),
        (False, True, False, 0.1, Seen.DONE),
        (False, False, True, 0.1, Seen.DONE),
        (False, True, True, -1, Seen.DONE),
        (False, True, True, -1.1, Seen.ABSENT),  # the owner's own, from before
        (False, True, False, None, Seen.DONE),
        (False, False, False, None, Seen.ABSENT),
    ],
)
def test_what_an_invite_shows(
    connected: bool,
    pending: bool,
    listed: bool,
    minutes: float | None,
    expected: Seen,
) -> None:
    requested_at = None if minutes is None else CLAIMED + minutes * MINUTES
    seen = read_invite(
        connected=connected, pending=pending, listed=listed, requested_at=requested_at, claimed_at=CLAIMED
    )
    assert seen is expected


def test_a_withdrawal_is_done_when_nothing_is_listed_but_of_an_accepted_invite() -> None:
    assert read_withdrawal(listed=True, connected=False) is Seen.ABSENT
    assert read_withdrawal(listed=False, connected=False) is Seen.DONE
    assert read_withdrawal(listed=False, connected=True) is Seen.MOOT
