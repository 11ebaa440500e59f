"""What a proof by another implementation found, and the table that is shown of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How one check ended."""

    PASSED = "passed"
    EXPECTED = "expected"
    """It failed, and the baseline says why it must."""
    OPTIONAL = "optional"
    """It failed, and the protocol does not require it."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One check of one part; `told` says what went wrong."""

    part: str
    name: str
    verdict: Verdict
    told: str = ""


def failures(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that must not be."""
    return [outcome for outcome in outcomes if outcome.verdict is Verdict.FAILED]


def table(outcomes: Sequence[Outcome]) -> str:
    """Counts of every part, and then whatever did not pass."""
    parts = list(dict.fromkeys(outcome.part for outcome in outcomes))
    width = max(map(len, parts), default=0)
    lines = [f"{'':{width}}" + "".join(f"{verdict:>10}" for verdict in Verdict)]
    for part in parts:
        of_part = [outcome.verdict for outcome in outcomes if outcome.part == part]
        lines.append(f"{part:{width}}" + "".join(f"{of_part.count(verdict):>10}" for verdict in Verdict))
    others = [outcome for outcome in outcomes if outcome.verdict is not Verdict.PASSED]
    lines += [f"{outcome.verdict}: {outcome.part}: {outcome.name}: {outcome.told}" for outcome in others]
    return "\n".join(lines)
