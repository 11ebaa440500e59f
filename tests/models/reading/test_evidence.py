from hypothesis import given, settings
from hypothesis import strategies as st

from models.reading.intents import IntentReading
from tests.models.reading.known import read

FRAGMENTS = [
    "Senior Data Engineer (m/w/d)",
    "we are looking for a Nurse",
    "suchen wir einen Elektriker (m/w/d)",
    "recherchons un(e) Comptable H/F",
    "op zoek naar een Werfleider",
    "5+ years of experience",
    "3 Jahre Berufserfahrung",
    "fluent in English and German (C1)",
    "Deutsch- und Englischkenntnisse",
    "Python, Go and Excel",
    "in Ghent, Belgium",
    "not agencies, no freelancers",
    "hors Paris",
    "Nice to have",
    "## Qualifikation",
    "remote",
    "🚀👩🏽‍💻",
    "\r\n",
    "\n\n",
    "\u2028",
    "\x00",
    "e\u0301quipe",
    "İstanbul ßẞ ﬁ",
    "٣ سنوات",
    "(",
    "**",
    ", ",
    " ",
    ". ",
]
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=12), max_size=30).map("".join)


LISTS = ("titles", "skills", "languages")


def stated(reading: IntentReading) -> set[tuple[str, str | int]]:
    """Every title, skill, language and number of years of the intent, with its field."""
    found: set[tuple[str, str | int]] = set()
    for name in ("must", "nice", "exclude"):
        block = getattr(reading.intent, name)
        for kind in LISTS:
            found |= {(f"{name}.{kind}", value) for value in getattr(block, kind)}
        if block.experience_years is not None:
            ends = (("min", block.experience_years.min), ("max", block.experience_years.max))
            found |= {(f"{name}.experience_years.{end}", value) for end, value in ends if value is not None}
    return found


@settings(max_examples=100, deadline=None)
@given(texts)
def test_every_quote_stands_at_its_offsets_and_every_value_has_one(text: str) -> None:
    reading = read(text)
    for proof in reading.evidence:
        assert 0 <= proof.start < proof.end <= len(text)
        assert text[proof.start : proof.end] == proof.quote
    proved = {(proof.field, proof.value) for proof in reading.evidence}
    assert stated(reading) <= proved
