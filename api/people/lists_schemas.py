"""Lists of people as they are asked for and shown (contract, section 5 "Registers")."""

from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Name, PageAsk
from api.people.registers_schemas import MAX_BULK, Note, ProfileId, ProfileUrl, RegisterOmitted
from models.base.times import Time
from models.people.rules.registers import SeenStatus
from models.people.store.lists import PersonFacts
from models.people.tables import ListPerson

Description = Annotated[str, Field(max_length=2000)]


class CreateList(Ask):
    """A list to make."""

    name: Name
    description: Description | None = None


class ChangeList(Ask):
    """Fields that are not given stay."""

    name: Name | SkipJsonSchema[None] = None
    description: Description | None = None


class ListView(Answer):
    """A named list of people; `people_count` leaves out people who are suppressed."""

    id: str
    object: Literal["people_list"] = "people_list"
    name: str
    description: str | None
    people_count: int
    created_at: Time
    updated_at: Time


class AddPeople(Ask):
    """People to put into a list, 10,000 together at most; people in it stay as they are."""

    profile_ids: Annotated[tuple[ProfileId, ...], Field(max_length=MAX_BULK)] = ()
    profile_urls: Annotated[tuple[ProfileUrl, ...], Field(max_length=MAX_BULK)] = ()
    status: SeenStatus | None = None
    note: Note | None = None


class PeopleAdded(Answer):
    """What came of it."""

    object: Literal["list_addition"] = "list_addition"
    list_id: str
    added: int
    already_there: int
    omitted: RegisterOmitted


class ChangePerson(Ask):
    """What is noted about a person in a list; null clears, fields that are not given stay."""

    status: SeenStatus | None = None
    note: Note | None = None


class ListPeople(PageAsk):
    """The people of one list."""

    list_id: str


class ListPersonView(Answer):
    """A person in a list, with the facts that the account has a right to: null where it has none."""

    id: str
    object: Literal["list_person"] = "list_person"
    profile_id: str
    tier: int | None
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    distance_km: float | None
    experience_years: int | None
    tenure_months: int | None
    profile_url: str | None
    status: SeenStatus | None
    note: str | None
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, row: ListPerson, known: PersonFacts) -> "ListPersonView":
        """The row as shown."""
        profile = known.profile
        current = profile.current if profile else None
        return cls(
            id=row.profile_id,
            profile_id=row.profile_id,
            tier=known.tier,
            full_name=profile.full_name if profile else None,
            title=current.title if current else None,
            company=current.company if current else None,
            location=profile.location.label if profile else None,
            distance_km=known.distance_km,
            experience_years=profile.experience_years if profile else None,
            tenure_months=profile.tenure_months if profile else None,
            profile_url=(profile.profile_url if profile else None) or known.profile_url,
            status=None if row.status is None else SeenStatus(row.status),
            note=row.note,
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


LIST_COLUMNS = (
    "profile_id",
    "tier",
    "full_name",
    "title",
    "company",
    "location",
    "distance_km",
    "experience_years",
    "tenure_months",
    "profile_url",
    "status",
    "note",
)
"""A candidate's columns, then what the list says."""
