"""Installations that several files use one after the other; one at a time, since the journeys run in one worker."""

from collections.abc import Iterator

import pytest

from tests.journeys.installation import Installation, installed


@pytest.fixture(scope="package")
def killed_installation() -> Iterator[Installation]:
    """An installation whose processes tests kill and freeze."""
    with installed("--population", "3000") as running:
        yield running


@pytest.fixture(scope="package")
def moved_installation() -> Iterator[Installation]:
    """An installation whose time tests move."""
    with installed("--population", "1000", "--virtual-time") as running:
        yield running
