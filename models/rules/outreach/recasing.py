"""Recasing: names written all in capitals or all small, as one writes them in a letter."""

import re

from models.rules.outreach.letters import letters

PARTICLES = frozenset(
    "al bin bint da das de del den der di do dos du e el en i ibn la las le los op 't ten ter van von y zu zur".split()  # noqa: SIM905 - words read best as words
)
"""Words inside a name that stay small."""
_PARTS = re.compile(r"([-'’`´])")
_VOWELS = frozenset("aeiouyáàâäãåæéèêëíìîïóòôöõøœúùûüýÿ")
_LONGEST_ABBREVIATION = 3


def recased(name: str) -> str:
    """The name with capitals where they belong; one of mixed case is kept as it is written."""
    word = letters(name)
    if not word or (word != word.upper() and word != word.lower()):
        return name
    return " ".join(_recased_word(word, first=place == 0) for place, word in enumerate(name.split()))


def _recased_word(word: str, *, first: bool) -> str:
    small = _small(word)
    if small in PARTICLES and not first:
        return small
    if word.isupper() and len(word) <= _LONGEST_ABBREVIATION and not _VOWELS & set(small):
        return word  # JP
    made = ""
    for part in _PARTS.split(word):
        inside = made != "" and made[-1] in "'’`´" and len(letters(made)) > 1  # Ma'ayan, but O'Brien and N'Golo
        made += _small(part) if inside else _capital(part)
    return made


def _small(word: str) -> str:
    return word.lower().replace("i̇", "i")  # what a capital İ becomes


def _capital(part: str) -> str:
    if part[:2].lower() == "ij":  # one letter in Dutch
        return "IJ" + _small(part[2:])
    return part[:1].upper() + _small(part[1:])
