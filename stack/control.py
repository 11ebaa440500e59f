"""How commands reach the supervisor of a running installation: one request, one answer, over a Unix socket."""

import contextlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from stack.children import StartFailed
from stack.installation import StackError

ANSWER_SECONDS = 180.0
Request = dict[str, str]
Answer = dict[str, str | int]


@contextlib.contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """Listen at `path`, accessible only to this user, until the context exits."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        with _short(path) as short:
            listener.bind(short)
        path.chmod(0o600)
        listener.listen()
        try:
            yield listener
        finally:
            path.unlink(missing_ok=True)


def answer(listener: socket.socket, handle: Callable[[Request], Answer]) -> None:
    """Accept the waiting request and answer it; a failure is answered as an error."""
    connection, _ = listener.accept()
    with connection, connection.makefile("rw") as lines, contextlib.suppress(BrokenPipeError):
        try:
            answered = handle(json.loads(lines.readline()))
        except (StackError, StartFailed) as problem:
            answered = {"error": str(problem)}
        lines.write(json.dumps(answered) + "\n")
        lines.flush()


def ask(path: Path, request: Request) -> Answer:
    """Ask the supervisor.

    Raises:
        StackError: the supervisor is not running, or the request failed.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ANSWER_SECONDS)
        try:
            with _short(path) as short:
                connection.connect(short)
        except OSError:
            raise StackError(f"no stack is running on {path.parent}") from None
        with connection.makefile("rw") as lines:
            lines.write(json.dumps(request) + "\n")
            lines.flush()
            line = lines.readline()
    if not line:
        raise StackError("the stack ended before it answered")
    answered: Answer = json.loads(line)
    if "error" in answered:
        raise StackError(str(answered["error"]))
    return answered


@contextlib.contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name for `path` within the length limit of Unix sockets, however deep its directory is."""
    try:
        directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    except FileNotFoundError:
        raise StackError(f"no stack is running on {path.parent}") from None
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
