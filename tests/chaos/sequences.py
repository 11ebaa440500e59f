"""A load of sequences: a recruiter enrolls strangers day by day, and some of them react on the way.

The sequence: invite with a note, message after the acceptance, follow-up, withdrawal after a time-out.
"""

import itertools
from collections import Counter
from collections.abc import Callable
from uuid import uuid4

from tests.chaos import invariants
from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.installation import Installation
from tests.journeys.network_log import replied_at
from tests.journeys.occurrences import Occurrences
from tests.journeys.outreach import Json, Outreach
from tests.journeys.recruiter import Recruiter

ENROLLMENTS = "/v1/outreach/enrollments"
OCCURRENCES_EVERY_DAYS = 2
ACCEPT_A_DAY = 2
OCCURRENCES = {"acceptance", "opt-out", "reply", "stop", "suppression"}
"""Each of these must occur at least once during the hits."""
ENDED_AFTER_DAYS = 60
"""After the last enrollment: until the invite, for the acceptance, two days before the withdrawal, and all hours."""


def steps(accept_timeout_days: int) -> list[Json]:
    """Return the steps of the sequence."""
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
        report: Callable[[str], None],
    ) -> None:
        self._outreach = Outreach.begin(installation)
        self._outreach.recruiter.patience = PATIENCE_SECONDS
        self._sequence_id = self._outreach.sequence("Under faults", steps(accept_timeout_days))
        self._people_a_day, self._report = people_a_day, report
        self._occurrences = Occurrences(self._outreach, {}, {})
        self._accepted: set[str] = set()

    @property
    def recruiter(self) -> Recruiter:
        return self._outreach.recruiter

    def day(self, number: int) -> None:
        """Enroll further people, and every few days let some of those in the sequence react."""
        self._enroll()
        self._accept_some()
        if number % OCCURRENCES_EVERY_DAYS == OCCURRENCES_EVERY_DAYS - 1:
            self._occurrences.one_of_each_kind()

    def _enroll(self) -> None:
        outreach, occurrences = self._outreach, self._occurrences
        strangers = outreach.strangers(1000)
        people = [one for one in strangers if one["person_id"] not in occurrences.profiles][: self._people_a_day]
        assert people, "the network has run out of strangers"
        body, key = outreach.asked(self._sequence_id, people), uuid4().hex
        answer = outreach.recruiter.call("POST", ENROLLMENTS, json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201, answer.text
        assert answer.json()["enrolled"] == len(people), answer.json()["skipped"]
        occurrences.urls |= {one["person_id"]: one["profile_url"] for one in people}
        occurrences.profiles |= outreach.profiles(self._sequence_id, people)

    def _accept_some(self) -> None:
        """Let some invited people accept; the others follow their own behaviour profile."""
        outreach = self._outreach
        invited = dict.fromkeys(one["person_id"] for one in outreach.log() if one["kind"] == "invite")
        ties = ((one, outreach.control(f"people/{one}", account_id=outreach.provider_id)["tie"]) for one in invited)
        for person in itertools.islice((one for one, tie in ties if tie == "pending"), ACCEPT_A_DAY):
            outreach.act("accept", person)
            self._accepted.add(person)

    @property
    def occurred(self) -> Counter[str]:
        """Count the people who accepted on request, replied, opted out, were stopped or suppressed so far."""
        return Counter(self._occurrences.because.values()) + Counter({"acceptance": len(self._accepted)})

    def progress(self) -> str:
        """Return the number of people and executions so far."""
        return f"{len(self._occurrences.profiles)} people, {len(self._outreach.log())} executions"

    def has_ended(self) -> bool:
        """Return whether all enrollments have ended, except those that wait for a person."""
        return all(one["finished_at"] or one["status"] == "paused" for one in self._outreach.listed(ENROLLMENTS))

    def faults(self) -> list[str]:
        """Compare the network's log and the service's rows with the promises."""
        outreach = self._outreach
        replied = replied_at(outreach.messages_with, self._occurrences.profiles)
        history = invariants.History(
            log=outreach.log(),
            actions=outreach.listed("/v1/outreach/actions"),
            enrollments=outreach.listed(ENROLLMENTS),
            profiles=self._occurrences.profiles,
            left_alone=[
                *(
                    (person, at, self._occurrences.because[person])
                    for person, at in self._occurrences.left_alone.items()
                ),
                *((person, at, "reply") for person, at in replied.items()),
            ],
            terms=outreach.terms(),
        )
        for name, rows in (("enrollments", history.enrollments), ("actions", history.actions)):
            counts = Counter(tuple(one.get(key) for key in ("type", "status", "outcome", "reason")) for one in rows)
            self._report(
                f"{name}: { {' '.join(filter(None, key)): count for key, count in sorted(counts.items(), key=str)} }"
            )
        self._report(f"executions: {dict(Counter(one['kind'] for one in history.log))}")
        self._report(f"occurred: {dict(self.occurred)}")
        self._report(f"claimed more than once: {sum(one['attempts'] > 1 for one in history.actions)}")
        return invariants.broken_by(history)
