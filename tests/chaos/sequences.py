"""A load: a recruiter's sequences, into which strangers are enrolled day by day, and things happen to them on the way.

Invite with a note, message after the acceptance, follow-up, withdrawal after a time-out.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from uuid import uuid4

from tests.chaos import invariants
from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.installation import Installation
from tests.journeys.on_the_way import OnTheWay
from tests.journeys.outreach import Json, Outreach
from tests.journeys.reckoning import replied_at
from tests.journeys.recruiter import Recruiter

ENROLLMENTS = "/v1/outreach/enrollments"
HAPPENS_EVERY_DAYS = 2
ACCEPT_A_DAY = 2
HAPPENINGS = {"acceptance", "opt-out", "reply", "stop", "suppression"}
"""What has to happen to somebody while hits are done."""
ENDED_AFTER_DAYS = 60
"""After the last enrollment: until the invite, for the acceptance, two days before the withdrawal, and all hours."""


def steps(accept_timeout_days: int) -> list[Json]:
    """The sequence."""
    after_accept = {"type": "message", "only_after_accept": True, "accept_timeout_days": accept_timeout_days}
    return [
        {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
        after_accept | {"wait_days": 1, "body": "Hi, thank you. {{privacy_notice}}"},
        after_accept | {"wait_days": 4, "is_follow_up": True, "body": "Hi, a short reminder."},
        {"type": "withdraw_invite", "wait_days": 2},
    ]


class Sequences(Load):
    """One recruiter with one account; `people_a_day` are enrolled each day."""

    def __init__(
        self,
        installation: Installation,
        *,
        people_a_day: int,
        accept_timeout_days: int,
        say: Callable[[str], None],
    ) -> None:
        self._outreach = Outreach.begin(installation)
        self._outreach.recruiter.patience = PATIENCE_SECONDS
        self._sequence_id = self._outreach.sequence("Under fire", steps(accept_timeout_days))
        self._people_a_day, self._say = people_a_day, say
        self._way = OnTheWay(self._outreach, {}, {})
        self._accepted: set[str] = set()

    @property
    def recruiter(self) -> Recruiter:
        return self._outreach.recruiter

    def day(self, number: int) -> None:
        """Enroll further people, and every few days have things happen to some who are on their way."""
        self._enroll()
        self._accept_some()
        if number % HAPPENS_EVERY_DAYS == HAPPENS_EVERY_DAYS - 1:
            self._way.each_happens()

    def _enroll(self) -> None:
        outreach, way = self._outreach, self._way
        strangers = outreach.strangers(1000)
        people = [one for one in strangers if one["person_id"] not in way.profiles][: self._people_a_day]
        assert people, "the network has run out of strangers"
        body, key = outreach.asked(self._sequence_id, people), uuid4().hex
        answer = outreach.recruiter.call("POST", ENROLLMENTS, json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201, answer.text
        assert answer.json()["enrolled"] == len(people), answer.json()["skipped"]
        way.urls |= {one["person_id"]: one["profile_url"] for one in people}
        way.profiles |= outreach.profiles(self._sequence_id, people)

    def _accept_some(self) -> None:
        """The others accept, or not, when it is their nature."""
        outreach = self._outreach
        invited = dict.fromkeys(one["person_id"] for one in outreach.log() if one["kind"] == "invite")
        ties = ((one, outreach.control(f"people/{one}", account_id=outreach.provider_id)["tie"]) for one in invited)
        for person in itertools.islice((one for one, tie in ties if tie == "pending"), ACCEPT_A_DAY):
            outreach.act("accept", person)
            self._accepted.add(person)

    @property
    def happened(self) -> Counter[str]:
        """How many people accepted when told to, replied, opted out, were stopped or suppressed so far."""
        return Counter(self._way.because.values()) + Counter({"acceptance": len(self._accepted)})

    def told(self) -> str:
        """How many people and executions there are so far."""
        return f"{len(self._way.profiles)} people, {len(self._outreach.log())} executions"

    def has_ended(self) -> bool:
        """Whether no enrollment is open but those that wait for a person."""
        return all(one["finished_at"] or one["status"] == "paused" for one in self._outreach.listed(ENROLLMENTS))

    def faults(self) -> list[str]:
        """What the network's log and the service's rows say against the promises."""
        outreach = self._outreach
        replied = replied_at(outreach.messages_with, self._way.profiles)
        history = invariants.History(
            log=outreach.log(),
            actions=outreach.listed("/v1/outreach/actions"),
            enrollments=outreach.listed(ENROLLMENTS),
            profiles=self._way.profiles,
            left_alone=[
                *((person, at, self._way.because[person]) for person, at in self._way.left_alone.items()),
                *((person, at, "reply") for person, at in replied.items()),
            ],
            terms=outreach.terms(),
        )
        for name, rows in (("enrollments", history.enrollments), ("actions", history.actions)):
            counts = Counter(tuple(one.get(key) for key in ("type", "status", "outcome", "reason")) for one in rows)
            self._say(
                f"{name}: { {' '.join(filter(None, key)): count for key, count in sorted(counts.items(), key=str)} }"
            )
        self._say(f"executions: {dict(Counter(one['kind'] for one in history.log))}")
        self._say(f"happened: {dict(self.happened)}")
        self._say(f"claimed more than once: {sum(one['attempts'] > 1 for one in history.actions)}")
        return invariants.broken_by(history)
