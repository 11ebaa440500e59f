"""A sequence with 120 people over sixty days, on the real installation under virtual time.

The network's own log is the truth: every execution is held against hours, rests and caps that are computed here anew.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Outreach, key_of, moment, outside_hours, over_caps, too_close

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]

PEOPLE = 120
STEPS = [
    {"type": "invite", "note": "Hi {{first_name}}, I recruit in your field and would be glad to be in touch."},
    {
        "type": "message",
        "wait_days": 1,
        "only_after_accept": True,
        "accept_timeout_days": 14,
        "body": "Hi {{first_name}}, thank you for connecting. {{privacy_notice}}",
    },
    {
        "type": "message",
        "wait_days": 4,
        "only_after_accept": True,
        "accept_timeout_days": 14,
        "is_follow_up": True,
        "body": "Hi {{first_name}}, a short reminder of my message.",
    },
    {"type": "withdraw_invite", "wait_days": 2},
]


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "3000", "--virtual-time") as running:
        yield running


@pytest.fixture(scope="module")
def sent(installation: Installation) -> Outreach:
    """120 people enrolled, and sixty days passed."""
    outreach = Outreach.begin(installation)
    steps = outreach.post(
        "/v1/outreach/sequences", {"account_id": outreach.account_id, "name": "Sixty days", "steps": STEPS}
    )
    candidates = [{"profile_url": person["profile_url"], "first_name": "Jo"} for person in outreach.strangers(PEOPLE)]
    done = outreach.post("/v1/outreach/enrollments", {"sequence_id": steps["id"], "candidates": candidates})
    assert done["enrolled"] == PEOPLE, done["skipped"]
    outreach.advance("60d")
    return outreach


def test_everybody_is_invited_once_and_no_text_is_written_twice(sent: Outreach) -> None:
    log = sent.log()
    assert all(entry["result"] for entry in log)
    invites = Counter(entry["person_id"] for entry in log if entry["kind"] == "invite")
    assert len(invites) == PEOPLE
    assert set(invites.values()) == {1}
    assert max(Counter(map(key_of, log)).values()) == 1


def test_everything_lies_in_hours_keeps_its_rest_and_respects_the_caps(sent: Outreach) -> None:
    log = sent.log()
    actions = [one for one in sent.listed("/v1/outreach/actions") if one["outcome"] == "sent"]
    assert len(actions) == len(log)
    by_time = sorted(actions, key=lambda one: one["sent_at"])
    seeds = {key_of(entry): action["seed"] for entry, action in zip(log, by_time, strict=True)}
    account = sent.recruiter.get(f"/v1/outreach/accounts/{sent.account_id}")
    started = datetime.fromisoformat(account["warmup"]["started_at"]).date()
    assert outside_hours(log) == []
    assert too_close(log, seeds) == []
    assert over_caps(log, sent.account_id, started) == []


def test_nobody_is_written_to_after_a_reply_and_every_enrollment_has_ended(sent: Outreach) -> None:
    enrollments = sent.listed("/v1/outreach/enrollments")
    open_ones = [one for one in enrollments if one["finished_at"] is None]
    assert open_ones == []
    assert {one["status"] for one in enrollments} <= {"completed", "replied"}
    replied = {one["profile_id"]: one["replied_at"] for one in enrollments if one["replied_at"]}
    assert replied  # somebody answered, else this says nothing
    for action in sent.listed("/v1/outreach/actions", outcome="sent"):
        at = replied.get(action["profile_id"])
        assert at is None or action["sent_at"] <= at


def test_whoever_does_not_accept_is_withdrawn_after_the_time_out(sent: Outreach) -> None:
    log = sent.log()
    invited = {entry["person_id"]: moment(entry) for entry in log if entry["kind"] == "invite"}
    written = {entry["person_id"] for entry in log if entry["kind"] == "message"}
    withdrawn = {entry["person_id"]: moment(entry) for entry in log if entry["kind"] == "withdraw"}
    assert withdrawn
    assert written
    assert not written & withdrawn.keys()
    assert all((at - invited[person]).days >= 16 for person, at in withdrawn.items())
