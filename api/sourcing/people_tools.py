"""The tools of people: full profiles, the jobs that fetch them, and contact details."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from api.kernel.schemas import Answer, Listing
from api.mcp.invocation import Invocation, Json
from api.mcp.tool import Arguments, Executing, Tool, simple
from api.mcp.toolsets import Toolset
from api.sourcing import jobs, raw
from api.sourcing.raw_schemas import (
    ContactLookupView,
    FetchContacts,
    FetchedPerson,
    FetchPeople,
    JobView,
    ListResults,
    PeopleFetched,
    PricePreview,
    ResultsQuery,
)
from models.base.errors import InvalidRequest
from models.base.values import ProfileId
from models.sourcing.rules.jobs import FINAL, ContactKind, JobStatus


class LookupPeople(FetchPeople, Executing):
    """1–100 people by id, by profile URL, or both."""


class GetPeopleJob(ResultsQuery, Arguments):
    """A job, and which of its results."""

    job_id: str = Field(description="Of lookup_people with async=true.")


class JobWithResults(Answer):
    """A job; `results` is null until it has ended."""

    object: Literal["job_results"] = "job_results"
    job: JobView
    results: Listing[FetchedPerson] | None


async def _job(call: Invocation, asked: GetPeopleJob) -> JobWithResults:
    job = await call.read(jobs.get_job, asked.job_id)
    if JobStatus(job.status) not in FINAL:
        return JobWithResults(job=job, results=None)
    ask = ListResults.model_validate({"job_id": asked.job_id, **dict(asked.narrowed(ResultsQuery))})
    return JobWithResults(job=job, results=await call.read(jobs.list_results, ask))


class FindContactDetails(Executing):
    """Whose details to look up, or the lookup to read."""

    profile_ids: Annotated[tuple[ProfileId, ...], Field(min_length=1, max_length=100)] | None = Field(
        default=None, description="1–100 people to look up."
    )
    want: Annotated[tuple[ContactKind, ...], Field(min_length=1, max_length=2)] | None = Field(
        default=None, description="Which details: `email`, `phone`, or both."
    )
    lookup_id: str | None = Field(default=None, description="Instead: read a lookup that was started. Free.")

    @model_validator(mode="after")
    def _one_of_both(self) -> "FindContactDetails":
        given = [name for name in ("profile_ids", "want") if name in self.model_fields_set]
        if self.lookup_id is not None and given:
            raise InvalidRequest("Give lookup_id, or profile_ids and want, not both.", field="lookup_id")
        missing = [name for name in ("profile_ids", "want") if getattr(self, name) is None]
        if self.lookup_id is None and missing:
            raise InvalidRequest(f"{missing[0]}: this field is required.", field=missing[0])
        return self


async def _contacts(call: Invocation, asked: FindContactDetails) -> Json:
    if asked.lookup_id is not None:
        return await call.invoke(jobs.get_contacts, asked.lookup_id)
    return await call.invoke(jobs.fetch_contacts, asked.narrowed(FetchContacts))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="lookup_people",
        title="Look up people",
        toolset=Toolset.SOURCING,
        description="Full profiles of people you can name, by profile_id or profile URL. {price.live_profile}"
        " credits for each profile"
        " that is fetched live; a copy not older than max_age_days is free, and so is a profile that no longer exists."
        " Without confirm it only shows the most it can cost. For more than a few people pass async=true and read the"
        " job with get_people_job. To find people, use start_search.",
        arguments=LookupPeople,
        answers=PeopleFetched | JobView | PricePreview,
        run=simple(raw.fetch_people, lambda asked: asked.narrowed(FetchPeople)),
        operation=raw.fetch_people,
        open_world=True,
    ),
    Tool(
        name="get_people_job",
        title="Get a people job",
        toolset=Toolset.SOURCING,
        description="State and, once it has ended, results of a job that lookup_people started with async=true. Free.",
        arguments=GetPeopleJob,
        answers=JobWithResults,
        run=_job,
        operation=jobs.get_job,
        open_world=True,
    ),
    Tool(
        name="find_contact_details",
        title="Find contact details",
        toolset=Toolset.SOURCING,
        description="E-mail addresses and telephone numbers of people. {price.contact} credits for each person and"
        " kind that is"
        " found; what is not found is free, and a repeat within twelve months too. Without confirm it only shows the"
        " most it can cost. It answers a lookup at once: call again with its id as lookup_id alone until its status is"
        " completed.",
        arguments=FindContactDetails,
        answers=ContactLookupView | PricePreview,
        run=_contacts,
        operation=jobs.fetch_contacts,
        chosen=lambda given: jobs.get_contacts if "lookup_id" in given else jobs.fetch_contacts,
        open_world=True,
    ),
)
