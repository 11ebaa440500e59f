"""A sequence over weeks on a real installation under virtual time, while people answer, opt out and are stopped.

The network is the truth: every execution is checked against hours, rests, caps and silences computed independently.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import pytest

from tests.journeys.installation import installed
from tests.journeys.network_log import broken_promises, duplicates, moment, replied_at, seeds_of, written_after
from tests.journeys.occurrences import Occurrences
from tests.journeys.outreach import Json, Outreach

pytestmark = pytest.mark.timeout(1500)

WITHDRAW_WAIT_DAYS = 2
ACCEPT_AFTER_DAYS = 3
QUIET = 5
"""Number of people who accept early and never act on their own, so that tests can act for them."""


@dataclass(frozen=True)
class Size:
    """Number of people, days on which things occur, and days in total."""

    people: int
    happens_after: tuple[int, ...]
    days: int
    accept_timeout_days: int

    def steps(self) -> list[Json]:
        """Return the steps: invite with a note, message after acceptance, follow-up, withdrawal after the time-out."""
        after_accept = {"type": "message", "only_after_accept": True, "accept_timeout_days": self.accept_timeout_days}
        return [
            {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
            after_accept | {"wait_days": 1, "body": "Hi {{first_name}}, thank you for connecting. {{privacy_notice}}"},
            after_accept | {"wait_days": 4, "is_follow_up": True, "body": "Hi {{first_name}}, a short reminder."},
            {"type": "withdraw_invite", "wait_days": WITHDRAW_WAIT_DAYS},
        ]


SMALL = Size(people=14, happens_after=(5,), days=13, accept_timeout_days=7)
WHOLE = Size(people=120, happens_after=(5, 9, 13, 18, 24, 30), days=60, accept_timeout_days=14)


@dataclass(frozen=True)
class Played:
    """The records of the network and the API afterwards."""

    size: Size
    outreach: Outreach
    way: Occurrences
    log: list[Json]
    actions: list[Json]
    enrollments: list[Json]


@pytest.fixture(scope="module", params=[SMALL, pytest.param(WHOLE, marks=pytest.mark.slow)], ids=["small", "whole"])
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    size: Size = request.param
    with pytest.MonkeyPatch.context() as patch:
        if size is SMALL:
            patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # polls would be half of the work
        with installed("--population", "1000", "--virtual-time") as installation:
            yield play(Outreach.begin(installation), size)


def play(outreach: Outreach, size: Size) -> Played:
    """Enroll all people and let the days pass."""
    sequence_id = outreach.sequence("Weeks", size.steps())
    strangers = outreach.strangers(size.people * 4)
    quiet = [one for one in strangers if one["accepts"] and one["answers_message"] is None][:QUIET]
    people = quiet + [one for one in strangers if one not in quiet][: size.people - QUIET]
    done = outreach.enroll(sequence_id, people)
    assert done["enrolled"] == size.people, done["skipped"]
    urls = {one["person_id"]: one["profile_url"] for one in people}
    way = Occurrences(outreach, outreach.profiles(sequence_id, people), urls)
    outreach.advance(f"{ACCEPT_AFTER_DAYS}d")
    way.accept(quiet)
    passed = ACCEPT_AFTER_DAYS
    for day in size.happens_after:
        outreach.advance(f"{day - passed}d")
        way.one_of_each_kind()
        passed = day
    outreach.advance(f"{size.days - passed}d")
    listed = outreach.listed
    return Played(
        size, outreach, way, outreach.log(), listed("/v1/outreach/actions"), listed("/v1/outreach/enrollments")
    )


def test_every_execution_keeps_hours_rests_and_caps(played: Played) -> None:
    seeds = seeds_of(played.log, played.actions, played.way.profiles)
    assert broken_promises(played.log, seeds, played.outreach.terms()) == []


def test_the_records_of_service_and_network_are_equal(played: Played) -> None:
    assert duplicates(played.log) == []
    assert len([one for one in played.actions if one["outcome"] == "sent"]) == len(played.log)
    assert not [one for one in played.actions if one["outcome"] in {"failed", "unknown", "reconciling", "sending"}]
    invited = {entry["person_id"] for entry in played.log if entry["kind"] == "invite"}
    assert invited | played.way.left_alone.keys() == played.way.profiles.keys()


def test_no_message_follows_a_reply_an_opt_out_a_stop_or_a_suppression(played: Played) -> None:
    happened = set(played.way.because.values())
    assert happened == {"reply", "owner", "opt-out", "stop", "suppression"}, happened
    replied = replied_at(played.outreach.messages_with, played.way.profiles)
    assert replied  # otherwise the test proves nothing
    first = played.way.left_alone | {
        person: min(at, played.way.left_alone.get(person, at)) for person, at in replied.items()
    }
    assert written_after(played.log, first) == []


def test_every_enrollment_has_ended_or_is_paused_for_the_right_reason(played: Played) -> None:
    by_profile = {one["profile_id"]: one for one in played.enrollments}
    assert len(by_profile) == len(played.enrollments) == played.size.people
    replied = replied_at(played.outreach.messages_with, played.way.profiles)
    forced: dict[str, set[tuple[str, str | None]]] = {
        "reply": {("replied", None)},
        "owner": {("paused", "owner_wrote"), ("replied", None)},  # some answer the owner
        "stop": {("stopped", "manual")},
        "opt-out": {("stopped", "suppressed")},
        "suppression": {("stopped", "suppressed")},
    }
    for person, profile_id in played.way.profiles.items():
        enrollment = by_profile[profile_id]
        ended = enrollment["finished_at"] and datetime.fromisoformat(enrollment["finished_at"])
        silent = person not in replied or (ended and replied[person] > ended)
        natural = "completed" if silent else "replied"
        expected = forced.get(played.way.because.get(person, ""), {(natural, None)})
        assert (enrollment["status"], enrollment["reason"]) in expected, (played.way.because.get(person), enrollment)


def test_an_invite_without_acceptance_is_withdrawn_after_the_time_out(played: Played) -> None:
    invited = {entry["person_id"]: moment(entry) for entry in played.log if entry["kind"] == "invite"}
    written = {entry["person_id"] for entry in played.log if entry["kind"] == "message"}
    withdrawn = {entry["person_id"]: moment(entry) for entry in played.log if entry["kind"] == "withdraw"}
    assert withdrawn
    assert written
    assert not written & withdrawn.keys()
    least = played.size.accept_timeout_days + WITHDRAW_WAIT_DAYS
    assert all((at - invited[person]).days >= least for person, at in withdrawn.items())
