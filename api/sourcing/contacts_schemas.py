"""Contact details on request, and the answer of a lookup (contract, section 5 "Raw layer")."""

from typing import Annotated, Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask
from api.sourcing.jobs_schemas import JobFailureView
from models.base.times import Time
from models.base.values import ProfileId
from models.sourcing.engine.contacts import ContactRow
from models.sourcing.rules.jobs import FAILURE_MESSAGES, ContactKind, ContactStatus, JobFailure, JobStatus
from models.sourcing.tables import ContactLookup


class FetchContacts(Ask):
    """Whose details, and which kinds. Somebody given twice is looked up once."""

    profile_ids: Annotated[tuple[ProfileId, ...], Field(min_length=1, max_length=100)]
    want: Annotated[tuple[ContactKind, ...], Field(min_length=1, max_length=2)]


class ContactView(Answer):
    """One person and kind; `status` is null while it is looked for."""

    object: Literal["contact"] = "contact"
    profile_id: str
    kind: ContactKind
    status: ContactStatus | None
    values: list[str]
    charged_credits: int


class ContactLookupView(Answer):
    """A lookup and what it has found so far, people in the order asked."""

    id: str
    object: Literal["contact_lookup"] = "contact_lookup"
    status: JobStatus
    failure: JobFailureView | None
    retry_at: Time | None
    contacts: list[ContactView]
    spent_credits: int
    created_at: Time
    finished_at: Time | None

    @classmethod
    def of(cls, row: ContactLookup, found: list[ContactRow]) -> "ContactLookupView":
        """The lookup as shown."""
        code = None if row.failure_code is None else JobFailure(row.failure_code)
        return cls(
            id=row.id,
            status=JobStatus(row.status),
            failure=JobFailureView(code=code, message=FAILURE_MESSAGES[code]) if code else None,
            retry_at=row.retry_at,
            contacts=[
                ContactView(
                    profile_id=each.profile_id,
                    kind=each.kind,
                    status=each.status,
                    values=list(each.values),
                    charged_credits=each.charged_credits,
                )
                for each in found
            ],
            spent_credits=row.spent_credits,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )
