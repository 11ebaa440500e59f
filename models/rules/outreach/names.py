"""First names: what to call somebody in a message, out of what they wrote (contract, section 7)."""

import re

from models.rules.outreach.letters import in_latin, letters, means_a_word, undecorated
from models.rules.outreach.recasing import PARTICLES, recased

_TITLES = frozenset(
    """
    dr drs prof professor mr mrs ms mx miss sir dame ir ing dhr mevr mw dipl dipl-ing mag herr frau mme mlle sr sra
    srta dott dottssa ddr hon rev phd eng engr arq lic
    """.split()  # noqa: SIM905 - words read best as words
)
_POST_NOMINALS = frozenset(
    """
    phd mba emba msc bsc mphil dphil pmp cfa cpa acca cipd phr sphr shrm-cp shrm-scp esq jr sr iii pmi cissp csm
    pspo psm llm llb mbchb facc frcp beng meng mres
    """.split()  # noqa: SIM905 - words read best as words
)
_SHORT_POST_NOMINALS = frozenset("MA BA MD II IV RN PE MS BS".split())  # noqa: SIM905 - as above
_PRONOUNS = frozenset(
    """
    he him his she her hers they them theirs ze zir xe xem hij hem zijn zij ze haar hen hun die diens er ihm sie ihr
    il lui elle iel el ella elle elles ele ela any all
    """.split()  # noqa: SIM905 - as above
)
_COMPOUNDING = frozenset("abd abdel abdul abdal abou abu el oum umm".split())  # noqa: SIM905 - as above
"""Arabic given names begin with these and are nothing without the word that follows."""
_FAMILY_FIRST = frozenset(
    """
    nagy kovács tóth szabó horváth varga kiss molnár németh farkas balogh papp takács juhász lakatos mészáros oláh
    simon szilágyi fekete nguyễn nguyen trần tran phạm pham hoàng huỳnh huynh võ đặng bùi
    wang zhang liu chen yang zhao huang zhou wu xu zhu sato suzuki takahashi tanaka watanabe yamamoto nakamura
    kobayashi park choi jeong
    """.split()  # noqa: SIM905 - as above
)
"""Frequent family names of languages that put them first; those that are first names elsewhere are left out."""

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|<[^<>]*>")
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]{2,}’|(?<!\w)\'[^\']{2,}\'(?!\w)')
_QUOTES = re.compile(r'["“”„«»]|(?<!\w)[\'‘’]|[\'‘’](?!\w)')
_SEPARATORS = re.compile(r"\s*[|•·–—/\\;:~_]\s+|\s+[|•·–—/\\;:~_-]\s*|[|•;]")
_SLASHED = re.compile(r"\b\w++(?:\s?/\s?\w++)+")
_INITIAL = re.compile(r"(?:[^\W\d_]\.?-?)|(?:[^\W\d_]\.-?){2,}")


def greeting_name(first_name: str | None, full_name: str | None) -> str | None:
    """The name for `{{first_name}}`; null when it is unknown or nothing but a letter.

    What stands in `first_name` is kept in all its words; of a `full_name` it is the first word, unless the name is
    written family name first or not in Latin letters: those stay whole.
    """
    return _from_first(first_name or "") or _from_full(full_name or "")


def _from_first(text: str) -> str | None:
    words = _words(text)
    if not in_latin("".join(words)):
        return _whole(words)
    return _whole([word for word in words if not _INITIAL.fullmatch(word)])


def _from_full(text: str) -> str | None:
    words = _words(text)
    if not in_latin("".join(words)) or _family_first(words):
        return _whole(words)
    initials = next((place for place, word in enumerate(words) if not _INITIAL.fullmatch(word)), len(words))
    rest = words[initials:]
    if initials and (len(rest) < 2 or rest[0].lower() in PARTICLES):  # noqa: PLR2004 - J. Smith: that is no first name
        return None
    given = 2 if rest and rest[0].lower() in _COMPOUNDING else 1
    return _whole(rest[:given])


def _whole(words: list[str]) -> str | None:
    name = " ".join(words).strip(" ,.-")
    found = letters(name)
    if not found or (len(found) == 1 and not means_a_word(found)):
        return None
    return recased(name) if in_latin(found) else name


def _family_first(words: list[str]) -> bool:
    """Whether a full name begins with the family name: in capitals, with a small particle, or a well-known one."""
    if len(words) < 2:  # noqa: PLR2004 - one word is no family name and first name
        return False
    first, last = words[0], words[-1]
    if any(word.endswith(",") for word in words):
        return True
    shouted = len(letters(first)) > 1 and first.isupper() and not last.isupper()
    small = first.lower() in PARTICLES and first.islower() and last != last.lower()
    return shouted or small or first.lower() in _FAMILY_FIRST


def _words(text: str) -> list[str]:
    """The words that name somebody."""
    plain = _without(_QUOTED, _without(_BRACKETS, " ".join(text.split())))
    plain = _SLASHED.sub(lambda found: "" if _pronouns(found[0]) else found[0], plain)
    plain = next((part for part in _SEPARATORS.split(plain) if letters(part)), "")
    plain = " ".join(word for word in undecorated(_QUOTES.sub("", plain)).split() if letters(word))
    before, comma, behind = plain.partition(",")
    behind = behind.replace(",", " ")
    words = _without_titles(before.split())
    if not comma or not _name_behind_comma(behind):
        return words
    return [*words[:-1], f"{words[-1]},", *_without_titles(behind.split())] if words else behind.split()


def _without(what: re.Pattern[str], text: str) -> str:
    """Brackets and nicknames go with what is in them, unless nothing else is left."""
    less = what.sub(" ", text)
    return less if letters(less) else text.translate(str.maketrans("", "", "()[]{}<>"))


def _pronouns(text: str) -> bool:
    return all(part.strip().lower() in _PRONOUNS for part in text.split("/"))


def _name_behind_comma(text: str) -> bool:
    """`De Smet, Jan`, and not `Anna, PhD` or `Anna Smet, recruiter`."""
    words = _without_titles(text.split())
    return 0 < len(words) <= 2 and all(word.istitle() or word.isupper() for word in words)  # noqa: PLR2004 - Jan, Jan Willem


def _without_titles(words: list[str]) -> list[str]:
    kept = list(words)
    while kept and _bare(kept[0]) in _TITLES:
        del kept[0]
    shouted = all(word.isupper() for word in kept[:1])
    while kept and _post_nominal(kept[-1], shouted=shouted):
        del kept[-1]
    return kept


def _bare(word: str) -> str:
    return word.replace(".", "").lower()


def _post_nominal(word: str, *, shouted: bool) -> bool:
    return _bare(word) in _POST_NOMINALS or (word.replace(".", "") in _SHORT_POST_NOMINALS and not shouted)
