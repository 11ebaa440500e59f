import socket
from collections.abc import Iterator

import pytest

from stack.ports import LOOPBACK, SEARCH_WIDTH, NoFreePort, Ports, is_answering, is_free

BASE = 21_000


@pytest.fixture
def base(worker_id: str) -> int:
    """A range of ports that no other xdist worker uses."""
    return BASE + 1000 * (int(worker_id.removeprefix("gw")) if worker_id.startswith("gw") else 9)


@pytest.fixture
def ports() -> Iterator[Ports]:
    made = Ports()
    yield made
    made.release()


@pytest.fixture
def worker_id(request: pytest.FixtureRequest) -> str:
    return str(getattr(request.config, "workerinput", {}).get("workerid", "master"))


def listening(port: int, address: str = LOOPBACK) -> socket.socket:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind((address, port))
    server.listen()
    return server


def test_the_preferred_port_is_taken_when_it_is_free(ports: Ports, base: int) -> None:
    assert ports.take(base) == base


@pytest.mark.parametrize("address", [LOOPBACK, "0.0.0.0"])  # noqa: S104 (a foreign server on every address)
def test_a_port_with_a_listening_server_is_skipped(ports: Ports, base: int, address: str) -> None:
    with listening(base + 100, address):
        assert ports.take(base + 100) == base + 101


def test_a_port_reserved_by_another_stack_is_skipped_before_a_server_listens(ports: Ports, base: int) -> None:
    other = Ports()
    promised = other.take(base + 200)
    assert ports.take(base + 200) == promised + 1
    other.release()


def test_a_released_port_can_be_reserved_again(ports: Ports, base: int) -> None:
    other = Ports()
    other.take(base + 300)
    other.release()
    assert ports.take(base + 300) == base + 300


def test_one_stack_is_never_given_the_same_port_twice(ports: Ports, base: int) -> None:
    assert len({ports.take(base + 400) for _ in range(5)}) == 5


def test_a_range_without_a_free_port_is_an_error(monkeypatch: pytest.MonkeyPatch, ports: Ports, base: int) -> None:
    monkeypatch.setattr("stack.ports.is_free", lambda _: False)
    with pytest.raises(NoFreePort, match=str(base + SEARCH_WIDTH)):
        ports.take(base)


def test_free_and_answering_are_opposites_for_a_listening_server(base: int) -> None:
    assert is_free(base + 500)
    assert not is_answering(base + 500)
    with listening(base + 500):
        assert not is_free(base + 500)
        assert is_answering(base + 500)
