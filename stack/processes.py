"""How the project's own processes are started: commands, environment, and how each reports that it is ready."""

import hashlib
import http.client
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from stack.children import Child
from stack.installation import Choices, Installation
from stack.ports import LOOPBACK
from stack.postgres import Postgres
from stack.temporal import Temporal

NAMES = ("postgres", "temporal", "sandbox", "api", "worker", "upstream")
QUEUES = {"worker": "service,webhooks,mail,network,payments", "upstream": "upstream"}
# Settings that would connect a process to something outside this stack.
ELSEWHERE = {"DATABASE_DIRECT_URL", "TEMPORAL_API_KEY", "TRUSTED_PROXIES"}
TLS = "TEMPORAL_TLS"
HEALTH_SECONDS = 2.0
DRAIN_SECONDS = 5
WORKER_GRACE_SECONDS = 30.0  # longer than a worker's grace period for activities
MARKET_SECONDS = 300.0  # 200,000 invented people take a while


@dataclass(frozen=True, slots=True)
class Ground:
    """The addresses, choices and secrets that all processes of the project share."""

    installation: Installation
    choices: Choices
    postgres: Postgres
    temporal: Temporal

    def url(self, process: str) -> str:
        """Return the origin of a process."""
        return f"http://{LOOPBACK}:{self.choices.ports[process]}"

    def payments_secret(self, purpose: str) -> str:
        """Return a secret that the service and the sandbox's payment provider share, unique to this installation."""
        return hashlib.sha256(f"payments {purpose} {self.choices.secret_key}".encode()).hexdigest()

    def environment(self) -> dict[str, str]:
        """Return the settings of api and workers, added to the environment of the stack."""
        chosen = self.choices
        return base_environment() | {
            "DATABASE_URL": self.postgres.url(),
            "TEMPORAL_ADDRESS": self.temporal.address,
            "TEMPORAL_NAMESPACE": "default",
            "PUBLIC_URL": self.url("api"),
            "SECRET_KEY": chosen.secret_key,
            "PEOPLE_DATA_LABS_BASE_URL": self.url("sandbox"),
            "PEOPLE_DATA_LABS_API_KEY": chosen.people_api_key,
            "UNIPILE_BASE_URL": self.url("sandbox"),
            "UNIPILE_API_KEY": chosen.network_api_key,
            "UNIPILE_REQUIRE_SIGNATURE": "true",
            "STRIPE_BASE_URL": self.url("sandbox"),
            "STRIPE_API_KEY": self.payments_secret("key"),
            "STRIPE_WEBHOOK_SECRET": self.payments_secret("callbacks"),
            "SMTP_URL": f"smtp://{LOOPBACK}:{chosen.ports['smtp']}",
            "MAIL_FROM": "sourcing@example.com",
            "EMAIL_VERIFICATION": "true",
            "SIGNUPS_A_DAY": "1000000",
            "PRODUCTION": "false",
            "VIRTUAL_TIME": "true" if chosen.virtual_time else "false",
            # Weeks pass in minutes under virtual time: most of the work would be polls that find nothing.
            "OUTREACH_CHATS_MINUTES": os.environ.get("OUTREACH_CHATS_MINUTES", "360" if chosen.virtual_time else "15"),
            "WEBHOOK_LOOPBACK": os.environ.get("WEBHOOK_LOOPBACK", "true"),
        }


def base_environment() -> dict[str, str]:
    """Return the stack's environment without settings of another installation, and with loopback not proxied."""
    kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE and not name.startswith(TLS)}
    direct = ",".join(filter(None, [os.environ.get("NO_PROXY"), LOOPBACK, "localhost"]))
    return kept | {"NO_PROXY": direct, "no_proxy": direct, "PYTHONUNBUFFERED": "1"}


def sandbox(ground: Ground, *, clock_offset: float) -> Child:
    """Return the sandbox; `clock_offset` is how many seconds service time is ahead."""
    chosen = ground.choices
    return Child(
        name="sandbox",
        command=[
            *(sys.executable, "-m", "sandbox", "--host", LOOPBACK, "--port", str(chosen.ports["sandbox"])),
            *("--smtp-port", str(chosen.ports["smtp"]), "--population", str(chosen.population)),
            *("--seed", str(chosen.seed), "--clock-offset", str(clock_offset)),
            *("--people-api-key", chosen.people_api_key, "--network-api-key", chosen.network_api_key),
            *("--payments-api-key", ground.payments_secret("key")),
            *("--payments-secret", ground.payments_secret("callbacks")),
            *("--payments-callback-url", f"{ground.url('api')}/callbacks/payments"),
            *("--state-dir", str(ground.installation.sandbox)),
        ],
        log=ground.installation.log("sandbox"),
        environment=base_environment(),
        ready=_answers(chosen.ports["sandbox"], "/_control/health"),
        start_limit=MARKET_SECONDS,
    )


def api(ground: Ground) -> Child:
    """Return the api."""
    port = ground.choices.ports["api"]
    return Child(
        name="api",
        command=[
            *(sys.executable, "-m", "api", "--host", LOOPBACK, "--port", str(port)),
            *("--drain-seconds", str(DRAIN_SECONDS)),
        ],
        log=ground.installation.log("api"),
        environment=ground.environment(),
        ready=_answers(port, "/health"),
    )


def worker(ground: Ground, name: str) -> Child:
    """Return the worker or the upstream worker."""
    ready_file = ground.installation.ready_file(name)
    ready_file.unlink(missing_ok=True)
    return Child(
        name=name,
        command=[sys.executable, "worker.py", "--queues", QUEUES[name], "--ready-file", str(ready_file)],
        log=ground.installation.log(name),
        environment=ground.environment(),
        ready=lambda _: ready_file.exists(),
        grace=WORKER_GRACE_SECONDS,
    )


def migration(ground: Ground) -> Child:
    """Return the process that migrates the database to the newest version; it ends by itself."""
    return Child(
        name="migrate",
        command=[sys.executable, "-m", "models.migrations", "upgrade"],
        log=ground.installation.log("migrate"),
        environment=ground.environment(),
        ready=lambda _: True,
    )


def _answers(port: int, path: str) -> Callable[[int], bool]:
    def ask(_: int) -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=HEALTH_SECONDS)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    return ask
