"""Under way: an action that was claimed and has no result yet, or whose result nobody saw."""

from datetime import datetime, timedelta

from models.rules.outreach.reconciling import SENDING_LIVES, Reading, Seen, next_check, overdue
from models.rules.outreach.states import ActionOutcome
from models.stores.outreach.answers import Decision, Need, shown
from models.stores.outreach.scenes import Scene
from models.tables import Action

A_MOMENT = timedelta(seconds=1)


def claimed(action: Action) -> datetime:
    """When the action was claimed. Raises `ValueError` for one that never was."""
    if action.claimed_at is None:
        raise ValueError("the action was not claimed")
    return action.claimed_at


def readings_of(action: Action) -> list[Reading]:
    """What was read back of the action since its claim."""
    return [Reading(datetime.fromisoformat(one["at"]), Seen(one["seen"])) for one in action.readings]


def give_up_call(action: Action, now: datetime) -> None:
    """Turn a call that has outlived its limit into one whose outcome nobody saw."""
    if action.outcome == ActionOutcome.SENDING and overdue(claimed(action), now):
        action.outcome = ActionOutcome.RECONCILING.value
        action.readings = []


def decide(scene: Scene, action: Action) -> Decision:
    """What an action under way needs: its result, a reading of the network, or a person."""
    give_up_call(action, scene.now)
    if action.outcome == ActionOutcome.SENDING:
        until = claimed(action) + SENDING_LIVES + A_MOMENT
        return Decision(Need.TIME, reason=f"{_what(action)} is being done; its result comes by then", until=until)
    if action.outcome == ActionOutcome.UNKNOWN:
        return Decision(Need.RING, reason=f"nobody saw what became of the {_what(action)}: a person has to settle it")
    at = next_check(claimed(action), readings_of(action))
    if at is not None and at > scene.now:
        return Decision(Need.TIME, reason=f"looks at {shown(scene, at)} what became of the {_what(action)}", until=at)
    number = len(action.readings)
    return Decision(Need.READ, reason=f"looks what became of the {_what(action)}, {number + 1}.", number=number)


def _what(action: Action) -> str:
    return str(action.type).replace("_", " ")
