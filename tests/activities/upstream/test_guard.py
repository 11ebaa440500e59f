"""Whatever a receiver does, a POST ends in time with a status or an error; and it reaches checked addresses only."""

import asyncio
import datetime
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from activities.upstream.guard import Guard, Posted
from models.base.outbound import Resolver, Target
from models.events.rules.deliveries import AttemptError
from tests.activities.upstream.receivers import OK, Behaviour, drips, floods, receiving, resets, says, waits

LIMIT = 1.0
BODY = b'{"id":"evt_1"}'
PUBLIC = "93.184.216.34"


@pytest.fixture
async def guard() -> AsyncIterator[Guard]:
    async with Guard(Resolver(), loopback=True, limit_seconds=LIMIT) as made:
        yield made


async def test_a_post_arrives_as_it_was_given(guard: Guard) -> None:
    async with receiving(says(OK)) as receiver:
        posted = await guard.post(receiver.url, BODY, {"X-Service-Event": "ping", "Content-Type": "application/json"})
    (request,) = receiver.received
    assert posted.status_code == 200
    assert request.head == "POST /hook?a=1 HTTP/1.1"
    assert request.body == BODY
    assert request.headers == {
        "host": f"127.0.0.1:{receiver.port}",
        "connection": "close",
        "x-service-event": "ping",
        "content-type": "application/json",
        "content-length": str(len(BODY)),
    }


