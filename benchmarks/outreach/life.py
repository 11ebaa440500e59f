"""Temporal history events of an enrollment with invite, acceptance, message, follow-up and end, and the minimum.

The floor is a workflow with the same number of waits, one of them ended by a signal, and of activities that do nothing,
on the same Temporal server. Aim: at most twice the floor.
"""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.contrib.pydantic import pydantic_data_converter

from benchmarks import floor
from benchmarks.outreach.owner import Json, Owner, owner
from benchmarks.processes import serving

AIM = 2.0
SENDS = 3
STEPS: list[Json] = [
    {"type": "invite", "note": "Hi {{first_name}}, glad to be in touch."},
    {"type": "message", "wait_days": 1, "only_after_accept": True, "body": "Hi {{first_name}}. {{privacy_notice}}"},
    {"type": "message", "wait_days": 5, "only_after_accept": True, "is_follow_up": True, "body": "Still there?"},
]


def live(of: Owner) -> str:
    """Run one enrollment from its invite to its end, and return its id."""
    person = of.stranger()
    asked = {"account_id": of.account_id, "name": "A life", "steps": STEPS}
    sequence_id = of.post("/v1/outreach/sequences", asked)["id"]
    candidate = {"profile_url": person["profile_url"], "first_name": "Jo"}
    entered = of.post("/v1/outreach/enrollments", {"sequence_id": sequence_id, "candidates": [candidate]})
    enrollment_id = str(entered["enrollments"][0]["id"])
    of.stack("advance", "4d")
    of.order("accept", account_id=of.provider_id, person_id=person["person_id"])
    of.stack("advance", "14d")
    status = of.http.get(f"/v1/outreach/enrollments/{enrollment_id}").raise_for_status().json()["status"]
    if status != "completed":
        raise RuntimeError(f"the enrollment is {status}")
    return enrollment_id


async def kinds(handle: "WorkflowHandle[object, object]") -> Counter[str]:
    """Return the number of events of a workflow's history by kind."""
    history = await handle.fetch_history()
    return Counter(EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in history.events)


async def least(client: Client) -> Counter[str]:
    """Return the events of the floor: three waits, the second ended by a signal, and an activity after each."""
    waits = floor.Waits(seconds=[0.2, 60.0, 0.2], signalled=[1])
    handle = await client.start_workflow("floor_life", waits, id="floor-life", task_queue=floor.QUEUE)
    await asyncio.sleep(2)
    await handle.signal("ring")
    await handle.result()
    return await kinds(handle)


async def measure(of: Owner, enrollment_id: str) -> float:
    """Print both and return their ratio."""
    client = await Client.connect(of.facts["temporal_address"], data_converter=pydantic_data_converter)
    ours = await kinds(client.get_workflow_handle(f"enrollment/{enrollment_id}"))
    ready = Path(tempfile.mkdtemp(prefix="bench-floor-"), "ready")
    with serving(*floor.COMMAND, of.facts["temporal_address"], str(ready), ready=ready):
        bare = await least(client)
    print(f"history events of one life: {SENDS} sends, an acceptance between the first two")
    for name in sorted(ours | bare):
        print(f"  {name:<32} ours {ours[name]:4d}   floor {bare[name]:4d}")
    ratio = ours.total() / bare.total()
    print(f"  {'in all':<32} ours {ours.total():4d}   floor {bare.total():4d}   ratio {ratio:.2f} (aim: at most {AIM})")
    return ratio


def report() -> bool:
    """Measure on a separate installation, print, and return whether the aim is met."""
    with owner() as of:
        return asyncio.run(measure(of, live(of))) <= AIM
