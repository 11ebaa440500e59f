"""Rendering: placeholders, missing values, lengths in UTF-16 units, and the warning without the notice."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.outreach.rules.actions import ActionType
from models.outreach.rules.sequences import (
    TEMPLATES,
    Placeholder,
    SequenceStep,
    fill,
    placeholders_of,
    unknown_placeholders,
)
from models.outreach.rules.states import ActionReason
from models.outreach.rules.texts import Recipient, StepText, first_message_lacks_notice, render_step, utf16_units

NOTICE = "You can opt out here: https://svc.example/o/abcdefghijklmnopqrstuv"
ANNA = Recipient(first_name="ANNA", company="Acme N.V.")


def message(body: str) -> SequenceStep:
    return SequenceStep(ActionType.MESSAGE, id="stp_1", body=body)


def invite(note: str | None) -> SequenceStep:
    return SequenceStep(ActionType.INVITE, id="stp_1", note=note)


def test_placeholders_are_filled_in_blanks_or_not() -> None:
    rendered = render_step(
        message("Hi {{first_name}} of {{ company }}.{{\tprivacy_notice }}"), ANNA, privacy_notice=NOTICE
    )
    text = f"Hi Anna of Acme.{NOTICE}"
    assert rendered == StepText("stp_1", text, len(text))


@pytest.mark.parametrize("value", ["{{company}}", "{{first_name}}", r"\1", r"\g<0>", "{{privacy_notice}}"])
def test_a_value_is_not_expanded_again(value: str) -> None:
    assert (
        fill("{{first_name}} {{company}}", {Placeholder.FIRST_NAME: value, Placeholder.COMPANY: "Acme"})
        == f"{value} Acme"
    )
    notice = render_step(message("{{privacy_notice}}"), ANNA, privacy_notice=value)
    assert notice.text == value


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Hi {{first_name}}", []),
        ("Hi {{ first_name }} {not} {{company}}", []),
        ("Hi {{name}}", ["{{name}}"]),
        ("{{First_Name}} {{last_name}}", ["{{First_Name}}", "{{last_name}}"]),
        ("{{}}", ["{{}}"]),
        ("{{{first_name}}}", ["{{{first_name}}"]),
        ("{{ {{first_name}} }}", ["{{", "}}"]),
        ("{{first_name", ["{{"]),
        ("first_name}}", ["}}"]),
        ("{{first\nname}}", ["{{first\nname}}"]),
    ],
)
def test_what_means_nothing_between_braces_is_named(text: str, unknown: list[str]) -> None:
    assert unknown_placeholders(text) == unknown


@pytest.mark.parametrize("text", ["{" * 200_000, "{{a" * 70_000, "{{" + "a" * 200_000, "}" * 200_000])
def test_the_longest_text_is_looked_through_at_once(text: str) -> None:
    began = time.process_time()
    assert unknown_placeholders(text)
    assert time.process_time() - began < 1


def test_known_placeholders_are_found() -> None:
    assert placeholders_of("{{first_name}} {{ privacy_notice }} {{x}}") == {"first_name", "privacy_notice"}


@pytest.mark.parametrize(
    ("person", "problem"),
    [
        (Recipient(first_name="J.", company="Acme"), ActionReason.MISSING_FIRST_NAME),
        (Recipient(full_name="J. Smith", company="Acme"), ActionReason.MISSING_FIRST_NAME),
        (Recipient(first_name="Anna"), ActionReason.MISSING_COMPANY),
        (Recipient(first_name="Anna", company=" "), ActionReason.MISSING_COMPANY),
        (Recipient(), ActionReason.MISSING_FIRST_NAME),
    ],
)
def test_a_missing_value_leaves_no_text(person: Recipient, problem: ActionReason) -> None:
    rendered = render_step(message("{{company}} {{first_name}}"), person, privacy_notice=NOTICE)
    assert rendered == StepText("stp_1", None, 0, problem)


def test_what_a_text_does_not_ask_for_is_not_missed() -> None:
    assert render_step(message("Hello"), Recipient(), privacy_notice=NOTICE).text == "Hello"


@pytest.mark.parametrize("type_", [ActionType.PROFILE_VISIT, ActionType.WITHDRAW_INVITE, ActionType.INVITE])
def test_a_step_that_says_nothing_has_no_text(type_: ActionType) -> None:
    assert render_step(SequenceStep(type_, id="stp_1"), Recipient(), privacy_notice=NOTICE) == StepText(
        "stp_1", None, 0
    )


@pytest.mark.parametrize(
    ("text", "units"), [("", 0), ("é", 1), ("e\u0301", 2), ("🚀", 2), ("李", 1), ("🇧🇪", 4), ("\ud800", 1)]
)
def test_lengths_are_utf_16_units(text: str, units: int) -> None:
    assert utf16_units(text) == units


@pytest.mark.parametrize(("note", "units"), [("x" * 300, 300), ("x" * 298 + "🚀", 300), ("🚀" * 150, 300)])
def test_a_note_may_have_300_units(note: str, units: int) -> None:
    rendered = render_step(invite(note), ANNA, privacy_notice=NOTICE)
    assert (rendered.text, rendered.units, rendered.problem) == (note, units, None)


@pytest.mark.parametrize(("note", "units"), [("x" * 299 + "🚀", 301), ("🚀" * 151, 302)])
def test_a_longer_note_is_reported_with_its_length_and_not_cut(note: str, units: int) -> None:
    rendered = render_step(invite(note), ANNA, privacy_notice=NOTICE)
    assert rendered == StepText("stp_1", note, units, ActionReason.NOTE_TOO_LONG)


def test_what_is_filled_in_counts_for_the_length() -> None:
    room = 300 - len(NOTICE)
    fits = render_step(invite("x" * room + "{{privacy_notice}}"), ANNA, privacy_notice=NOTICE)
    assert (fits.units, fits.problem) == (300, None)
    over = render_step(invite("x" * (room + 1) + "{{privacy_notice}}"), ANNA, privacy_notice=NOTICE)
    assert (over.units, over.problem) == (301, ActionReason.NOTE_TOO_LONG)
    shorter = render_step(invite("{{privacy_notice}}" * 17), ANNA, privacy_notice="x")
    assert (shorter.units, shorter.problem) == (17, None)


def test_a_message_may_be_longer_than_a_note() -> None:
    assert render_step(message("x" * 8000), ANNA, privacy_notice=NOTICE).problem is None


@given(st.text(max_size=30), st.text(max_size=30))
@settings(deadline=None)
def test_text_without_braces_comes_back_as_it_is(before: str, after: str) -> None:
    text = (before + after).replace("{", "(").replace("}", ")") + "."
    assert render_step(message(text), Recipient(), privacy_notice=NOTICE).text == text


def test_a_first_message_without_the_notice_is_warned_of() -> None:
    plain, noticed = message("Hello"), message("Hello {{ privacy_notice }}")
    assert first_message_lacks_notice([invite("Hi"), plain, noticed])
    assert not first_message_lacks_notice([invite("Hi"), noticed, plain])
    assert not first_message_lacks_notice([invite("Hi")])
    assert not any(first_message_lacks_notice(one.steps) for one in TEMPLATES)


def test_the_templates_render() -> None:
    for one in TEMPLATES:
        for step in one.steps:
            rendered = render_step(step, ANNA, privacy_notice=NOTICE)
            assert rendered.problem is None
            assert (rendered.text is not None) == (step.text is not None)
            assert "{{" not in (rendered.text or "")


def test_filling_in_never_leaves_braces_behind() -> None:
    with pytest.raises(ValueError, match="last_name"):
        fill("{{last_name}}", {})
    with pytest.raises(KeyError):
        fill("{{company}}", {Placeholder.FIRST_NAME: "Anna"})
