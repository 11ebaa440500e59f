"""The query key: one name for one search at one source, by which its pages and totals are remembered."""

import hashlib
import json

from models.rules.filters import PeopleFilters


def query_key(filters: PeopleFilters, *, source: str) -> str:
    """SHA-256 of the source's name and the filters; the order, letter case and repetition of values do not matter."""
    canonical = json.dumps(_canonical(filters.model_dump(mode="json", exclude_defaults=True)), sort_keys=True)
    return hashlib.sha256(f"{source}\n{canonical}".encode()).hexdigest()


def _canonical(value: object) -> object:
    if isinstance(value, dict):
        return {name: _canonical(inner) for name, inner in value.items()}
    if isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        return sorted({inner.casefold() for inner in value})
    if isinstance(value, list):
        distinct = {json.dumps(_canonical(inner), sort_keys=True): _canonical(inner) for inner in value}
        return [distinct[text] for text in sorted(distinct)]
    return value.casefold() if isinstance(value, str) else value
