"""Sequences: what may be saved, the templates, and the ids of steps over edits."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import (
    DEFAULT_ACCEPT_TIMEOUT_DAYS,
    TEMPLATES,
    SequenceStep,
    TemplateName,
    sequence_problems,
    template,
    with_ids,
)

INVITE = SequenceStep(ActionType.INVITE)
MESSAGE = SequenceStep(ActionType.MESSAGE, body="Hello")
VISIT = SequenceStep(ActionType.PROFILE_VISIT)
WITHDRAW = SequenceStep(ActionType.WITHDRAW_INVITE)


def fields(*steps: SequenceStep, pace: int | None = None) -> list[str]:
    return [problem.field for problem in sequence_problems(steps, daily_pace_limit=pace)]


def ids() -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"stp_new{next(numbers)}"


@pytest.mark.parametrize("one", TEMPLATES, ids=lambda one: one.name.value)
def test_a_template_can_be_saved(one: object) -> None:
    assert isinstance(one, type(TEMPLATES[0]))
    assert fields(*one.steps) == []
    assert template(one.name) is one


def test_the_templates_are_those_of_the_contract() -> None:
    assert {one.name for one in TEMPLATES} == set(TemplateName)
    first = template(TemplateName.NETWORK_FIRST).steps
    assert [(s.type.value, s.wait_days, s.only_after_accept) for s in first] == [
        ("profile_visit", 0, False),
        ("invite", 1, False),
        ("message", 1, True),
        ("message", 5, True),
        ("withdraw_invite", 14, False),
    ]
    assert first[1].text is None
    noted = template(TemplateName.NETWORK_INVITE_NOTE_MESSAGE).steps
    assert [(s.type.value, s.wait_days, s.only_after_accept) for s in noted] == [
        ("invite", 0, False),
        ("message", 1, True),
        ("withdraw_invite", 21, False),
    ]
    assert noted[0].text is not None
    for opening in (first[2], noted[1]):
        assert "{{first_name}}" in (opening.text or "")
        assert "{{privacy_notice}}" in (opening.text or "")


def test_defaults_are_those_of_the_specification() -> None:
    assert SequenceStep(ActionType.MESSAGE) == SequenceStep(
        ActionType.MESSAGE, None, 0, None, None, only_after_accept=False, accept_timeout_days=21, is_follow_up=False
    )
    assert DEFAULT_ACCEPT_TIMEOUT_DAYS == 21


@pytest.mark.parametrize(
    ("step", "field"),
    [
        (replace(VISIT, wait_days=-1), "wait_days"),
        (replace(VISIT, wait_days=61), "wait_days"),
        (replace(INVITE, accept_timeout_days=0), "accept_timeout_days"),
        (replace(INVITE, accept_timeout_days=181), "accept_timeout_days"),
        (replace(INVITE, note="x" * 301), "note"),
        (replace(INVITE, note="{{name}}"), "note"),
        (replace(VISIT, note="Hi"), "note"),
        (replace(MESSAGE, note="Hi"), "note"),
        (replace(MESSAGE, body=None), "body"),
        (replace(MESSAGE, body=""), "body"),
        (replace(MESSAGE, body=" \n "), "body"),
        (replace(MESSAGE, body="x" * 8001), "body"),
        (replace(MESSAGE, body="Hi {{ surname }}"), "body"),
        (replace(INVITE, body="Hi"), "body"),
        (WITHDRAW, "type"),
        (replace(MESSAGE, only_after_accept=True), "only_after_accept"),
        (replace(INVITE, is_follow_up=True), "is_follow_up"),
        (replace(MESSAGE, is_follow_up=True), "is_follow_up"),
    ],
)
def test_what_cannot_be_saved_is_named_by_its_field(step: SequenceStep, field: str) -> None:
    assert fields(VISIT, step) == [f"steps.1.{field}"]


@pytest.mark.parametrize(
    "step",
    [
        replace(VISIT, wait_days=60),
        replace(INVITE, note="🚀" * 300),  # code points as written; the length that is sent is looked at per person
        replace(INVITE, note="{{ first_name }} {{company}} {{privacy_notice}}"),
        replace(MESSAGE, body="x" * 8000),
        replace(MESSAGE, body="x"),
        replace(MESSAGE, is_follow_up=True),
        replace(MESSAGE, only_after_accept=True),
        WITHDRAW,
        replace(VISIT, is_follow_up=True),
    ],
)
def test_what_is_just_within_its_limits_can_be_saved(step: SequenceStep) -> None:
    assert fields(INVITE, step) == []


def test_the_invite_has_to_come_before_what_needs_it() -> None:
    assert fields(WITHDRAW, INVITE) == ["steps.0.type"]
    assert fields(replace(MESSAGE, only_after_accept=True), INVITE) == ["steps.0.only_after_accept"]


def test_a_sequence_has_1_to_20_steps_and_a_pace_of_0_to_100() -> None:
    assert fields() == ["steps"]
    assert fields(*[VISIT] * 20) == []
    assert fields(*[VISIT] * 21) == ["steps"]
    assert [fields(VISIT, pace=pace) for pace in (0, 100, None)] == [[], [], []]
    assert [fields(VISIT, pace=pace) for pace in (-1, 101)] == [["daily_pace_limit"]] * 2


def test_every_problem_is_reported_in_the_order_of_the_steps() -> None:
    assert fields(WITHDRAW, replace(VISIT, wait_days=99, note="x"), pace=101) == [
        "steps.0.type",
        "steps.1.wait_days",
        "steps.1.note",
        "daily_pace_limit",
    ]


def test_steps_are_matched_by_id_and_new_ones_get_their_own() -> None:
    current, _ = with_ids([VISIT, INVITE], [], ids())
    assert [step.id for step in current] == ["stp_new1", "stp_new2"]
    changed = replace(current[1], note="Hello")
    edited, problems = with_ids([MESSAGE, changed, current[0]], current, lambda: "stp_third")
    assert problems == []
    assert edited == (replace(MESSAGE, id="stp_third"), changed, current[0])


@pytest.mark.parametrize(
    ("asked", "field", "word"),
    [
        ([replace(VISIT, id="stp_other")], "steps.0.id", "no step of this sequence"),
        ([replace(VISIT, id="stp_1"), replace(VISIT, id="stp_1")], "steps.1.id", "twice"),
        ([replace(VISIT, id="stp_x"), replace(VISIT, id="stp_x")], "steps.0.id", "no step"),
        ([replace(INVITE, id="stp_1")], "steps.0.type", "leave the id out"),
    ],
)
def test_ids_that_do_not_fit_are_refused(asked: list[SequenceStep], field: str, word: str) -> None:
    _, problems = with_ids(asked, [replace(VISIT, id="stp_1")], ids())
    assert problems[0].field == field
    assert word in problems[0].message
