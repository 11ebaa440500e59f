"""Editing a sequence at random while people are in it: no started step is repeated, and no text is sent twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import (
    Dropped,
    DueStep,
    Failed,
    Finished,
    InProgress,
    Relation,
    SequenceStep,
    Skip,
    Started,
    Wait,
    next_step,
    repeats,
    sequence_problems,
    text_hash,
    with_ids,
)
from models.outreach.rules.states import ActionOutcome, ActionReason
from models.outreach.rules.texts import Recipient, render_step

T0 = datetime(2027, 3, 25, 9, 30, tzinfo=UTC)
TEXTS = ["Hi {{first_name}}", "Hi  {{ first_name }}", "Hi Anna", "Hi Anna\r\n", "Still there?", "Bye {{company}}"]
ANNA = Recipient(first_name="ANNA", company="Acme BV")


def random_step(chance: Random) -> SequenceStep:
    type_ = chance.choice(list(ActionType))
    text = chance.choice(TEXTS)
    return SequenceStep(
        type_,
        wait_days=chance.choice([0, 0, 1, 7]),
        note=text if type_ is ActionType.INVITE and chance.random() < 0.7 else None,
        body=text if type_ is ActionType.MESSAGE else None,
        only_after_accept=chance.random() < 0.3,
        accept_timeout_days=chance.choice([1, 21]),
    )


def edited(steps: list[SequenceStep], chance: Random) -> list[SequenceStep]:
    """A step inserted, removed, moved, copied as a new one, or rewritten under its id."""
    kind, place = chance.randrange(5), chance.randrange(len(steps))
    others = steps[:place] + steps[place + 1 :]
    changed = {
        0: [*steps[:place], random_step(chance), *steps[place:]],
        1: others,
        2: chance.sample(steps, len(steps)),
        3: [*steps, replace(steps[place], id=None)],
        4: [*steps[:place], rewritten(steps[place], chance), *steps[place + 1 :]],
    }
    return changed[kind]


def rewritten(step: SequenceStep, chance: Random) -> SequenceStep:
    new = random_step(chance)
    text = chance.choice(TEXTS)
    return replace(
        new,
        id=step.id,
        type=step.type,
        note=text if step.type is ActionType.INVITE else None,
        body=text if step.type is ActionType.MESSAGE else None,
    )


@given(chance=st.integers(0, 2**32).map(Random))
@settings(max_examples=100, deadline=None)
def test_no_edit_repeats_a_started_step_or_a_text_that_was_sent(chance: Random) -> None:
    numbers = count()

    def new_id() -> str:
        return f"stp_{next(numbers)}"

    steps, _ = with_ids([SequenceStep(ActionType.INVITE), *(random_step(chance) for _ in range(4))], (), new_id)
    started: list[Started] = []
    texts: list[str] = []
    connection, now = Relation(), T0
    for turn in range(60):
        if chance.random() < 0.4:
            asked = edited(list(steps), chance)
            if not sequence_problems(asked, daily_pace_limit=None):
                steps, problems = with_ids(asked, steps, new_id)
                assert problems == []
        answer = next_step(steps, started, connection, enrolled_at=T0, now=now)
        assert answer == next_step(steps, started, connection, enrolled_at=T0, now=now)
        now += timedelta(hours=chance.choice([1, 30]))
        match answer:
            case DueStep(step) | Skip(step):
                assert step in steps
                assert step.id is not None
                started.append(begin(answer, texts, now, started_at=T0 + timedelta(seconds=turn)))
                connection = after(step, started[-1], connection, now, chance)
            case InProgress(action):
                started[-1] = finish(action, steps, texts, now, chance)
            case Dropped(action):
                assert action.step_id not in {step.id for step in steps}
                started[-1] = replace(action, outcome=ActionOutcome.CANCELLED, finished_at=now)
            case Wait(step):
                assert answer.until > now - timedelta(hours=30)
            case Finished() | Failed():
                pass
    ids = [action.step_id for action in started]
    assert len(ids) == len(set(ids))
    assert len(texts) == len(set(texts))


def begin(answer: DueStep | Skip, texts: list[str], now: datetime, *, started_at: datetime) -> Started:
    assert answer.step.id is not None
    if isinstance(answer, Skip):
        return Started(answer.step.id, ActionOutcome.SKIPPED, started_at, answer.at, answer.reason)
    if repeats(render_step(answer.step, ANNA, privacy_notice="N").text, texts):
        return Started(answer.step.id, ActionOutcome.SKIPPED, started_at, now, ActionReason.TEXT_ALREADY_SENT)
    return Started(answer.step.id, ActionOutcome.SCHEDULED, started_at)


def finish(
    action: Started, steps: tuple[SequenceStep, ...], texts: list[str], now: datetime, chance: Random
) -> Started:
    """The planned action is rendered as the step reads now, and sent unless that text went out before."""
    step = next(step for step in steps if step.id == action.step_id)
    text = render_step(step, ANNA, privacy_notice="N").text
    if repeats(text, texts):
        return replace(action, outcome=ActionOutcome.SKIPPED, finished_at=now)
    if chance.random() < 0.3:
        return action  # not yet
    if text is not None:
        texts.append(text_hash(text))
    return replace(action, outcome=ActionOutcome.SENT, finished_at=now)


def after(step: SequenceStep, action: Started, connection: Relation, now: datetime, chance: Random) -> Relation:
    if step.type is ActionType.WITHDRAW_INVITE:
        return replace(connection, invite_pending=False, withdrawn_at=now)
    if step.type is not ActionType.INVITE or action.outcome is ActionOutcome.SKIPPED:
        return connection
    accepted = now + timedelta(days=2) if chance.random() < 0.5 else None
    return Relation(invited_at=now, invite_pending=accepted is None, accepted_at=accepted)
