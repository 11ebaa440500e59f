"""The main job in the terminal: from a job description to a priced plan, a run and its candidates."""

import contextlib
import json
import secrets
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from stack.account import sign_up
from stack.children import Child
from stack.commands import Wishes, facts_of
from stack.installation import Facts, Installation, StackError

TARGET = 30
START_SECONDS = 600.0
END_SECONDS = 90.0
REQUEST_SECONDS = 60.0
POLL_SECONDS = 1.0  # well within the rate limit of a key
RUN_LIMIT_SECONDS = 900.0
FINAL = {"completed", "completed_no_audience", "failed", "aborted"}
COLUMNS = {
    "full_name": "Name",
    "title": "Title",
    "company": "Company",
    "location": "Place",
    "distance_km": "km",
    "experience_years": "Years",
    "tenure_months": "Months",
    "tier": "Tier",
}
WIDEST_TABLE = 160
NUMBERS = {"distance_km", "experience_years", "tenure_months", "tier"}

Json = dict[str, Any]


def demo(installation: Installation, wishes: Wishes, job_description: Path, *, stay: bool) -> None:
    """Run the main job on a job description and show every step; then stay until interrupted.

    Raises:
        StackError, StartFailed: the stack did not start, or a step of the job was refused.
    """
    try:
        text = job_description.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise StackError(f"cannot read {job_description}: {problem}") from problem
    screen = Console()
    with _running(installation, wishes, screen) as facts:
        MainJob(screen, facts).run(text, title=job_description.name)
        _addresses(screen, facts)
        if stay:
            screen.print("\nRunning until Ctrl-C.")
            _until_interrupted()


@dataclass(slots=True)
class MainJob:
    """The steps of the main job on a running stack, as a new recruiter takes them."""

    screen: Console
    facts: Facts

    def run(self, job_description: str, *, title: str) -> None:
        """Sign up, preview, confirm, and show the progress and the candidates."""
        self.screen.rule("1. A new workspace, verified by the mailed link")
        owner = sign_up(self.facts["api_url"], self.facts["sandbox_url"], name="Demonstration")
        self.screen.print(f"Workspace {owner.workspace_id}")
        with httpx.Client(
            base_url=self.facts["api_url"],
            headers={"Authorization": f"Bearer {owner.api_key}"},
            trust_env=False,
            timeout=REQUEST_SECONDS,
        ) as http:
            self.screen.print(f"Balance: {_balance(http)} credits")
            ask = {"job_description": job_description, "target": TARGET}
            self.screen.rule(f"2. Plan and price of {title}, free and without effect")
            self._show_plan(_read(http.post("/v1/runs", params={"dry_run": "true"}, json=ask))["plan"])
            self.screen.rule("3. Confirmed (by the demo itself)")
            started = _read(http.post("/v1/runs", json=ask, headers={"Idempotency-Key": secrets.token_hex(16)}))
            run = self._watch(http, started["run"]["id"])
            self._show_candidates(http, run)

    def _show_plan(self, plan: Json) -> None:
        self.screen.print(plan["summary"], markup=False)
        table = Table("Tier", "Who", "People, estimated", "Pages, estimated")
        for tier in plan["tiers"]:
            table.add_row(*(_cell(tier[key]) for key in ("tier", "label", "estimated_people", "estimated_pages")))
        self.screen.print(table)
        price = plan["estimate"]
        self.screen.print(
            f"Price: {_cell(price['credits_min'])} to {_cell(price['credits_max'])} credits"
            f" for {plan['target']} people ({price['per_person']['lead']} a person found,"
            f" {price['per_person']['live_profile']} more for a profile read live)"
        )
        for warning in plan["warnings"]:
            self.screen.print(f"Note: {warning}", style="yellow", markup=False)

    def _watch(self, http: httpx.Client, run_id: str) -> Json:
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.screen,
        )
        deadline = time.monotonic() + RUN_LIMIT_SECONDS
        with bar:
            task = bar.add_task("queued", total=TARGET)
            while True:
                run = _read(http.get(f"/v1/runs/{run_id}"))
                bar.update(task, completed=run["progress"]["candidates_delivered"], description=_doing(run))
                if run["status"] in FINAL:
                    return run
                if time.monotonic() > deadline:
                    raise StackError(f"run {run_id} has not ended after {RUN_LIMIT_SECONDS:.0f} seconds")
                time.sleep(POLL_SECONDS)

    def _show_candidates(self, http: httpx.Client, run: Json) -> None:
        failure = run["failure"]
        if failure:
            raise StackError(f"the run failed: {failure['code']}: {failure['message']}")
        self.screen.rule("4. Candidates, in the order of delivery")
        self.screen.print(candidate_table(_candidates(http, run["id"]), width=self.screen.width))
        spent = run["spent"]
        self.screen.print(
            f"{run['status']}: {run['progress']['candidates_delivered']} candidates,"
            f" {run['progress']['people_looked_at']} people looked at."
            f" Spent {spent['credits']} credits ({spent['pages']} pages, {spent['profile_fetches']} profiles read)."
            f" Balance: {_balance(http)} credits."
        )


