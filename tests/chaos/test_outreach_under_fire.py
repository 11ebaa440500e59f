"""Sequences run on while worker and api are killed and frozen at random moments: `make chaos HITS=500 SEED=1`.

What the network says is the truth: nobody is written to twice or after they are left alone, nobody is lost, hours,
rests and caps hold.
"""

import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import uuid4

import pytest

from tests.chaos.fire import Fire, under
from tests.journeys.installation import installed
from tests.journeys.on_the_way import OnTheWay
from tests.journeys.outreach import Json, Outreach
from tests.journeys.reckoning import CALL_SECONDS, broken, doubles, replied_at, seeds_of, written_after

pytestmark = [pytest.mark.timeout(6 * 3600), pytest.mark.slow]

PEOPLE = 24
STEPS_OF_TIME = 15
STEP = timedelta(days=3)
CALM = timedelta(days=40)
"""Afterwards, for what was begun to end: acceptance, time-outs and withdrawal take less."""
PATIENCE_SECONDS = 1200
CALLS_TAKE_MS = 80
STEPS: list[Json] = [
    {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
    {
        "type": "message",
        "wait_days": 1,
        "only_after_accept": True,
        "accept_timeout_days": 14,
        "body": "Hi, thank you. {{privacy_notice}}",
    },
    {
        "type": "message",
        "wait_days": 4,
        "only_after_accept": True,
        "accept_timeout_days": 14,
        "is_follow_up": True,
        "body": "Hi, a short reminder.",
    },
    {"type": "withdraw_invite", "wait_days": 2},
]


def patiently(outreach: Outreach, duration: timedelta) -> None:
    """Let time pass, however often it stands still because a process lies on the ground."""
    until, deadline = outreach.now() + duration, time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            outreach.until(until)
        except AssertionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(1)
        else:
            return


def enroll(way: OnTheWay, sequence_id: str) -> int:
    """Enroll further strangers; repeated with the same key until somebody answers. Gives how many it took."""
    outreach = way.outreach
    people = outreach.strangers(PEOPLE + len(way.left_alone))
    people = [one for one in people if one["person_id"] not in way.profiles][:PEOPLE]
    body, key = outreach.asked(sequence_id, people), uuid4().hex
    answer = outreach.recruiter.call("POST", "/v1/outreach/enrollments", json=body, headers={"Idempotency-Key": key})
    assert answer.status_code == 201, answer.text
    assert answer.json()["enrolled"] == len(people), answer.json()["skipped"]
    way.urls |= {one["person_id"]: one["profile_url"] for one in people}
    way.profiles |= outreach.profiles(sequence_id, people)
    return len(people)


def test_nobody_is_written_to_twice_and_nobody_is_lost(pytestconfig: pytest.Config) -> None:
    hits, seed = int(os.environ.get("HITS", "5")), int(os.environ.get("SEED", "1"))
    paper = pytestconfig.get_terminal_writer()
    with installed("--population", "5000", "--virtual-time") as installation:
        outreach = Outreach.begin(installation)
        outreach.recruiter.patience = PATIENCE_SECONDS
        installation.fault(provider="network", fault="latency", latency_ms=CALLS_TAKE_MS)
        sequence_id = outreach.sequence("Under fire", STEPS)
        fire, way = Fire(installation, random.Random(seed), hits), OnTheWay(outreach, {}, {})
        while fire.left > 0:
            with under(fire):
                enroll(way, sequence_id)
                for step in range(STEPS_OF_TIME):
                    patiently(outreach, STEP)
                    if step % 3 == 2:
                        way.each_happens()
                    paper.line(told(fire, outreach))
        patiently(outreach, CALM)
        paper.line(told(fire, outreach))
        judge(way, paper.line)


def told(fire: Fire, outreach: Outreach) -> str:
    """How far it is."""
    hits, met = sum(fire.done.values()), sum(fire.met.values())
    return f"{hits} hits, {met} during a call: {dict(fire.done)}; {len(outreach.log())} executions"


def judge(way: OnTheWay, say: Callable[[str], None]) -> None:
    """Hold what happened against what was promised."""
    outreach = way.outreach
    log, actions = outreach.log(), outreach.listed("/v1/outreach/actions")
    enrollments = outreach.listed("/v1/outreach/enrollments")
    say(f"enrollments: {dict(Counter((one['status'], one['reason']) for one in enrollments))}")
    say(f"actions: {dict(Counter((one['type'], one['outcome'], one['reason']) for one in actions))}")
    say(f"more than one attempt: {len([one for one in actions if one['attempts'] > 1])}")
    assert doubles(log) == []
    invites = Counter(entry["person_id"] for entry in log if entry["kind"] == "invite")
    assert set(invites.values()) == {1}
    assert broken(log, seeds_of(log, actions, way.profiles), outreach.terms()) == []
    assert [one for one in actions if one["outcome"] in {"sending", "reconciling"}] == []
    assert {one["profile_id"] for one in enrollments} == set(way.profiles.values())
    assert list(stuck(enrollments, actions)) == []
    grace = timedelta(seconds=CALL_SECONDS)  # what was claimed before is still called
    replied = replied_at(outreach.messages_with, way.profiles)
    alone = [*way.left_alone.items(), *replied.items()]
    for person, at in alone:
        assert written_after(log, {person: at + grace}) == [], way.because.get(person, "reply")


def stuck(enrollments: Iterable[Json], actions: Iterable[Json]) -> Iterable[Json]:
    """Open enrollments that wait for nothing that was said: a hold's reason, or a person who settles an action."""
    unsettled = {one["enrollment_id"] for one in actions if one["outcome"] == "unknown"}
    for one in enrollments:
        held = one["status"] == "paused" and one["reason"] is not None
        if one["finished_at"] is None and not held and one["id"] not in unsettled:
            yield one
