"""Steps: which is next, when it falls due, and what is passed over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import (
    Dropped,
    DueStep,
    Failed,
    Finished,
    InProgress,
    Next,
    Relation,
    SequenceStep,
    Skip,
    Started,
    TemplateName,
    Wait,
    WaitReason,
    next_step,
    reinvite_at,
    repeats,
    template,
    text_hash,
    upcoming,
    with_ids,
)
from models.outreach.rules.states import ActionOutcome, ActionReason

T0 = datetime(2027, 3, 25, 9, 30, tzinfo=UTC)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
VISIT = SequenceStep(ActionType.PROFILE_VISIT, id="visit")
INVITE = SequenceStep(ActionType.INVITE, id="invite", wait_days=1)
MESSAGE = SequenceStep(ActionType.MESSAGE, id="message", wait_days=1, body="Hello", only_after_accept=True)
FOLLOW_UP = SequenceStep(ActionType.MESSAGE, id="follow-up", wait_days=5, body="Again", only_after_accept=True)
WITHDRAW = SequenceStep(ActionType.WITHDRAW_INVITE, id="withdraw", wait_days=14)
STEPS = (VISIT, INVITE, MESSAGE, FOLLOW_UP, WITHDRAW)
PENDING = Relation(invited_at=T0, invite_pending=True)


def done(step: SequenceStep, at: datetime, outcome: ActionOutcome = ActionOutcome.SENT) -> Started:
    assert step.id is not None
    return Started(step.id, outcome, at - SECOND, at)


def ask(
    *started: Started, connection: Relation | None = None, now: datetime = T0, steps: tuple[SequenceStep, ...] = STEPS
) -> Next:
    return next_step(steps, started, connection or Relation(), enrolled_at=T0, now=now)


def test_the_first_step_is_due_at_once_or_its_days_after_enrolling() -> None:
    assert ask() == DueStep(VISIT, T0)
    late = replace(VISIT, wait_days=2)
    assert ask(steps=(late,)) == Wait(late, T0 + 2 * DAY, WaitReason.WAIT_DAYS)
    assert ask(steps=(late,), now=T0 + 2 * DAY) == DueStep(late, T0 + 2 * DAY)


def test_days_are_24_hours_from_the_previous_result_whatever_the_clocks_do() -> None:
    sent = datetime(2027, 3, 27, 8, 15, tzinfo=UTC)  # the clocks change in the night behind it
    waiting = ask(done(VISIT, sent), now=sent + DAY - SECOND)
    assert waiting == Wait(INVITE, sent + timedelta(hours=24), WaitReason.WAIT_DAYS)
    assert ask(done(VISIT, sent), now=sent + DAY) == DueStep(INVITE, sent + DAY)


def test_a_skipped_step_counts_its_time_too() -> None:
    skipped = done(VISIT, T0 + DAY, ActionOutcome.SKIPPED)
    assert ask(skipped, now=T0 + DAY) == Wait(INVITE, T0 + 2 * DAY, WaitReason.WAIT_DAYS)


@pytest.mark.parametrize(
    "outcome",
    [
        ActionOutcome.SCHEDULED,
        ActionOutcome.AWAITING_APPROVAL,
        ActionOutcome.SENDING,
        ActionOutcome.RECONCILING,
        ActionOutcome.UNKNOWN,
    ],
)
def test_nothing_follows_an_action_that_is_not_over(outcome: ActionOutcome) -> None:
    running = Started("visit", outcome, T0)
    assert ask(running, now=T0 + 90 * DAY) == InProgress(running)


@pytest.mark.parametrize("outcome", [ActionOutcome.FAILED, ActionOutcome.REFUSED])
def test_an_action_that_failed_or_was_refused_ends_it(outcome: ActionOutcome) -> None:
    over = done(VISIT, T0, outcome)
    assert ask(over, now=T0 + 90 * DAY) == Failed(over)


def test_an_acceptance_within_its_time_makes_the_message_due_at_the_later_of_both() -> None:
    started = (done(VISIT, T0 - DAY), done(INVITE, T0))
    early = Relation(invited_at=T0, accepted_at=T0 + timedelta(hours=2))
    assert ask(*started, connection=early, now=T0 + 3 * SECOND) == Wait(MESSAGE, T0 + DAY, WaitReason.WAIT_DAYS)
    assert ask(*started, connection=early, now=T0 + DAY) == DueStep(MESSAGE, T0 + DAY)
    late = Relation(invited_at=T0, accepted_at=T0 + 9 * DAY)
    assert ask(*started, connection=late, now=T0 + 10 * DAY) == DueStep(MESSAGE, T0 + 9 * DAY)
    on_the_last = Relation(invited_at=T0, accepted_at=T0 + 21 * DAY)
    assert ask(*started, connection=on_the_last, now=T0 + 22 * DAY) == DueStep(MESSAGE, T0 + 21 * DAY)


def test_without_an_acceptance_the_messages_are_skipped_and_the_withdrawal_runs() -> None:
    started = [done(VISIT, T0 - DAY), done(INVITE, T0)]
    deadline = T0 + 21 * DAY
    waiting = ask(*started, connection=PENDING, now=deadline - SECOND)
    assert waiting == Wait(MESSAGE, deadline, WaitReason.ACCEPTANCE)
    for step in (MESSAGE, FOLLOW_UP):
        assert ask(*started, connection=PENDING, now=deadline) == Skip(step, ActionReason.ACCEPT_TIMEOUT, deadline)
        started.append(done(step, deadline, ActionOutcome.SKIPPED))
    assert ask(*started, connection=PENDING, now=deadline) == Wait(WITHDRAW, deadline + 14 * DAY, WaitReason.WAIT_DAYS)
    assert ask(*started, connection=PENDING, now=deadline + 14 * DAY) == DueStep(WITHDRAW, deadline + 14 * DAY)
    started.append(done(WITHDRAW, deadline + 15 * DAY))
    assert ask(*started, connection=Relation(), now=deadline + 15 * DAY) == Finished()


def test_a_time_out_is_the_same_whenever_it_is_checked() -> None:
    started = (done(VISIT, T0 - DAY), done(INVITE, T0))
    deadline = T0 + 21 * DAY
    too_late = Relation(invited_at=T0, accepted_at=deadline + SECOND)
    for now in (deadline + SECOND, deadline + 30 * DAY):
        assert ask(*started, connection=too_late, now=now) == Skip(MESSAGE, ActionReason.ACCEPT_TIMEOUT, deadline)


def test_a_time_out_does_not_lie_before_the_previous_step() -> None:
    started = (done(INVITE, T0), done(VISIT, T0 + 30 * DAY))
    steps = (INVITE, VISIT, MESSAGE)
    answer = ask(*started, connection=PENDING, now=T0 + 31 * DAY, steps=steps)
    assert answer == Skip(MESSAGE, ActionReason.ACCEPT_TIMEOUT, T0 + 30 * DAY)


def test_a_step_may_have_its_own_time_for_the_acceptance() -> None:
    patient = replace(MESSAGE, accept_timeout_days=40)
    answer = ask(done(INVITE, T0), connection=PENDING, now=T0 + 30 * DAY, steps=(INVITE, patient))
    assert answer == Wait(patient, T0 + 40 * DAY, WaitReason.ACCEPTANCE)


def test_who_was_not_invited_cannot_accept() -> None:
    rejected = done(INVITE, T0, ActionOutcome.SKIPPED)
    now = T0 + DAY
    assert ask(rejected, now=now, steps=(INVITE, MESSAGE)) == Skip(MESSAGE, ActionReason.NOT_INVITED, now)


def test_who_is_connected_already_gets_no_invite_and_counts_as_accepted() -> None:
    for known in (Relation(connected=True), Relation(accepted_at=T0), Relation(connected=True, accepted_at=T0)):
        assert ask(done(VISIT, T0), connection=known, now=T0 + DAY) == Skip(
            INVITE, ActionReason.ALREADY_CONNECTED, T0 + DAY
        )
        started = (done(VISIT, T0), done(INVITE, T0 + DAY, ActionOutcome.SKIPPED))
        assert ask(*started, connection=known, now=T0 + 2 * DAY) == DueStep(MESSAGE, T0 + 2 * DAY)


def test_an_old_invite_of_a_person_connected_since_does_not_time_out() -> None:
    seen_now = Relation(invited_at=T0 - 90 * DAY, accepted_at=T0 + DAY)
    skipped = Started("invite", ActionOutcome.SKIPPED, T0 + DAY, T0 + DAY, ActionReason.ALREADY_CONNECTED)
    answer = ask(done(VISIT, T0), skipped, connection=seen_now, now=T0 + 2 * DAY)
    assert answer == DueStep(MESSAGE, T0 + 2 * DAY)
    other = replace(skipped, reason=ActionReason.REJECTED)
    late = ask(done(VISIT, T0), other, connection=seen_now, now=T0 + 2 * DAY)
    assert late == Skip(MESSAGE, ActionReason.ACCEPT_TIMEOUT, T0 + DAY)


def test_a_relation_that_came_about_without_a_known_time_counts_too() -> None:
    known = replace(PENDING, connected=True, invite_pending=False)
    assert ask(done(INVITE, T0), connection=known, now=T0 + DAY, steps=(INVITE, MESSAGE)) == DueStep(MESSAGE, T0 + DAY)


def test_who_was_invited_by_the_owner_is_treated_as_invited_then() -> None:
    by_owner = Relation(invited_at=T0 - 10 * DAY, invite_pending=True)
    assert ask(done(VISIT, T0), connection=by_owner, now=T0 + DAY) == Skip(
        INVITE, ActionReason.ALREADY_INVITED, T0 + DAY
    )
    started = (done(VISIT, T0), done(INVITE, T0 + DAY, ActionOutcome.SKIPPED))
    assert ask(*started, connection=by_owner, now=T0 + 2 * DAY) == Wait(MESSAGE, T0 + 11 * DAY, WaitReason.ACCEPTANCE)


def test_only_a_pending_invite_is_withdrawn() -> None:
    steps = (INVITE, replace(WITHDRAW, wait_days=0))
    withdraw = steps[1]
    invited = done(INVITE, T0)
    assert ask(invited, connection=PENDING, steps=steps) == DueStep(withdraw, T0)
    gone = replace(PENDING, invite_pending=False)
    assert ask(invited, connection=gone, steps=steps) == Skip(withdraw, ActionReason.INVITE_NOT_PENDING, T0)
    never = done(INVITE, T0, ActionOutcome.SKIPPED)
    assert ask(never, steps=steps) == Skip(withdraw, ActionReason.NOT_INVITED, T0)


def test_after_a_withdrawal_a_person_is_not_invited_for_21_days() -> None:
    again = replace(INVITE, id="again", wait_days=0)
    withdrawn = Relation(invited_at=T0 - 5 * DAY, withdrawn_at=T0)
    assert reinvite_at(withdrawn) == T0 + 21 * DAY
    assert reinvite_at(Relation()) is None
    for now, expected in (
        (T0 + 21 * DAY - SECOND, Skip(again, ActionReason.RECENTLY_WITHDRAWN, T0 + 21 * DAY - SECOND)),
        (T0 + 21 * DAY, DueStep(again, T0)),
    ):
        assert ask(done(WITHDRAW, T0), connection=withdrawn, now=now, steps=(WITHDRAW, again)) == expected


def test_a_step_taken_away_while_it_is_planned_is_dropped() -> None:
    steps = (VISIT, MESSAGE)
    planned = Started("invite", ActionOutcome.SCHEDULED, T0)
    held = Started("invite", ActionOutcome.AWAITING_APPROVAL, T0)
    claimed = Started("invite", ActionOutcome.SENDING, T0)
    assert ask(planned, steps=steps) == Dropped(planned)
    assert ask(held, steps=steps) == Dropped(held)
    assert ask(claimed, steps=steps) == InProgress(claimed)


def test_a_dropped_step_is_passed_over_without_a_time_of_its_own() -> None:
    cancelled = Started("invite", ActionOutcome.CANCELLED, T0 + DAY)
    answer = ask(done(VISIT, T0), cancelled, steps=(VISIT, replace(FOLLOW_UP, only_after_accept=False)), now=T0)
    assert isinstance(answer, Wait)
    assert answer.until == T0 + 5 * DAY


@pytest.mark.parametrize(
    ("order", "started", "ahead"),
    [
        ("abcd", "", "abcd"),
        ("abcd", "a", "bcd"),
        ("abcd", "ab", "cd"),
        ("abcd", "abcd", ""),
        ("xabcd", "ab", "cd"),  # put before where the person is: not for them
        ("abxcd", "ab", "xcd"),
        ("bacd", "ab", "cd"),  # turned round: neither again
        ("cabd", "ab", "d"),
        ("acd", "ab", "cd"),  # the last started one taken away
        ("cd", "ab", "cd"),
        ("cda", "ab", ""),
        ("xy", "ab", "xy"),
        ("", "ab", ""),
    ],
)
def test_an_edit_leaves_ahead_what_stands_behind_the_last_started_step(order: str, started: str, ahead: str) -> None:
    steps = [SequenceStep(ActionType.PROFILE_VISIT, id=letter) for letter in order]
    actions = [Started(one, ActionOutcome.SENT, T0 + n * DAY, T0 + n * DAY) for n, one in enumerate(started)]
    assert [step.id for step in upcoming(steps, list(reversed(actions)))] == list(ahead)


def test_steps_passed_over_in_one_moment_are_in_the_order_of_the_sequence() -> None:
    at_once = [Started(one, ActionOutcome.SKIPPED, T0, T0) for one in ("message", "visit", "invite")]
    assert [step.id for step in upcoming(STEPS, at_once)] == ["follow-up", "withdraw"]
    planned = Started("invite", ActionOutcome.SCHEDULED, T0)
    assert ask(planned, done(VISIT, T0 + SECOND)) == InProgress(planned)


def test_the_same_words_are_the_same_text() -> None:
    sent = {text_hash("Hello Anna,\nhow are you?")}
    assert repeats(" Hello Anna,\r\nhow are you?\n", sent)
    assert repeats("Hello Anna,\rhow are you?", sent)
    assert not repeats("Hello Anna, how are you?", sent)
    assert not repeats(None, sent)


def test_a_template_runs_from_its_first_step_to_its_last() -> None:
    names = iter("abcde")
    steps, _ = with_ids(template(TemplateName.NETWORK_FIRST).steps, (), lambda: next(names))
    started: list[Started] = []
    now, connection, sent = T0, Relation(), []
    while not isinstance(answer := next_step(steps, started, connection, enrolled_at=T0, now=now), Finished):
        if isinstance(answer, Wait):
            now = answer.until if answer.reason is WaitReason.WAIT_DAYS else now + 3 * DAY
            if answer.reason is WaitReason.ACCEPTANCE:
                connection = replace(connection, accepted_at=now, invite_pending=False)
            continue
        assert isinstance(answer, DueStep | Skip)
        outcome = ActionOutcome.SENT if isinstance(answer, DueStep) else ActionOutcome.SKIPPED
        started.append(done(answer.step, now, outcome))
        if answer.step.type is ActionType.INVITE:
            connection = Relation(invited_at=now, invite_pending=True)
        sent.append((answer.step.type.value, outcome.value, (now - T0) / DAY))
    assert sent == [
        ("profile_visit", "sent", 0),
        ("invite", "sent", 1),
        ("message", "sent", 4),
        ("message", "sent", 9),
        ("withdraw_invite", "skipped", 23),
    ]
