"""Texts for one person: first names and companies as people say them, and rendering of notes and messages."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from models.outreach.rules.actions import ACTION_SPECS
from models.outreach.rules.sequences import Placeholder, SequenceStep, fill, placeholders_of
from models.outreach.rules.states import ActionReason

_STYLED = range(0x1D400, 0x1D800)
"""Mathematical letters, which some write their names with."""
_FULL_WIDTH = range(0xFF01, 0xFF5F)
_JOINERS = "\u200c\u200d"
_VARIATION_SELECTORS = range(0xFE00, 0xFE10)
_KEYCAP = "\u20e3"
_SYMBOLS = frozenset({"So", "Sk", "Sm", "Sc", "Cc", "Cf", "Cs", "Co", "Cn"})
_SPELLING_SIGNS = "`´^"
"""Symbols that stand for apostrophes and accents."""
_WHOLE_WORD_SIGNS = ("CJK UNIFIED", "CJK COMPATIBILITY", "HANGUL SYLLABLE", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA")


def undecorated(text: str) -> str:
    """Without emoji, symbols and invisible characters; styled letters plain; composed; blanks folded to one."""
    kept = []
    for place, char in enumerate(text):
        if char.isspace():
            kept.append(" ")
        elif ord(char) in _STYLED or ord(char) in _FULL_WIDTH:
            plain = unicodedata.normalize("NFKC", char)
            kept.append("" if _decorates(plain) else plain)  # a full-width dollar sign is a symbol too
        elif char in _JOINERS:  # spelling in some scripts, glue of emoji elsewhere
            kept.append(char if _joins_letters(text, place) else "")
        elif not _decorates(char):
            kept.append(char)
    return " ".join(unicodedata.normalize("NFC", "".join(kept)).split())


def _decorates(char: str) -> bool:
    if char in _SPELLING_SIGNS:
        return False
    return unicodedata.category(char) in _SYMBOLS or ord(char) in _VARIATION_SELECTORS or char == _KEYCAP


def _joins_letters(text: str, place: int) -> bool:
    around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
    return len(around) == 2 and all(unicodedata.category(c)[0] in "LM" and not latin(c) for c in around)  # noqa: PLR2004 - one on each side


@lru_cache(maxsize=4096)
def latin(char: str) -> bool:
    """Whether a letter is of the Latin alphabet, marks and all."""
    return unicodedata.name(char, "").startswith("LATIN")


def letters(text: str) -> str:
    """The letters of a text alone."""
    return "".join(filter(str.isalpha, text))


def in_latin(text: str) -> bool:
    """Whether every letter of a text is Latin."""
    return all(map(latin, letters(text)))


def means_a_word(char: str) -> bool:
    """Whether one sign of this script can be a whole name."""
    return unicodedata.name(char, "").startswith(_WHOLE_WORD_SIGNS)


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
    """Return the words that are names."""
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


_FORMS = frozenset(
    """
    aktiengesellschaft aps asa bhd bvba corp cvba doo ehf eirl eood fzco fze fzllc gbr ggmbh gmbh inc incorporated
    jsc kft kgaa lda limitada limited llc llp ltd ltda mbh nyrt ohg ooo oü oy oyj pjsc plc pllc pte pty pvt sarl sas
    sasu sdn slu spa spzoo sprl srl sro ulc vof vzw zrt
    """.split()  # noqa: SIM905 - words read best as words
)
_SHORT_FORMS = frozenset(
    "ab ad ag as bv cv dd ev kg kk lp nv sa se sia sl sp uab ug".split()  # noqa: SIM905 - as above
)
"""Also words, so only in capitals or all small."""
_SPACED = re.compile(
    r"[\s,]+(?:sp\.?\s*z\s*o\.?\s?o\.?|s\.?a\.?\s+de\s+c\.?v\.?|s\.?\s*r\.?\s*o\.|d\.\s*o\.\s*o\.|a\.\s*s\."
    r"|(?:b|n|c|k|s)\.\s+(?:v|v|v|k|a|l|e)\.|ug\s*\(haftungsbeschränkt\)|a/s)\s*$",
    re.IGNORECASE,
)
_COMPANY = frozenset({"co", "company", "cie", "private"})
_AND = frozenset({"&", "+", "and", "und", "en", "et"})


def spoken_company(name: str | None) -> str | None:
    """The name for `{{company}}`; null when it is unknown. Only for the text: nothing is stored so.

    A name that is nothing but a legal form keeps it, and so does one that only begins with it (`Inc. Magazine`).
    """
    whole = undecorated_company(name or "")
    words = _SPACED.sub("", whole).split()
    dropped = len(words) < len(whole.split())
    while len(words) > 1:
        if _form(words[-1]) or (dropped and _goes_with_form(words)):
            del words[-1]
            dropped = True
        elif dropped and words[-1].lower() in _AND:
            del words[-1]
        else:
            break
    spoken = " ".join(words).rstrip(" ,;")
    return spoken if any(map(str.isalnum, spoken)) else None


def undecorated_company(name: str) -> str:
    """Without emoji and invisible characters, unless the name is made of signs that stand in company names."""
    plain = undecorated(name)
    return " ".join(name.split()) if "+" in name or "|" in name else plain


def _form(word: str) -> bool:
    bare = letters(word)
    if bare.lower() in _FORMS:
        return True
    return bare.lower() in _SHORT_FORMS and (bare.isupper() or bare.islower())


def _goes_with_form(words: list[str]) -> bool:
    """`Co` of `Co., Ltd.` and of `GmbH & Co. KG`, `Private` of `Private Limited`; but people say `Smith & Co.`."""
    if letters(words[-1]).lower() not in _COMPANY:
        return False
    return words[-2].lower() not in _AND or (len(words) > 3 and _form(words[-3]))  # noqa: PLR2004 - X GmbH & Co


class Caution(StrEnum):
    """What a preview warns of."""

    NO_PRIVACY_NOTICE = "no_privacy_notice"
    NEEDS_APPROVAL = "needs_approval"


@dataclass(frozen=True, slots=True)
class Recipient:
    """What is known of a person: as the profile or the caller gives it; null is unknown."""

    first_name: str | None = None
    full_name: str | None = None
    company: str | None = None


@dataclass(frozen=True, slots=True)
class StepText:
    """A step's text for one person; `text` null when the step has none. `units` is its length in UTF-16 units."""

    step_id: str | None
    text: str | None
    units: int
    problem: ActionReason | None = None
    """`missing_first_name`, `missing_company` or `note_too_long`: the person is skipped."""


