"""How an intent comes about: read from a description, then changed field by field by what the caller gives."""

from collections.abc import Mapping
from typing import Any

from models.rules.intents import Intent

BLOCKS = ("must", "nice", "exclude")

Changes = Mapping[str, Any]
"""Fields of `Intent` to change: for a block, its fields to change. Null clears, what is absent stays."""


def changed(intent: Intent, changes: Changes) -> Intent:
    """The intent with each given field replaced (contract, section 5: merge per block)."""
    content = intent.model_dump()
    for name, change in changes.items():
        if change is None:
            content.pop(name)
        elif name in BLOCKS:
            content[name] |= change
            content[name] = {field: value for field, value in content[name].items() if value is not None}
        else:
            content[name] = change
    return Intent.model_validate(content)


def fields_of(intent: Intent) -> frozenset[str]:
    """The dotted fields that the intent gives a value."""
    empty = Intent()
    return frozenset(
        f"{name}.{field}"
        for name in BLOCKS
        for field, value in getattr(intent, name)
        if value != getattr(getattr(empty, name), field)
    )


def touched(changes: Changes) -> frozenset[str]:
    """The dotted fields that the changes replace or clear."""
    blocks = {name: changes[name] for name in BLOCKS if name in changes}
    every = {name: type(getattr(Intent(), name)).model_fields for name in BLOCKS}
    return frozenset(
        f"{name}.{field}" for name, change in blocks.items() for field in (every[name] if change is None else change)
    )
