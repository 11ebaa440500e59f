"""What can occur to people in a sequence: replies, messages of the owner, stops, suppressions, opt-outs."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import uuid4

from tests.journeys.outreach import Json, Outreach

OPT_OUT = re.compile(r"https?://\S+/o/\S+")


@dataclass
class Occurrences:
    """Lets things occur while no call is under way, and notes from when and why each person must be left alone."""

    outreach: Outreach
    profiles: dict[str, str]
    """The service's id of each person by the network's id."""
    urls: dict[str, str]
    """The profile URL of each person by the network's id."""
    left_alone: dict[str, datetime] = field(default_factory=dict)
    because: dict[str, str] = field(default_factory=dict)

    def accept(self, people: Iterable[Json]) -> None:
        """Let invited people accept now, unless they already have."""
        for one in people:
            truth = self.outreach.control(f"people/{one['person_id']}", account_id=self.outreach.provider_id)
            if truth["tie"] == "pending":
                self.outreach.act("accept", one["person_id"])

    def one_of_each_kind(self) -> None:
        """Let each kind of occurrence happen to one person, where a suitable person exists."""
        log = self.outreach.log()
        written = {entry["person_id"] for entry in log if entry["kind"] == "message"}
        enrollments = self.outreach.listed("/v1/outreach/enrollments")
        still_open = {one["profile_id"]: one for one in enrollments if one["finished_at"] is None}
        free = [
            person
            for person, profile in self.profiles.items()
            if profile in still_open and still_open[profile]["status"] != "paused" and person not in self.left_alone
        ]
        messaged = [person for person in free if person in written]
        not_messaged = [person for person in free if person not in written]
        links = {entry["person_id"]: OPT_OUT.search(entry["text"] or "") for entry in log if entry["kind"] == "message"}
        by_kind = {
            "opt-out": ([one for one in messaged if links[one]], lambda person: self._opt_out(links[person])),
            "reply": (messaged, lambda person: self.outreach.act("reply", person, text="Tell me more.")),
            "owner": (messaged, lambda person: self.outreach.act("owner_message", person, text="It is me, Sam.")),
            "stop": (not_messaged, lambda person: self._stop(still_open[self.profiles[person]]["id"])),
            "suppression": (not_messaged, self._suppress),
        }
        so_far = Counter(self.because.values())
        for what in sorted(by_kind, key=so_far.__getitem__):  # with few suitable people, the rarest kind goes first
            self._one(what, *by_kind[what])

    def _one(self, what: str, among: Iterable[str], happen: Callable[[str], None]) -> None:
        person = next((one for one in among if one not in self.left_alone), None)
        if person is not None:
            happen(person)
            self.left_alone[person], self.because[person] = self.outreach.now(), what

    def _stop(self, enrollment_id: str) -> None:
        path = f"/v1/outreach/enrollments/{enrollment_id}"
        answer = self.outreach.recruiter.call("POST", f"{path}/stop", json={}, headers={"Idempotency-Key": uuid4().hex})
        # With a running clock it may have ended since it was listed.
        assert answer.is_success or answer.status_code == 409, answer.text
        assert self.outreach.recruiter.get(path)["finished_at"] is not None

    def _suppress(self, person: str) -> None:
        self.outreach.post("/v1/suppressions", {"profile_url": self.urls[person]})

    def _opt_out(self, link: re.Match[str] | None) -> None:
        assert link is not None
        answer = self.outreach.recruiter.call("POST", link[0], data={"ask": "stop"})
        assert answer.status_code == 200, answer.text
