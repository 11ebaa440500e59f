"""Bytes on a real socket that no client sends: each is answered, none is a defect, and the process goes on serving."""

import contextlib
import gzip
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.kernel.test_served import lines, process

MOST = 1024 * 1024
JSON = b"Content-Type: application/json\r\n"
SIGNUP = b'{"name": "Acme"}'
"""Lacks its address, so that it is refused for that alone once it has been read."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "log"


@pytest.fixture(scope="module")
def url(module_database_url: str, log: Path) -> Iterator[str]:
    with process(module_database_url, log) as (_, address):
        yield address


def told(url: str, raw: bytes) -> tuple[int, bytes]:
    """The status and the body that some bytes are answered with; the connection is closed afterwards."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        with contextlib.suppress(ConnectionError):  # it has answered and closed already
            connection.sendall(raw)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def request(line: bytes, headers: bytes = b"", body: bytes = b"") -> bytes:
    """The bytes of a request after which the server closes the connection."""
    return line + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + headers + b"\r\n" + body


def post(headers: bytes, body: bytes) -> bytes:
    return request(b"POST /v1/workspaces", JSON + headers, body)


def sized(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n" % len(body)


def chunks(*pieces: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


CHUNKED = b"Transfer-Encoding: chunked\r\n"
PACKED = gzip.compress(SIGNUP)

READ = {
    "with its length": post(sized(SIGNUP), SIGNUP),
    "in chunks": post(CHUNKED, chunks(SIGNUP[:5], SIGNUP[5:])),
    "in chunks of one byte": post(CHUNKED, chunks(*(SIGNUP[i : i + 1] for i in range(len(SIGNUP))))),
    "by another method in a header": post(b"X-HTTP-Method-Override: DELETE\r\n" + sized(SIGNUP), SIGNUP),
    "of another charset by name alone": post(b"Content-Type: text/plain; charset=utf-16\r\n" + sized(SIGNUP), SIGNUP),
    "expecting to be told to go on": post(b"Expect: 100-continue\r\n" + sized(SIGNUP), SIGNUP),
}
"""Ways to send a body that is read; what is wrong is the address that it lacks."""

REFUSED = {
    "packed": post(b"Content-Encoding: gzip\r\n" + sized(PACKED), PACKED),
    "packed in chunks": post(b"Content-Encoding: gzip\r\n" + CHUNKED, chunks(PACKED)),
    "of another charset": post(sized(SIGNUP.decode().encode("utf-16")), SIGNUP.decode().encode("utf-16")),
    "nested deep": post(sized(b"[" * 100_000), b"[" * 100_000),
    "of more than a mebibyte in chunks": post(CHUNKED, chunks(*[b" " * 65_536] * 17)),
    "an address of many parameters": request(b"GET /v1/billing/plans?" + b"&".join([b"a=1"] * 1_001)),
    "an address of NUL": request(b"GET /v1/billing/plans?a=%00"),
}
"""What is refused as the documented error."""

ANSWERED = {
    "a header of a mebibyte": request(b"GET /health", b"X-Long: " + b"a" * MOST + b"\r\n"),
    "ten thousand headers": request(b"GET /health", b"".join(b"X-%d: 1\r\n" % i for i in range(10_000))),
    "an address of a mebibyte": request(b"GET /v1/billing/plans?a=" + b"a" * MOST),
    "a path of a mebibyte": request(b"GET /v1/" + b"a" * MOST),
    "a path of odd bytes": request(b"GET /v1/%00/%ff/%ed%a0%80/..%2f..%2fetc"),
    "two lengths": post(b"Content-Length: 5\r\nContent-Length: 6\r\n", SIGNUP),
    "a length and chunks": post(b"Content-Length: 5\r\n" + CHUNKED, chunks(SIGNUP)),
    "a length below nothing": post(b"Content-Length: -1\r\n", SIGNUP),
    "a length without end": post(b"Content-Length: " + b"9" * 40 + b"\r\n", SIGNUP),
    "a chunk without a size": post(CHUNKED, b"zz\r\n{}\r\n0\r\n\r\n"),
    "another method": request(b"BREW /v1/workspaces"),
    "a tunnel": request(b"CONNECT example.com:443"),
    "a whole address": request(b"GET http://169.254.169.254/latest/meta-data"),
    "a newer protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "an upgrade": request(b"GET /v1/workspace", b"Upgrade: websocket\r\nSec-WebSocket-Key: x\r\n"),
}
"""What a server may refuse by itself, or hand on: anything but a defect."""


def documented(body: bytes) -> str:
    """The code of the documented error."""
    error = json.loads(body)["error"]
    assert error["message"]
    assert error["request_id"]
    return str(error["code"])


@pytest.mark.parametrize("way", READ)
def test_a_body_is_read_however_it_is_sent(url: str, way: str) -> None:
    status, body = told(url, READ[way])
    assert (status, documented(body)) == (400, "invalid_request")
    assert json.loads(body)["error"]["details"] == {"field": "email"}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_as_documented(url: str, what: str) -> None:
    status, body = told(url, REFUSED[what])
    assert (status, documented(body)) == (400, "invalid_request")
    assert json.loads(body)["error"].get("details", {}).get("field") in (None, "a")


@pytest.mark.parametrize("what", ANSWERED)
def test_what_a_server_may_refuse_by_itself_is_answered_without_a_defect(url: str, what: str) -> None:
    status, body = told(url, ANSWERED[what])
    assert status in (200, 400, 401, 404)
    assert status in (200, 400) or documented(body) in ("unauthorized", "not_found")


def test_who_hangs_up_within_a_body_is_no_defect(url: str, log: Path) -> None:
    for headers in (b"Content-Length: 100\r\n", CHUNKED):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(post(headers + b"X-Request-Id: hung-up\r\n", b'{"name": '))
    while (found := [line for line in lines(log) if line.get("request_id") == "hung-up"])[1:] == []:
        time.sleep(0.02)
    assert [(line["event"], line["status"]) for line in found] == [("request", 499)] * 2
    assert told(url, request(b"GET /health")) == (200, b'{"status":"ok"}')


@pytest.fixture(scope="module", autouse=True)
def _no_defect(log: Path, url: str) -> Iterator[None]:
    """After all tests of this module."""
    del url
    yield
    assert [line for line in lines(log) if line["event"] == "internal"] == []