def utf16_units(text: str) -> int:
    """The length the network counts: characters outside the basic plane are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def render_step(step: SequenceStep, person: Recipient, *, privacy_notice: str) -> StepText:
    """One step's text. Values are never expanded again; `privacy_notice` is the sentence with its link.

    A value that is missing leaves no text, only the problem; a note that is too long is returned with its length and
    never cut.
    """
    if step.text is None:
        return StepText(step.id, None, 0)
    values = {
        Placeholder.FIRST_NAME: greeting_name(person.first_name, person.full_name),
        Placeholder.COMPANY: spoken_company(person.company),
        Placeholder.PRIVACY_NOTICE: privacy_notice,
    }
    wanted = placeholders_of(step.text)
    for placeholder, problem in _MISSING:
        if placeholder in wanted and values[placeholder] is None:
            return StepText(step.id, None, 0, problem)
    text = fill(step.text, {name: value for name, value in values.items() if value is not None})
    units = utf16_units(text)
    longest = ACTION_SPECS[step.type].longest_rendered
    too_long = longest is not None and units > longest
    return StepText(step.id, text, units, ActionReason.NOTE_TOO_LONG if too_long else None)


_MISSING = (
    (Placeholder.FIRST_NAME, ActionReason.MISSING_FIRST_NAME),
    (Placeholder.COMPANY, ActionReason.MISSING_COMPANY),
)


def first_message_lacks_notice(steps: Sequence[SequenceStep]) -> bool:
    """Whether the first message of a sequence leaves `{{privacy_notice}}` out; false without any message."""
    first = next((step for step in steps if ACTION_SPECS[step.type].text_field == "body"), None)
    return first is not None and Placeholder.PRIVACY_NOTICE not in placeholders_of(first.text or "")
