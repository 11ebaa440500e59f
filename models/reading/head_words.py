"""Words that name a kind of work, and titles of several people turned into the title of one."""

import re
from functools import lru_cache

from models.reading.languages import LANGUAGES, word_set

_TAKING_EN = frozenset(
    word for language in LANGUAGES if language.titles.takes_en for word in language.titles.work.split()
)
WORDS = word_set(lambda each: each.titles.work)
ENDINGS = tuple(word_set(lambda each: each.titles.work_endings))
IRREGULAR = tuple(pair for language in LANGUAGES for pair in language.titles.irregular_plurals)
SHORTEST_STEM = 3
WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
NOT_WORK = word_set(lambda each: each.titles.doubtful_work)
_OF = word_set(lambda each: each.titles.of.replace("|", " "))
"""Words of the lists that often mean something else; they count only where a title is expected."""


@lru_cache(maxsize=20_000)
def is_head_word(word: str) -> bool:
    """Return whether the word names a kind of work, alone or as the last part of a compound; plural forms included."""
    low = word.lower()
    return any(_known(form) for form in _forms(low))


def _forms(low: str) -> tuple[str, ...]:
    forms = [low]
    if low.endswith("s"):
        forms.append(low[:-1])
    forms += [
        stem
        for stem in (low.removesuffix(many) + one for many, one in IRREGULAR if low.endswith(many))
        if _known(stem) and not (stem.endswith("man") and stem not in WORDS)
    ]
    if low.endswith("innen"):
        forms.append(low[:-3])
    forms += [stem for stem in (low.removesuffix("en"), low.removesuffix("n")) if stem != low and _inflects(stem)]
    return (*forms, *(form.rsplit("-", 1)[1] for form in forms if "-" in form))


def _inflects(stem: str) -> bool:
    """Return whether a stem belongs to a language whose words for work take `-en`."""
    return stem in _TAKING_EN or stem.endswith(ENDINGS)


def _known(form: str) -> bool:
    if form in WORDS:
        return True
    if not form.endswith(ENDINGS):
        return False
    return any(form.endswith(ending) and len(form) >= len(ending) + SHORTEST_STEM for ending in ENDINGS)


def head_words(text: str) -> list[str]:
    """Return the words of a phrase that name a kind of work."""
    return [found.group() for found in WORD.finditer(text) if is_head_word(found.group())]


def names_work(text: str) -> bool:
    """Return whether a phrase reads like a title: a word for work, or one of the doubtful ones where a head stands."""
    words = WORD.findall(text)
    for number, word in enumerate(words):
        if not is_head_word(word):
            continue
        low = word.lower()
        if low not in NOT_WORK and low.removesuffix("s") not in NOT_WORK:
            return True
        following = words[number + 1].lower() if number + 1 < len(words) else None
        if low in NOT_WORK and (following is None or following in _OF):
            return True
    return False


SHORT_FORMS = {short: long for language in LANGUAGES for short, long in language.titles.short_forms.items()}
_ENDINGS = (
    *((re.compile(rf"(?<=[^\W\d_]{{2}}){many}$"), one) for many, one in IRREGULAR),
    *((re.compile(many), one) for language in LANGUAGES for many, one in language.titles.plurals),
)


def singular_title(title: str) -> str:
    """Return the title with its word for work in the singular; what is singular already stays as it is."""
    found = [word for word in WORD.finditer(title) if is_head_word(word.group()) or word.group().lower() in SHORT_FORMS]
    for word in reversed(found):
        single = _single(word.group())
        if single != word.group():
            title = title[: word.start()] + single + title[word.end() :]
    return title


def _single(word: str) -> str:
    low = word.lower()
    if low in SHORT_FORMS:
        return SHORT_FORMS[low]
    for ending, single in _ENDINGS:
        shorter = ending.sub(single, word)
        if shorter != word and is_head_word(shorter) and not (single == "" and low.endswith("e")):
            return shorter
    return word
