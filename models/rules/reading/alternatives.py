"""Lists of phrases written over several lines, as one regular expression group."""

import re

_GAP = re.compile(r"\s+")
_BAR = re.compile(r"\s*\|\s*")


def any_of(phrases: str) -> str:
    """A group that matches any of the phrases between the bars; a space stands for any white space.

    A phrase may hold regular expression syntax of its own, but no bar outside of its own brackets' reach and no
    meaningful blank at an edge.
    """
    joined = _BAR.sub("|", phrases.strip())
    return f"(?:{_GAP.sub(chr(92) + chr(92) + 's+', joined)})"
