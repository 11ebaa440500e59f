"""A restore while people are written to: nothing is sent twice, who replied is left alone, and everything else ends."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from tests.journeys.installation import installed
from tests.journeys.on_the_way import OPT_OUT
from tests.journeys.outreach import Json, Outreach
from tests.journeys.reckoning import doubles, moment, outside_hours, written_after
from tests.journeys.restoring import Operator, documented
from tests.journeys.test_outreach_trouble import connected, next_tuesday

pytestmark = [pytest.mark.timeout(1500), pytest.mark.slow]

TALK: list[Json] = [
    {"type": "message", "body": "Hi {{first_name}}. {{privacy_notice}}"},
    {"type": "message", "wait_days": 1, "is_follow_up": True, "body": "Still there, {{first_name}}?"},
    {"type": "message", "wait_days": 2, "is_follow_up": True, "body": "A last word, {{first_name}}."},
]
AFTER_ACCEPT: Json = {"type": "message", "only_after_accept": True, "accept_timeout_days": 3}
ASK: list[Json] = [
    {"type": "profile_visit"},
    {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field."},
    AFTER_ACCEPT | {"body": "Thank you for connecting, {{first_name}}. {{privacy_notice}}"},
    AFTER_ACCEPT | {"wait_days": 1, "is_follow_up": True, "body": "A short reminder, {{first_name}}."},
]
HELD = {("paused", "owner_wrote"), ("paused", "outcome_unknown")}
"""By the owner's own words, whichever met them first: the reading of the chats, or of the step that was due."""


@dataclass
class Story:
    """What was done before the restore, and who is to be left alone since when, by the network's ids."""

    outreach: Outreach
    run_id: str = ""
    candidates: list[str] = field(default_factory=list)
    charges: list[tuple[str, int]] = field(default_factory=list)
    backed_up_at: datetime | None = None
    before: list[Json] = field(default_factory=list)
    lost: list[Json] = field(default_factory=list)
    left_alone: dict[str, datetime] = field(default_factory=dict)
    opted_out: str = ""
    owner_wrote_to: str = ""
    talk: str = ""
    friends: list[Json] = field(default_factory=list)
    urls: dict[str, str] = field(default_factory=dict)
    newest: list[Json] = field(default_factory=list)
    nobodys: set[str] = field(default_factory=set)
    """Enrolled in the lost hour."""

    def happens(self, path: str, person: str, **body: str) -> None:
        """Something that the network alone knows, after which the person is left alone."""
        self.outreach.act(path, person, **body)
        self.left_alone[person] = self.outreach.now()


@pytest.fixture(scope="module", params=["temporal_kept", "temporal_lost"])
def story(request: pytest.FixtureRequest) -> Iterator[Story]:
    """The whole of it; the tests look at its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # polls would be most of what happens
        with installed("--population", "1500", "--virtual-time") as installation:
            told = Story(Outreach.begin(installation))
            operator = Operator.at(installation)
            under_way(told, operator)
            lost_hour(told)
            operator.stop_ours()
            operator.restore(without_temporal=request.param == "temporal_lost")
            recovered(told, operator, named=request.param == "temporal_lost")
            told.outreach.advance("12d")
            yield told


def under_way(told: Story, operator: Operator) -> None:
    """Two sequences in their second day, a run at work, and the backup."""
    outreach = told.outreach
    friends, strangers = connected(outreach, 13), outreach.strangers(7)
    told.urls = {one["person_id"]: one["profile_url"] for one in friends}
    told.friends, told.newest = friends[:11], friends[11:]
    talk, ask = outreach.sequence("Talk", TALK), outreach.sequence("Ask", ASK)
    told.talk = talk
    tuesday = next_tuesday(outreach.now())
    outreach.until(tuesday)
    assert outreach.enroll(talk, friends[:6])["enrolled"] == 6
    assert outreach.enroll(ask, strangers[:3])["enrolled"] == 3
    outreach.advance("1d")
    assert outreach.enroll(talk, friends[6:11])["enrolled"] == 5
    assert outreach.enroll(ask, strangers[3:])["enrolled"] == 4
    outreach.advance("1h")
    second = {one["person_id"] for one in friends[6:11]}
    for _ in range(20):
        outreach.advance("3m")
        told.before = outreach.log()
        if second & {entry["person_id"] for entry in told.before}:
            break
    outreach.installation.fault(fault="latency", latency_ms=250)
    told.run_id = outreach.recruiter.start_run(target=30)
    told.backed_up_at = outreach.now()
    operator.back_up()


def lost_hour(told: Story) -> None:
    """More than an hour of sends, with replies, an opt-out, the owner's own words, an acceptance and new people."""
    outreach = told.outreach
    outreach.recruiter.finished(told.run_id)
    told.candidates = [row["profile_url"] for row in outreach.recruiter.candidates(told.run_id)]
    told.charges = outreach.recruiter.charges()
    outreach.enroll(outreach.sequence("Of the lost hour", TALK), told.newest)
    told.nobodys = {one["person_id"] for one in told.newest}
    early = list(dict.fromkeys(entry["person_id"] for entry in told.before if entry["kind"] == "message"))
    late: list[str] = []
    for _ in range(12):
        outreach.advance("10m")
        log = outreach.log()
        met = dict.fromkeys(entry["person_id"] for entry in log if entry["kind"] == "message")
        late = [one for one in met if one not in early and one not in told.nobodys]
        if late:
            break
    told.happens("reply", early[0], text="Tell me more.")
    told.happens("owner_message", early[1], text="It is me, Sam.")
    told.owner_wrote_to = early[1]
    told.happens("reply", late[0], text="Not for me.")
    opts_out(told, next(entry for entry in log if entry["person_id"] == early[2] and entry["kind"] == "message"))
    pending = [entry["person_id"] for entry in log if entry["kind"] == "invite"]
    outreach.act("accept", pending[0])
    outreach.act("accept", pending[-1])
    outreach.advance("1h")
    told.lost = outreach.log()[len(told.before) :]


