"""Promises of the titles over every curated family, and of what they make of an unknown one."""

import json
import time
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.titles import read_judged, score
from models.market.reference import FAMILIES as FOLDER
from models.market.reference import read_families, reference
from models.market.title_cleaning import Seniority, clean
from models.market.title_families import Family, TitleLanguage, parse_families
from models.market.title_words import MOST_WORDS, is_generic, key_contains, title_key
from models.market.titles import MOST_EXACT, MOST_NEARBY, Titles

PEOPLE_SOURCE = FOLDER.parents[1] / "people_data_labs.json"
FAMILIES = read_families()
ALL_TITLES = [title for family in FAMILIES for language in TitleLanguage for title in family.titles(language)]
FUNCTIONS = frozenset(json.loads(PEOPLE_SOURCE.read_text(encoding="utf-8"))["functions"])
DECORATIONS = ("{}", "{} (m/w/d)", "{} - Remote", "Senior {}", "{} 80-100%", "{} at ACME", "{} in Berlin | ACME")
raw_titles = st.builds(str.format, st.sampled_from(DECORATIONS), st.sampled_from(ALL_TITLES))
any_text = st.text(max_size=60)


@pytest.fixture(scope="module")
def titles() -> Titles:
    return reference().titles


# --- the curated data


def test_every_family_has_an_id_of_its_own() -> None:
    assert len({family.id for family in FAMILIES}) == len(FAMILIES) > 600


def test_every_neighbour_is_a_family_and_none_is_its_own() -> None:
    known = {family.id for family in FAMILIES}
    assert [(one.id, near) for one in FAMILIES for near in one.neighbours if near not in known or near == one.id] == []


def test_every_family_speaks_four_languages_and_has_a_function_and_a_share() -> None:
    assert [one.id for one in FAMILIES if set(one.wordings) != set(TitleLanguage)] == []
    assert {one.function for one in FAMILIES} <= FUNCTIONS
    assert [one.id for one in FAMILIES if not 0 < one.share < 500] == []


def test_no_family_is_the_neighbour_of_one_of_another_rank(titles: Titles) -> None:
    ranks = {one.id: titles.rank(one.titles(TitleLanguage.EN)[0]) for one in FAMILIES}
    apart = [(one.id, near) for one in FAMILIES for near in one.neighbours if abs(ranks[one.id] - ranks[near]) > 1]
    assert apart == []


def test_no_wording_is_empty_or_has_a_brace_or_bar_left() -> None:
    assert [title for title in ALL_TITLES if not title_key(title) or not set("{}|\t").isdisjoint(title)] == []


def test_every_title_leads_back_to_its_one_family(titles: Titles) -> None:
    strayed = [
        (family.id, title, found.id if found else None)
        for family in FAMILIES
        for language in TitleLanguage
        for title in family.titles(language)
        if (found := titles.family(title)) is None or found.id != family.id
    ]
    assert strayed == []


def test_the_families_are_read_in_a_moment() -> None:
    began = time.process_time()
    read_families()
    assert time.process_time() - began < 0.5


def test_a_damaged_line_is_an_error() -> None:
    with pytest.raises(ValueError, match="not a line of a title family"):
        list(parse_families(["baker\ttrade\t3"]))
    with pytest.raises(ValueError, match="not a line of a title family"):
        list(parse_families(["\ten\tBaker"]))


def test_braces_are_spellings_and_the_best_wording_comes_in_all_of_them_first() -> None:
    lines = ["baker\ttrade\t3\tbutcher cook", "\ten\tBread {Baker,Maker}|{Master,Craft} Baker|Baker"]
    (family,) = parse_families(lines)
    assert family.neighbours == ("butcher", "cook")
    assert family.titles(TitleLanguage.EN) == ("Bread Baker", "Bread Maker", "Master Baker", "Baker", "Craft Baker")
    assert family.titles(TitleLanguage.NL) == ()


# --- properties


@given(any_text | raw_titles)
def test_cleaning_twice_changes_nothing_more(title: str) -> None:
    assert clean(clean(title)) == clean(title)


