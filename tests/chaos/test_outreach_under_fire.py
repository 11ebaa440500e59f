"""Sequences run on while worker and api are killed and frozen at random moments: `make chaos HITS=500 SEED=1`.

What the network says is the truth: nobody is written to twice, nobody is lost, hours, rests and caps hold.
"""

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Json, Outreach, key_of, outside_hours, over_caps, too_close

pytestmark = [pytest.mark.timeout(6 * 3600), pytest.mark.slow]

PEOPLE = 24
DAYS = 45
STEP = "3d"
PAUSE_SECONDS = (0.5, 3.0)
"""Between two hits."""
FROZEN_SECONDS = (1.0, 16.0)
"""Past the ten seconds after which a claim is too old to be called, and the five of a look at the database."""
LONG_FREEZE = 135.0
"""Past every time-out of a send; one freeze in `LONG_ONE_IN` is such."""
LONG_ONE_IN = 40
STEPS = [
    {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
    {"type": "message", "wait_days": 1, "only_after_accept": True, "accept_timeout_days": 14, "body": "Hi, thank you."},
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


@dataclass
class Fire:
    """Hits processes of an installation from a thread of its own; `left` says how many hits are to come."""

    installation: Installation
    chance: random.Random
    left: int
    done: Counter[str] = field(default_factory=Counter)
    failure: BaseException | None = None

    def run(self, enough: threading.Event) -> None:
        try:
            while self.left > 0 and not enough.is_set():
                time.sleep(self.chance.uniform(*PAUSE_SECONDS))
                self._hit(self.chance.choice(("worker", "worker", "api")))
                self.left -= 1
        except Exception as error:  # noqa: BLE001 - told by whoever waits for the thread
            self.failure = error

    def _hit(self, victim: str) -> None:
        if self.chance.random() < 0.5:
            self.installation.command("kill", victim)
            self.installation.command("restart", victim)
            self.done[f"{victim} killed"] += 1
            return
        long = self.chance.randrange(LONG_ONE_IN) == 0
        pid = self.installation.pid(victim)
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(LONG_FREEZE if long else self.chance.uniform(*FROZEN_SECONDS))
        finally:
            os.kill(pid, signal.SIGCONT)
        self.done[f"{victim} frozen{' for long' if long else ''}"] += 1


@contextmanager
def under(fire: Fire) -> Iterator[None]:
    """Have the processes hit meanwhile."""
    enough = threading.Event()
    thread = threading.Thread(target=fire.run, args=(enough,))
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()
    if fire.failure is not None:
        raise fire.failure


def patiently(outreach: Outreach, duration: str) -> None:
    """Let time pass, however often it stands still because a process lies on the ground."""
    now = datetime.fromisoformat(outreach.installation.command("now").split()[0])
    until = now + timedelta(days=int(duration.removesuffix("d")))
    for _ in range(60):
        try:
            outreach.installation.command("advance", "--until", until.isoformat())
        except AssertionError:
            time.sleep(2)
        else:
            return
    raise AssertionError(f"time does not pass {duration}")


def enroll(outreach: Outreach, sequence_id: str) -> None:
    """Enroll further strangers; repeated with the same key until somebody answers."""
    people = [{"profile_url": one["profile_url"], "first_name": "Jo"} for one in outreach.strangers(PEOPLE)]
    key, body = uuid4().hex, {"sequence_id": sequence_id, "candidates": people}
    for _ in range(60):
        try:
            answer = outreach.recruiter.call(
                "POST", "/v1/outreach/enrollments", json=body, headers={"Idempotency-Key": key}
            )
        except Exception:  # noqa: BLE001 - the api was hit: the same key is sent again, whatever the client raised
            time.sleep(1)
            continue
        if answer.status_code == 201:
            return
        time.sleep(1)
    raise AssertionError("nobody enrols")


def test_nobody_is_written_to_twice_and_nobody_is_lost(pytestconfig: pytest.Config) -> None:
    hits, seed = int(os.environ.get("HITS", "5")), int(os.environ.get("SEED", "1"))
    paper = pytestconfig.get_terminal_writer()
    with installed("--population", "3000", "--virtual-time") as installation:
        outreach = Outreach.begin(installation)
        sequence = outreach.post(
            "/v1/outreach/sequences", {"account_id": outreach.account_id, "name": "Under fire", "steps": STEPS}
        )
        fire = Fire(installation, random.Random(seed), hits)
        while True:
            with under(fire):
                enroll(outreach, sequence["id"])
                for _ in range(DAYS // 3):
                    patiently(outreach, STEP)
            paper.line(f"{sum(fire.done.values())} hits: {dict(fire.done)}; {len(outreach.log())} executions")
            if fire.left <= 0:
                break
        patiently(outreach, "30d")
        judge(outreach)


def judge(outreach: Outreach) -> None:
    """Hold what happened against what was promised."""
    log = outreach.log()
    assert max(Counter(map(key_of, log)).values()) == 1
    invites = Counter(entry["person_id"] for entry in log if entry["kind"] == "invite")
    assert set(invites.values()) == {1}
    assert outside_hours(log) == []
    account = outreach.recruiter.get(f"/v1/outreach/accounts/{outreach.account_id}")
    started = datetime.fromisoformat(account["warmup"]["started_at"]).date()
    assert over_caps(log, outreach.account_id, started) == []
    actions = outreach.listed("/v1/outreach/actions")
    assert too_close(log, seeds_of(log, actions)) == []
    enrollments = outreach.listed("/v1/outreach/enrollments")
    assert enrollments
    assert [one for one in enrollments if one["finished_at"] is None and one["status"] != "paused"] == []
    replied = {one["profile_id"]: one["replied_at"] for one in enrollments if one["replied_at"]}
    for action in actions:
        at = replied.get(action["profile_id"])
        if action["outcome"] == "sent" and at is not None:
            assert action["sent_at"] <= at


def seeds_of(log: list[Json], actions: list[Json]) -> dict[tuple[str, str, str | None], str]:
    """The seed of each execution, by the order in which they were made; unclear ones count by when they began."""
    made = [one for one in actions if one["outcome"] in {"sent", "unknown"}]
    made.sort(key=lambda one: one["sent_at"] or one["scheduled_at"])
    assert len(made) >= len(log)
    return {key_of(entry): action["seed"] for entry, action in zip(log, made, strict=False)}
