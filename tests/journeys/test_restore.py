"""A restore during outreach: nothing is sent twice, people who replied are left alone, and everything else ends."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from tests.journeys.installation import installed
from tests.journeys.network_log import duplicates, moment, outside_hours, written_after
from tests.journeys.occurrences import OPT_OUT
from tests.journeys.operator_commands import Operator, documented
from tests.journeys.outreach import Json, Outreach
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
"""A message of the owner pauses, seen either when chats are read or when the outcome of the due step is read back."""


@dataclass
class Scenario:
    """What was done before the restore, and from when each person must be left alone, by the network's ids."""

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
    enrolled_later: set[str] = field(default_factory=set)
    """People enrolled in the lost hour."""

    def happens(self, path: str, person: str, **body: str) -> None:
        """Let something occur that only the network knows, after which the person must be left alone."""
        self.outreach.act(path, person, **body)
        self.left_alone[person] = self.outreach.now()


@pytest.fixture(scope="module", params=["temporal_kept", "temporal_lost"])
def scenario(request: pytest.FixtureRequest) -> Iterator[Scenario]:
    """Run the whole scenario; the tests check its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OUTREACH_CHATS_MINUTES", "1440")  # polls would be most of the work
        with installed("--population", "1500", "--virtual-time") as installation:
            restored = Scenario(Outreach.begin(installation))
            operator = Operator.at(installation)
            under_way(restored, operator)
            lost_hour(restored)
            operator.stop_ours()
            operator.restore(without_temporal=request.param == "temporal_lost")
            recovered(restored, operator, named=request.param == "temporal_lost")
            restored.outreach.advance("12d")
            yield restored


def under_way(scenario: Scenario, operator: Operator) -> None:
    """Start two sequences and a run, and make the backup on the sequences' second day."""
    outreach = scenario.outreach
    friends, strangers = connected(outreach, 13), outreach.strangers(7)
    scenario.urls = {one["person_id"]: one["profile_url"] for one in friends}
    scenario.friends, scenario.newest = friends[:11], friends[11:]
    talk, ask = outreach.sequence("Talk", TALK), outreach.sequence("Ask", ASK)
    scenario.talk = talk
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
        scenario.before = outreach.log()
        if second & {entry["person_id"] for entry in scenario.before}:
            break
    outreach.installation.fault(fault="latency", latency_ms=250)
    scenario.run_id = outreach.recruiter.start_run(target=30)
    scenario.backed_up_at = outreach.now()
    operator.back_up()


def lost_hour(scenario: Scenario) -> None:
    """Let over an hour of sends pass, with replies, an opt-out, a message of the owner, acceptances and new people."""
    outreach = scenario.outreach
    outreach.recruiter.finished(scenario.run_id)
    scenario.candidates = [row["profile_url"] for row in outreach.recruiter.candidates(scenario.run_id)]
    scenario.charges = outreach.recruiter.charges()
    outreach.enroll(outreach.sequence("Of the lost hour", TALK), scenario.newest)
    scenario.enrolled_later = {one["person_id"] for one in scenario.newest}
    early = list(dict.fromkeys(entry["person_id"] for entry in scenario.before if entry["kind"] == "message"))
    late: list[str] = []
    for _ in range(12):
        outreach.advance("10m")
        log = outreach.log()
        met = dict.fromkeys(entry["person_id"] for entry in log if entry["kind"] == "message")
        late = [one for one in met if one not in early and one not in scenario.enrolled_later]
        if late:
            break
    scenario.happens("reply", early[0], text="Tell me more.")
    scenario.happens("owner_message", early[1], text="It is me, Sam.")
    scenario.owner_wrote_to = early[1]
    scenario.happens("reply", late[0], text="Not for me.")
    opts_out(scenario, next(entry for entry in log if entry["person_id"] == early[2] and entry["kind"] == "message"))
    pending = [entry["person_id"] for entry in log if entry["kind"] == "invite"]
    outreach.act("accept", pending[0])
    outreach.act("accept", pending[-1])
    outreach.advance("1h")
    scenario.lost = outreach.log()[len(scenario.before) :]


def opts_out(scenario: Scenario, entry: Json) -> None:
    """Opt out by the link in a message."""
    link = OPT_OUT.search(entry["text"])
    assert link is not None
    answer = scenario.outreach.recruiter.call("POST", link[0], data={"ask": "stop"})
    assert answer.status_code == 200, answer.text
    scenario.opted_out = entry["person_id"]
    scenario.left_alone[scenario.opted_out] = scenario.outreach.now()


def recovered(scenario: Scenario, operator: Operator, *, named: bool) -> None:
    """Do steps 4 and 5: run the command, repeat suppressions since the backup, start the workers."""
    outreach, installation = scenario.outreach, scenario.outreach.installation
    since = f" --since {scenario.backed_up_at.isoformat()}" if named and scenario.backed_up_at else ""
    assert "read back on the network" in operator.run(documented("python -m models.recover") + since)
    installation.command("restart", "api")
    outreach.post("/v1/suppressions", {"profile_url": scenario.urls[scenario.opted_out]})
    installation.command("restart", "worker")
    installation.command("restart", "upstream")


def test_a_restore_repeats_nothing_and_sequences_continue(scenario: Scenario) -> None:
    outreach, log = scenario.outreach, scenario.outreach.log()
    assert {entry["kind"] for entry in scenario.lost} == {"visit", "invite", "message"}, (
        "the lost hour holds every kind of execution"
    )
    after = log[len(scenario.before) + len(scenario.lost) :]
    assert {entry["kind"] for entry in after} >= {"message"}
    assert duplicates(log) == []
    assert written_after(log, scenario.left_alone) == []
    assert not {entry["person_id"] for entry in after} & scenario.enrolled_later
    assert outside_hours(log, outreach.terms()) == []
    assert max(map(moment, log)) < outreach.now()


def test_every_enrollment_and_run_in_the_backup_ends(scenario: Scenario) -> None:
    outreach = scenario.outreach
    enrollments = outreach.listed("/v1/outreach/enrollments")
    assert len(enrollments) == 18
    open_ones = [one for one in enrollments if one["finished_at"] is None]
    owner_met = [one for one in scenario.friends if one["person_id"] == scenario.owner_wrote_to]
    (held,) = outreach.profiles(scenario.talk, owner_met).values()
    assert {one["profile_id"] for one in open_ones} <= {held}, "only the enrollment that the owner took over stays open"
    assert {(one["status"], one["reason"]) for one in open_ones} <= HELD
    assert sorted(one["status"] for one in enrollments).count("replied") == 2
    actions = outreach.listed("/v1/outreach/actions")
    assert not {one["outcome"] for one in actions} & {"sending", "reconciling", "failed"}
    assert {one["profile_id"] for one in actions if one["outcome"] == "unknown"} <= {held}
    recruiter = outreach.recruiter
    assert recruiter.finished(scenario.run_id)["status"] == "completed"
    assert [row["profile_url"] for row in recruiter.candidates(scenario.run_id)] == scenario.candidates
    assert recruiter.charges() == scenario.charges
