"""Companies looked up live (contract, section 5 "Raw layer")."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from api.kernel.schemas import Answer, Ask, Name
from api.sourcing.lookups_schemas import CompanyView
from api.sourcing.raw_schemas import plain_domain_of
from models.base.errors import InvalidRequest
from models.base.values import CompanyId
from models.market.companies import Company, CompanyDetails, plain_domain
from models.market.reference import reference
from models.sourcing.rules.raw_calls import MOST_COMPANIES, CompaniesAsk, CompanyRow, CompanyStatus, WantedCompany


def _with_domain(text: str) -> str:
    plain_domain_of(text)
    return text


Domain = Annotated[Name, AfterValidator(_with_domain)]


class FetchCompanies(Ask):
    """1–25 companies, by our ids, domains or names; answered ids first, then domains, then names, as given."""

    company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=MOST_COMPANIES)
    domains: tuple[Domain, ...] = Field(
        default=(), max_length=MOST_COMPANIES, description="Also as URLs or mail addresses."
    )
    names: tuple[Name, ...] = Field(default=(), max_length=MOST_COMPANIES)

    @model_validator(mode="after")
    def _counted(self) -> Self:
        given = {"company_ids": self.company_ids, "domains": self.domains, "names": self.names}
        if not 1 <= sum(map(len, given.values())) <= MOST_COMPANIES:
            field = next((name for name in reversed(given) if given[name]), "company_ids")
            raise InvalidRequest(f"Give 1 to {MOST_COMPANIES} companies.", field=field)
        return self

    def asked(self) -> CompaniesAsk:
        """The same, as it is kept with the call."""
        shipped = reference().companies
        return CompaniesAsk(
            wanted=(
                *(WantedCompany(input=one, company_id=one, shipped=shipped.knows(one)) for one in self.company_ids),
                *(WantedCompany(input=one, domain=plain_domain(one)) for one in self.domains),
                *(WantedCompany(input=one, name=one) for one in self.names),
            )
        )


class CompanyInFull(CompanyView):
    """A company with what the source says of it; null where it does not say."""

    industry: str | None
    size: str | None = Field(description="How many people work there, as a range.")
    founded: int | None
    type: str | None
    location: str | None

    @classmethod
    def described(cls, company_id: str, details: CompanyDetails) -> "CompanyInFull":
        """The company as shown."""
        company = Company(company_id, details.name, details.country_code, details.domain)
        rest = details.model_dump(include={"industry", "size", "founded", "type", "location"})
        return cls(**company._asdict(), label=company.label, **rest)


class FetchedCompany(Answer):
    """What became of one input: `company` comes with `found` and `cached`."""

    object: Literal["fetched_company"] = "fetched_company"
    input: str
    status: CompanyStatus
    company: CompanyInFull | None
    charged_credits: int

    @classmethod
    def of(cls, row: CompanyRow) -> "FetchedCompany":
        """The row as shown."""
        known = row.company_id is not None and row.details is not None
        return cls(
            input=row.input,
            status=row.status,
            company=CompanyInFull.described(row.company_id or "", row.details) if known and row.details else None,
            charged_credits=row.charged_credits,
        )


class CompaniesFetched(Answer):
    """One row for each input, in input order."""

    object: Literal["list"] = "list"
    data: list[FetchedCompany]
    charged_credits: int
