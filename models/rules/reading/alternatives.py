"""Lists of phrases written over several lines, as one regular expression group."""

import re

_BAR = re.compile(r"\s*\|\s*")


def any_of(phrases: str) -> str:
    r"""A group that matches any of the phrases between the bars; a space stands for any white space.

    A phrase may hold regular expression syntax of its own. Blanks beside a bar do not count: write `\s` for one.
    """
    return "(?:" + r"\s+".join(_BAR.sub("|", phrases.strip()).split()) + ")"