def opts_out(told: Story, entry: Json) -> None:
    """By the link in a message."""
    link = OPT_OUT.search(entry["text"])
    assert link is not None
    answer = told.outreach.recruiter.call("POST", link[0], data={"ask": "stop"})
    assert answer.status_code == 200, answer.text
    told.opted_out = entry["person_id"]
    told.left_alone[told.opted_out] = told.outreach.now()


def recovered(told: Story, operator: Operator, *, named: bool) -> None:
    """Steps 4 and 5: the command, then suppressions since the backup, then the workers."""
    outreach, installation = told.outreach, told.outreach.installation
    since = f" --since {told.backed_up_at.isoformat()}" if named and told.backed_up_at else ""
    assert "read back on the network" in operator.run(documented("python -m models.recover") + since)
    installation.command("restart", "api")
    outreach.post("/v1/suppressions", {"profile_url": told.urls[told.opted_out]})
    installation.command("restart", "worker")
    installation.command("restart", "upstream")


def test_a_restore_repeats_nothing_and_everything_goes_on(story: Story) -> None:
    outreach, log = story.outreach, story.outreach.log()
    assert {entry["kind"] for entry in story.lost} == {"visit", "invite", "message"}, "else the lost hour says little"
    after = log[len(story.before) + len(story.lost) :]
    assert {entry["kind"] for entry in after} >= {"message"}
    assert doubles(log) == []
    assert written_after(log, story.left_alone) == []
    assert not {entry["person_id"] for entry in after} & story.nobodys
    assert outside_hours(log, outreach.terms()) == []
    assert max(map(moment, log)) < outreach.now()


def test_every_enrollment_and_run_of_the_backup_ends(story: Story) -> None:
    outreach = story.outreach
    enrollments = outreach.listed("/v1/outreach/enrollments")
    assert len(enrollments) == 18
    open_ones = [one for one in enrollments if one["finished_at"] is None]
    owner_met = [one for one in story.friends if one["person_id"] == story.owner_wrote_to]
    (held,) = outreach.profiles(story.talk, owner_met).values()
    assert {one["profile_id"] for one in open_ones} <= {held}, "only whom the owner wrote to is left to a person"
    assert {(one["status"], one["reason"]) for one in open_ones} <= HELD
    assert sorted(one["status"] for one in enrollments).count("replied") == 2
    actions = outreach.listed("/v1/outreach/actions")
    assert not {one["outcome"] for one in actions} & {"sending", "reconciling", "failed"}
    assert {one["profile_id"] for one in actions if one["outcome"] == "unknown"} <= {held}
    recruiter = outreach.recruiter
    assert recruiter.finished(story.run_id)["status"] == "completed"
    assert [row["profile_url"] for row in recruiter.candidates(story.run_id)] == story.candidates
    assert recruiter.charges() == story.charges
