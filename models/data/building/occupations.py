"""Occupations for the reference file: ESCO and O*NET concepts, their labels and relations."""

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from models.market.occupations import label_key

TIERS = {"Primary-Short": 0, "Primary-Long": 1, "Supplemental": 2}
ABBREVIATED = re.compile(r"^(?P<long>.+?) \((?P<short>[A-Z][A-Za-z&/.-]{1,9})\)$")
BOTH_GENDERS = re.compile(r"\s*/\s*")


class LabelRow(NamedTuple):
    """One label of a concept."""

    key: str
    text: str
    language: str
    concept: str
    preferred: bool


class ConceptRow(NamedTuple):
    """One occupation."""

    id: str
    name: str
    isco: str | None


class RelatedRow(NamedTuple):
    """A relation of O*NET between two similar occupations."""

    concept: str
    other: str
    tier: int
    rank: int


def _read(path: Path, delimiter: str) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter=delimiter)


def concepts(labour: Path) -> list[ConceptRow]:
    """Return all occupations of both taxonomies."""
    found: dict[str, ConceptRow] = {}
    for row in _read(labour / "esco_occupation_labels.csv.gz", ","):
        concept = f"esco:{row['occupation_id']}"
        if row["kind"] == "preferred" and (concept not in found or row["language"] == "en"):
            found[concept] = ConceptRow(concept, row["label"], row["isco_group"])
    for row in _read(labour / "onet_occupations.tsv.gz", "\t"):
        found[f"onet:{row['O*NET-SOC Code']}"] = ConceptRow(f"onet:{row['O*NET-SOC Code']}", row["Title"], None)
    return [found[key] for key in sorted(found)]


def labels(labour: Path) -> list[LabelRow]:
    """Return each label once per concept and language; preferred ones win. `directeur/directrice` counts as two."""
    best: dict[tuple[str, str, str], LabelRow] = {}
    for text, language, concept, preferred in _raw_labels(labour):
        for form in _forms(text, language):
            row = LabelRow(label_key(form), form, language, concept, preferred)
            kept = best.get((row.key, language, concept))
            if row.key and (kept is None or (preferred and not kept.preferred)):
                best[row.key, language, concept] = row
    return [best[key] for key in sorted(best)]


def _raw_labels(labour: Path) -> Iterator[tuple[str, str, str, bool]]:
    for row in _read(labour / "esco_occupation_labels.csv.gz", ","):
        yield row["label"], row["language"], f"esco:{row['occupation_id']}", row["kind"] == "preferred"
    for row in _read(labour / "onet_occupations.tsv.gz", "\t"):
        yield row["Title"], "en", f"onet:{row['O*NET-SOC Code']}", True
    for row in _read(labour / "onet_alternate_titles.tsv.gz", "\t"):
        yield row["Alternate Title"], "en", f"onet:{row['O*NET-SOC Code']}", False
    for row in _read(labour / "onet_reported_titles.tsv.gz", "\t"):
        yield row["Reported Job Title"], "en", f"onet:{row['O*NET-SOC Code']}", False


def _forms(text: str, language: str) -> list[str]:
    abbreviated = ABBREVIATED.match(text)
    if abbreviated:
        return [abbreviated["long"], abbreviated["short"]]
    if language == "en":
        return [text]
    return [form for form in BOTH_GENDERS.split(text) if form]


def related(labour: Path) -> list[RelatedRow]:
    """Return O*NET's relations in O*NET's order."""
    return [
        RelatedRow(
            concept=f"onet:{row['O*NET-SOC Code']}",
            other=f"onet:{row['Related O*NET-SOC Code']}",
            tier=TIERS[row["Relatedness Tier"]],
            rank=int(row["Index"]),
        )
        for row in _read(labour / "onet_related_occupations.tsv.gz", "\t")
    ]
