"""How many files a reader has to open to follow one flow."""

import pytest

from tests.architecture.flows import FLOWS, LIMITS, calls_of, walk
from tests.architecture.source import ROOT


@pytest.mark.parametrize("key", FLOWS)
def test_a_flow_walks_through_few_files(key: str) -> None:
    found = walk(calls_of(ROOT), FLOWS[key])
    assert len(found.files) <= LIMITS[key], f"python -m tests.architecture.flows --list {key}"


@pytest.mark.parametrize("key", FLOWS)
def test_every_name_that_a_flow_goes_through_is_met_on_the_way(key: str) -> None:
    assert not walk(calls_of(ROOT), FLOWS[key]).missed
