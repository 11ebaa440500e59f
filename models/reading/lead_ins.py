"""Words that stand around a title in running text: those that end it, and the praise before it."""

import re
from typing import NamedTuple

from models.reading.languages import LANGUAGES, phrases

STOPS = {language.code: frozenset(language.titles.stops.split()) for language in LANGUAGES}
STOPS |= {
    language.code: STOPS[language.code] | STOPS[language.titles.announces_like]
    for language in LANGUAGES
    if language.titles.announces_like
}
"""Languages that announce titles with the same words share what ends a title."""
LEADING = {language.code: frozenset(language.titles.praise.split()) for language in LANGUAGES}
NOT_IN_TITLE = frozenset(
    " ".join(pair.split()) for language in LANGUAGES for pair in language.titles.closing_pairs.split("|")
)
"""Two words that end a title together."""
GLUED_END = re.compile(rf"(?<=[a-zäöüß]){phrases(lambda each: each.titles.glued)}$")
"""A following word that lost its space, as where bold type ended."""

# The words before a title in running text, and the words that end it.


class LeadInPattern(NamedTuple):
    """A way to announce a title: how much it is worth, and in which language its phrase goes on."""

    pattern: re.Pattern[str]
    weight: float
    language: str


LEAD_INS = tuple(
    LeadInPattern(re.compile(lead.pattern), lead.weight, language.code)
    for language in LANGUAGES
    for lead in language.titles.lead_ins
)
