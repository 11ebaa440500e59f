"""Conversations: what callers label them with. Nothing here reads what somebody wrote: a person decides."""

from collections.abc import Mapping
from enum import StrEnum

from models.rules.seen import SeenStatus

MAX_REPLY = 8000
"""Characters (code points) of an answer; it has at least one."""


class Intent(StrEnum):
    """The caller's label of a conversation."""

    INTERESTED = "interested"
    NOT_INTERESTED = "not_interested"
    QUESTION = "question"
    OTHER = "other"


NOTED: Mapping[Intent, Mapping[str, object]] = {
    Intent.INTERESTED: {"status": SeenStatus.INTERESTED.value},
    Intent.NOT_INTERESTED: {"status": SeenStatus.NOT_INTERESTED.value, "do_not_contact": True},
}
"""What a label says of the person in the seen register."""
