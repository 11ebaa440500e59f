"""The reference data the project ships: `reference()` gives it, loaded once per process.

`reference.sqlite.xz` holds what `python -m models.data.build` made of the sources named in NOTICE. Its tables: `value`
(named columns of the places, shares of occupation groups, names of languages), `place_key` (key of a name → row),
`concept`, `label` and `related` (ESCO and O*NET; a label's `key` is `models.rules.occupations.label_key` of its text),
`company` and `company_key`. The rules never see the file: they get the values below.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from models.data.companies import StoredCompanies
from models.data.occupations import StoredOccupations
from models.data.places import load_places, value
from models.data.shipped import open_reference, unpacked
from models.data.skills import load_skills
from models.data.titles import load_titles
from models.rules.companies import Companies
from models.rules.occupations import Occupations
from models.rules.places import Places
from models.rules.skills import Skills
from models.rules.statistics import GroupShare, RoughStatistics
from models.rules.titles import Titles


@dataclass(frozen=True, slots=True)
class Reference:
    """Everything shipped, read-only. `languages` maps `place_key` of a name in four languages to the English one."""

    places: Places
    occupations: Occupations
    titles: Titles
    skills: Skills
    companies: Companies
    languages: Mapping[str, str]
    statistics: RoughStatistics


@lru_cache(maxsize=1)
def reference() -> Reference:
    """The shipped data; the first call on a machine unpacks it, later ones take a fraction of a second."""
    database = open_reference(unpacked())
    places, occupations = load_places(database), StoredOccupations(database)
    shares = json.loads(value(database, "isco_shares"))
    return Reference(
        places=places,
        occupations=occupations,
        titles=load_titles(database, occupations),
        skills=load_skills(),
        companies=StoredCompanies(database),
        languages=json.loads(value(database, "languages")),
        statistics=RoughStatistics(
            places=places,
            occupations=occupations,
            shares={group: GroupShare(employed / 1000, visible / 100) for group, (employed, visible) in shares.items()},
        ),
    )