@given(title=raw_titles)
def test_exact_begins_with_the_head_and_stays_short_and_telling(titles: Titles, title: str) -> None:
    exact, broad = titles.exact(title), titles.is_broad(title)
    assert exact[0] == titles.parts(title).head
    assert len(exact) <= MOST_EXACT
    assert broad or not any(is_generic(other) for other in exact[1:])
    keys = [title_key(other) for other in exact]
    assert len(set(keys)) == len(keys)


@given(title=raw_titles)
def test_nearby_is_short_and_contains_no_exact_nor_excluded_title(titles: Titles, title: str) -> None:
    excluded = list(islice(titles.nearby(title), 2))
    nearby = titles.nearby(title, exclude=excluded)
    taken = [title_key(other) for other in (*titles.exact(title), *excluded)]
    assert len(nearby) <= MOST_NEARBY
    assert not any(key_contains(title_key(other), phrase) for other in nearby for phrase in taken)


@given(parts=st.lists(any_text | st.sampled_from(ALL_TITLES), max_size=6))
def test_occurrences_stand_where_they_say_in_order_and_apart(titles: Titles, parts: list[str]) -> None:
    text = " und ".join(parts)
    end = 0
    for found in titles.occurrences(text):
        assert end <= found.start < found.end <= len(text)
        assert title_key(text[found.start : found.end])[:5] == found.key[:5]
        end = found.end


def test_a_title_of_eight_words_is_found_whole_in_a_sentence(titles: Titles) -> None:
    missed = []
    for title in ALL_TITLES[::9]:
        if len(title_key(title).split()) <= MOST_WORDS and title[-1].isalnum():
            text = f"xyz {title} yxz"
            if not any(text[one.start : one.end] == title for one in titles.occurrences(text)):
                missed.append(title)
    assert missed == []


@given(any_text)
def test_nothing_said_gives_no_error(text: str) -> None:
    found: Family | None = reference().titles.family(text)
    assert found is None or found.id


# --- examples


def test_the_longest_title_in_a_text_is_found(titles: Titles) -> None:
    text = "You join as Senior Java Developer and work with our data engineers."
    found = [text[one.start : one.end] for one in titles.occurrences(text)]
    assert "Java Developer" in [piece.removeprefix("Senior ") for piece in found]
    assert "data engineers" in found
    assert "Developer" not in found


@pytest.mark.parametrize(
    ("title", "family"),
    [
        ("Altenpfleger (m/w/d) in Hamburg", "registered_nurse"),
        ("Automotive Store Manager", "store_manager"),
        ("Souschef (m/v/x) - Gent", "sous_chef"),
        ("Projektleiter Hochbau (w/m/d)", "construction_manager"),
        ("Chemielaborant*in", "lab_technician"),
        ("Auxiliaire de puériculture H/F", "educator_childcare"),
        ("Werkstudent (m/w/d) Online-Marketing & Redaktion", "marketing_intern"),
        ("Assistant to the Store Manager", None),
        ("Bilingual Nurse Call Center Agent", "call_center_agent"),
        ("Flurgleichrichter", None),
    ],
)
def test_advertised_titles_lead_to_their_family(titles: Titles, title: str, family: str | None) -> None:
    found = titles.family(title)
    assert (found.id if found else None) == family


@pytest.mark.parametrize(
    ("countries", "read", "unread"),
    [
        (("BE",), {"Infirmier", "Verpleegkundige", "Registered Nurse"}, {"Pflegefachkraft"}),
        (("DE",), {"Pflegefachkraft", "Krankenschwester"}, {"Infirmier", "Verpleegkundige"}),
        (("CH",), {"Pflegefachkraft", "Infirmier"}, {"Verpleegkundige"}),
        (("US",), {"Registered Nurse", "Staff Nurse"}, {"Pflegefachkraft", "Infirmier"}),
        ((), {"Pflegefachkraft", "Infirmier", "Verpleegkundige"}, set()),
    ],
)
def test_exact_titles_are_in_the_languages_of_the_countries(
    titles: Titles, countries: tuple[str, ...], read: set[str], unread: set[str]
) -> None:
    found = set(titles.exact("RN", countries=countries))
    assert read <= found
    assert not unread & found


