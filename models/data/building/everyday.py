"""Everyday working words that are also names of places: in prose they name a place only beside stronger signs."""

import csv
import gzip
import re
from collections import Counter
from pathlib import Path

from models.market.curated import curated_rows
from models.market.place_names import place_key

WORD = re.compile(r"[^\W\d_]+")
OFTEN = 2


def words_in_use(labour: Path, names: set[str]) -> list[str]:
    """Return the one-word names that occur in occupation or skill labels or the curated list, except kept ones."""
    kept = {word for cells in curated_rows("everyday_names") for word in cells[0].split()}
    listed = {place_key(word) for cells in curated_rows("everyday_words") for word in cells[0].split()}
    counts: Counter[str] = Counter()
    for file in ("esco_occupation_labels.csv.gz", "esco_skill_labels_en.csv.gz"):
        with gzip.open(labour / file, "rt", encoding="utf-8", newline="") as opened:
            for row in csv.DictReader(opened):
                counts.update({place_key(word) for word in WORD.findall(row["label"])})
    used = {word for word, count in counts.items() if count >= OFTEN}
    return sorted(((used | listed) & names) - kept)
