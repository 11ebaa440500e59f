import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from stack.installation import Account, Choices, Installation, Record, Running, StackError


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "stack")


def settled(installation: Installation, **asked: int | bool | None) -> Choices:
    wishes = {"population": None, "seed": None, "virtual_time": False} | asked
    return installation.settle(**wishes)  # type: ignore[arg-type]  # arguments of several types


def test_a_second_supervisor_is_refused_while_the_first_holds_the_directory(installation: Installation) -> None:
    with installation.held():
        assert installation.is_held()
        with pytest.raises(StackError, match="already running"), Installation(installation.root).held():
            pass
    assert not installation.is_held()
    with installation.held():
        pass


def test_the_lock_of_a_killed_supervisor_is_free(installation: Installation) -> None:
    script = (
        "import sys, time; from pathlib import Path; from stack.installation import Installation\n"
        "with Installation(Path(sys.argv[1])).held(): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(installation.root)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert installation.is_held()
        holder.kill()
    assert not installation.is_held()


def test_an_unusable_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StackError, match="cannot be used"), Installation(tmp_path / "file" / "stack").held():
        pass


def test_a_directory_from_before_the_network_gets_its_key_and_keeps_the_rest(installation: Installation) -> None:
    with installation.held():
        first = settled(installation)
        installation.remember(first)
        (kept,) = installation.root.glob("choices.json")
        older = json.loads(kept.read_text())
        del older["network_api_key"]
        kept.write_text(json.dumps(older))
        later = settled(installation)
    assert later.network_api_key
    assert replace(later, network_api_key=first.network_api_key) == first


def test_secrets_are_made_once_and_readable_by_their_owner_alone(installation: Installation) -> None:
    with installation.held():
        first = settled(installation)
        installation.remember(first)
        installation.remember_account(Account("svc_live_x", "ws_1"))
        assert settled(installation) == first
        assert installation.account() == Account("svc_live_x", "ws_1")
    assert len(first.secret_key) >= 32
    for file in installation.root.glob("*.json"):
        assert file.stat().st_mode & 0o077 == 0, file


def test_two_installations_have_different_secrets(tmp_path: Path) -> None:
    first, second = (settled(Installation(tmp_path / name)) for name in ("a", "b"))
    assert first.secret_key != second.secret_key
    assert first.people_api_key != second.people_api_key


@pytest.mark.parametrize("asked", [{"population": 500}, {"seed": 8}])
def test_another_market_on_the_same_data_is_refused(installation: Installation, asked: dict[str, int]) -> None:
    with installation.held():
        installation.remember(settled(installation, population=400, seed=7))
        assert settled(installation, population=400, seed=7).population == 400
        with pytest.raises(StackError, match="reset"):
            settled(installation, **asked)


def test_virtual_time_stays_on_once_it_was_on(installation: Installation) -> None:
    with installation.held():
        installation.remember(settled(installation, virtual_time=True))
        assert settled(installation).virtual_time


def test_ports_of_the_last_start_are_preferred(installation: Installation) -> None:
    with installation.held():
        made = settled(installation)
        installation.remember(replace(made, ports=made.ports | {"api": 9_999}))
        assert settled(installation).ports["api"] == 9_999


def test_a_process_id_used_again_is_not_the_recorded_process() -> None:
    mine = Running.me()
    assert mine.process() is not None
    assert replace(mine, began=mine.began - 100).process() is None


def test_a_zombie_counts_as_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    recorded = Running.of(child.pid)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert recorded.process() is None
    child.wait()


def test_the_record_is_read_as_it_was_written(installation: Installation) -> None:
    assert installation.record() is None
    with installation.held():
        record = Record(Running.me(), {"api": Running(7, 1.5)}, None)
        installation.write_record(record)
        assert installation.record() == record
        installation.forget_record()
        assert installation.record() is None


def test_erasing_leaves_foreign_files_alone(installation: Installation) -> None:
    with installation.held():
        (installation.root / "notes.txt").write_text("mine")
        (installation.postgres / "base").mkdir(parents=True)
    installation.erase()
    assert [path.name for path in installation.root.iterdir()] == ["notes.txt"]


def test_erasing_removes_a_directory_that_held_nothing_else(installation: Installation) -> None:
    with installation.held():
        installation.remember(settled(installation))
    installation.erase()
    assert not installation.root.exists()
