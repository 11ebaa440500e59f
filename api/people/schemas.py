"""What operations on people ask and answer: lists, cached profiles, suppressions, the seen register, erasures."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Email, Moment, Name, PageAsk
from models.base import ids
from models.base.values import Time
from models.people.rules.identity import MAX_URL_LENGTH
from models.people.rules.profiles import Profile
from models.people.rules.registers import MAX_TAGS, SeenStatus, SuppressionReason
from models.people.store.lists import PersonFacts
from models.people.tables import ListPerson

MAX_CHECKED = 500
MAX_BULK = 10_000
MAX_NOTE = 5000

ProfileId = Annotated[str, StringConstraints(pattern=ids.pattern("prof"))]
ProfileUrl = Annotated[str, Field(min_length=1, max_length=MAX_URL_LENGTH)]
"""Any spelling of a profile's address."""
Note = Annotated[str, Field(max_length=MAX_NOTE)]
Tag = Annotated[Name, Field(max_length=50)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=MAX_TAGS)]


class NamePerson(Ask):
    """One person: by id or by any spelling of the profile URL."""

    profile_id: ProfileId | None = None
    profile_url: ProfileUrl | None = None


class SuppressionView(Answer):
    """A person who is never fetched, charged or contacted. `customer_id` null binds the account and every customer."""

    id: str
    object: Literal["suppression"] = "suppression"
    profile_id: str | None
    customer_id: str | None
    reason: SuppressionReason
    created_at: Time


class NewSuppression(SuppressionView):
    """One that was not there before."""


class ListSeen(PageAsk):
    """Which entries to show, newest first."""

    status: SeenStatus | None = None
    do_not_contact: bool | None = None
    contacted: bool | None = None
    tag: Tag | None = None


class SeenEntryView(Answer):
    """A person in the seen register. `contacted_at` and `do_not_contact` are facts apart from `status`."""

    id: str
    object: Literal["seen_entry"] = "seen_entry"
    profile_id: str
    status: SeenStatus
    do_not_contact: bool
    tags: list[str]
    note: str | None
    first_seen_at: Time | None
    contacted_at: Time | None
    last_contacted_at: Time | None
    run_ids: list[str]
    created_at: Time


class ChangeSeen(Ask):
    """What is to be noted about a person; fields that are not given stay."""

    status: SeenStatus | SkipJsonSchema[None] = None
    do_not_contact: bool | SkipJsonSchema[None] = None
    tags: Tags | None = Field(default=None, description="Take the place of those there are; null removes all.")
    note: Note | None = None


class ImportPerson(NamePerson):
    """What an import says about one person."""

    status: SeenStatus | None = None
    do_not_contact: bool | None = Field(default=None, description="False never lowers what is set.")
    tags: Tags = Field(default=(), description="Added to those there are.")
    note: Note | None = None
    first_seen_at: Moment | None = None
    contacted_at: Moment | None = None


class ImportSeen(Ask):
    """People to merge into the register."""

    people: Annotated[tuple[ImportPerson, ...], Field(min_length=1, max_length=MAX_BULK)]


class RegisterOmitted(Answer):
    """Who was left out, and how many."""

    suppressed: int
    duplicates: int = Field(description="Named more than once.")


class SeenImported(Answer):
    """What an import did."""

    object: Literal["seen_import"] = "seen_import"
    created: int
    updated: int
    omitted: RegisterOmitted


class CheckSeen(Ask):
    """People to look up in the register, 500 together at most."""

    profile_ids: Annotated[tuple[ProfileId, ...], Field(max_length=MAX_CHECKED)] = ()
    profile_urls: Annotated[tuple[ProfileUrl, ...], Field(max_length=MAX_CHECKED)] = ()


class SeenCheck(Answer):
    """What the register says of one person; `profile_id` is null for people who were never met."""

    input: str
    profile_id: str | None
    seen: bool
    contacted: bool
    do_not_contact: bool
    suppressed: bool
    status: SeenStatus | None
    tags: list[str]


class SeenChecked(Answer):
    """One row for each input: ids first, then URLs, each in the order given."""

    object: Literal["seen_check"] = "seen_check"
    data: list[SeenCheck]


class RequestErasure(NamePerson):
    """Whom to erase: exactly one of the three."""

    email: Email | None = None


class ErasureView(Answer):
    """That a person was erased from the account with all its customers."""

    id: str
    object: Literal["erasure"] = "erasure"
    profile_id: str
    status: Literal["completed"] = "completed"
    created_at: Time


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


class ProfileView(Profile):
    """A full profile as last fetched."""

    object: Literal["profile"] = "profile"
