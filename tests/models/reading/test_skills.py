import re
from dataclasses import dataclass

import pytest

from models.market.skills import SkillField
from models.reading.document import Document
from models.reading.draft import DraftBlock
from models.reading.skills import SoughtSkill, read_skills

FIELDS = {
    "Python": SkillField.PROGRAMMING_LANGUAGES,
    "SQL": SkillField.PROGRAMMING_LANGUAGES,
    "Rust": SkillField.PROGRAMMING_LANGUAGES,
    "Kafka": SkillField.DATA_SOFTWARE,
    "Terraform": SkillField.CLOUD_AND_OPERATIONS,
    "Excel": SkillField.OFFICE_SOFTWARE,
}


@dataclass(frozen=True, slots=True)
class Mention:
    name: str
    start: int
    end: int
    field: SkillField


def skills(text: str, *, title: tuple[int, int] = (0, 0)) -> list[SoughtSkill]:
    known = re.finditer("|".join(FIELDS), text)
    mentions = [Mention(one.group(), one.start(), one.end(), FIELDS[one.group()]) for one in known]
    return read_skills(Document(text), mentions, title=title)


def names(text: str, *, required: bool, title: tuple[int, int] = (0, 0)) -> list[str]:
    return [skill.name for skill in skills(text, title=title) if skill.required is required]


def test_required_and_welcome_sections_are_kept_apart() -> None:
    text = "Engineer\n\nRequirements\n- Strong Python\n- SQL is a must\n\nNice to have\n- Expert in Rust\n"
    assert names(text, required=True) == ["Python", "SQL"]
    assert names(text, required=False) == ["Rust"]


def test_a_skill_that_is_merely_listed_narrows_no_search() -> None:
    assert names("Requirements\n- Python and SQL\n", required=True) == []
    assert names("Requirements\n- Python and SQL\n", required=False) == ["Python", "SQL"]


@pytest.mark.parametrize(
    "line",
    ["Python or SQL, strong", "a must: languages such as Python", "strong Python or similar", "Python/SQL required"],
)
def test_one_of_several_is_never_required(line: str) -> None:
    assert names(f"Requirements\n- {line}\n- Python or SQL", required=True) == []


def test_basic_knowledge_is_welcome() -> None:
    assert names("Requirements\n- Basic Python required\n- Erste Python-Kenntnisse", required=True) == []


@pytest.mark.parametrize("line", ["No Rust", "kein Rust", "Geen Rust", "Pas de Rust"])
def test_what_the_requirements_deny_is_excluded(line: str) -> None:
    (python, rust) = skills(f"Requirements\n- Python\n- {line}\n")
    assert (python.block, rust.name, rust.block) == (DraftBlock.NICE, "Rust", DraftBlock.EXCLUDE)


def test_knowledge_that_is_not_required_excludes_no_person() -> None:
    assert skills("Requirements\n- No Rust required\n- No Excel experience needed\n") == []


def test_office_software_is_welcome_however_often_it_is_asked_for() -> None:
    assert names("Requirements\n- Excel is a must\n- expert in Excel\n", required=True) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Experience with Kafka is a plus",
        "Kafka von Vorteil",
        "Idealerweise Kafka",
        "La connaissance de Kafka serait un atout",
        "Kennis van Kafka is een pluspunt",
    ],
)
def test_a_sentence_can_make_a_skill_welcome(sentence: str) -> None:
    text = f"Requirements\n- Python is a must\n- {sentence}\n"
    assert names(text, required=True) == ["Python"]
    assert names(text, required=False) == ["Kafka"]


def test_what_the_company_uses_or_teaches_is_not_sought() -> None:
    assert skills("About us\nWe wrote Kafka.\n\nBenefits\n- Excel courses\n") == []


def test_tasks_alone_require_nothing() -> None:
    assert names("Tasks\n- You maintain our SQL reports\n", required=True) == []


def test_a_required_mention_outweighs_a_welcome_one() -> None:
    text = "Nice to have\n- Python\n\nRequirements\n- Proven Python\n"
    (skill,) = skills(text)
    assert (skill.required, skill.mentions) == (True, 2)
    assert skill.start == text.rindex("Python")


def test_three_skills_are_required_at_most_those_of_the_title_and_the_most_named_first() -> None:
    text = "Rust Engineer\n\nRequirements\n- SQL, Excel, Terraform, Kafka\n- Kafka and SQL in production, both a must\n"
    assert names(text, required=True, title=(0, 13)) == ["Rust", "SQL", "Kafka"]
    assert names(text, required=False, title=(0, 13)) == ["Terraform", "Excel"]
