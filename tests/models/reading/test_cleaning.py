"""The text that is read, where it stands in the text given, and that markup changes no fact."""

import random
import re
from collections.abc import Callable
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.reading.cleaning import clean_text
from tests.models.reading.known import read

CLEANED = {
    "<h1>Senior&nbsp;Baker &amp; Chef</h1><p>in Ghent</p>": "Senior Baker & Chef\nin Ghent",
    "<p>one</p>\r\n\r\n<p>two<br/>three</p>": "one\n\ntwo\nthree",
    "a <b class='x > y'>bold</b> word<script>let a = '<b>no</b>';</script>": "a bold word",
    "<ul><li>Python</li><li>SQL</li></ul>": "Python\nSQL",
    "<table><tr><td>Place</td><td>Ghent</td></tr></table>": "Place | Ghent",
    "<!-- secret --><o:p>shown</o:p>": "shown",
    "&lt;p&gt;escaped &amp;amp; more&lt;/p&gt;": "escaped & more",
    "R&D lead, <5 years, C++ <vector>, AT&T": "R&D lead, <5 years, C++ <vector>, AT&T",
    "## Baker ##\n**Place:** _Ghent_": "Baker ##\nPlace: Ghent",
    "Kund*innen, snake_case, 5 * 3": "Kund*innen, snake_case, 5 * 3",
    "see [the page](https://example.org/a_b)": "see the page",
    "| Place | Ghent |\n|---|---|\n| Hours | 38 |": "Place | Ghent\nHours | 38",
    "1. Baker\n2) Chef\na) Cook\n(3) Maid\n4️⃣ Porter": "Baker\nChef\nCook\nMaid\nPorter",
    "• Baker\n- Chef\n✅ Cook\n– Maid\n-Porter\n- [x] Nurse": "Baker\nChef\nCook\nMaid\nPorter\nNurse",
    "3.5 years\n-5 degrees\n38 hours": "3.5 years\n-5 degrees\n38 hours",
    "✨ Baker 🥖 in Ghent": "Baker in Ghent",
    "\ufeffSen\u00adior\u200b \u202eBaker\u202c\u2060": "Senior Baker",
    "Ｂａｋｅｒ （Ｇｈｅｎｔ）, 𝗦𝗲𝗻𝗶𝗼𝗿 ﬁtter": "Baker (Ghent), Senior fitter",
    "e\u0301quipe, Za\u0308hler, 20 °C, m², ½": "équipe, Zähler, 20 °C, m², ½",
    "“Chargé d’affaires” « ici »": '"Chargé d\'affaires" " ici "',
    "Ant-\nwerp, Java-\nEntwickler, Voll-\nund Teilzeit": "Antwerp, Java-Entwickler, Voll-\nund Teilzeit",
    "Ant\u00ad\r\nwerp": "Antwerp",
    "a\u00a0b\u2003c\td\u2028e\r\n\r\n\r\n\r\nf  ": "a b c d\ne\n\nf",
    "Baker\n-----\nGhent": "Baker\nGhent",
}


@pytest.mark.parametrize(("text", "wanted"), CLEANED.items())
def test_markup_and_signs_are_not_read(text: str, wanted: str) -> None:
    assert clean_text(text).text == wanted


@pytest.mark.parametrize("text", CLEANED)
def test_each_word_read_leads_back_to_itself_in_the_text_given(text: str) -> None:
    cleaned = clean_text(text)
    for word in re.finditer(r"\w+", cleaned.text):
        start, end = cleaned.given(*word.span())
        assert clean_text(text[start:end]).text == word.group()


def test_items_are_the_lines_of_a_list_with_bullets_but_not_of_a_text_that_is_one_list() -> None:
    assert [clean_text("Baker\n- bread\n• cake").text[at:][:5] for at in (6, 12)] == ["bread", "cake"]
    assert clean_text("Baker\n- bread\n• cake").items == {6, 12}
    assert clean_text("- Baker\n- bread\n• cake").items == frozenset()
    assert clean_text("Baker\n1. bread\n2. cake").items == frozenset()


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="<>/abi pre&;#1x*_[](){}\\`-|•\n\r \u0301\u00ad\u200b✅é–'\"", max_size=60))
def test_stretches_of_any_text_lead_back_into_it_in_order(text: str) -> None:
    cleaned = clean_text(text)
    reached = 0
    for at in range(len(cleaned.text)):
        start, end = cleaned.given(at, at + 1)
        assert reached <= start < end <= len(text)
        reached = start


