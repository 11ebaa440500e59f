import pytest

from tests.models.reading.known import read

BODY = """
We make tents for people who like rain. You will plan, build and test them with a small team, write down what you
learn, and talk to the people who buy them. We work in the open and share what goes wrong. You know how to listen.
You will like it here if you enjoy long walks, short meetings and honest answers. Send us a few lines about yourself.
"""


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Senior Data Engineer", "Senior Data Engineer"),
        ("Bauleiter Tiefbau (m/w/d)", "Bauleiter Tiefbau"),
        ("Head of Customer Care (all genders)", "Head of Customer Care"),
        ("Infirmière coordinatrice H/F", "Infirmière coordinatrice"),
        ("Magazijnmedewerker (m/v/x)", "Magazijnmedewerker"),
        ("Jobtitel: Elektroniker für Betriebstechnik (w/m/d)", "Elektroniker für Betriebstechnik"),
        ("Vacature: Projectleider infrastructuur", "Projectleider infrastructuur"),
        ("We are hiring: Site Reliability Engineer", "Site Reliability Engineer"),
        ("# Product Designer", "Product Designer"),
        ("Kestrel Tents | Product Manager | Oslo (Hybrid)", "Product Manager"),
        ("Warehouse Operative — Kestrel Tents — Leeds", "Warehouse Operative"),
        ("Staff Nurse - Night Shift - Full Time", "Staff Nurse"),
        ("Chef de projet BTP - CDI - Nantes", "Chef de projet BTP"),
        ("Softwareentwickler:in C++", "Softwareentwickler C++"),
        ("Community Manager in Antwerp", "Community Manager"),
        ("Conducteur de bus Nantes (44)", "Conducteur de bus"),
        ("Test Engineer - Level 3 - $90,000", "Test Engineer"),
        ("Customer Success", "Customer Success"),
        ("Warehouse Operative Forklift (B1)", "Warehouse Operative Forklift"),
        ("Site Manager - Full Time - Leeds", "Site Manager"),
        ("Site Manager - civil works", "Site Manager - civil works"),
    ],
)
def test_the_first_line_is_the_title(line: str, title: str) -> None:
    reading = read(f"{line}\n{BODY}")
    assert reading.title_candidates[0] == title
    assert reading.intent.must.titles[0] == title


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("We are looking for an experienced Supply Chain Analyst who loves numbers.", "Supply Chain Analyst"),
        ("Kestrel Tents is seeking a Payroll Specialist to join our team.", "Payroll Specialist"),
        ("We're looking for a**Head of Operations**who takes ownership.", "Head of Operations"),
        ("As a Marketing Manager, you plan our campaigns.", "Marketing Manager"),
        ("Join us as a Community Nurse in our clinic.", "Community Nurse"),
        ("The Quality Engineer will report to the plant manager.", "Quality Engineer"),
        ("Zur Verstärkung unseres Teams suchen wir einen engagierten Schweißer (m/w/d) in Vollzeit.", "Schweißer"),
        ("Wir suchen ab sofort Dich alsVertriebsleiter (m/w/d)!", "Vertriebsleiter"),
        ("Als Buchhalter (m/w/d) bist du für die Kreditoren zuständig.", "Buchhalter"),
        ("Nous recherchons un(e) Comptable fournisseurs (H/F) pour notre client.", "Comptable fournisseurs"),
        ("Le garage recrute un mécanicien poids lourds pour son atelier.", "mécanicien poids lourds"),
        ("En tant que Chargé de clientèle, vous conseillez nos clients.", "Chargé de clientèle"),
        ("Wij zijn op zoek naar een gemotiveerde Werfleider voor onze projecten.", "Werfleider"),
        ("Als Onderhoudstechnieker ben je verantwoordelijk voor de machines.", "Onderhoudstechnieker"),
        ("**Role:** Backend Developer", "Backend Developer"),
        ("We're looking for aHead of Logisticswho takes ownership.", "Head of Logistics"),
        ("We are looking for a Senior Manager, Internal Audit to join us.", "Senior Manager, Internal Audit"),
    ],
)
def test_running_text_announces_the_title(sentence: str, title: str) -> None:
    reading = read(f"{BODY}\n{sentence}\n{BODY}")
    assert title in reading.title_candidates[:2]
    assert title in reading.intent.must.titles


def test_an_advertisement_that_names_two_titles_gives_both() -> None:
    titles = read(f"Recruiter / Personalreferent (m/w/d)\n{BODY}").intent.must.titles
    assert set(titles) == {"Recruiter / Personalreferent", "Recruiter", "Personalreferent"}


def test_earlier_jobs_and_trainings_are_not_the_title() -> None:
    text = (
        f"{BODY}\nWir suchen einen Lageristen (m/w/d).\n\n## Qualifikation\n"
        "- Abgeschlossene Ausbildung als Bürokaufmann (m/w/d)\n- Erfahrung als Bürokaufmann (m/w/d)\n"
    )
    assert read(text).intent.must.titles[0] == "Lagerist"


def test_people_are_sought_in_the_plural_but_found_in_the_singular() -> None:
    assert "Registered Nurse" in read(f"{BODY}\nWe are recruiting Registered Nurses for our ward.\n").intent.must.titles
    french = read(f"{BODY}\nNous recherchons des conducteurs de bus pour la rentrée.\n")
    assert "conducteur de bus" in french.intent.must.titles


@pytest.mark.parametrize(
    "line",
    [
        "Kestrel Tents Ltd",
        "About us",
        "$69,811 - $76,215",
        "Do work that makes a difference",
        "Standort: Köln",
        "Welcome!",
    ],
)
def test_a_first_line_that_is_no_title_is_none(line: str) -> None:
    assert read(f"{line}\n{BODY}").intent.must.titles == ()


def test_a_fuller_title_goes_before_one_that_says_little() -> None:
    text = f"{BODY}\nWe are looking for an analyst.\nAs a Supply Chain Analyst you count tents.\n"
    assert read(text).title_candidates[0] == "Supply Chain Analyst"


def test_a_french_title_begins_with_its_word_for_work() -> None:
    text = "Nous recherchons pour notre équipe :\nNous recherchons une gestion du planning des techniciens.\n" * 3
    assert read(text).intent.must.titles == ()


@pytest.mark.parametrize("text", [BODY, "lorem ipsum dolor sit amet", "!!!", "12345", "\n \t\r\n", "🙂" * 50])
def test_without_a_readable_title_there_is_none(text: str) -> None:
    reading = read(text)
    assert reading.intent.must.titles == ()


def test_a_title_that_is_merely_mentioned_comes_with_a_warning() -> None:
    reading = read(f"{BODY}\nOur database administrator. Every database administrator writes it down.\n{BODY}")
    assert reading.intent.must.titles == ("database administrator",)
    assert any("only mentioned" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (BODY, "en"),
        ("Wir suchen für unser Team in der Stadt eine Person, die mit uns wächst und nicht aufgibt.", "de"),
        ("Nous recherchons pour notre équipe une personne avec de l'expérience dans la vente.", "fr"),
        ("Wij zoeken voor ons team een collega die graag met mensen werkt en niet opgeeft.", "nl"),
        ("12345", None),
    ],
)
def test_knows_the_language_of_a_text(text: str, language: str | None) -> None:
    assert read(text).text_language == language
