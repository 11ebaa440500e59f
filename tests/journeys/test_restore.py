"""A restore to an hour ago, with the operator's command after it: the network's own log shows nothing done twice."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from stack.children import PROJECT
from stack.installation import Installation as DataDirectory
from stack.postgres import DATABASE, Postgres
from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Outreach, key_of

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]

PEOPLE = 12
UP = ("--population", "3000", "--virtual-time")
STEPS = [
    {"type": "profile_visit"},
    {"type": "invite", "note": "Hi {{first_name}}, I would be glad to be in touch."},
    {
        "type": "message",
        "wait_days": 1,
        "only_after_accept": True,
        "accept_timeout_days": 5,
        "body": "Hi {{first_name}}, thank you for connecting. {{privacy_notice}}",
    },
]


def tool(server: Postgres, name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's own programmes as its superuser."""
    command = [str(server._binaries / name), "-h", str(server.host), "-U", "postgres", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    assert done.returncode == 0, done.stderr


def server_of(installation: Installation) -> Postgres:
    directory = DataDirectory(installation.home)
    return Postgres(home=directory.postgres, log=directory.log("postgres"))


def restored(installation: Installation, dump: Path) -> str:
    """Put the dump in the place of the database while nothing runs, recover; what the command said."""
    server = server_of(installation)
    server.start()
    try:
        shift = server.sql("select shift from service_clock", database=DATABASE)
        server.sql(f"drop database {DATABASE} with (force)")
        tool(server, "pg_restore", "--create", "--exit-on-error", "-d", "postgres", str(dump))
        # Outside there is one clock, which no restore turns back.
        server.sql(f"update service_clock set shift = '{shift}'", database=DATABASE)  # noqa: S608
        environment = os.environ | {"DATABASE_URL": server.url(), "SECRET_KEY": "not needed for this" * 2}
        command = [sys.executable, "-m", "models.recover"]
        done = subprocess.run(command, cwd=PROJECT, check=False, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout
    finally:
        server.stop()


@pytest.mark.parametrize("temporal", ["newer", "lost"])
def test_a_restore_to_an_hour_ago_sends_nothing_twice(temporal: str, tmp_path: Path) -> None:
    with installed(*UP) as installation:
        outreach = Outreach.begin(installation)
        body = {"account_id": outreach.account_id, "name": "Restored", "steps": STEPS}
        sequence = outreach.post("/v1/outreach/sequences", body)
        people = [{"profile_url": one["profile_url"], "first_name": "Jo"} for one in outreach.strangers(PEOPLE)]
        done = outreach.post("/v1/outreach/enrollments", {"sequence_id": sequence["id"], "candidates": people})
        assert done["enrolled"] == PEOPLE, done["skipped"]
        while len(outreach.log()) < 5:  # the middle of a working day
            outreach.advance("15m")
        before = len(outreach.log())
        dump = tmp_path / "backup.dump"
        tool(server_of(installation), "pg_dump", "-Fc", "-f", str(dump), DATABASE)
        outreach.advance("1h")
        lost = len(outreach.log()) - before
        assert lost > 0, "nothing was sent in the hour that is lost: this would show nothing"
        installation.command("down")
        if temporal == "lost":
            for file in installation.home.glob("temporal.db*"):
                file.unlink()
        assert "Start the workers now." in restored(installation, dump)
        installation.command("up", "--detach", *UP)
        outreach.advance("20d")
        log = outreach.log()
        twice = {key: count for key, count in Counter(map(key_of, log)).items() if count > 1}
        assert twice == {}
        invited = {entry["person_id"] for entry in log if entry["kind"] == "invite"}
        assert len(invited) == PEOPLE
        assert all(one["finished_at"] is not None for one in outreach.listed("/v1/outreach/enrollments"))
