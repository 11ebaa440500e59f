"""Results of the requests: their numbers, and the operations that never succeeded."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.serving import ANSWERS

UNREACHED = {
    "workspaces.verify": "needs the token of a mail",
    "people.match": "nobody has an invented name",
}
"""Operations that cannot be expected to succeed, each with its reason."""
MOST_UNLUCKY = 25
"""The most other operations that may find all their objects in the wrong state: an action can be approved once."""


@dataclass(frozen=True)
class Figures:
    """Numbers of answers by operation, phase, mode of generation and status."""

    counts: dict[tuple[str, str, str, str], int]

    @classmethod
    def read(cls, folder: Path) -> "Figures":
        """Read the figures of a run from the files in a folder."""
        kept: dict[str, int] = json.loads((folder / ANSWERS).read_text())
        counts = {}
        for told, times in kept.items():
            name, phase, mode, status = told.rsplit(" ", 3)
            counts[name, phase, mode, status] = times
        return cls(counts)

    def summed(self, *places: int) -> Counter[tuple[str, ...]]:
        """Return the numbers summed by some of the four keys."""
        found: Counter[tuple[str, ...]] = Counter()
        for told, times in self.counts.items():
            found[tuple(told[place] for place in places)] += times
        return found

    def unreached(self) -> set[str]:
        """Return the operations that never succeeded although they can."""
        succeeded = {name for name, _, _, status in self.counts if status.startswith("2")}
        return {name for name, *_ in self.counts} - succeeded - UNREACHED.keys()

    def told(self) -> str:
        """Print the figures."""
        lines = [f"{times:7} requests of {' '.join(kind)}" for kind, times in sorted(self.summed(1, 2).items())]
        lines += [f"{times:7} answers {status}" for (status,), times in sorted(self.summed(3).items())]
        return "\n".join([*lines, f"never done: {', '.join(sorted(self.unreached())) or 'none'}"])
