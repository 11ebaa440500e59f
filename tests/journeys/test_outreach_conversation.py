"""One person from the invite to the last message, on a real installation under virtual time."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Outreach

pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]

GREETING = "Hi Jo, thank you for connecting."
STEPS = [
    {"type": "invite", "note": "Hi {{first_name}}, glad to be in touch."},
    {"type": "message", "only_after_accept": True, "body": "Hi {{first_name}}, thank you for connecting."},
    {"type": "message", "only_after_accept": True, "wait_days": 5, "is_follow_up": True, "body": "Still there?"},
]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "300", "--virtual-time") as running:
        yield running


def act(outreach: Outreach, path: str, **body: Any) -> None:
    """Let a person act on the network."""
    url = f"{outreach.installation.facts['sandbox_url']}/_control/network/{path}"
    httpx.post(url, json=body, trust_env=False, timeout=30).raise_for_status()


def kinds(outreach: Outreach) -> list[tuple[str, str | None]]:
    return [(entry["kind"], entry["text"]) for entry in outreach.log()]


def test_a_candidate_is_invited_written_to_heard_answered_and_left_alone(installation: Installation) -> None:
    outreach = Outreach.begin(installation)
    act(outreach, "switches", natural=False)
    (person,) = outreach.strangers(1)
    whose = {"account_id": outreach.provider_id, "person_id": person["person_id"]}
    body = {"account_id": outreach.account_id, "name": "One", "steps": STEPS}
    sequence_id = outreach.post("/v1/outreach/sequences", body)["id"]
    asked = {
        "sequence_id": sequence_id,
        "candidates": [{"profile_url": person["profile_url"], "first_name": "Jo"}],
    }
    (enrollment,) = outreach.post("/v1/outreach/enrollments", asked)["enrollments"]
    outreach.advance("4d")
    assert kinds(outreach) == [("invite", "Hi Jo, glad to be in touch.")]

    act(outreach, "accept", **whose)
    outreach.advance("4d")
    assert kinds(outreach)[1:] == [("message", GREETING)]
    act(outreach, "reply", **whose, text="Who is the client?")
    outreach.advance("1m")  # the callback, not the poll

    get = outreach.recruiter.get
    (reply,) = get("/v1/outreach/replies", params={"unread": "true"})["data"]
    assert (reply["untrusted_text"], reply["text"]) == ("Who is the client?", None)
    ended = get(f"/v1/outreach/enrollments/{enrollment['id']}")
    assert (ended["status"], ended["next_action_at"]) == ("replied", None)
    path = f"/v1/outreach/conversations/{reply['conversation_id']}"
    said = {(one["sent_by"], one["text"] or one["untrusted_text"]) for one in get(f"{path}/messages")["data"]}
    assert ("service", GREETING) in said
    assert ("candidate", "Who is the client?") in said

    answer = outreach.post(f"{path}/replies", {"text": "A bank in Ghent."})
    outreach.advance("4d")
    assert kinds(outreach)[2:] == [("message", "A bank in Ghent.")]  # and no follow-up
    assert get(f"/v1/outreach/actions/{answer['id']}")["outcome"] == "sent"
    newest = get(f"{path}/messages")["data"][0]
    assert (newest["sent_by"], newest["action_id"], newest["text"]) == ("service", answer["id"], "A bank in Ghent.")

    labelled = outreach.recruiter.call("PATCH", path, json={"intent": "not_interested", "read": True})
    assert (labelled.status_code, labelled.json()["read"]) == (200, True)
    again = outreach.post("/v1/outreach/enrollments", asked)
    assert (again["enrolled"], again["skipped"][0]["reason"]) == (0, "do_not_contact")
    outreach.advance("20d")
    assert len(outreach.log()) == 3

    told = Counter(event["type"] for event in outreach.listed("/v1/events"))
    assert (told["reply.received"], told["invite.accepted"]) == (1, 1)
    figures = get(
        "/v1/outreach/activity", params={"account_id": outreach.account_id, "since": enrollment["created_at"]}
    )
    assert figures["replies"] == {"rate": 1.0, "count": 1, "sample_size": 1}
