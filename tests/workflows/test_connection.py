"""The client of Temporal reads the settings that Temporal's own tools read, and speaks TLS when they say so."""

import asyncio
import contextlib
import datetime
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from temporalio.envconfig import ClientConfigProfile
from temporalio.service import TLSConfig

from models.base.settings import Settings
from workflows.connection import connect, reachable, tls

pytestmark = pytest.mark.timeout(120)

SERVICE = {"DATABASE_URL": "postgresql+asyncpg://", "SECRET_KEY": "k" * 32}
NAME = "frontend.example"


@dataclass(frozen=True)
class Paper:
    """A certificate and its key, in files."""

    certificate: Path
    key: Path

    @classmethod
    def made(cls, folder: Path) -> "Paper":
        """Signed by itself, for `NAME`."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
        now = datetime.datetime.now(datetime.UTC)
        built = (
            x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
            .sign(key, hashes.SHA256())
        )
        paper = cls(folder / "cert.pem", folder / "key.pem")
        paper.certificate.write_bytes(built.public_bytes(serialization.Encoding.PEM))
        paper.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return paper


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Paper:
    return Paper.made(tmp_path_factory.mktemp("tls"))


def settings(monkeypatch: pytest.MonkeyPatch, **told: str) -> Settings:
    """Read from an environment that says this of Temporal."""
    for name, value in (SERVICE | told).items():
        monkeypatch.setenv(name, value)
    return Settings()


def effective(*, read: bool | TLSConfig | None, with_key: bool) -> TLSConfig | None:
    """Return what the SDK makes of it; null is no TLS."""
    if read is None:
        read = with_key
    return read if isinstance(read, TLSConfig) else TLSConfig() if read else None


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"TEMPORAL_ADDRESS": "eu-west-1.aws.api.temporal.io:7233", "TEMPORAL_NAMESPACE": "ours.a1b2c"},
        {"TEMPORAL_API_KEY": "secret"},
        {"TEMPORAL_API_KEY": "secret", "TEMPORAL_TLS": "true"},
        {"TEMPORAL_API_KEY": "secret", "TEMPORAL_TLS": "false"},
        {"TEMPORAL_TLS": "true"},
        {"TEMPORAL_TLS": "false"},
        {"TEMPORAL_TLS_CLIENT_CERT_PATH": "{cert}", "TEMPORAL_TLS_CLIENT_KEY_PATH": "{key}"},
        {"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "{cert}", "TEMPORAL_TLS_SERVER_NAME": NAME},
        {"TEMPORAL_TLS_SERVER_NAME": NAME, "TEMPORAL_API_KEY": "secret"},
    ],
    ids=lambda told: "+".join(told) or "nothing",
)
def test_the_settings_mean_what_they_mean_to_temporals_own_tools(
    monkeypatch: pytest.MonkeyPatch, paper: Paper, told: dict[str, str]
) -> None:
    told = {name: value.format(cert=paper.certificate, key=paper.key) for name, value in told.items()}
    theirs = ClientConfigProfile.load(disable_file=True, override_env_vars=told).to_client_connect_config()
    ours = settings(monkeypatch, **told)
    key = ours.temporal_api_key.get_secret_value() if ours.temporal_api_key else None
    assert theirs.get("target_host", "127.0.0.1:7233") == ours.temporal_address
    assert theirs.get("namespace", "default") == ours.temporal_namespace
    assert theirs.get("api_key") == key
    read = theirs.get("tls")
    assert effective(read=tls(ours), with_key=key is not None) == effective(read=read, with_key=key is not None)


def test_what_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose files pass on what is not set as an empty text."""
    names = [name for name in Settings.model_fields if name.startswith(("temporal_tls", "temporal_api"))]
    assert len(names) == 6
    read = settings(monkeypatch, **{name.upper(): "" for name in names})
    assert {getattr(read, name) for name in names} == {None}


@contextlib.asynccontextmanager
async def behind_tls(address: str, paper: Paper) -> AsyncIterator[str]:
    """The address of a gate before the server that admits holders of the certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(paper.certificate))
    context.load_cert_chain(paper.certificate, paper.key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    host, _, port = address.rpartition(":")

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while read := await reader.read(65536):
                writer.write(read)
                await writer.drain()
        writer.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0, ssl=context)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def test_a_server_that_asks_for_a_certificate_is_reached_with_it_and_not_without(
    monkeypatch: pytest.MonkeyPatch, temporal_address: str, paper: Paper
) -> None:
    async with behind_tls(temporal_address, paper) as address:
        known = {
            "TEMPORAL_ADDRESS": address,
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(paper.certificate),
            "TEMPORAL_TLS_SERVER_NAME": NAME,
        }
        with pytest.raises(RuntimeError):
            await connect(settings(monkeypatch, **known))
        own = {
            "TEMPORAL_TLS_CLIENT_CERT_PATH": str(paper.certificate),
            "TEMPORAL_TLS_CLIENT_KEY_PATH": str(paper.key),
        }
        assert await reachable(await connect(settings(monkeypatch, **known, **own))) == "ok"
