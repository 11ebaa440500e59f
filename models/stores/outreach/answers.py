"""Answers: what an enrollment or a direct send needs next, and how that reads."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from zoneinfo import ZoneInfo

from models.rules.outreach.states import ActionOutcome
from models.stores.outreach.scenes import Scene
from models.tables import Action


class Need(StrEnum):
    """What is needed next."""

    SEND = "send"
    READ = "read"  # read the network back
    TIME = "time"
    RING = "ring"  # nothing but a change of the rows goes on from here
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is next. `until` is service time, with `Need.TIME` only; `number` fences a call.

    `reason` is what an operator reads as the wait's or call's summary, `details` on the workflow's page. Neither names
    the person.
    """

    need: Need
    reason: str = ""
    until: datetime | None = None
    number: int = 0
    account_id: str = ""
    status: str = ""
    details: str = ""
    now: datetime | None = None

    @property
    def wait_seconds(self) -> float | None:
        """The distance to `until` by service time."""
        if self.until is None or self.now is None:
            return None
        return (self.until - self.now).total_seconds()


def complete(scene: Scene, decision: Decision) -> Decision:
    """The decision with what is the same for all: whose it is, the status, and the page's text."""
    row = scene.enrollment if scene.enrollment is not None else scene.actions[0]
    status = scene.enrollment.status if scene.enrollment is not None else scene.actions[0].outcome
    done = sum(1 for one in scene.actions if one.outcome == ActionOutcome.SENT)
    lines = [f"**{status}**: {decision.reason or 'has ended'}"]
    if row.reason is not None:
        lines.append(f"- reason: {row.reason}")
    if scene.enrollment is not None:
        lines.append(
            f"- {done} of {len(scene.steps)} steps sent, version {scene.sequence.version if scene.sequence else '-'}"
        )
    lines.extend(f"- moved: {_moved(scene, entry)}" for entry in (scene.action.why[-5:] if scene.action else ()))
    return replace(decision, account_id=scene.account.id, status=status, details="\n".join(lines), now=scene.now)


def _moved(scene: Scene, entry: dict[str, str]) -> str:
    to = entry.get("to")
    when = "" if to is None else f" to {shown(scene, datetime.fromisoformat(to))}"
    return f"{_plain(entry['rule'])}{when} ({entry['detail']})"


def goes_out(scene: Scene, action: Action) -> str:
    """`invite goes out at 4 Mar 09:41, moved by: invites per day, lunch`: when, and every rule that moved it."""
    at = action.scheduled_at
    what = _plain(action.type)
    by = list(dict.fromkeys(_plain(entry["rule"]) for entry in action.why))
    when = f"goes out at {shown(scene, at)}" if at is not None else "waits without a time"
    return f"{what} {when}" + (f", moved by: {', '.join(by)}" if by else "")


def _plain(name: str) -> str:
    return str(name).replace("_", " ")


def shown(scene: Scene, at: datetime) -> str:
    """A moment as the account's owner reads a clock: `4 Mar 09:41`."""
    local = at.astimezone(ZoneInfo(scene.rules.hours.zone))
    return f"{local.day} {local:%b %H:%M}"
