import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.market.reference import load_skills, read_skill_files
from models.market.skills import Skill, SkillField, Skills, fold_text, parse_skills

KNOWN = load_skills()


def names(text: str) -> list[str]:
    return [match.name for match in KNOWN.find(text)]


@pytest.mark.parametrize(
    "text",
    [
        "You lead a team and drive results.",
        "Teams lead by example; our teams are small.",
        "You have access to our sites and excel in what you do.",
        "We go to market fast, word of mouth is our best channel.",
        "Express delivery, R&D and C-level meetings with a spark of joy.",
        "Go above and beyond, on the go.",
        "React quickly to changes and express your ideas.",
        "A rest room, a swift response, a slack hour and a good outlook for next year.",
        "Rust is a town in Baden.",
        "Vacatures bij Groep SAS, vue sur mer, tableau de bord.",
        "Ruby likes to swing and to play a role.",
        "The interview takes 30 minutes; ask for concrete plans, monitoring and assessment of the natural windows.",
        "Elk teamlid kan zichzelf zijn en taken loslaten of lassen we in.",
        "Write to jobs@sap.com or see https://www.python.org/jobs",
        "javanese pythons, goa, restful nights, excellent words",
    ],
)
def test_everyday_words_are_no_skills(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3y Go devs", ["Go"]),
        ("Go-Entwickler", ["Go"]),
        ("statistics in R or Python", ["Statistics", "R", "Python"]),
        ("C++, C# und embedded C", ["C++", "C#", "C"]),
        ("Word, Excel und Outlook", ["Microsoft Word", "Microsoft Excel", "Outlook"]),
        ("Zoom, Slack and Microsoft Teams", ["Zoom", "Slack", "Microsoft Teams"]),
        ("React.js/Node.js", ["React", "Node.js"]),
        ("Excelkenntnisse, SAP-Kenntnisse", ["Microsoft Excel", "SAP"]),
        ("MS-Office", ["Microsoft Office"]),
        ("Java 17 and JavaScript", ["Java", "JavaScript"]),
        ("Azure Data Factory on Azure", ["Azure Data Factory", "Azure"]),
        ("machine\nlearning, machine\u00a0learning", ["Machine Learning", "Machine Learning"]),
        ("Lohnbuchhaltung, la paie, loonadministratie", ["Payroll", "Payroll", "Payroll"]),
        ("Apache Kafka; k8s", ["Kafka", "Kubernetes"]),
        ("ready for SAP.", ["SAP"]),
    ],
)
def test_skills_are_found_under_their_usual_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["Python", "Ärztin", "İ", "ß", "ﬁ", "C++", "GO", "🚀", "machine learning", "-", " ", "\n", "e\u0301"]
        )
        | st.text(max_size=8),
        max_size=30,
    ).map("".join)
)
def test_offsets_count_characters_of_the_text_and_matches_never_overlap(text: str) -> None:
    assert len(fold_text(text)) == len(text)
    reached = 0
    for match in KNOWN.find(text):
        assert reached <= match.start < match.end <= len(text)
        reached = match.end
    moved = [(match.name, match.start - 3, match.end - 3) for match in KNOWN.find(f"🚀, {text}")]
    assert moved == [(match.name, match.start, match.end) for match in KNOWN.find(text)]


def test_offsets_hold_after_letters_that_grow_in_lower_case() -> None:
    text = "İstanbul İİ 🚀: Python"
    (match,) = KNOWN.find(text)
    assert text[match.start : match.end] == "Python"


def test_the_longest_name_wins_and_a_decoy_hides_a_skill() -> None:
    field = SkillField.FRAMEWORKS
    skills = Skills([Skill("Spring", field), Skill("Spring Boot", field), Skill("", None, ("spring time",))])
    assert [match.name for match in skills.find("Spring Boot, spring, spring time")] == ["Spring Boot", "Spring"]


@pytest.mark.parametrize("line", ["\tgolang", "Go\t~Go", "Go\t?go\t"])
def test_a_damaged_line_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not a skill"):
        list(parse_skills([line], SkillField.FRAMEWORKS))


def test_a_list_of_near_words_can_be_named() -> None:
    (skill,) = parse_skills(
        ["# languages", "@code\tprogram|script", "", "Go\t~Go|golang\t@code"], SkillField.FRAMEWORKS
    )
    assert (skill.spellings, skill.near) == (("~Go", "golang"), "program|script")


def test_the_curated_skills_are_many_named_once_and_claim_no_spelling_twice() -> None:
    skills = [skill for skill in read_skill_files() if skill.name]
    folded = [fold_text(skill.name) for skill in skills]
    assert len(folded) == len(set(folded)) >= 1500
    plain = [(fold_text(text), skill.name) for skill in skills for text in {*skill.spellings} if text[0] not in "=~?"]
    owners: dict[str, str] = {}
    for text, name in plain:
        assert owners.setdefault(text, name) == name


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """What invented profiles list, in the spelling of the people source."""
    families = [
        family
        for file in Path("sandbox/data/occupations").glob("*.toml")
        for several in tomllib.loads(file.read_text(encoding="utf-8")).values()
        for family in several
    ]
    return {skill for family in families for skill in (*family["skills"], *family["more"])}


def test_most_of_what_profiles_list_is_known(listed: set[str]) -> None:
    known = {name.lower() for name in KNOWN.names.values()}
    assert len(listed & known) >= 0.9 * len(listed)


def test_a_skill_bears_the_name_that_profiles_list(listed: set[str]) -> None:
    whole = {skill: found for skill in listed if len(found := KNOWN.find(skill)) == 1}
    renamed = {
        skill: found[0].name
        for skill, found in whole.items()
        if (found[0].start, found[0].end) == (0, len(skill)) and found[0].name.lower() != skill
    }
    assert renamed == {}