LATE = waits(LIMIT + 0.5)
HEAD = b"HTTP/1.1 200 OK\r\n"
CORPUS: dict[str, tuple[Behaviour, int | AttemptError]] = {
    "hangs": (waits(60), AttemptError.TIMEOUT),
    "2xx late": (LATE, AttemptError.TIMEOUT),
    "drips its head": (drips(OK, 0.1), AttemptError.TIMEOUT),
    "resets": (resets, AttemptError.CONNECTION_FAILED),
    "closes without answer": (says(b""), AttemptError.BAD_ANSWER),
    "closes within its head": (says(HEAD), AttemptError.BAD_ANSWER),
    "no HTTP": (says(b"\x00\xff\xfe\x00" * 50 + b"\r\n\r\n"), AttemptError.BAD_ANSWER),
    "NULs in a header": (says(HEAD + b"X: \x00\x00\r\n\r\n"), AttemptError.BAD_ANSWER),
    "NULs and invalid UTF-8 in its body": (says(HEAD + b"\r\n\x00\xff\xfe\xc3"), 200),
    "a huge header": (says(HEAD + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n"), AttemptError.BAD_ANSWER),
    "100 MB": (floods(HEAD + b"\r\n"), 200),
    "100 MB of an error": (floods(b"HTTP/1.1 500 No\r\n\r\n"), 500),
    "100 MB of header": (floods(HEAD + b"X: "), AttemptError.BAD_ANSWER),
    "a body shorter than it says": (says(HEAD + b"Content-Length: 100\r\n\r\nok"), 200),
    "drips its body": (drips(b"x" * 1000, 0.05, head=HEAD + b"\r\n"), 200),
    "301 to loopback": (says(b"HTTP/1.1 301 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"), 301),
    "no content": (says(b"HTTP/1.1 204 No\r\n\r\n"), 204),
    "an upgrade": (
        says(b"HTTP/1.1 101 Up\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
        AttemptError.BAD_ANSWER,
    ),
    "compressed rubbish": (says(HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nrub!"), 200),
}


@pytest.mark.parametrize("case", CORPUS)
async def test_a_receiver_may_behave_as_it_likes(guard: Guard, case: str) -> None:
    behaviour, promised = CORPUS[case]
    async with receiving(behaviour) as receiver:
        async with asyncio.timeout(LIMIT + 2):
            posted = await guard.post(receiver.url, BODY, {})
        assert len(receiver.received) == 1
    shown = posted.status_code if posted.error is None else posted.error
    assert shown == promised
    assert posted.duration_ms < (LIMIT + 0.5) * 1000
    assert receiver.sent < 10_000_000  # the flood ends soon after the client is gone


async def test_answers_of_a_hundred_megabytes_leave_the_memory_flat(guard: Guard) -> None:
    async with receiving(floods(HEAD + b"\r\n")) as receiver:
        await guard.post(receiver.url, BODY, {})
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        await asyncio.gather(*(guard.post(receiver.url, BODY, {}) for _ in range(10)))
        after, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak - before < 20_000_000  # with the receivers' own buffers, in this same process
    assert after - before < 5_000_000  # the buffers of ten connections take 2 MB


async def test_one_that_hangs_holds_up_no_other(guard: Guard) -> None:
    async with receiving(waits(60)) as slow, receiving(says(OK)) as quick:
        hanging = [asyncio.create_task(guard.post(slow.url, BODY, {})) for _ in range(30)]
        await asyncio.sleep(0.05)
        posted = await guard.post(quick.url, BODY, {})
        assert posted.status_code == 200
        assert posted.duration_ms < LIMIT * 700
        assert {(await task).error for task in hanging} == {AttemptError.TIMEOUT}


async def test_a_missing_server_is_a_failed_connection(guard: Guard) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        posted = await guard.post(f"http://127.0.0.1:{taken.getsockname()[1]}/", BODY, {})
    assert posted.error is AttemptError.CONNECTION_FAILED


async def test_a_proxy_of_the_environment_is_not_asked(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving(says(OK)) as proxy, receiving(says(OK)) as receiver:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        async with Guard(Resolver(), loopback=True) as fresh:
            assert (await fresh.post(receiver.url, BODY, {})).status_code == 200
    assert proxy.received == []


async def test_a_cookie_of_one_receiver_is_not_shown_to_another(guard: Guard) -> None:
    cookie = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    async with receiving(says(cookie)) as receiver:
        for _ in range(2):
            await guard.post(receiver.url, BODY, {})
    assert "cookie" not in receiver.received[1].headers


async def test_without_the_switch_loopback_is_refused() -> None:
    async with receiving(says(OK)) as receiver, Guard(Resolver(), loopback=False) as guard:
        assert (await guard.post(receiver.url, BODY, {})).error is AttemptError.ADDRESS_REFUSED
    assert receiver.received == []


class Names:
    """A name server whose answers change from one question to the next."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0)


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where connections were opened to; none of them is let through."""
    opened: list[str] = []

    async def connect(remote_host: str, **_: Any) -> None:
        opened.append(remote_host)
        raise OSError

    monkeypatch.setattr("anyio.connect_tcp", connect)
    return opened


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::a00:1"]
)
async def test_a_name_that_turns_private_reaches_nothing(connections: list[str], private: str) -> None:
    names = Names([PUBLIC], [private], [PUBLIC, private], [])
    async with Guard(Resolver(names), loopback=False) as guard:
        results = [(await guard.post("https://rebind.example.com/", BODY, {})).error for _ in range(4)]
    assert results == [
        AttemptError.CONNECTION_FAILED,  # the public address, which does not answer
        AttemptError.ADDRESS_REFUSED,
        AttemptError.ADDRESS_REFUSED,
        AttemptError.UNRESOLVED,
    ]
    assert names.asked == ["rebind.example.com"] * 4  # once for each attempt, and never again by who connects
    assert connections == [PUBLIC]


async def test_every_address_is_tried_before_the_attempt_fails(connections: list[str]) -> None:
    names = Names([PUBLIC, "2606:4700::1111"])
    async with Guard(Resolver(names), loopback=False) as guard:
        await guard.post("https://many.example.com/", BODY, {})
    assert connections == [PUBLIC, "2606:4700::1111"]


async def test_a_name_server_that_hangs_is_a_time_out(guard: Guard) -> None:
    async def hang(_: str) -> Sequence[str]:
        await asyncio.sleep(60)
        return []

    async with Guard(Resolver(hang), loopback=True, limit_seconds=0.2) as slow:
        assert (await slow.post("https://slow.example.com/", BODY, {})).error is AttemptError.TIMEOUT


NAME = "hooks.example.com"


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate for that name, and a client's that trusts nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = signed.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(pem + secret)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    return server, ssl.create_default_context(cadata=pem.decode())


async def over_tls(folder: Path, *, certified: str) -> tuple[Posted, str | None, dict[str, str] | None]:
    """POST to `NAME` at a receiver with a certificate for another or the same; with the SNI and headers it saw."""
    server, client = certificate(folder, certified)
    asked: list[str | None] = []
    server.sni_callback = lambda _, name, __: asked.append(name)
    resolver = Resolver(Names(["127.0.0.1"]), refused=lambda _: None)
    async with receiving(says(OK), tls=server) as receiver, Guard(resolver, loopback=False, tls=client) as guard:
        target = Target(f"https://{NAME}:{receiver.port}/hook", "https", NAME, receiver.port)
        posted = await guard.send(target, BODY, {})
    headers = receiver.received[0].headers if receiver.received else None
    return posted, asked[0] if asked else None, headers


async def test_sni_certificate_and_host_stay_on_the_name_while_the_connection_goes_to_the_address(
    tmp_path: Path,
) -> None:
    posted, sni, headers = await over_tls(tmp_path, certified=NAME)
    assert posted.status_code == 200
    assert sni == NAME
    assert headers is not None
    assert headers["host"].partition(":")[0] == NAME


@pytest.mark.parametrize("other", ["other.example.com", "127.0.0.1"])
async def test_a_certificate_of_another_name_is_a_failed_connection(tmp_path: Path, other: str) -> None:
    posted, _, headers = await over_tls(tmp_path, certified=other)
    assert posted.error is AttemptError.CONNECTION_FAILED
    assert headers is None
