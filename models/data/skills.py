"""Reads the curated skills."""

from functools import lru_cache
from pathlib import Path

from models.rules.skills import Skill, SkillField, Skills, parse_skills

CURATED = Path(__file__).parent / "curated" / "skills"
DECOYS = "decoys"


def read_skills(folder: Path = CURATED) -> list[Skill]:
    """Every skill of every field, and the decoys; raises `ValueError` for a damaged file or an unknown field."""
    found: list[Skill] = []
    for file in sorted(folder.glob("*.tsv")):
        field = None if file.stem == DECOYS else SkillField(file.stem)
        found += parse_skills(file.read_text(encoding="utf-8").splitlines(), field)
    return found


@lru_cache(maxsize=1)
def load_skills() -> Skills:
    """All skills, ready to be found."""
    return Skills(read_skills())
