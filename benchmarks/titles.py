"""How many nearby titles are right: `python -m benchmarks.titles [--misses]`.

`benchmarks/data/nearby_titles.tsv` holds pairs of titles judged by hand. Its odd lines were tuned on, its even lines
judge. A pair is given when `nearby` or `exact` of the title names the other one, or a wording of the same occupation
in the same words. Wrong ones count wherever they are given; the right ones that are not given are only counted, since
nothing is filled up. Titles given that no pair judges are counted too.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from models.market.reference import reference
from models.market.title_words import title_key
from models.market.titles import Titles

JUDGED = Path(__file__).parent / "data" / "nearby_titles.tsv"


@dataclass(frozen=True, slots=True)
class JudgedTitle:
    """A title with those that are near it and those that are not."""

    title: str
    near: tuple[str, ...]
    far: tuple[str, ...]


def read_judged() -> list[JudgedTitle]:
    """Return the judged titles in the order of the file."""
    lines = (line for line in JUDGED.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    cells = (line.split("\t") for line in lines)
    return [JudgedTitle(title, tuple(near.split("|")), tuple(far.split("|"))) for title, near, far in cells]


@dataclass(slots=True)
class NearbyScore:
    """Judged pairs: right and wrong ones that are given, right ones that are not, and given ones without judgement."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    unjudged: int = 0

    @property
    def precision(self) -> float:
        """The share of right ones among those that are given and judged."""
        return self.right / max(1, self.right + self.wrong)


def score(judged: list[JudgedTitle], titles: Titles, *, told: list[str]) -> NearbyScore:
    """Return the score of these titles; what is wrong or missed is added to `told`."""
    total = NearbyScore()
    for asked in judged:
        given = {title_key(title) for title in titles.nearby(asked.title)}
        known = given | {title_key(title) for title in titles.exact(asked.title)}
        for title in asked.near:
            found = title_key(title) in known
            total.right += found
            total.missed += not found
            if not found:
                told.append(f"missed  {asked.title}: {title}")
        for title in _wrong(asked, given, titles):
            total.wrong += 1
            told.append(f"wrong   {asked.title}: {title}")
        total.unjudged += len(given - {title_key(title) for title in (*asked.near, *asked.far)})
    return total


def _wrong(asked: JudgedTitle, given: set[str], titles: Titles) -> Iterator[str]:
    """Yield the far titles that are given, under their own name or another one of their family."""
    families = {family.id for family in map(titles.family, given) if family}
    for title in asked.far:
        family = titles.family(title) if titles.known(title) else None
        if title_key(title) in given or (family is not None and family.id in families):
            yield title


def main() -> None:
    """Print the score of both halves."""
    parser = argparse.ArgumentParser(description="How many nearby titles are right")
    parser.add_argument("--misses", action="store_true", help="list what is wrong or missed")
    misses = parser.parse_args().misses
    judged, titles = read_judged(), reference().titles
    for name, half in (("tuning", judged[::2]), ("judging", judged[1::2])):
        told: list[str] = []
        found = score(half, titles, told=told)
        print(
            f"{name:8} {len(half)} titles  right {found.right}  wrong {found.wrong}  precision {found.precision:.3f}  "
            f"missed {found.missed}  without judgement {found.unjudged}"
        )
        print("\n".join(f"  {line}" for line in told) if misses else "", end="\n" if misses else "")


if __name__ == "__main__":
    main()
