"""The sandbox as a process: start, mail, restart, end."""

import os
import signal
import smtplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest

from sandbox.__main__ import DEFAULT_KEY, parser
from sandbox.mail import links_of

ROOT = Path(__file__).resolve().parents[2]


def free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


@contextmanager
def started(state_dir: Path, *more: str) -> Iterator[tuple[subprocess.Popen[bytes], httpx.Client, int]]:
    port, smtp_port = free_ports()
    command = [sys.executable, "-m", "sandbox", "--port", str(port), "--smtp-port", str(smtp_port)]
    command += ["--population", "200", "--state-dir", str(state_dir), *more]
    with (
        subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PYTHONWARNINGS": "error"}) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client,
    ):
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    client.get("/_control/health").raise_for_status()
                    break
                except httpx.ConnectError:
                    assert process.poll() is None
                    assert time.monotonic() < deadline
                    time.sleep(0.05)
            yield process, client, smtp_port
        finally:
            process.kill()


def mail(subject: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "service@example.com", "Ada <ada@example.com>", subject
    message.set_content("Open https://service.example/verify?token=abc-1. Or (https://service.example/help)!")
    message.add_alternative('<p><a href="https://service.example/verify?token=abc-1">Go</a></p>', subtype="html")
    return message


def test_mail_clock_and_fates_survive_a_restart_and_sigterm_ends_it_at_once(tmp_path: Path) -> None:
    with started(tmp_path, "--clock-offset", "3600") as (process, client, smtp_port):
        with smtplib.SMTP("127.0.0.1", smtp_port) as smtp:
            smtp.send_message(mail("Bestätige, bitte"))
        person = client.get("/_control/people", params={"limit": 1}).json()["data"][0]["id"]
        client.post(f"/_control/people/{person}", json={"state": "vanished"}).raise_for_status()
        order = {"provider": "people", "fault": "server_error", "count": 3}
        client.post("/_control/faults", json=order).raise_for_status()
        client.post("/v5/person/search", json={}, headers={"X-Api-Key": DEFAULT_KEY})
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    with started(tmp_path) as (process, client, _):
        (kept,) = client.get("/_control/mail", params={"to": "ada@example.com"}).json()["data"]
        assert kept["subject"] == "Bestätige, bitte"
        assert kept["links"] == ["https://service.example/verify?token=abc-1", "https://service.example/help"]
        assert kept["text"].startswith("Open https://")
        assert client.get("/_control/mail", params={"to": "bob@example.com"}).json()["data"] == []
        assert client.get("/_control/health").json()["offset_seconds"] == 3600
        assert client.get(f"/_control/people/{person}").json()["state"] == "vanished"
        assert client.get("/_control/faults").json()["data"][0]["left"] == 2
        assert client.get("/_control/people/log").json()["calls"] == {"person/search": 1}
        assert client.delete("/_control/mail").json() == {"deleted": 1}
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    for option in ("--host", "--port", "--smtp-port", "--population", "--seed", "--clock-offset", "--state-dir"):
        assert option in text
    for option in ("--people-api-key", "--network-api-key", "--latency-ms", "--rate-limit"):
        assert option in text


@pytest.mark.parametrize(
    "option", [("--population", "0"), ("--port", "x"), ("--colour", "red"), ("--rate-limit", "person/search")]
)
def test_bad_options_are_refused(option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["--state-dir", "x", *option])
    assert ended.value.code == 2
    assert option[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "html", "links"),
    [
        ("see http://a.example/x, and http://a.example/x", "", ["http://a.example/x"]),
        (
            "",
            '<a href="https://b.example/?a=1&amp;b=2">x</a><a href="mailto:x@y">m</a>',
            ["https://b.example/?a=1&b=2"],
        ),
        ("nothing", "<p>", []),
    ],
)
def test_links_are_found_in_text_and_html(text: str, html: str, links: list[str]) -> None:
    assert links_of(text, html) == links
