"""A load: a recruiter's sequences, into which strangers are enrolled day by day, and things happen to them on the way.

Invite with a note, message after the acceptance, follow-up, withdrawal after a time-out.
"""

from collections import Counter
from collections.abc import Callable
from uuid import uuid4

from tests.chaos import invariants
from tests.journeys.installation import Installation
from tests.journeys.on_the_way import OnTheWay
from tests.journeys.outreach import Json, Outreach

PATIENCE_SECONDS = 600.0
"""For one call of the api, which may lie frozen for two minutes and be hit again."""
HAPPENS_EVERY_DAYS = 3
AFTER_ACCEPT: Json = {"type": "message", "only_after_accept": True, "accept_timeout_days": 14}
STEPS: list[Json] = [
    {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
    AFTER_ACCEPT | {"wait_days": 1, "body": "Hi, thank you. {{privacy_notice}}"},
    AFTER_ACCEPT | {"wait_days": 4, "is_follow_up": True, "body": "Hi, a short reminder."},
    {"type": "withdraw_invite", "wait_days": 2},
]
ENDED_AFTER_DAYS = 60
"""After the last enrollment: 14 days until the invite at most, 14 for the acceptance, two and the hours after it."""


class Sequences:
    """One recruiter with one account; so many people are enrolled each day of which there are `enrolling_days`."""

    def __init__(self, installation: Installation, *, people_a_day: int, say: Callable[[str], None]) -> None:
        self._outreach = Outreach.begin(installation)
        self._outreach.recruiter.patience = PATIENCE_SECONDS
        self._sequence_id = self._outreach.sequence("Under fire", STEPS)
        self._people_a_day, self._say = people_a_day, say
        self._way = OnTheWay(self._outreach, {}, {})

    def day(self, number: int) -> None:
        """Enroll further people, and every few days have things happen to some who are on their way."""
        self._enroll()
        if number % HAPPENS_EVERY_DAYS == HAPPENS_EVERY_DAYS - 1:
            self._way.each_happens()

    def _enroll(self) -> None:
        outreach, way = self._outreach, self._way
        strangers = outreach.strangers(1000)
        people = [one for one in strangers if one["person_id"] not in way.profiles][: self._people_a_day]
        assert people, "the network has run out of strangers"
        body, key = outreach.asked(self._sequence_id, people), uuid4().hex
        answer = outreach.recruiter.call(
            "POST", "/v1/outreach/enrollments", json=body, headers={"Idempotency-Key": key}
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["enrolled"] == len(people), answer.json()["skipped"]
        way.urls |= {one["person_id"]: one["profile_url"] for one in people}
        way.profiles |= outreach.profiles(self._sequence_id, people)

    def told(self) -> str:
        """How many people and executions there are so far."""
        return f"{len(self._way.profiles)} people, {len(self._outreach.log())} executions"

    def faults(self) -> list[str]:
        """What the network's log and the service's rows say against the promises."""
        outreach = self._outreach
        history = invariants.History(
            log=outreach.log(),
            actions=outreach.listed("/v1/outreach/actions"),
            enrollments=outreach.listed("/v1/outreach/enrollments"),
            way=self._way,
        )
        for name, rows in (("enrollments", history.enrollments), ("actions", history.actions)):
            counts = Counter(tuple(one.get(key) for key in ("type", "status", "outcome", "reason")) for one in rows)
            self._say(
                f"{name}: { {' '.join(filter(None, key)): count for key, count in sorted(counts.items(), key=str)} }"
            )
        self._say(f"executions: {dict(Counter(one['kind'] for one in history.log))}")
        self._say(f"left alone: {dict(Counter(self._way.because.values()))}")
        self._say(f"claimed more than once: {sum(one['attempts'] > 1 for one in history.actions)}")
        return invariants.broken_by(history)
