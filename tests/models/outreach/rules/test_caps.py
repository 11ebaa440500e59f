"""Caps: the vectors of the design, warm-up, jitter, the growing week, and what may be configured."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.actions import ActionType, OutreachCap
from models.outreach.rules.caps import (
    CAPS,
    WEEKLY,
    AccountCaps,
    action_seed,
    cap_problem,
    cap_resets_at,
    counts_against,
    jitter_factor,
    monday,
    unit,
    utc_day,
    warmup_day,
    warmup_factor,
    week_allows,
    workspace_cap_problem,
)

ACCOUNT = "acc_01jd3v8k5xe9q8w2r7t6y5u4p3"
STARTED = date(2026, 12, 24)
DAYS = st.dates(date(2026, 1, 1), date(2029, 12, 31))
IN_ORDER = (
    OutreachCap.INVITES_PER_DAY,
    OutreachCap.INVITES_PER_WEEK,
    OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK,
    OutreachCap.PROFILE_VIEWS_PER_DAY,
    OutreachCap.NEW_OUTREACH_PER_DAY,
)


@pytest.mark.parametrize(
    ("day", "n", "warmup", "by_day", "week", "by_week", "expected"),
    [
        (date(2026, 12, 24), 0, 0.4, 0.994115, (2026, 52), 0.940071, (7, 37, 28, 39, 10)),
        (date(2026, 12, 31), 7, 0.7, 0.869593, (2026, 53), 0.905489, (12, 63, 47, 60, 17)),
        (date(2027, 1, 1), 8, 0.742857, 0.888984, (2026, 53), 0.905489, (13, 67, 50, 66, 18)),
        (date(2027, 1, 7), 14, 1.0, 0.876253, (2027, 1), 0.896448, (17, 89, 67, 87, 25)),
    ],
)
def test_the_vectors_of_the_design(
    day: date,
    n: int,
    warmup: float,
    by_day: float,
    week: tuple[int, int],
    by_week: float,
    expected: tuple[int, ...],
) -> None:
    caps = AccountCaps(ACCOUNT, warmup_started_on=STARTED)
    assert caps.warmup_day(day) == n
    assert warmup_factor(n) == pytest.approx(warmup, abs=5e-7)
    assert jitter_factor(OutreachCap.INVITES_PER_DAY, ACCOUNT, day) == pytest.approx(by_day, abs=5e-7)
    assert tuple(day.isocalendar())[:2] == week
    assert jitter_factor(OutreachCap.INVITES_PER_WEEK, ACCOUNT, day) == pytest.approx(by_week, abs=5e-7)
    assert jitter_factor(OutreachCap.NEW_OUTREACH_PER_DAY, ACCOUNT, day) == 1.0
    assert tuple(caps.effective(cap, day) for cap in IN_ORDER) == expected
    of_one = AccountCaps(ACCOUNT, configured=dict.fromkeys(OutreachCap, 1), warmup_started_on=STARTED)
    assert [of_one.effective(cap, day) for cap in OutreachCap] == [1] * 5


def test_any_text_is_a_seed_of_a_number_below_one() -> None:
    assert unit("act_01jd3v8k5xe9q8w2r7t6y5u4p1") == pytest.approx((138.987 - 45) / 135, abs=1e-5)
    assert action_seed("acc_1", "abc", "stp_1", 2) == "acc_1:abc:stp_1:2"


def test_the_highest_hash_still_gives_less_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Highest:
        def digest(self) -> bytes:
            return b"\xff" * 32

    monkeypatch.setattr("models.outreach.rules.caps.hashlib.sha256", lambda _: Highest())
    assert unit("x") < 1


@given(
    cap=st.sampled_from(list(OutreachCap)), value=st.integers(0, 150), day=DAYS, age=st.integers(0, 40), name=st.text()
)
@settings(deadline=None)
def test_an_effective_cap_is_within_its_base_and_zero_only_for_zero(
    cap: OutreachCap, value: int, day: date, age: int, name: str
) -> None:
    caps = AccountCaps(name, configured={cap: value}, warmup_started_on=day - timedelta(days=age))
    effective = caps.effective(cap, day)
    assert (effective == 0) == (value == 0)
    assert min(1, value) <= effective <= value
    assert effective <= max(1, value * warmup_factor(age))


@given(cap=st.sampled_from(list(OutreachCap)), started=DAYS, ahead=st.integers(0, 30), base=st.integers(0, 150))
@settings(deadline=None)
def test_caps_do_not_fall_within_a_week_and_new_outreach_never(
    cap: OutreachCap, started: date, ahead: int, base: int
) -> None:
    caps = AccountCaps(ACCOUNT, configured={cap: base}, warmup_started_on=started)
    day = started + timedelta(days=ahead)
    following = day + timedelta(days=1)
    if cap is OutreachCap.NEW_OUTREACH_PER_DAY or (cap in WEEKLY and monday(day) == monday(following)):
        assert caps.effective(cap, following) >= caps.effective(cap, day)


def test_warmup_rises_from_its_first_day_and_is_over_after_fourteen() -> None:
    assert warmup_factor(None) == 1
    assert [warmup_factor(n) for n in (0, 14, 15, 400)] == [0.4, 1, 1, 1]
    rising = [warmup_factor(n) for n in range(15)]
    assert rising == sorted(set(rising))
    assert warmup_day(date(2027, 1, 5), date(2027, 1, 3)) == 0  # a day of the week before it started
    assert warmup_day(None, date(2027, 1, 3)) is None


def test_own_new_outreach_is_the_exact_floor() -> None:
    for base in range(3, 41):
        caps = AccountCaps(ACCOUNT, configured={OutreachCap.NEW_OUTREACH_PER_DAY: base}, warmup_started_on=STARTED)
        for n in range(15):
            exact = base * (28 + 3 * n) // 70
            assert caps.effective(OutreachCap.NEW_OUTREACH_PER_DAY, STARTED + timedelta(days=n)) == max(1, exact)


def test_the_lower_of_account_and_workspace_applies() -> None:
    cap = OutreachCap.INVITES_PER_DAY
    assert AccountCaps(ACCOUNT).base(cap) == 20
    assert AccountCaps(ACCOUNT, workspace={cap: 12}).base(cap) == 12
    assert AccountCaps(ACCOUNT, configured={cap: 30}, workspace={cap: 20}).base(cap) == 20
    assert AccountCaps(ACCOUNT, configured={cap: 5}, workspace={cap: 12}).base(cap) == 5
    assert AccountCaps(ACCOUNT, configured={cap: 5}, workspace={cap: 0}).effective(cap, STARTED) == 0


def test_an_account_that_has_not_started_is_shown_full_and_planned_as_of_today() -> None:
    caps, day = AccountCaps(ACCOUNT), date(2027, 1, 7)
    assert caps.effective(OutreachCap.INVITES_PER_DAY, day) == 17
    assert caps.planned(day).effective(OutreachCap.INVITES_PER_DAY, day) == 7
    started = AccountCaps(ACCOUNT, warmup_started_on=STARTED)
    assert started.planned(day) is started


@pytest.mark.parametrize(
    ("type_", "with_note", "new", "expected"),
    [
        (ActionType.INVITE, True, True, {"invites_per_day", "invites_per_week", "new_outreach_per_day"}),
        (ActionType.INVITE, True, False, {"invites_per_day", "invites_per_week"}),
        (
            ActionType.INVITE,
            False,
            False,
            {"invites_per_day", "invites_per_week", "invites_without_note_per_week"},
        ),
        (ActionType.MESSAGE, False, True, {"new_outreach_per_day"}),
        (ActionType.MESSAGE, False, False, set()),
        (ActionType.PROFILE_VISIT, False, True, {"profile_views_per_day"}),
        (ActionType.WITHDRAW_INVITE, False, True, set()),
    ],
)
def test_what_an_action_counts_against(type_: ActionType, with_note: bool, new: bool, expected: set[str]) -> None:
    assert counts_against(type_, with_text=with_note, new_outreach=new) == expected


def test_days_are_utc_and_the_first_of_january_begins_no_week() -> None:
    brussels_morning = datetime.fromisoformat("2027-01-02T00:30:00+01:00")
    assert utc_day(brussels_morning) == date(2027, 1, 1)
    assert monday(date(2027, 1, 3)) == date(2026, 12, 28)
    assert monday(date(2027, 1, 4)) == date(2027, 1, 4)
    assert cap_resets_at(OutreachCap.INVITES_PER_DAY, brussels_morning) == datetime(2027, 1, 2, tzinfo=UTC)
    assert cap_resets_at(OutreachCap.INVITES_PER_WEEK, brussels_morning) == datetime(2027, 1, 4, tzinfo=UTC)


@given(
    taken=st.lists(st.integers(0, 9), min_size=7, max_size=7),
    caps=st.lists(st.integers(0, 30), min_size=7, max_size=7).map(sorted),
    at=st.integers(0, 6),
)
@settings(deadline=None)
def test_a_week_allows_what_its_words_say(taken: list[int], caps: list[int], at: int) -> None:
    first = date(2026, 12, 28)
    days = [first + timedelta(days=n) for n in range(7)]
    after = [count + (1 if n == at else 0) for n, count in enumerate(taken)]
    allowed = all(sum(after[: e + 1]) <= caps[e] for e in range(at, 7))
    assert week_allows(dict(zip(days, taken, strict=True)), dict(zip(days, caps, strict=True)), days[at]) == allowed


def test_a_booking_later_in_the_week_keeps_its_place() -> None:
    first = date(2026, 12, 28)
    caps = {first + timedelta(days=n): 5 for n in range(7)}
    assert week_allows({first + timedelta(days=4): 4}, caps, first)
    assert not week_allows({first + timedelta(days=4): 5}, caps, first)


@pytest.mark.parametrize("cap", list(OutreachCap))
def test_an_account_cap_is_lowered_freely_and_raised_with_the_acknowledgement(cap: OutreachCap) -> None:
    default, ceiling = CAPS[cap].default, CAPS[cap].ceiling
    for value in (0, default):
        assert cap_problem(cap, value, risk_acknowledged=False) is None
    for value in (default + 1, ceiling):
        refused = cap_problem(cap, value, risk_acknowledged=False)
        assert refused is not None
        assert refused.field == cap
        assert "risk_acknowledged" in refused.message
        assert cap_problem(cap, value, risk_acknowledged=True) is None
    for value in (-1, ceiling + 1):
        assert cap_problem(cap, value, risk_acknowledged=True) is not None


@pytest.mark.parametrize("cap", list(OutreachCap))
def test_a_workspace_only_lowers(cap: OutreachCap) -> None:
    assert workspace_cap_problem(cap, 0) is None
    assert workspace_cap_problem(cap, CAPS[cap].default) is None
    for value in (-1, CAPS[cap].default + 1):
        assert workspace_cap_problem(cap, value) is not None