@pytest.mark.parametrize(
    ("title", "far"),
    [
        ("key account manager", "Tobacco Shop Manager"),
        ("data engineer", "Android Developer"),
        ("CFO", "Adoption Services Manager"),
        ("verpleegkundige", "Verzorgende"),
        ("Maurer", "Polier"),
        ("beekeeper", "Beef Trimmer"),
    ],
)
def test_a_shared_word_or_group_alone_makes_no_title_near(titles: Titles, title: str, far: str) -> None:
    assert title_key(far) not in {title_key(other) for other in titles.nearby(title)}


def test_nearby_titles_are_of_the_same_rank_and_name_no_helper_or_leader(titles: Titles) -> None:
    for family in FAMILIES[::5]:
        title = family.titles(TitleLanguage.EN)[0]
        assert {titles.rank(other) for other in titles.nearby(title)} <= {titles.rank(title)}
    assert "SRE Lead" not in titles.nearby("DevOps engineer")


def test_several_words_of_rank_are_searched_where_they_mean_the_title(titles: Titles) -> None:
    assert "Project Manager" in titles.exact("Projektmanager (m/w/d)")
    assert "Chef" not in titles.exact("Koch (m/w/d)")


@pytest.mark.parametrize(
    ("title", "function"),
    [
        ("Krankenschwester", "health"),
        ("Kellner (m/w/d)", "hospitality"),
        ("Grundschullehrer", "education"),
        ("Chemist", "research"),
        ("Maschinenbauingenieur", "engineering"),
        ("Vendeuse", "sales"),
        ("Flurgleichrichter", None),
    ],
)
def test_the_function_is_the_family_s(titles: Titles, title: str, function: str | None) -> None:
    assert titles.function(title) == function


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("Praktikant Marketing", Seniority.TRAINING),
        ("Ehrenamtlicher Helfer", Seniority.UNPAID),
        ("Junior Buyer", Seniority.ENTRY),
        ("Senior Buyer", Seniority.SENIOR),
        ("Comptable confirmé", Seniority.SENIOR),
        ("Ervaren lasser", Seniority.SENIOR),
        ("Filialleiter", Seniority.MANAGER),
        ("Responsable de magasin", Seniority.MANAGER),
        ("Head of Finance", Seniority.DIRECTOR),
        ("Vice President Sales", Seniority.VP),
        ("CFO", Seniority.CXO),
        ("Geschäftsführerin", Seniority.CXO),
        ("Co-Founder", Seniority.OWNER),
        ("Zaakvoerder", Seniority.OWNER),
        ("Managing Partner", Seniority.PARTNER),
        ("Buyer", None),
        ("Seniorenbetreuer", None),
    ],
)
def test_the_level_a_title_states(titles: Titles, title: str, level: Seniority | None) -> None:
    assert titles.seniority(title) is level


@pytest.mark.parametrize(
    ("title", "apart", "kept"),
    [
        ("nurse", {"Nursery Nurse", "Veterinary Nurse", "Nurse Manager"}, {"ICU Nurse", "School Nurse"}),
        ("controller", {"Traffic Controller", "Stock Controller"}, {"Financial Controller", "Business Controller"}),
        ("driver", set(), {"Truck Driver", "Bus Driver"}),
        ("architect", {"Software Architect", "Cloud Architect"}, {"Project Architect"}),
        ("infirmier", {"Infirmier vétérinaire"}, {"Infirmier en réanimation"}),
        ("verpleegkundige", {"Assistent verpleegkundige"}, {"IC-verpleegkundige"}),
        ("site manager", set(), {"Construction Site Manager"}),
    ],
)
def test_a_general_title_names_the_longer_ones_of_other_occupations(
    titles: Titles, title: str, apart: set[str], kept: set[str]
) -> None:
    found = set(titles.apart(title))
    assert apart <= found
    assert not kept & found
    assert all(title_key(title)[:6] in title_key(other) for other in found)


def test_nearby_titles_that_were_judged_are_right_but_for_a_few() -> None:
    found = score(read_judged(), reference().titles, told=[])
    assert found.precision >= 0.92
    assert found.right > 4 * found.missed
