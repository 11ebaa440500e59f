"""Letters: what people decorate their names with taken off, and which script a name is written in."""

import unicodedata
from functools import lru_cache

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
            kept.append(unicodedata.normalize("NFKC", char))
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
    return len(around) == 2 and all(unicodedata.category(c)[0] in "LM" and not latin(c) for c in around)  # noqa: PLR2004


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