ASKED = [
    "Senior electrician\nAntwerp, Belgium\n5 years of experience\nFluent in French",
    "Nurse in Leeds\nAt least 3 years of experience",
    "We are looking for a welder in Lille.\nYou have at least 3 years of experience.\nYou speak French fluently.",
    "Elektriker (m/w/d)\nKöln\nMindestens 3 Jahre Berufserfahrung\nSehr gute Deutschkenntnisse",
    "Wir suchen einen Bäcker (m/w/d) in Hamburg.\nMindestens 4 Jahre Berufserfahrung.\nGutes Englisch ist nötig.",
    "Comptable H/F\nLyon\n4 ans d'expérience minimum\nAnglais courant",
    "Nous recherchons un infirmier H/F à Nantes.\nVous avez au moins 2 ans d'expérience.\nAnglais courant.",
    "Werfleider\nGent\nMinstens 6 jaar ervaring\nVloeiend Nederlands en Frans",
    "Wij zoeken een verpleegkundige in Utrecht.\nJe hebt minimaal 2 jaar ervaring.\nJe spreekt vloeiend Engels.",
]
"""Requests in four languages, one demand a line."""
INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u200e\u200f\u202a\u202c"


def lines(form: str) -> Callable[[str, random.Random], str]:
    """Write each line in a form; `{n}` is its number."""

    def written(text: str, _: random.Random) -> str:
        number = count(1)
        return "\n".join(form.format(line, n=next(number)) for line in text.splitlines())

    return written


def invisible(text: str, draw: random.Random) -> str:
    """Put characters that are not seen between a tenth of the letters."""
    return "".join(letter + (draw.choice(INVISIBLE) if draw.random() < 0.1 else "") for letter in text)


FORMS: dict[str, Callable[[str, random.Random], str]] = {
    "numbered": lines("{n}. {}"),
    "numbered in brackets": lines("{n}) {}"),
    "bulleted": lines("• {}"),
    "dashed": lines("- {}"),
    "paragraphs": lines("<p>{}</p>"),
    "list of HTML": lambda text, draw: f"<ul>{lines('<li>{}</li>')(text, draw)}</ul>",
    "headings of HTML": lines("<h2><span style='color:red'>{}</span></h2>"),
    "headings of Markdown": lines("### {}"),
    "bold": lines("**{}**"),
    "quoted": lines("> {}"),
    "table": lines("| {} |"),
    "emoji": lines("🚀 {} 🎉"),
    "a page": lambda text, draw: f"<!doctype html><html><body><div>{lines('{}<br>')(text, draw)}</div></body></html>",
    "escaped page": lambda text, draw: lines("{}<br/>")(text, draw).replace("<", "&lt;").replace(">", "&gt;"),
    "line ends of Windows": lambda text, _: text.replace("\n", "\r\n") + "\r\n\r\n\r\n",
    "spaces that do not break": lambda text, _: text.replace(" ", "\u00a0"),
    "invisible characters": invisible,
    "full width": lambda text, _: "".join(chr(ord(sign) + 0xFEE0) if "!" < sign <= "~" else sign for sign in text),
    "accents apart": lambda text, _: text.replace("é", "e\u0301").replace("ä", "a\u0308").replace("ö", "o\u0308"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", ASKED)
def test_markup_numbers_and_invisible_characters_change_no_fact(text: str, form: str) -> None:
    written = FORMS[form](text, random.Random(f"{form} {text}"))
    plain, reading = read(text), read(written)
    assert reading.intent == plain.intent
    assert reading.warnings == plain.warnings
    for proof in reading.evidence:
        assert written[proof.start : proof.end] == proof.quote
    assert [clean_text(proof.quote).text for proof in reading.evidence] == [
        clean_text(proof.quote).text for proof in plain.evidence
    ]
