import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from stack.ports import Ports
from stack.postgres import SYSTEM_USER, Postgres
from stack.temporal import Temporal


@pytest.fixture
def folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="servers-"))
    yield place
    shutil.rmtree(place)


@pytest.fixture
def postgres(folder: Path) -> Iterator[Postgres]:
    server = Postgres(home=folder / "postgres", log=folder / "postgres.log", durable=False)
    yield server
    server.stop()


@pytest.fixture
def temporal(folder: Path) -> Iterator[Temporal]:
    ports = Ports()
    server = Temporal(
        database=folder / "temporal.db",
        log=folder / "temporal.log",
        port=ports.take(27233),
        ui_port=ports.take(28233),
        metrics_port=ports.take(29233),
    )
    yield server
    server.stop()
    ports.release()


def processes_on(folder: Path) -> list[psutil.Process]:
    """Living processes that work in `folder` or name it."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and (
                str(folder) in " ".join(process.cmdline()) or process.cwd().startswith(str(folder))
            ):
                found.append(process)
        except psutil.Error:
            continue
    return found


def assert_no_process_on(folder: Path) -> bool:
    deadline = time.monotonic() + 5
    while processes_on(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_on(folder)


def test_postgres_keeps_its_data_over_kill_and_restart_and_leaves_nothing_running(folder: Path) -> None:
    postgres = Postgres(home=folder / "postgres", log=folder / "postgres.log")
    postgres.start()
    postgres.ensure_database()
    postgres.sql("create table kept (n int); insert into kept values (42)", database="service")
    postgres.child.kill()
    postgres.start()
    postgres.ensure_database()
    assert postgres.sql("select n from kept", database="service") == "42"
    postgres.stop()
    assert assert_no_process_on(folder)


def test_postgres_starts_beside_what_a_killed_server_left(postgres: Postgres, folder: Path) -> None:
    postgres.start()
    # A busy backend outlives its server for as long as its query runs, and holds the shared memory.
    busy = subprocess.Popen(
        [
            postgres.child.command[0].replace("/postgres", "/psql"),
            "-h",
            str(postgres.host),
            "-U",
            "postgres",
            "-c",
            "do $$ begin for n in 1..2000000000 loop null; end loop; end $$",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while postgres.sql("select count(*) from pg_stat_activity where query like 'do $$%'") == "0":
        time.sleep(0.05)
    postgres.child.kill()
    # And a pid file may by now name a living process that is something else.
    pid_file = folder / "postgres" / "postmaster.pid"
    pid_file.write_text(pid_file.read_text().replace(pid_file.read_text().split("\n")[0], str(os.getpid()), 1))
    postgres.start()
    assert postgres.sql("select 1") == "1"
    busy.wait()


def test_postgres_is_reachable_by_its_socket_alone_and_by_its_owner_alone(postgres: Postgres) -> None:
    postgres.start()
    assert postgres.sql("show listen_addresses") == ""
    sockets = [path for path in postgres.host.iterdir() if path.is_socket()]
    assert [path.stat().st_mode & 0o077 for path in sockets] == [0]
    assert postgres.home.stat().st_mode & 0o077 == 0


def test_postgres_lives_in_a_directory_too_deep_for_a_socket(folder: Path) -> None:
    deep = folder.joinpath(*["a-rather-long-directory-name"] * 8)
    deep.mkdir(parents=True)
    server = Postgres(home=deep / "postgres", log=folder / "deep.log", durable=False)
    server.start()
    try:
        server.ensure_database()
        assert server.sql("select 1") == "1"
        assert len(str(server.host)) < 100
    finally:
        server.stop()
        shutil.rmtree(server.host)


def test_a_killed_initialisation_is_repeated(postgres: Postgres, folder: Path) -> None:
    (folder / "postgres.new").mkdir()
    (folder / "postgres.new" / "PG_VERSION").write_text("18")
    postgres.start()
    assert postgres.sql("select 1") == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends the server another user")
def test_root_lends_postgres_a_user_of_its_own_and_opens_no_listing(postgres: Postgres, folder: Path) -> None:
    folder.chmod(0o700)
    postgres.start()
    assert postgres.child.pid is not None
    assert psutil.Process(postgres.child.pid).username() == SYSTEM_USER
    assert folder.stat().st_mode & 0o077 == 0o001  # pass through, neither list nor read


async def test_temporal_keeps_search_attributes_and_a_week_of_history_over_kill_and_restart(
    temporal: Temporal, folder: Path
) -> None:
    temporal.start()
    temporal.child.kill()
    temporal.start()
    client = await Client.connect(temporal.address)
    assert [one async for one in client.list_workflows("WorkspaceId = 'ws_1' and RunStatus = 'running'")] == []
    described = await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="default"))
    assert described.config.workflow_execution_retention_ttl.seconds == 7 * 24 * 3600
    temporal.stop()
    assert assert_no_process_on(folder)


async def test_temporal_runs_with_the_shared_flags(temporal: Temporal) -> None:
    temporal.child.start()
    assert temporal.child.pid is not None
    command = psutil.Process(temporal.child.pid).cmdline()
    assert "--dynamic-config-value=matching.enableFairness=true" in command
    os.kill(temporal.child.pid, signal.SIGSTOP)  # a frozen server is ended as well
