"""Slots: what each rule does to a time, and what is refused."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from models.outreach.rules.actions import ActionType, OutreachCap
from models.outreach.rules.caps import AccountCaps, WorkingHours, counts_against, gap_after, shift, utc_day
from models.outreach.rules.slots import (
    FIRST_TOUCH_HORIZON,
    Calendar,
    Neighbour,
    Pause,
    Request,
    Slot,
    SlotMove,
    SlotRefusal,
    Taken,
    TimeRule,
    check_now,
    find_slot,
)
from tests.models.outreach.rules.planning import plan_slots

ACCOUNT = "acc_01jd3v8k5xe9q8w2r7t6y5u4p3"
NOW = datetime(2027, 3, 1, 9, 0, 17, tzinfo=UTC)  # a Monday, ten in the morning in Brussels
WARM = date(2026, 1, 1)
REPLY = Request("reply", frozenset(), displaces=True)
VISIT = counts_against(ActionType.PROFILE_VISIT)
INVITE = counts_against(ActionType.INVITE)
NEW = counts_against(ActionType.MESSAGE, new_outreach=True)


def calendar(
    *,
    now: datetime = NOW,
    started: date | None = WARM,
    zone: str = "Europe/Brussels",
    pause: Pause | None = None,
    neighbours: tuple[Neighbour, ...] = (),
    taken: tuple[Taken, ...] = (),
    **configured: int,
) -> Calendar:
    caps = AccountCaps(
        ACCOUNT,
        configured={OutreachCap(name): value for name, value in configured.items()},
        warmup_started_on=started,
    )
    return Calendar(caps, WorkingHours(zone), now, pause=pause, neighbours=neighbours, taken=taken)


def visit(n: int = 0) -> Request:
    return Request(f"visit{n}", VISIT)


def taken(at: datetime, name: str, caps: frozenset[OutreachCap] = frozenset(), *, movable: bool = False) -> Taken:
    return Taken(at, name, caps, (utc_day(at),), movable=movable)


def slot_of(answer: Slot | SlotRefusal) -> Slot:
    assert isinstance(answer, Slot)
    return answer


def test_a_free_account_sends_at_the_next_whole_minute() -> None:
    assert find_slot(calendar(), visit(), NOW) == Slot(datetime(2027, 3, 1, 9, 1, tzinfo=UTC))
    minute = NOW.replace(second=0)
    assert find_slot(calendar(), visit(), minute) == Slot(minute)


def test_each_move_is_reported_with_its_times_and_reason() -> None:
    saturday = datetime(2027, 3, 6, 12, tzinfo=UTC)
    slot = slot_of(find_slot(calendar(), visit(), saturday))
    assert slot.at == datetime(2027, 3, 8, 7, tzinfo=UTC) + shift("visit0")
    assert slot.limit is None
    assert [move.shown() for move in slot.why] == [
        {
            "rule": "working_hours",
            "from": "2027-03-06T12:00:00.000Z",
            "to": slot.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "detail": "working hours are 8:00–19:00 Europe/Brussels",
        }
    ]


def test_a_rest_is_kept_before_and_after() -> None:
    first = NOW + timedelta(seconds=13)
    full = calendar(taken=(taken(first, "a"), taken(first + timedelta(minutes=4), "b")))
    after_first = first + gap_after("a", first, full.hours)
    slot = slot_of(find_slot(full, visit(), first))
    own = gap_after("visit0", after_first, full.hours)
    fits_between = after_first + own <= first + timedelta(minutes=4)
    behind = first + timedelta(minutes=4) + gap_after("b", first + timedelta(minutes=4), full.hours)
    assert slot.at == (after_first if fits_between else behind)
    assert [move.rule for move in slot.why] == [TimeRule.SPACING]
    assert "rests" in slot.why[0].detail


def test_a_rest_that_does_not_fit_before_the_next_action_moves_behind_it() -> None:
    minute = datetime(2027, 3, 1, 9, 1, tzinfo=UTC)
    close = minute + timedelta(seconds=30)
    full = calendar(taken=(taken(close, "b"),))
    slot = slot_of(find_slot(full, visit(), NOW))
    assert slot.at == close + gap_after("b", close, full.hours)


def test_an_older_action_with_a_longer_rest_still_counts() -> None:
    lunch = datetime(2027, 3, 1, 11, 59, 50, tzinfo=UTC)  # at lunch: three times the rest
    names = sorted((f"n{n}" for n in range(50)), key=lambda name: gap_after(name, lunch, WorkingHours()))
    later = lunch + timedelta(seconds=20)
    full = calendar(taken=(taken(lunch, names[-1]), taken(later, names[0])))
    assert later + gap_after(names[0], later, full.hours) < lunch + gap_after(names[-1], lunch, full.hours)
    slot = slot_of(find_slot(full, visit(), later))
    assert slot.at == lunch + gap_after(names[-1], lunch, full.hours)
    assert slot.why[-1].rule is TimeRule.LUNCH


def test_lunch_is_named_when_its_rest_delays() -> None:
    at = datetime(2027, 3, 1, 11, 30, tzinfo=UTC)
    slot = slot_of(find_slot(calendar(taken=(taken(at, "a"),)), visit(), at))
    assert [move.rule for move in slot.why] == [TimeRule.LUNCH]


def test_a_full_day_moves_past_all_full_days_in_one_entry_and_says_the_figures() -> None:
    days = [datetime(2027, 3, 1, 8, tzinfo=UTC) + timedelta(days=n, minutes=10 * k) for n in (0, 1) for k in (0, 1)]
    full = calendar(taken=tuple(taken(at, f"t{n}", VISIT) for n, at in enumerate(days)), profile_views_per_day=2)
    slot = slot_of(find_slot(full, visit(), NOW))
    assert utc_day(slot.at) == date(2027, 3, 3)
    assert [move.rule for move in slot.why] == [OutreachCap.PROFILE_VIEWS_PER_DAY, TimeRule.WORKING_HOURS]
    assert slot.limit is OutreachCap.PROFILE_VIEWS_PER_DAY
    effective = full.effective(OutreachCap.PROFILE_VIEWS_PER_DAY, date(2027, 3, 1))
    assert slot.why[0].detail == f"2 of {effective} are taken on 2027-03-01"


def test_the_warmup_day_is_named_while_it_runs() -> None:
    full = calendar(started=None, taken=(taken(NOW - timedelta(hours=1), "t", VISIT),), profile_views_per_day=1)
    slot = slot_of(find_slot(full, visit(), NOW))
    assert slot.why[0].detail == "1 of 1 are taken on 2027-03-01, warm-up day 0 of 14"


def test_a_week_that_grows_waits_for_its_next_day_and_a_grown_one_for_monday() -> None:
    wednesday = datetime(2026, 12, 30, 9, tzinfo=UTC)  # in week 53, which ends in January
    for started, day in ((date(2026, 12, 28), date(2026, 12, 31)), (WARM, date(2027, 1, 4))):
        week = calendar(now=wednesday, started=started, invites_per_day=30, invites_per_week=20)
        room = week.effective(OutreachCap.INVITES_PER_WEEK, wednesday.date())
        for n in range(room):
            at = datetime(2026, 12, 28, 8, tzinfo=UTC) + timedelta(minutes=10 * n)
            week.add(taken(at, f"t{n}", INVITE))
        slot = slot_of(find_slot(week, Request("i", INVITE), wednesday))
        assert utc_day(slot.at) == day
        assert slot.limit is OutreachCap.INVITES_PER_WEEK
        assert slot.why[0].detail.startswith(f"{room} of {room} are taken on 2026-12-30")


def test_the_first_of_january_does_not_reset_a_week() -> None:
    friday = datetime(2027, 1, 1, 9, tzinfo=UTC)
    week = calendar(now=friday, invites_per_week=1)
    week.add(taken(datetime(2026, 12, 28, 9, tzinfo=UTC), "t", INVITE))
    assert utc_day(slot_of(find_slot(week, Request("i", INVITE), friday)).at) == date(2027, 1, 4)


def test_invites_without_a_note_have_a_week_of_their_own() -> None:
    week = calendar(invites_without_note_per_week=1)
    week.add(taken(NOW - timedelta(hours=1), "t", INVITE))
    slot = slot_of(find_slot(week, Request("i", INVITE), NOW))
    assert slot.limit is OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK
    noted = counts_against(ActionType.INVITE, with_text=True)
    assert slot_of(find_slot(week, Request("i", noted), NOW)).why == ()


def test_a_result_on_another_day_than_its_claim_counts_on_both_and_once_in_its_week() -> None:
    days = (date(2027, 3, 1), date(2027, 3, 2))
    both = Taken(NOW, "t", INVITE, days, sequence_id="seq")
    week = calendar(taken=(both,))
    assert [week.used_on(OutreachCap.INVITES_PER_DAY, day) for day in days] == [1, 1]
    assert [week.used_on(OutreachCap.INVITES_PER_WEEK, day) for day in days] == [1, 0]
    assert [week.started_on("seq", day) for day in days] == [1, 1]
    week.release(both)
    assert [week.used_on(OutreachCap.INVITES_PER_DAY, day) for day in days] == [0, 0]
    over = Taken(NOW, "t", INVITE, (date(2027, 3, 7), date(2027, 3, 8)))
    week.add(over)
    assert [week.used_on(OutreachCap.INVITES_PER_WEEK, day) for day in over.days] == [1, 1]


@pytest.mark.parametrize("cap", list(OutreachCap))
def test_a_cap_of_zero_is_refused_for_good(cap: OutreachCap) -> None:
    stopped = Calendar(AccountCaps(ACCOUNT, configured={cap: 0}), WorkingHours(), NOW)
    answer = find_slot(stopped, Request("r", frozenset({cap})), NOW)
    assert answer == SlotRefusal(cap, None)


def test_a_zero_that_is_met_on_a_later_day_keeps_the_moves() -> None:
    saturday = datetime(2027, 3, 6, 12, tzinfo=UTC)
    answer = find_slot(calendar(profile_views_per_day=0), visit(), saturday)
    assert isinstance(answer, SlotRefusal)
    assert [move.rule for move in answer.why] == [TimeRule.WORKING_HOURS]


def test_a_pace_counts_the_people_a_sequence_starts() -> None:
    paced = calendar()
    first = Request("a", VISIT, "seq", 1)
    paced.book(first, NOW)
    slot = slot_of(find_slot(paced, Request("b", VISIT, "seq", 1), NOW))
    assert utc_day(slot.at) == date(2027, 3, 2)
    assert slot.limit is TimeRule.DAILY_PACE_LIMIT
    assert slot.why[0].detail == "1 of 1 people are started on 2027-03-01"
    assert utc_day(slot_of(find_slot(paced, Request("c", VISIT, "other", 1), NOW)).at) == date(2027, 3, 1)
    assert utc_day(slot_of(find_slot(paced, Request("d", VISIT, "seq", None), NOW)).at) == date(2027, 3, 1)
    assert find_slot(paced, Request("e", VISIT, "new", 0), NOW) == SlotRefusal(TimeRule.DAILY_PACE_LIMIT, None)


def test_a_pause_with_an_end_is_planned_behind_and_one_without_refused() -> None:
    until = datetime(2027, 3, 2, tzinfo=UTC)
    slot = slot_of(find_slot(calendar(pause=Pause(until)), visit(), NOW))
    assert [move.rule for move in slot.why] == [TimeRule.ACCOUNT_PAUSED, TimeRule.WORKING_HOURS]
    assert slot.at == datetime(2027, 3, 2, 7, tzinfo=UTC) + shift("visit0")
    assert find_slot(calendar(pause=Pause(None)), visit(), NOW) == SlotRefusal(TimeRule.ACCOUNT_PAUSED, None)
    assert slot_of(find_slot(calendar(pause=Pause(NOW)), visit(), NOW)).why == ()


def test_no_enrollment_wakes_at_a_boundary() -> None:
    midnight = datetime(2027, 3, 2, tzinfo=UTC)  # four in the afternoon in Los Angeles
    end = calendar(zone="America/Los_Angeles", now=midnight - timedelta(minutes=2))
    slot = slot_of(find_slot(end, visit(), midnight - timedelta(minutes=2)))
    assert [move.rule for move in slot.why] == [TimeRule.DAY_END]
    assert slot.at == midnight + shift("visit0")
    paused = calendar(zone="America/Los_Angeles", pause=Pause(midnight), now=midnight - timedelta(hours=1))
    assert slot_of(find_slot(paused, visit(), midnight - timedelta(hours=1))).at == midnight + shift("visit0")


def test_a_slot_behind_the_horizon_is_refused_with_that_slot() -> None:
    day = datetime(2027, 3, 1, 8, tzinfo=UTC)
    full = calendar(profile_views_per_day=1)
    for n in range(15):
        full.add(taken(day + timedelta(days=n), f"t{n}", VISIT))
    answer = find_slot(full, visit(), NOW, within=FIRST_TOUCH_HORIZON)
    assert isinstance(answer, SlotRefusal)
    assert answer.rule is OutreachCap.PROFILE_VIEWS_PER_DAY
    follow_up = slot_of(find_slot(full, visit(), NOW))
    assert answer.next_available_at == follow_up.at
    assert utc_day(follow_up.at) == date(2027, 3, 16)


def test_a_slot_that_no_limit_pushed_out_is_refused_by_what_delayed_most() -> None:
    paused = calendar(pause=Pause(NOW + timedelta(days=20)))
    answer = find_slot(paused, visit(), NOW, within=FIRST_TOUCH_HORIZON)
    assert isinstance(answer, SlotRefusal)
    assert answer.rule is TimeRule.ACCOUNT_PAUSED
    assert answer.next_available_at is not None


def test_a_reply_keeps_the_rest_to_what_was_sent_and_displaces_what_is_planned() -> None:
    sent = NOW - timedelta(seconds=10)
    planned = NOW + timedelta(minutes=5)
    busy = calendar(taken=(taken(sent, "sent"), taken(planned, "planned", movable=True)))
    at = slot_of(find_slot(busy, REPLY, planned)).at
    assert at == planned.replace(second=0) + timedelta(minutes=1)
    assert slot_of(find_slot(busy, visit(), planned)).at > planned + timedelta(seconds=45)
    busy.book(REPLY, at)
    assert slot_of(find_slot(busy, Request("second", frozenset(), displaces=True), at)).at > at
    soon = slot_of(find_slot(busy, REPLY, NOW))
    assert soon.at >= sent + gap_after("sent", sent, busy.hours)


def test_only_a_planned_step_gives_way_to_a_reply() -> None:
    sent = Taken(NOW, "sent", frozenset(), (utc_day(NOW),))
    assert slot_of(find_slot(calendar(taken=(sent,)), REPLY, NOW)).at >= NOW + gap_after("sent", NOW, WorkingHours())
    busy = calendar()
    assert busy.book(visit(), NOW).movable
    assert not busy.book(REPLY, NOW + timedelta(minutes=9)).movable


def test_a_claim_is_checked_to_the_second() -> None:
    free = calendar()
    assert check_now(free, visit(), NOW) is None
    resting = calendar(taken=(taken(NOW - timedelta(seconds=20), "t"),))
    move = check_now(resting, visit(), NOW)
    assert isinstance(move, SlotMove)
    assert move.rule is TimeRule.SPACING
    assert check_now(resting, visit(), move.moved_to) is None
    late = datetime(2027, 3, 1, 17, 58, tzinfo=UTC)
    assert isinstance(check_now(free, visit(), late), SlotMove)
    assert check_now(calendar(pause=Pause(None)), visit(), NOW) == SlotRefusal(TimeRule.ACCOUNT_PAUSED, None)


def test_an_action_is_in_the_calendar_once_and_comes_out_once() -> None:
    one = taken(NOW, "t", VISIT)
    book = calendar(taken=(one,))
    with pytest.raises(ValueError, match="is in the calendar"):
        book.add(one)
    book.release(one)
    with pytest.raises(KeyError):
        book.release(one)
    assert slot_of(find_slot(book, visit(), NOW)).why == ()


def test_of_two_actions_at_one_moment_the_right_one_is_released() -> None:
    book = calendar(taken=(taken(NOW, "a"), taken(NOW, "b"), taken(NOW, "c", movable=True)))
    book.release(taken(NOW, "b"))
    book.release(taken(NOW, "c", movable=True))
    slot = slot_of(find_slot(book, visit(), NOW.replace(second=0)))
    assert slot.at == NOW + gap_after("a", NOW, book.hours)


def test_replanning_in_the_original_order_after_a_pause_gives_each_its_own_time() -> None:
    requests = [visit(n) for n in range(30)]
    before = plan_slots(calendar(), [(one, NOW) for one in requests])
    after = plan_slots(calendar(pause=Pause(NOW + timedelta(hours=3))), [(one, NOW) for one in requests])
    assert len({slot_of(one).at for one in after}) == 30
    assert min(slot_of(one).at for one in after) >= NOW + timedelta(hours=3)
    assert len({slot_of(one).at for one in before}) == 30


def test_what_other_accounts_started_counts_in_the_workspace() -> None:
    day = utc_day(NOW)
    other = AccountCaps("acc_other", warmup_started_on=WARM)
    idle = calendar(neighbours=(Neighbour(other, {day: 25}, competes=False),))
    slot = slot_of(find_slot(idle, Request("m", NEW), NOW))
    assert utc_day(slot.at) == day + timedelta(days=1)
    assert slot.limit is OutreachCap.NEW_OUTREACH_PER_DAY
    assert slot.why[0].detail == "the workspace's 25 of 2027-03-01 are taken or kept for its other accounts"


def test_the_share_of_an_idle_account_is_not_kept_free() -> None:
    day = utc_day(NOW)
    other = AccountCaps("acc_other", warmup_started_on=WARM)
    for competes, most in ((False, 25), (True, 13)):
        shared = calendar(neighbours=(Neighbour(other, {}, competes=competes),))
        answers = plan_slots(shared, [(Request(f"m{n}", NEW), NOW) for n in range(40)])
        assert sum(utc_day(slot_of(one).at) == day for one in answers) == most


def test_a_raise_on_one_account_is_counted_over_the_workspace() -> None:
    raised = AccountCaps("acc_other", configured={OutreachCap.NEW_OUTREACH_PER_DAY: 40}, warmup_started_on=WARM)
    shared = calendar(neighbours=(Neighbour(raised, {utc_day(NOW): 20}, competes=True),))
    assert shared.workspace_base() == 40
    answers = plan_slots(shared, [(Request(f"m{n}", NEW), NOW) for n in range(40)])
    assert sum(utc_day(slot_of(one).at) == utc_day(NOW) for one in answers) == 20


def test_a_fresh_account_takes_about_115_to_155_new_people_within_the_horizon() -> None:
    taken_in = []
    for weekday in range(5):
        now = NOW + timedelta(days=weekday)
        fresh = calendar(started=None, now=now)
        first = counts_against(ActionType.INVITE, with_text=True, new_outreach=True)
        answers = plan_slots(fresh, [(Request(f"i{n}", first), now) for n in range(500)], within=FIRST_TOUCH_HORIZON)
        reasons = Counter(one.rule for one in answers if isinstance(one, SlotRefusal))
        assert set(reasons) <= {OutreachCap.INVITES_PER_DAY, OutreachCap.INVITES_PER_WEEK}
        assert all(isinstance(one, Slot) or one.next_available_at is not None for one in answers)
        taken_in.append(500 - sum(reasons.values()))
    assert 105 <= min(taken_in) <= max(taken_in) <= 160


@pytest.mark.parametrize("kind", [VISIT, INVITE, NEW])
@pytest.mark.parametrize("booked", [False, True])
def test_500_people_beside_5000_actions_are_planned(kind: frozenset[OutreachCap], booked: bool) -> None:
    step = timedelta(minutes=4 if booked else -15)
    full = tuple(taken(NOW + n * step, f"t{n}", movable=True) for n in range(1, 5001))
    requests = [(Request(f"r{n}", kind, "seq", None), NOW) for n in range(500)]
    answers = plan_slots(calendar(taken=full), requests, within=FIRST_TOUCH_HORIZON)
    assert len(answers) == 500
