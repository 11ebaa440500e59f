"""Routes of sequences and their templates."""

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.kernel.schemas import Listing
from api.outreach import sequences
from api.outreach.sequences import SequenceChange
from api.outreach.sequences_schemas import ChangeSequence, CreateSequence, ListSequences, SequenceView, TemplateView

router = Router(tags=["Outreach"])


@router.get("/outreach/templates", operation_id="outreach_templates.list", response_model=Listing[TemplateView])
async def list_templates(invoke: Invoke) -> Response:
    """The ready sequences: `network_first` and `network_invite_note_message`."""
    return await invoke(sequences.list_templates, None)


@router.post(
    "/outreach/sequences", status_code=201, operation_id="outreach_sequences.create", response_model=SequenceView
)
async def create_sequence(ask: CreateSequence, invoke: Invoke) -> Response:
    """Save a sequence, from its fields or from a template. Sends nothing and costs nothing."""
    return await invoke(sequences.create_sequence, ask, location=lambda made: f"/v1/outreach/sequences/{made.id}")


@router.get("/outreach/sequences", operation_id="outreach_sequences.list", response_model=Listing[SequenceView])
async def list_sequences(ask: Annotated[ListSequences, Query()], invoke: Invoke) -> Response:
    """Sequences, newest first; archived ones only with `status=archived`."""
    return await invoke(sequences.list_sequences, ask)


@router.get("/outreach/sequences/{sequence_id:id}", operation_id="outreach_sequences.get", response_model=SequenceView)
async def get_sequence(sequence_id: str, invoke: Invoke) -> Response:
    """One sequence, with how many people are in it."""
    return await invoke(sequences.get_sequence, sequence_id)


@router.patch(
    "/outreach/sequences/{sequence_id:id}", operation_id="outreach_sequences.change", response_model=SequenceView
)
async def change_sequence(sequence_id: str, ask: ChangeSequence, invoke: Invoke) -> Response:
    """Change name, steps, pace or status; steps are matched by their `id`, and started ones are never repeated."""
    return await invoke(sequences.change_sequence, SequenceChange(sequence_id, ask))


@router.delete("/outreach/sequences/{sequence_id:id}", status_code=204, operation_id="outreach_sequences.delete")
async def delete_sequence(sequence_id: str, invoke: Invoke) -> Response:
    """Delete a sequence; 409 while enrollments are open: stop them, or archive it."""
    return await invoke(sequences.delete_sequence, sequence_id)
