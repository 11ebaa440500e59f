"""A load of runs and of fetch jobs for the delivered people; charges must equal deliveries."""

from collections import Counter
from typing import Any
from uuid import uuid4

from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.installation import Installation
from tests.journeys.paying import with_card
from tests.journeys.recruiter import Recruiter

Json = dict[str, Any]
ENDED = {"completed", "completed_no_audience", "failed", "aborted"}
STATED = {"finish", "budget", "profile_cap", "time"}
FETCHED = 20
"""People per job."""


class Searches(Load):
    """One recruiter who starts a run for 30 more people each day, and at noon a job that fetches some of them again."""

    def __init__(self, installation: Installation) -> None:
        self.recruiter = Recruiter.join(installation.facts, name="Searches")
        with_card(installation.facts, self.recruiter)
        self.recruiter.patience = PATIENCE_SECONDS
        self._granted = self.recruiter.get("/v1/billing/balance")["balance_credits"]
        self._runs: list[str] = []
        self._jobs: dict[str, Json] = {}
        """The last known state of each job: the service deletes a job 30 days after its start."""
        self._found: dict[str, int] = {}

    def day(self, number: int) -> None:
        """Start a run."""
        self._runs.append(self.recruiter.start_run(target=30))

    def noon(self) -> None:
        """Start a job if people have been delivered by now."""
        delivered = [one["profile_id"] for run_id in self._runs[-1:] for one in self.recruiter.candidates(run_id)]
        if delivered:
            ask = {"profile_ids": delivered[:FETCHED], "async": True, "max_age_days": 0}
            headers = {"Idempotency-Key": uuid4().hex}
            answer = self.recruiter.call("POST", "/v1/people:fetch", json=ask, headers=headers)
            assert answer.status_code == 202, answer.text
            self._jobs[answer.json()["id"]] = answer.json()

    def evening(self) -> None:
        """Note how jobs have ended, before they are deleted."""
        for job_id, seen in list(self._jobs.items()):
            if seen["status"] not in ENDED:
                job = self.recruiter.get(f"/v1/jobs/{job_id}")
                self._jobs[job_id] = job
                self._found[job_id] = [one["status"] for one in self._results(job_id)].count("found")

    def progress(self) -> str:
        return f"{len(self._runs)} runs, {len(self._jobs)} jobs"

    def has_ended(self) -> bool:
        self.evening()
        return all(one["status"] in ENDED for one in (*self._run_rows(), *self._jobs.values()))

    def _run_rows(self) -> list[Json]:
        return [self.recruiter.run(run_id) for run_id in self._runs]

    def faults(self) -> list[str]:
        self.evening()
        runs, jobs = self._run_rows(), list(self._jobs.values())
        delivered = {run["id"]: [one["profile_id"] for one in self.recruiter.candidates(run["id"])] for run in runs}
        return search_faults(
            runs,
            jobs,
            delivered,
            self._found,
            charges=dict(self.recruiter.charges()),
            granted=self._granted,
            balance=self.recruiter.get("/v1/billing/balance")["balance_credits"],
        )

    def _results(self, job_id: str) -> list[Json]:
        rows: list[Json] = self.recruiter.get(f"/v1/jobs/{job_id}/results", params={"limit": 100})["data"]
        return rows


def search_faults(
    runs: list[Json],
    jobs: list[Json],
    delivered: dict[str, list[str]],
    found: dict[str, int],
    *,
    charges: dict[str, int],
    granted: int,
    balance: int,
) -> list[str]:
    """Return the contradictions between runs, jobs and ledger; `delivered` are people by run, `found` rows by job."""
    wrong = []
    for run in runs:
        people = delivered[run["id"]]
        if run["status"] == "completed" and run["stop_reason"] not in STATED:
            wrong.append(f"no stop reason:  {run}")
        if run["status"] not in ENDED or (run["status"] == "failed" and run["failure"] is None):
            wrong.append(f"does not end: {run}")
        if len(people) != run["progress"]["candidates_delivered"]:
            wrong.append(
                f"reports {run['progress']['candidates_delivered']} delivered, {len(people)} were: {run['id']}"
            )
    wrong += [f"delivered {count} times: {one}" for one, count in _counted(delivered).items() if count > 1]
    wrong += [f"does not end: {job}" for job in jobs if job["status"] not in ENDED]
    people_delivered = sum(len(people) for people in delivered.values())
    due = {"lead": people_delivered, "live_profile": 2 * (people_delivered + sum(found.values()))}
    if charges != {reason: credits for reason, credits in due.items() if credits}:
        wrong.append(f"charged {charges}, delivered {due}")
    if sum(run["spent"]["credits"] for run in runs) + sum(job["spent_credits"] for job in jobs) != sum(
        charges.values()
    ):
        wrong.append(f"runs and jobs differ from the ledger: {charges}")
    if balance != granted - sum(charges.values()):
        wrong.append(f"{granted} granted, {charges} charged, {balance} left")
    return wrong


def _counted(delivered: dict[str, list[str]]) -> Counter[str]:
    return Counter(one for people in delivered.values() for one in people)
