"""Slots, whatever is asked: never over a cap, rests kept both ways, inside hours, explained, and twice the same."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.actions import ActionType, OutreachCap
from models.outreach.rules.caps import WEEKLY, AccountCaps, WorkingHours, counts_against, gap_after, monday, utc_day
from models.outreach.rules.slots import (
    FIRST_TOUCH_HORIZON,
    Calendar,
    Neighbour,
    Pause,
    Request,
    Slot,
    SlotRefusal,
    Taken,
    find_slot,
    rounded_up,
)
from tests.models.outreach.rules.planning import plan_slots

ACCOUNT = "acc_01jd3v8k5xe9q8w2r7t6y5u4p3"
ZONES = ["Europe/Brussels", "America/Los_Angeles", "Pacific/Auckland"]
STARTS = [datetime(2026, 12, 28), datetime(2027, 3, 25), datetime(2027, 10, 28)]  # noqa: DTZ001 - week 53, the changes
NOW = st.builds(
    lambda start, seconds: start.replace(tzinfo=UTC) + timedelta(seconds=seconds),
    st.sampled_from(STARTS),
    st.integers(0, 5 * 86_400),
)
HOURS = st.builds(
    WorkingHours,
    zone=st.sampled_from(ZONES),
    start_hour=st.just(8),
    end_hour=st.sampled_from([10, 19]),
    days=st.sampled_from([(1, 2, 3, 4, 5), (1,), (2, 5)]),
)
KINDS = st.tuples(st.sampled_from(list(ActionType)), st.booleans(), st.booleans())


@st.composite
def calendars(draw: st.DrawFn) -> Calendar:
    now = draw(NOW)
    caps = AccountCaps(
        ACCOUNT,
        configured={cap: draw(st.integers(1, 6)) for cap in OutreachCap},
        warmup_started_on=draw(st.one_of(st.none(), st.dates(date(2026, 12, 20), date(2027, 10, 30)))),
    )
    pause = draw(st.one_of(st.none(), st.builds(lambda h: Pause(now + timedelta(hours=h)), st.integers(-5, 100))))
    return Calendar(caps=caps, hours=draw(HOURS), now=now, pause=pause)


def request(place: int, kind: tuple[ActionType, bool, bool], pace: int | None = None) -> Request:
    type_, with_note, new = kind
    caps = counts_against(type_, with_text=with_note, new_outreach=new)
    return Request(f"{ACCOUNT}:p{place}:s:0", caps, "seq" if pace is not None else None, pace)


def in_calendar(calendar: Calendar) -> list[Taken]:
    return sorted(calendar._members, key=lambda taken: taken.at)


def keeps_rests(calendar: Calendar) -> bool:
    taken = in_calendar(calendar)
    return all(one.at + gap_after(one.seed, one.at, calendar.hours) <= other.at for one, other in pairwise(taken))


def keeps_caps(calendar: Calendar) -> bool:
    caps = calendar.caps.planned(utc_day(calendar.now))
    per_day = Counter((cap, day) for taken in calendar._members for cap in taken.caps for day in taken.days)
    for cap, day in per_day:
        if cap in WEEKLY:
            week = sum(n for (c, d), n in per_day.items() if c is cap and monday(d) == monday(day) and d <= day)
            if week > caps.effective(cap, day):
                return False
        elif per_day[cap, day] > caps.effective(cap, day):
            return False
    return True


def is_explained(slot: Slot | SlotRefusal, not_before: datetime) -> bool:
    moments = [rounded_up(not_before), *(move.moved_to for move in slot.why)]
    chained = [move.moved_from for move in slot.why] == moments[:-1] and moments == sorted(set(moments))
    return chained and moments[-1] == (slot.at if isinstance(slot, Slot) else slot.next_available_at)


@given(calendar=calendars(), kinds=st.lists(KINDS, min_size=1, max_size=30), spread=st.integers(0, 90))
@settings(max_examples=60, deadline=None)
def test_a_plan_keeps_every_rule_and_explains_every_time(
    calendar: Calendar, kinds: list[tuple[ActionType, bool, bool]], spread: int
) -> None:
    asked = [
        (request(place, kind), calendar.now + timedelta(hours=(place * spread) % 150))
        for place, kind in enumerate(kinds)
    ]
    answers = plan_slots(calendar, asked)
    assert keeps_rests(calendar)
    assert keeps_caps(calendar)
    for (_, not_before), answer in zip(asked, answers, strict=True):
        assert isinstance(answer, Slot)
        assert is_explained(answer, not_before)
        assert calendar.hours.claimable(answer.at)
        assert calendar.pause is None or calendar.pause.until is None or answer.at >= calendar.pause.until


@given(calendar=calendars(), kinds=st.lists(KINDS, min_size=1, max_size=25))
@settings(max_examples=25, deadline=None)
def test_preview_and_execution_yield_the_same_times_and_a_search_plans_nothing(
    calendar: Calendar, kinds: list[tuple[ActionType, bool, bool]]
) -> None:
    asked = [(request(place, kind), calendar.now) for place, kind in enumerate(kinds)]
    before = find_slot(calendar, *asked[0])
    assert in_calendar(calendar) == []
    again = Calendar(calendar.caps, calendar.hours, calendar.now, calendar.pause)
    assert plan_slots(calendar, asked)[0] == before
    plan_slots(again, asked)
    assert in_calendar(again) == in_calendar(calendar)


@given(calendar=calendars(), kinds=st.lists(KINDS, min_size=1, max_size=30), pace=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_first_touches_keep_pace_and_horizon_and_a_refusal_names_what_would_have_worked(
    calendar: Calendar, kinds: list[tuple[ActionType, bool, bool]], pace: int
) -> None:
    for place, kind in enumerate(kinds):
        one = request(place, kind, pace)
        answer = find_slot(calendar, one, calendar.now, within=FIRST_TOUCH_HORIZON)
        unbounded = find_slot(calendar, one, calendar.now)
        assert isinstance(unbounded, Slot)
        assert is_explained(answer, calendar.now)
        if isinstance(answer, Slot):
            assert answer == unbounded
            assert answer.at <= calendar.now + FIRST_TOUCH_HORIZON
            calendar.book(one, answer.at)
        else:
            assert answer.next_available_at == unbounded.at
            assert unbounded.at > calendar.now + FIRST_TOUCH_HORIZON
    assert all(n <= pace for n in Counter(utc_day(taken.at) for taken in calendar._members).values())


@given(calendar=calendars(), kind=KINDS, booked=st.lists(st.integers(0, 3 * 86_400), max_size=40, unique=True))
@settings(max_examples=40, deadline=None)
def test_no_earlier_moment_of_the_same_day_would_have_worked(
    calendar: Calendar, kind: tuple[ActionType, bool, bool], booked: list[int]
) -> None:
    """Checked over the quarter of an hour before the slot, back to what the other rules left."""
    for place, seconds in enumerate(booked):
        at = calendar.now + timedelta(seconds=seconds)
        calendar.add(Taken(at, f"b{place}", frozenset(), (utc_day(at),)))
    one = request(0, kind)
    slot = find_slot(calendar, one, calendar.now)
    assert isinstance(slot, Slot)
    bound = max([rounded_up(calendar.now), *(m.moved_to for m in slot.why if m.rule not in {"spacing", "lunch"})])
    for seconds in range(1, 900, 7):
        earlier = slot.at - timedelta(seconds=seconds)
        if earlier >= bound:
            assert calendar.in_the_way(one, earlier) is not None


@given(
    bases=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    ages=st.lists(st.integers(0, 20), min_size=5, max_size=5),
    turns=st.lists(st.integers(0, 4), max_size=150),
)
@settings(max_examples=60, deadline=None)
def test_competing_accounts_share_the_workspace_and_each_gets_its_part(
    bases: list[int], ages: list[int], turns: list[int]
) -> None:
    """Accounts take new outreach in any order; each goes on while its calendar lets it."""
    cap, now = OutreachCap.NEW_OUTREACH_PER_DAY, datetime(2027, 1, 6, 10, tzinfo=UTC)
    day = utc_day(now)
    accounts = [
        AccountCaps(f"acc_{n}", configured={cap: base}, warmup_started_on=day - timedelta(days=ages[n]))
        for n, base in enumerate(bases)
    ]
    taken = [0] * len(accounts)

    def may_take(n: int) -> bool:
        others = [Neighbour(accounts[m], {day: taken[m]}, competes=True) for m in range(len(accounts)) if m != n]
        mine = [Taken(now, f"{n}:{k}", frozenset({cap}), (day,)) for k in range(taken[n])]
        calendar = Calendar(accounts[n], WorkingHours(), now, neighbours=others, taken=mine)
        return taken[n] < accounts[n].effective(cap, day) and not calendar.workspace_full(day)

    all_people = [n for _ in range(41) for n in range(len(accounts))]
    for turn in [*turns, *all_people]:  # the first may take all: in the end all have asked until nothing was left
        if turn < len(accounts) and may_take(turn):
            taken[turn] += 1
    base = max(bases)
    share = base // len(accounts)
    assert sum(taken) <= base
    for n, account in enumerate(accounts):
        assert min(share, account.effective(cap, day)) <= taken[n] <= account.effective(cap, day)
