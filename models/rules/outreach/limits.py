"""Limits: the numbers of an account as they are shown (contract, section 7 "Limits")."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from models.rules.outreach.caps import CAPS, AccountCaps, Cap, jitter_factor, resets_at, utc_day, warmup_factor


@dataclass(frozen=True, slots=True)
class CapReading:
    """One cap of an account, now. `configured` and `workspace` are null where nothing is set."""

    cap: Cap
    default: int
    ceiling: int
    configured: int | None
    workspace: int | None
    warmup_factor: float
    jitter_factor: float
    effective: int
    used: int
    reserved: int
    remaining: int
    resets_at: datetime


def cap_readings(
    caps: AccountCaps,
    *,
    used: Mapping[Cap, int],
    reserved: Mapping[Cap, int],
    workspace_new_outreach: int,
    now: datetime,
) -> list[CapReading]:
    """Every cap with what is taken of it in the current UTC day or ISO week; factor 1 before warm-up has started.

    `workspace_new_outreach` is what all accounts of the workspace together used and reserved today, this one included.
    """
    day = utc_day(now)
    shown = []
    for cap, rule in CAPS.items():
        effective = caps.effective(cap, day)
        taken, held = used.get(cap, 0), reserved.get(cap, 0)
        room = effective - taken - held
        if cap is Cap.NEW_OUTREACH_PER_DAY:
            room = min(room, caps.base(cap) - workspace_new_outreach)
        shown.append(
            CapReading(
                cap=cap,
                default=rule.default,
                ceiling=rule.ceiling,
                configured=caps.configured.get(cap),
                workspace=caps.workspace.get(cap),
                warmup_factor=warmup_factor(caps.warmup_day(day)),
                jitter_factor=jitter_factor(cap, caps.account_id, day),
                effective=effective,
                used=taken,
                reserved=held,
                remaining=max(0, room),
                resets_at=resets_at(cap, now),
            )
        )
    return shown


def after_warmup_start(caps: AccountCaps, now: datetime) -> dict[Cap, int]:
    """What each cap is today once the first person is scheduled: `caps_after_warmup_start`."""
    planned = caps.planned(utc_day(now))
    return {cap: planned.effective(cap, utc_day(now)) for cap in Cap}
