"""Command line of the sandbox: `python -m sandbox --help`."""

import argparse
from pathlib import Path

from sandbox.network.service import NetworkSettings
from sandbox.payments.service import DEFAULT_KEY as PAYMENTS_KEY
from sandbox.payments.service import DEFAULT_SECRET, PaymentsSettings
from sandbox.people.gate import KEY_LENGTH
from sandbox.people.service import PeopleSettings
from sandbox.server import Settings, serve

DEFAULT_KEY = "sandbox".ljust(KEY_LENGTH, "0")
MOST_PEOPLE = 1_000_000


def _limit(text: str) -> tuple[str, int]:
    operation, _, number = text.partition("=")
    return operation, int(number)


def _people(text: str) -> int:
    number = int(text)
    if not 1 <= number <= MOST_PEOPLE:
        raise argparse.ArgumentTypeError(f"from 1 to {MOST_PEOPLE}")
    return number


def parser() -> argparse.ArgumentParser:
    """Describe the options."""
    options = argparse.ArgumentParser(
        prog="python -m sandbox", description="An invented labour market that speaks the providers' own APIs."
    )
    options.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    options.add_argument("--port", type=int, default=8090, help="port of the providers' APIs and of /_control")
    options.add_argument("--smtp-port", type=int, help="port that receives mail; without it no mail is received")
    options.add_argument("--population", type=_people, default=20_000, help="how many people there are (20000)")
    options.add_argument("--seed", type=int, default=7, help="the same seed gives the same people (7)")
    options.add_argument("--clock-offset", type=float, help="seconds service time is ahead; default: as remembered")
    options.add_argument("--people-api-key", action="append", help="a valid key of the people provider; repeatable")
    options.add_argument("--network-api-key", action="append", help="a valid key of the network; repeatable")
    options.add_argument("--payments-api-key", action="append", help="a valid key of the payment provider; repeatable")
    options.add_argument("--payments-callback-url", help="where its events are sent; without it none are sent")
    options.add_argument("--payments-secret", default=DEFAULT_SECRET, help="signs its events")
    options.add_argument("--state-dir", type=Path, required=True, help="folder that keeps what survives a restart")
    options.add_argument("--latency-ms", type=int, default=0, help="added to every provider call (0)")
    options.add_argument(
        "--rate-limit",
        type=_limit,
        action="append",
        default=[],
        metavar="OPERATION=N",
        help="calls a minute, for example person/search=10; * for all; default unlimited",
    )
    return options


def main() -> None:
    """Start and serve."""
    chosen = parser().parse_args()
    serve(
        Settings(
            state_dir=chosen.state_dir,
            people=PeopleSettings(
                api_keys=frozenset(chosen.people_api_key or [DEFAULT_KEY]),
                latency_ms=chosen.latency_ms,
                per_minute=dict(chosen.rate_limit),
            ),
            network=NetworkSettings(
                api_keys=frozenset(chosen.network_api_key or [DEFAULT_KEY]), latency_ms=chosen.latency_ms
            ),
            payments=PaymentsSettings(
                api_keys=frozenset(chosen.payments_api_key or [PAYMENTS_KEY]),
                callback_url=chosen.payments_callback_url,
                callback_secret=chosen.payments_secret,
            ),
            host=chosen.host,
            port=chosen.port,
            smtp_port=chosen.smtp_port,
            population=chosen.population,
            seed=chosen.seed,
            clock_offset=chosen.clock_offset,
        )
    )


if __name__ == "__main__":
    main()
