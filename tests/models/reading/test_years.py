import pytest

from models.reading.document import Document
from models.reading.years import read_years


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("You bring 5+ years of experience with Kubernetes.", 5, None),
        ("At least three years' experience in payroll is required.", 3, None),
        ("3-5 years of relevant experience", 3, 5),
        ("Experience: minimum 4 years", 4, None),
        ("You have 2 to 4 yrs experience in retail", 2, 4),
        ("Mindestens 3 Jahre Berufserfahrung in der Pflege", 3, None),
        ("Du hast mehr als 6 Jahre Erfahrung im Vertrieb", 6, None),
        ("Eine fünfjährige Berufserfahrung im Tiefbau", 5, None),
        ("Sie verfügen über 2–3 Jahre einschlägige Praxis", 2, 3),
        ("Vous justifiez d'une expérience de 5 ans minimum", 5, None),
        ("au moins deux ans d'expérience sur un poste similaire", 2, None),
        ("Je hebt minstens 4 jaar ervaring als lasser", 4, None),
        ("Minimum 3 jaar relevante werkervaring", 3, None),
        ("up to 3 years of experience", None, 3),
        ("8+ years of experience, including 4+ years of managing people", 8, None),
        ("A master's degree and two years of experience, or a bachelor's degree and four years of experience", 2, None),
    ],
)
def test_reads_the_required_years(text: str, low: int | None, high: int | None) -> None:
    years = read_years(Document(text))
    assert years is not None
    assert (years.low, years.high) == (low, high)


@pytest.mark.parametrize(
    "text",
    [
        "You must be 18 years or older and have experience with children.",
        "Du bist mindestens 18 Jahre alt und hast Erfahrung im Service.",
        "Seit mehr als 20 Jahren sammeln wir Erfahrung im Maschinenbau.",
        "We have over 30 years of experience in logistics.",
        "Our team has 12 years of experience in the field.",
        "Having experienced rapid growth in the last 3 years, we are hiring.",
        "Mehrjährige Berufserfahrung wird vorausgesetzt.",
        "Several years of experience in marketing.",
        "A four-year high school diploma and relevant experience.",
        "Wir bieten einen auf 2 Jahre befristeten Vertrag. Erfahrung ist willkommen.",
        "The contract runs for 3 years; experience is a plus.",
        "L'entreprise existe depuis 40 ans et a une grande expérience.",
        "Notre société, forte de 25 ans d'expérience, recrute.",
        "expérience d'encadrement de groupes d'enfants entre 4 et 12 ans",
        "€36.000 tot €49.000 per jaar naargelang ervaring",
        "6 months of experience, or 2 years of experience in another field",
        "Wij bouwen al sinds 15 jaar ervaring op.",
    ],
)
def test_takes_no_other_years_for_experience(text: str) -> None:
    assert read_years(Document(text)) is None


def test_what_is_merely_welcome_requires_nothing() -> None:
    text = "Requirements\n- Python\n\nNice to have\n- 3 years of experience with Rust\n"
    assert read_years(Document(text)) is None


def test_the_stretch_is_where_the_years_stand() -> None:
    text = "🚀 Join us!\r\n\r\nProfile\r\n- 4+ years of experience\r\n"
    years = read_years(Document(text))
    assert years is not None
    assert text[years.start : years.end] == "4+ years"
