"""Plan many actions in one pass, as enrolling does."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from models.outreach.rules.slots import Calendar, Request, Slot, SlotRefusal, find_slot


def plan_slots(
    calendar: Calendar, requests: Iterable[tuple[Request, datetime]], *, within: timedelta | None = None
) -> list[Slot | SlotRefusal]:
    """Book each slot before searching for the next; a pair is a request and its `not_before`."""
    answers = []
    for request, not_before in requests:
        answer = find_slot(calendar, request, not_before, within=within)
        if isinstance(answer, Slot):
            calendar.book(request, answer.at)
        answers.append(answer)
    return answers
