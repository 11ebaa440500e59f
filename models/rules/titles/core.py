"""The occupation inside a cleaned title: without seniority words and without what follows a comma."""

import re
from collections.abc import Iterator

from models.rules.titles.cleaning import clean
from models.rules.titles.generic import is_generic
from models.rules.titles.keys import title_key

_BEFORE = re.compile(
    r"^(?:senior|sen\.|sr\.?|junior|jun\.|jr\.?|mid[\s-]?level|mid|experienced|entry[\s-]level|erfahrene[rn]?|medior"
    r"|certified|qualified|examinierte[rn]?|ervaren|deputy\s+lead"
    r"|(?:staff|principal|lead|founding|chief)(?=\s.*\b(?:engineer|scientist|designer|developer|architect|consultant|analyst|researcher)\b))"
    r"(?:\s*[/&+]\s*|-|\s+|,\s*)",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s,/-]+(?:senior|sr\.?|junior|jr\.?|confirmée?|expérimentée?|débutante?|medior|starter|mid|lead)$", re.IGNORECASE
)
_SPLIT = re.compile(r"\s*/\s*|\s+(?:or|oder|ou|of|and|und|et|en|&|\+)\s+", re.IGNORECASE)
_SHORTEST = 3


def core(title: str) -> str:
    """`Senior Data Analyst, Risk` gives `Data Analyst`; `Manager, Finance` gives `Finance Manager`.

    A title of which only generic words would stay is given as `clean` gives it.
    """
    text = clean(title)
    for part in (_before_comma, _without_seniority):
        shorter = part(text)
        if shorter and not is_generic(shorter):
            text = shorter
    return text


def _before_comma(text: str) -> str:
    head, comma, tail = text.partition(",")
    if not comma:
        return text
    if not is_generic(head):
        return head.strip()
    return f"{tail.partition(',')[0].strip()} {head.strip()}"


def _without_seniority(text: str) -> str:
    while True:
        shorter = _AFTER.sub("", _BEFORE.sub("", text)).strip()
        if shorter == text or not shorter:
            return text
        text = shorter


def alternatives(title: str) -> Iterator[str]:
    """The parts of a title that names several occupations: `Recruiter / Personalreferent`."""
    parts = [part.strip(" ,-") for part in _SPLIT.split(core(title))]
    if len(parts) > 1:
        yield from (part for part in parts if len(title_key(part)) >= _SHORTEST and not is_generic(part))
