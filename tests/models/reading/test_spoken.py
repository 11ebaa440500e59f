import pytest

from models.reading.document import Document
from models.reading.spoken import read_spoken


def languages(text: str, *, welcome: bool = False) -> list[str]:
    return [spoken.language for spoken in read_spoken(Document(text)) if spoken.welcome is welcome]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Fluent in English and German", ["english", "german"]),
        ("German (C1) and French (B2)", ["german", "french"]),
        ("Sehr gute Deutsch- und Englischkenntnisse", ["german", "english"]),
        ("Verhandlungssichere Deutschkenntnisse", ["german"]),
        ("Du sprichst fließend Niederländisch", ["dutch"]),
        ("Anglais courant exigé", ["english"]),
        ("Vous maîtrisez le néerlandais et l'anglais", ["dutch", "english"]),
        ("Je spreekt vlot Nederlands en Frans", ["dutch", "french"]),
        ("Goede kennis van het Engels", ["english"]),
        ("Dutch-speaking colleagues wanted", ["dutch"]),
    ],
)
def test_reads_required_languages(text: str, wanted: list[str]) -> None:
    assert languages(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Experience in the German market and strong communication skills",
        "You will serve an English breakfast to our guests.",
        "We are a French company with written values.",
        "No Dutch required, but communication skills are.",
        "Keine Deutschkenntnisse erforderlich",
        "Programming language: Python",
        "English speaking jobs in Germany",
        "You will polish our language.",
        "About us\nOur founders speak French at lunch.",
    ],
)
def test_takes_no_market_or_cuisine_for_a_language(text: str) -> None:
    assert languages(text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Englischkenntnisse von Vorteil", ["english"]),
        ("French language skills are a plus", ["french"]),
        ("La maîtrise de l'allemand serait un atout", ["german"]),
        ("Kennis van Duits is een pluspunt", ["german"]),
        ("Requirements\n- Driving licence\nNice to have\n- Fluent Spanish", ["spanish"]),
    ],
)
def test_keeps_welcome_languages_apart(text: str, wanted: list[str]) -> None:
    assert languages(text, welcome=True) == wanted
    assert languages(text) == []


@pytest.mark.parametrize(
    ("text", "required", "wished"),
    [
        ("Fluent English is required, Polish is a plus.", "english", "polish"),
        ("Anglais courant exigé, néerlandais apprécié.", "english", "dutch"),
        ("Deutsch ist zwingend erforderlich, Französischkenntnisse sind von Vorteil", "german", "french"),
        ("Nederlands is vereist, kennis van Frans is een pluspunt", "dutch", "french"),
        ("Spanish is a plus, fluent English is required", "english", "spanish"),
    ],
)
def test_one_sentence_can_require_one_language_and_welcome_another(text: str, required: str, wished: str) -> None:
    assert languages(text) == [required]
    assert languages(text, welcome=True) == [wished]


def test_a_required_mention_outweighs_a_welcome_one() -> None:
    assert languages("English is a plus.\n- Fluent English required") == ["english"]


def test_notes_levels_and_alternatives() -> None:
    german, dutch = read_spoken(Document("German C1 or Dutch C1 is required"))
    assert (german.level, german.alternative, dutch.alternative) == (True, True, True)
