import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from stack import control
from stack.children import StartFailed
from stack.control import Answer, Request
from stack.installation import StackError


def asked(path: Path, handle: Callable[[Request], Answer]) -> Answer:
    """Ask once, with a supervisor that answers by `handle`."""
    with control.listening(path) as listener:
        server = threading.Thread(target=control.answer, args=(listener, handle))
        server.start()
        try:
            return control.ask(path, {"do": "restart", "process": "api"})
        finally:
            server.join()


def test_a_request_is_answered(tmp_path: Path) -> None:
    heard: list[Request] = []

    def handle(request: Request) -> Answer:
        heard.append(request)
        return {"pid": 7}

    assert asked(tmp_path / "control.sock", handle) == {"pid": 7}
    assert heard == [{"do": "restart", "process": "api"}]


def test_a_path_beyond_the_limit_of_unix_sockets_works(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-rather-long-directory-name"] * 8)
    deep.mkdir(parents=True)
    assert asked(deep / "control.sock", lambda _: {"pid": 7}) == {"pid": 7}


@pytest.mark.parametrize("problem", [StackError("no such process"), StartFailed("api", "ended", "its log")])
def test_a_problem_reaches_the_one_who_asked(tmp_path: Path, problem: Exception) -> None:
    def handle(_: Request) -> Answer:
        raise problem

    with pytest.raises(StackError) as told:
        asked(tmp_path / "control.sock", handle)
    assert str(told.value) == str(problem)


def test_the_socket_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "control.sock"
    with control.listening(path):
        assert path.stat().st_mode & 0o077 == 0
    assert not path.exists()


@pytest.mark.parametrize("directory", ["", "missing"])
def test_a_request_without_a_supervisor_is_refused_with_a_reason(tmp_path: Path, directory: str) -> None:
    with pytest.raises(StackError, match="no stack is running"):
        control.ask(tmp_path / directory / "control.sock", {"do": "kill", "process": "api"})
