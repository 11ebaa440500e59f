"""Companies that were looked up live: the installation's own cache beside the shipped ones."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import Index
from sqlmodel import Field

from models.base.tables import JSON, TIME, Payload, Row, one_of


class CompanyRecord(Row, table=True):
    """A company as a source last described it. `id` is that of a shipped company, or a new `co_…`."""

    __tablename__ = "companies"
    __table_args__ = (Index("ix_companies_name_key", "name_key", postgresql_ops={"name_key": "text_pattern_ops"}),)

    id: str = Field(primary_key=True)
    name_key: str
    """The name without its legal form, by which it is looked up (`models.market.companies.company_key`)."""
    details: Payload = Field(sa_type=JSON)
    source: str
    fetched_at: datetime = Field(sa_type=TIME)


class CompanyKeyKind(StrEnum):
    """What identifies a company: a source's id, a domain, or another id of ours that was found to be the same."""

    SOURCE = "source"
    DOMAIN = "domain"
    ID = "id"


class CompanyKey(Row, table=True):
    """A key of a company."""

    __tablename__ = "company_keys"
    __table_args__ = (
        Index("ix_company_keys_company_id", "company_id"),
        one_of("kind", CompanyKeyKind),
    )

    kind: str = Field(primary_key=True)
    source: str = Field(primary_key=True)
    """Whose id it is; empty for the other kinds."""
    value: str = Field(primary_key=True)
    company_id: str = Field(foreign_key="companies.id")
