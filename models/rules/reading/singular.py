"""Titles of several people turned into the title of one: `Go devs` is `Go developer`."""

import re

from models.rules.reading.head_words import IRREGULAR, WORD, is_head_word

SHORT_FORMS = {
    "dev": "developer",
    "devs": "developer",
    "eng": "engineer",
    "engs": "engineer",
    "mgr": "manager",
    "mgrs": "manager",
    "aides-soignants": "aide-soignant",
    "aides-soignantes": "aide-soignante",
    "sages-femmes": "sage-femme",
}
_ENDINGS = (
    *((re.compile(rf"(?<=[^\W\d_]{{2}}){many}$"), one) for many, one in IRREGULAR),
    (re.compile(r"(?<=[^\W\d_]{2})ies$"), "y"),
    (re.compile(r"(?<=[^\W\d_]{3})(?<!s)s$"), ""),
    (re.compile(r"(?<=[^\W\d_]{4})innen$"), "in"),
    (re.compile(r"(?<=ent|ant|ist|org|oge)en?$"), ""),
    (re.compile(r"(?<=[^\W\d_]{4}e)n$"), ""),
)


def one_of(title: str) -> str:
    """The title with its word for work in the singular; what is singular already stays as it is."""
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