def candidate_table(candidates: Iterable[Json], *, width: int) -> Table:
    """Return a table with a line per compact row; text columns share the width (characters) left by numbers."""
    table = Table(width=min(width, WIDEST_TABLE))
    for key, heading in COLUMNS.items():
        if key in NUMBERS:
            table.add_column(heading, justify="right", no_wrap=True)
        else:
            table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=1)
    for candidate in candidates:
        table.add_row(*(_cell(candidate[key]) for key in COLUMNS))
    return table


@contextlib.contextmanager
def _running(installation: Installation, wishes: Wishes, screen: Console) -> Iterator[Facts]:
    """Yield a running stack: the existing one, or a new one that is stopped at the end."""
    if installation.is_held():
        screen.print(f"Using the stack that runs on {installation.root}.")
        yield facts_of(installation)
        return
    with tempfile.TemporaryDirectory() as told, _terminable():
        answer = Path(told) / "stack.json"
        where = ["--data-dir", str(installation.root), "--json", str(answer)]
        stack = Child(
            name="stack",
            command=[sys.executable, "-m", "stack", "up", *where, *wishes.arguments()],
            log=Path(told) / "stack.log",
            ready=lambda _: answer.exists(),
            start_limit=START_SECONDS,
            grace=END_SECONDS,
        )
        try:
            with screen.status("Starting PostgreSQL, Temporal, the sandbox, api and workers"):
                stack.start()
            facts: Facts = json.loads(answer.read_text())
            yield facts
        finally:
            with screen.status("Stopping"):
                stack.stop()


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the demo like Ctrl-C."""
    for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(one, signal.default_int_handler)
    yield


def _until_interrupted() -> None:
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()


def _addresses(screen: Console, facts: Facts) -> None:
    screen.rule("5. Have a look around")
    screen.print(f"API            {facts['api_url']}")
    screen.print(f"Documentation  {facts['api_url']}/docs")
    screen.print(f"Temporal UI    {facts['temporal_ui_url']}")


def _read(answer: httpx.Response) -> Json:
    if not answer.is_success:
        raise StackError(
            f"{answer.request.method} {answer.request.url.path} answered {answer.status_code}: {answer.text}"
        )
    read: Json = answer.json()
    return read


def _balance(http: httpx.Client) -> int:
    return int(_read(http.get("/v1/billing/balance"))["balance_credits"])


def _candidates(http: httpx.Client, run_id: str) -> Iterator[Json]:
    cursor = None
    while True:
        page = {"view": "compact", **({"cursor": cursor} if cursor else {})}
        found = _read(http.get(f"/v1/runs/{run_id}/candidates", params=page))
        yield from found["data"]
        cursor = found["next_cursor"]
        if not found["has_more"]:
            return


def _doing(run: Json) -> str:
    tier = run["progress"]["tier"]
    return str(run["status"]) + (f", tier {tier}" if tier else "")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.1f}" if isinstance(value, float) else str(value)
