"""Profile URL identity: one person, one key, whatever the spelling; nothing but profiles is accepted."""

import contextlib
import unicodedata
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.people.rules.identity import InvalidProfileUrl, canonical_profile_url, person_key, profile_slug

LETTERS = st.characters(categories=["Ll", "Lo", "Nd"], max_codepoint=0x2FFF)
# Letters whose capital is one character with one small form; the rest have no lossless capital spelling.
CASED = LETTERS.filter(lambda c: len(c.upper()) == 1 and c.upper().lower() == c and c.casefold() == c)
SLUGS = st.text(st.one_of(CASED, st.sampled_from("-_")), min_size=3, max_size=40).filter(
    lambda s: any(c.isalnum() for c in s)
)

SPELLINGS: list[Callable[[str], str]] = [
    lambda s: f"https://www.linkedin.com/in/{s}",
    lambda s: f"http://linkedin.com/in/{s}/",
    lambda s: f"HTTPS://WWW.LinkedIn.COM/IN/{s}",
    lambda s: f"linkedin.com/in/{s}",
    lambda s: f"//www.linkedin.com/in/{s}//",
    lambda s: f"https://nl.linkedin.com/in/{s}/de",
    lambda s: f"https://uk.linkedin.com/in/{s}?trk=people:x@y",
    lambda s: f"https://m.linkedin.com/in/{s}#about",
    lambda s: f"https://www.linkedin.com/in/{quote(s)}",
    lambda s: f"https://www.linkedin.com/in/{quote(quote(s))}/?a=b#c",
    lambda s: f"https://www.linkedin.com/in/{quote(s).lower()}",
    lambda s: f"https://www.linkedin.com/in/{unicodedata.normalize('NFD', s)}",
    lambda s: f"https://www.linkedin.com/in/{quote(unicodedata.normalize('NFD', s))}",
    lambda s: f"https://www.linkedin.com/in/{unicodedata.normalize('NFC', s)}",
    lambda s: f"https://www.linkedin.com/in/{s.upper()}",
    lambda s: f"  https://www.linkedin.com/in/{quote(s.upper())}\n",
]


@given(SLUGS)
def test_every_spelling_of_a_url_gives_one_key(slug: str) -> None:
    assert len({person_key(spell(slug)) for spell in SPELLINGS}) == 1


@given(SLUGS, SLUGS)
def test_different_slugs_give_different_keys(one: str, other: str) -> None:
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert (person_key(f"linkedin.com/in/{one}") == person_key(f"linkedin.com/in/{other}")) is same


@given(SLUGS)
def test_the_canonical_url_is_its_own_canonical_form(slug: str) -> None:
    canonical = canonical_profile_url(f"linkedin.com/in/{slug}")
    assert canonical_profile_url(canonical) == canonical
    assert canonical.isascii()


@given(st.text(max_size=60))
def test_any_text_is_either_a_profile_or_refused(text: str) -> None:
    for candidate in (text, f"https://www.linkedin.com/in/{text}", f"https://{text}linkedin.com/in/jo"):
        with contextlib.suppress(InvalidProfileUrl):
            assert canonical_profile_url(candidate).startswith("https://www.linkedin.com/in/")


def test_a_refusal_does_not_repeat_the_text() -> None:
    with pytest.raises(InvalidProfileUrl) as refusal:
        canonical_profile_url("https://evil.example/in/jo-voorbeeld")
    assert "voorbeeld" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("https://BE.linkedin.com/in/Jo-Voorbeeld-1a2b/", "https://www.linkedin.com/in/jo-voorbeeld-1a2b"),
        ("linkedin.com/in/J%C3%BCrgen", "https://www.linkedin.com/in/j%C3%BCrgen"),
        ("linkedin.com/in/Ju%25CC%2588rgen", "https://www.linkedin.com/in/j%C3%BCrgen"),
        ("linkedin.com/in/李伟", "https://www.linkedin.com/in/%E6%9D%8E%E4%BC%9F"),
        ("linkedin.com/in/jo-🚀", "https://www.linkedin.com/in/jo-%F0%9F%9A%80"),
        ("linkedin.com/in/ΟΔΟΣ", "https://www.linkedin.com/in/%CE%BF%CE%B4%CE%BF%CF%83"),
    ],
)
def test_known_spellings(url: str, canonical: str) -> None:
    assert canonical_profile_url(url) == canonical


def test_the_slug_is_readable() -> None:
    assert profile_slug("https://www.linkedin.com/in/J%C3%BCrgen/") == "jürgen"


def test_a_sharp_s_is_not_two_letters() -> None:
    assert person_key("linkedin.com/in/weiß") != person_key("linkedin.com/in/weiss")
    assert person_key("linkedin.com/in/weiß") == person_key("linkedin.com/in/WEIẞ")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "   ",
        "jo-voorbeeld",
        "https://www.linkedin.com",
        "https://www.linkedin.com/",
        "https://www.linkedin.com/in",
        "https://www.linkedin.com/in/",
        "https://www.linkedin.com/in/..",
        "https://www.linkedin.com/in/../in/jo",
        "https://www.linkedin.com/in/%2e%2e/jo",
        "https://www.linkedin.com/in/jo/../../company/acme",
        "https://www.linkedin.com/in/jo/details/experience",
        "https://www.linkedin.com/in/jo%2Fcompany%2Facme",
        "https://www.linkedin.com/in/jo%3Fx=1",
        "https://www.linkedin.com/in/jo%00",
        "https://www.linkedin.com/in/jo%FF",
        "https://www.linkedin.com/in/jo%",
        "https://www.linkedin.com/in/jo%252525252525C3",
        "https://www.linkedin.com/in/jo voorbeeld",
        "https://www.linkedin.com/in/jo\u202evoorbeeld",
        "https://www.linkedin.com/in/\ud800",
        "https://www.linkedin.com/in/---",
        f"https://www.linkedin.com/in/{'a' * 201}",
        f"https://www.linkedin.com/in/jo?{'a' * 2000}",
        "https://www.linkedin.com/company/acme",
        "https://www.linkedin.com/pub/jo/1/2/3",
        "https://www.linkedin.com:443/in/jo",
        "https://jo:secret@www.linkedin.com/in/jo",
        "https://www.linkedin.com@evil.example/in/jo",
        "https://www.linkedin.com.evil.example/in/jo",
        "https://evil-linkedin.com/in/jo",
        "https://evil.linkedin.com/in/jo",
        "https://www.linkedln.com/in/jo",
        "https://www.lіnkedin.com/in/jo",
        "https://www.lin\u212aedin.com/in/jo",
        "https://www。linkedin。com/in/jo",
        "https://www.linkedin.com\\@evil.example/in/jo",
        "https://www.linkedin.com./in/jo",
        "https://%77ww.linkedin.com/in/jo",
        "https:/www.linkedin.com/in/jo",
        "ftp://www.linkedin.com/in/jo",
        "javascript://www.linkedin.com/in/jo",
        "https://evil.example/https://www.linkedin.com/in/jo",
        "https://evil.example?https://www.linkedin.com/in/jo",
    ],
)
def test_what_is_not_a_profile_is_refused(url: str) -> None:
    with pytest.raises(InvalidProfileUrl):
        canonical_profile_url(url)
