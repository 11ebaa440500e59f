"""A small, exact stand-in for the shipped title, company and people knowledge; places are the shipped ones."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from models.market.companies import Company
from models.market.reference import reference
from models.market.titles import TitleNarrowing
from models.sourcing.rules.filters import PEOPLE_DATA_LABS
from models.sourcing.rules.plans import Knowledge

OTHERS = {
    "data engineer": ("data platform engineer", "dataingenieur", "big data engineer"),
    "nurse": ("infirmier", "verpleegkundige"),
}
NEIGHBOURS = {
    "data engineer": ("analytics engineer", "senior data engineer", "etl developer", "backend engineer"),
    "nurse": ("midwife", "care assistant"),
}
COMPANIES = (
    Company("co_acme", "Acme", "BE", "acme.example"),
    Company("co_bolta", "Bolt", "EE", None),
    Company("co_boltb", "Bolt", "US", None),
)


NARROWED = {"truck driver ce": TitleNarrowing(skills=("Driving Licence CE",))}


class KnownTitles:
    """Titles by their lower-case form."""

    def exact(self, title: str, *, countries: Collection[str] = ()) -> Sequence[str]:
        return OTHERS.get(title.lower(), ())

    def nearby(self, title: str) -> Sequence[str]:
        return NEIGHBOURS.get(title.lower(), ())

    def apart(self, title: str) -> Sequence[str]:
        return ()

    def narrowing(self, title: str) -> TitleNarrowing:
        return NARROWED.get(title.lower(), TitleNarrowing())


class KnownCompanies:
    """Three firms, two of one name."""

    def get(self, company_id: str) -> Company:
        return next(company for company in COMPANIES if company.id == company_id)

    def knows(self, company_id: str) -> bool:
        return any(company.id == company_id for company in COMPANIES)

    def named(self, name: str) -> Sequence[Company]:
        return [company for company in COMPANIES if company.name.lower() == name.lower()]

    def at_domain(self, domain: str) -> Sequence[Company]:
        return [company for company in COMPANIES if company.domain == domain]

    def beginning(self, name: str, *, limit: int) -> Sequence[Company]:
        return [company for company in COMPANIES if company.name.startswith(name)][:limit]


@dataclass
class FixedStatistics:
    """The same number of people everywhere."""

    number: int | None = 500
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def people(self, titles: Sequence[str], *, location_ids: Sequence[str], countries: Sequence[str]) -> int | None:
        self.asked.append(tuple(titles))
        return self.number


def knowledge(*, people: int | None = 500) -> Knowledge:
    return Knowledge(
        titles=KnownTitles(),
        places=reference().places,
        companies=KnownCompanies(),
        statistics=FixedStatistics(people),
        source=PEOPLE_DATA_LABS,
    )
