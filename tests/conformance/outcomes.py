"""Outcomes of tests by other implementations, and their table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The result of one check."""

    PASSED = "passed"
    EXPECTED = "expected"
    """It failed, as the baseline expects."""
    OPTIONAL = "optional"
    """It failed, and the protocol does not require it."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One check of one part; `told` says what failed."""

    part: str
    name: str
    verdict: Verdict
    told: str = ""


def failures(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return the outcomes that must not occur."""
    return [outcome for outcome in outcomes if outcome.verdict is Verdict.FAILED]


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a table with the counts of every part, followed by all checks that did not pass."""
    parts = list(dict.fromkeys(outcome.part for outcome in outcomes))
    width = max(map(len, parts), default=0)
    lines = [f"{'':{width}}" + "".join(f"{verdict:>10}" for verdict in Verdict)]
    for part in parts:
        of_part = [outcome.verdict for outcome in outcomes if outcome.part == part]
        lines.append(f"{part:{width}}" + "".join(f"{of_part.count(verdict):>10}" for verdict in Verdict))
    others = [outcome for outcome in outcomes if outcome.verdict is not Verdict.PASSED]
    lines += [f"{outcome.verdict}: {outcome.part}: {outcome.name}: {outcome.told}" for outcome in others]
    return "\n".join(lines)
