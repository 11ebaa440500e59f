"""docs/operations.md on a running installation: every command is run, every setting and metric in it exists.

Add a new command to `RUN` or `ELSEWHERE`, or a test here fails. `tests/docs` tests that make targets exist.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import httpx
import pytest

from api.kernel.internal import ANSWER_SECONDS
from models.base.settings import Settings
from tests.journeys.extra_process import ExtraProcess, extra_process
from tests.journeys.installation import Installation, installed
from tests.journeys.operator_commands import DOCUMENT, Operator, documented
from tests.journeys.paying import with_card
from tests.journeys.recruiter import Recruiter

pytestmark = [pytest.mark.timeout(400), pytest.mark.slow]

WORDS = DOCUMENT.read_text()
CODE = re.findall(r"`([^`\n]+)`", WORDS)
COMMANDS = {one for one in CODE if re.match(r"(python|pg_\w+ -|PGOPTIONS|psql) ?", one)}
CONNECTIONS = "select count(*) from pg_stat_activity"


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "500") as running:
        yield running


@pytest.fixture(scope="module")
def operator(installation: Installation) -> Operator:
    return Operator.at(installation)


def migrate(operator: Operator) -> None:
    """Migrate a database in use; the second time changes nothing."""
    operator.run(documented("models.migrations upgrade"))


def register(operator: Operator) -> None:
    address = str(operator.installation.facts["temporal_address"])
    operator.run(documented("stack.register").replace("HOST:PORT", address))


def reread(operator: Operator) -> None:
    with_card(operator.installation.facts, Recruiter.join(operator.installation.facts))
    operator.run(f"{documented('activities.reread')} {datetime.now(UTC).isoformat()}")


def connections(operator: Operator) -> None:
    query = documented("pg_stat_activity")
    told = operator.run(query)
    assert "max_connections" in query
    assert re.search(r"service\s*\|\s*\d+\s*\|\s*200", told), told


def back_up_and_restore(operator: Operator) -> None:
    """Compare the restored database with the original across all workspaces."""
    operator.back_up()
    operator.run("createdb restored")
    operator.run(documented("pg_restore").replace("-d service", "-d restored"))
    counted = "select (select count(*) from workspaces), (select count(*) from ledger_entries)"
    wide = "set app.workspace = '*'; set app.tenant = '*'; "
    here, there = (
        operator.run(f'psql -XqAt -d {name} -c "$STATEMENT"', STATEMENT=wide + counted)
        for name in ("service", "restored")
    )
    assert here == there
    assert not here.startswith("0|")


def recover(operator: Operator) -> None:
    operator.stop_ours()
    assert "Start the workers now" in operator.run(documented("python -m models.recover"))
    for name in ("worker", "upstream", "api"):
        operator.installation.command("restart", name)
    recruiter = Recruiter.join(operator.installation.facts)
    assert recruiter.finished(recruiter.start_run(target=30))["status"] == "completed"


RUN: dict[str, Callable[[Operator], None]] = {
    "models.migrations upgrade": migrate,
    "stack.register": register,
    "activities.reread": reread,
    "pg_stat_activity": connections,
    "pg_restore": back_up_and_restore,
    "models.recover": recover,
}
ELSEWHERE = {"pg_dump": "with pg_restore"}
NO_SETTINGS = {"PGOPTIONS", "SIGTERM", "WARNING", "MINUTES", "RECORDED_STATEMENTS"}
"""Settings of PostgreSQL, the system, logging, the Makefile and the test of query plans."""


def test_every_command_is_tested() -> None:
    assert len(COMMANDS) >= len(RUN)
    unknown = [one for one in COMMANDS if not any(words in one for words in {**RUN, **ELSEWHERE})]
    assert unknown == []


@pytest.mark.parametrize("words", RUN)
def test_the_command_does_what_it_says(operator: Operator, words: str) -> None:
    RUN[words](operator)


def test_every_documented_setting_exists() -> None:
    named = {one.partition("=")[0] for one in CODE if re.fullmatch(r"[A-Z][A-Z_]{5,}(=\S*)?", one)}
    assert {"DATABASE_URL", "TEMPORAL_API_KEY", "INTERNAL_ADDRESS"} <= named
    others = {name for name in named if name.lower() not in Settings.model_fields and not name.startswith("OTEL_")}
    assert others <= NO_SETTINGS


@pytest.fixture(scope="module")
def worker(installation: Installation) -> Iterator[ExtraProcess]:
    """Start a second worker, as for scaling out."""
    with extra_process(installation, "worker") as made:
        yield made


def test_a_second_worker_serves_every_documented_metric(installation: Installation, worker: ExtraProcess) -> None:
    recruiter = Recruiter.join(installation.facts)
    recruiter.finished(recruiter.start_run(target=30))
    told = httpx.get(f"{worker.internal_url}/metrics", trust_env=False, timeout=ANSWER_SECONDS).text
    figures = [one for one in CODE if re.fullmatch(r"service_\w+(\{.*\})?", one) and one != "service_app"]
    named = {one.partition("{")[0] for one in figures}
    assert len(named) > 8
    assert {name for name in named if f"# TYPE {name.removesuffix('_total')}" not in told} == set()
