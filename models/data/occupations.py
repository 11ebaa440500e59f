"""Reads the occupations of the reference file: `concept`, `label` and `related` tables, keyed by `label_key`."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache

from models.rules.occupations import Concept, Label, Related, label_key

LABEL = """
    SELECT label.text, label.language, label.preferred, concept.id, concept.name, concept.isco
    FROM label JOIN concept ON concept.number = label.concept
"""
BY_KEY = LABEL + "WHERE label.key = ? ORDER BY label.preferred DESC, concept.id, label.language"
BY_CONCEPT = LABEL + "WHERE concept.id = ? ORDER BY label.preferred DESC, label.language, label.key"
RELATED = """
    SELECT other.id, other.name, other.isco, related.tier, related.rank
    FROM related JOIN concept ON concept.number = related.concept JOIN concept AS other ON other.number = related.other
    WHERE concept.id = ? ORDER BY related.rank
"""
GROUP = "SELECT id, name, isco FROM concept WHERE isco = ? ORDER BY id"


class StoredOccupations:
    """The taxonomies in the reference file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.labelled = lru_cache(maxsize=10_000)(self._labelled)

    def _labelled(self, title: str) -> Sequence[Label]:
        return self._read_labels(BY_KEY, label_key(title))

    def labels(self, concept_id: str) -> Sequence[Label]:
        """All labels of an occupation."""
        return self._read_labels(BY_CONCEPT, concept_id)

    def related(self, concept_id: str) -> Sequence[Related]:
        """O*NET's related occupations, closest first."""
        rows = self._database.execute(RELATED, (concept_id,))
        return tuple(Related(Concept(id_, name, isco), tier, rank) for id_, name, isco, tier, rank in rows)

    def group(self, isco: str) -> Sequence[Concept]:
        """ESCO's occupations of a four-digit ISCO group."""
        return tuple(Concept(*row) for row in self._database.execute(GROUP, (isco,)))

    def _read_labels(self, query: str, value: str) -> tuple[Label, ...]:
        rows = self._database.execute(query, (value,))
        return tuple(
            Label(text, language, Concept(id_, name, isco), bool(preferred))
            for text, language, preferred, id_, name, isco in rows
        )
