"""Reading `temporal-dev.yml`: the flags, search attributes and retention that the embedded Temporal shares with it."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import cast

import yaml

from stack.children import PROJECT

COMPOSE_FILE = PROJECT / "temporal-dev.yml"
START = ["server", "start-dev"]
# Flags about addresses and storage belong to the installation; they do not change how Temporal behaves.
PLACE_FLAGS = {"--ip", "--port", "--ui-ip", "--ui-port", "--http-port", "--metrics-port", "--db-filename"}


class UnusableComposeFile(Exception):
    """`temporal-dev.yml` lacks something that the embedded Temporal needs."""


@dataclass(frozen=True, slots=True)
class TemporalConfiguration:
    """How Temporal is run: `flags` of `temporal server start-dev`, and what is registered in every namespace."""

    flags: tuple[str, ...]
    search_attributes: dict[str, str]
    retention: timedelta


def read_temporal(path: Path = COMPOSE_FILE) -> TemporalConfiguration:
    """Read Temporal's configuration from the compose file.

    Raises:
        UnusableComposeFile: the file is missing or not of the expected shape.
    """
    try:
        document = yaml.safe_load(path.read_text())
        command = cast(list[str], document["services"]["temporal"]["command"])
        extra = document["x-temporal"]
        attributes = {str(name): str(kind) for name, kind in extra["search_attributes"].items()}
        retention = timedelta(days=int(extra["retention_days"]))
    except (OSError, yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UnusableComposeFile(f"{path}: {problem!r}") from problem
    return TemporalConfiguration(_flags(command, path), attributes, retention)


def _flags(command: list[str], path: Path) -> tuple[str, ...]:
    if command[: len(START)] != START:
        raise UnusableComposeFile(f"{path}: the command of service temporal does not begin with {START}")
    flags = command[len(START) :]
    for flag in flags:
        if not flag.startswith("--"):
            raise UnusableComposeFile(f"{path}: write the flag as --name=value, not {flag!r}")
    return tuple(flag for flag in flags if flag.split("=", 1)[0] not in PLACE_FLAGS)
