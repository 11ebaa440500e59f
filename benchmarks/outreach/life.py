"""Life: Temporal history events of one enrollment, from enrolling to the end, by kind and beside the floor.

Invite with note, acceptance, message, follow-up after five days, completed: three things done on the network, on an
installation under virtual time. The floor is a workflow that waits and calls an activity that does nothing as often:
before the invite, for the acceptance (ended by a signal), before the message and before the follow-up.
"""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from uuid import uuid4

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks import floor
from benchmarks.processes import serving
from tests.journeys.installation import installed
from tests.journeys.outreach import Json, Outreach

STEPS: list[Json] = [
    {"type": "invite", "note": "Hi {{first_name}}, glad to be in touch."},
    {"type": "message", "only_after_accept": True, "body": "Hi {{first_name}}, thank you for connecting."},
    {"type": "message", "only_after_accept": True, "wait_days": 5, "is_follow_up": True, "body": "Still there?"},
]
FLOOR = floor.Waits(seconds=[0.2, 30, 0.2, 0.2], signalled=[1])
"""The wait for the acceptance ends by a signal and calls an activity like the others: what is due is asked."""
Events = Counter[str]


def lived(outreach: Outreach) -> str:
    """Let one enrollment live its life; its id."""
    outreach.order("switches", natural=False)
    (person,) = outreach.strangers(1)
    sequence_id = outreach.sequence("A life", STEPS)
    (enrollment,) = outreach.enroll(sequence_id, [person])["enrollments"]
    outreach.advance("4d")
    outreach.act("accept", person["person_id"])
    outreach.advance("14d")
    ended = outreach.recruiter.get(f"/v1/outreach/enrollments/{enrollment['id']}")
    done = [entry["kind"] for entry in outreach.log()]
    if ended["status"] != "completed" or done != ["invite", "message", "message"]:
        raise SystemExit(f"the enrollment ended as {ended['status']} after {done}")
    return str(enrollment["id"])


async def events(client: Client, workflow_id: str) -> Events:
    """How many events of each kind a workflow's history has."""
    history = await client.get_workflow_handle(workflow_id).fetch_history()
    names = (EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in history.events)
    return Counter(name.lower() for name in names)


async def least(client: Client) -> Events:
    """The floor's events."""
    workflow_id = f"floor/{uuid4().hex}"
    handle = await client.start_workflow("floor_life", FLOOR, id=workflow_id, task_queue=floor.QUEUE)
    await asyncio.sleep(2)  # the wait for the signal has begun
    await handle.signal("ring")
    await handle.result()
    return await events(client, workflow_id)


async def compare(temporal: str, enrollment_id: str) -> tuple[Events, Events]:
    """Ours and the floor's."""
    client = await Client.connect(temporal, data_converter=pydantic_data_converter)
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        ready = Path(folder) / "ready"
        with serving(*floor.COMMAND, temporal, str(ready), ready=ready):
            bare = await least(client)
    return await events(client, f"enrollment/{enrollment_id}"), bare


def report() -> None:
    """Measure and print."""
    with installed("--population", "300", "--virtual-time") as installation:
        enrollment_id = lived(Outreach.begin(installation))
        ours, bare = asyncio.run(compare(installation.facts["temporal_address"], enrollment_id))
    print("Temporal history events of one enrollment's life: invite, acceptance, message, follow-up, completed")
    print(f"  {'':<40} {'ours':>6} {'floor':>6}")
    for name in sorted(ours | bare, key=lambda one: -(ours | bare)[one]):
        print(f"  {name:<40} {ours[name]:6} {bare[name]:6}")
    print(f"  {'all':<40} {ours.total():6} {bare.total():6}   ratio {ours.total() / bare.total():.2f}")
