"""Routes of enrollments."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.outreach import enrollments
from api.outreach.enrollments_schemas import (
    Enroll,
    Enrolled,
    EnrollmentPreview,
    EnrollmentView,
    EnrollmentWithActions,
    ListEnrollments,
    ResumePreview,
)

router = Router(tags=["Outreach"])


@router.post(
    "/outreach/enrollments",
    status_code=201,
    operation_id="outreach_enrollments.create",
    response_model=Enrolled | EnrollmentPreview,
)
async def enroll(ask: Enroll, invoke: Invoke) -> Response:
    """Enroll up to 500 people into a sequence; `?dry_run=true` gives a row for each, and writes nothing."""
    return await invoke(enrollments.enroll, ask)


@router.get("/outreach/enrollments", operation_id="outreach_enrollments.list", response_model=Listing[EnrollmentView])
async def list_enrollments(ask: Annotated[ListEnrollments, Query()], invoke: Invoke) -> Response:
    """Enrollments, newest first, by `status`, `sequence_id`, `account_id` and `profile_id`."""
    return await invoke(enrollments.list_enrollments, ask)


@router.get(
    "/outreach/enrollments/{enrollment_id:id}",
    operation_id="outreach_enrollments.get",
    response_model=EnrollmentWithActions,
)
async def get_enrollment(enrollment_id: str, invoke: Invoke) -> Response:
    """One enrollment with its actions."""
    return await invoke(enrollments.get_enrollment, enrollment_id)


@router.post(
    "/outreach/enrollments/{enrollment_id:id}/pause",
    operation_id="outreach_enrollments.pause",
    response_model=EnrollmentView,
)
async def pause_enrollment(enrollment_id: str, invoke: Invoke) -> Response:
    """Hold the next steps of a person."""
    return await invoke(enrollments.pause_enrollment, enrollment_id)


@router.post(
    "/outreach/enrollments/{enrollment_id:id}/resume",
    operation_id="outreach_enrollments.resume",
    response_model=EnrollmentView | ResumePreview,
)
async def resume_enrollment(enrollment_id: str, invoke: Invoke) -> Response:
    """Go on from now; `?dry_run=true` shows when the next step goes out."""
    return await invoke(enrollments.resume_enrollment, enrollment_id)


@router.post(
    "/outreach/enrollments/{enrollment_id:id}/stop",
    operation_id="outreach_enrollments.stop",
    response_model=EnrollmentView,
)
async def stop_enrollment(enrollment_id: str, invoke: Invoke) -> Response:
    """End it for good: nothing more is sent, and the person stays marked contacted."""
    return await invoke(enrollments.stop_enrollment, enrollment_id)
