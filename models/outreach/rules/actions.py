"""The types of action, and everything that is particular to one: `ACTION_SPECS` is read instead of asking for a type.

A new type is a member of `ActionType` with its row here, its call and its reading back in the channel's adapter
(`activities/outreach/calls.py`), and a migration of the CHECK on `actions.type`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

MAX_NOTE = 300
"""Code points of a note as it is written, placeholders included."""
MAX_NOTE_UNITS = 300
"""UTF-16 units of a rendered note, as the network counts."""
MAX_BODY = 8000
"""Code points of a message as it is written."""


class ChannelName(StrEnum):
    """By what a person is reached. Each has an adapter of the port `activities.outreach.channel`."""

    NETWORK = "network"


class OutreachCap(StrEnum):
    """What is counted: all per account except `new_outreach_per_day`, which the workspace (or customer) shares."""

    INVITES_PER_DAY = "invites_per_day"
    INVITES_PER_WEEK = "invites_per_week"
    INVITES_WITHOUT_NOTE_PER_WEEK = "invites_without_note_per_week"
    PROFILE_VIEWS_PER_DAY = "profile_views_per_day"
    NEW_OUTREACH_PER_DAY = "new_outreach_per_day"


class ActionType(StrEnum):
    """What is done on a channel: the type of a step and of a direct send."""

    INVITE = "invite"
    MESSAGE = "message"
    PROFILE_VISIT = "profile_visit"
    WITHDRAW_INVITE = "withdraw_invite"


class ChannelCall(StrEnum):
    """The calls of the channel's adapter; the sandbox's ledger calls them the same."""

    INVITE = "invite"
    MESSAGE = "message"
    VISIT = "visit"
    WITHDRAW = "withdraw"


class ActionEffect(StrEnum):
    """What an action changes between account and person once it is done, and so when it is pointless."""

    INVITES = "invites"
    """Pointless between the connected, while an invite is pending, and soon after a withdrawal."""
    CONNECTS = "connects"
    """It is possible between the connected only, so that its success proves the connection."""
    WITHDRAWS = "withdraws"
    """Pointless unless an invite is pending."""
    NONE = "none"


TextField = Literal["note", "body"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionSpec:
    """What is particular to a type of action."""

    label: str
    """As a sentence names it: "an invite"."""
    reported_as: str
    """Its count in the activity of an account."""
    call: ChannelCall
    channel: ChannelName = ChannelName.NETWORK
    caps: frozenset[OutreachCap] = frozenset()
    caps_without_text: frozenset[OutreachCap] = frozenset()
    """Counted besides when the action has no text."""
    contacts: bool = False
    """Marks the person as contacted in the seen register; the first such action counts as new outreach."""
    text_field: TextField | None = None
    """The field of a step or direct send that holds the text; null for an action that says nothing."""
    shortest_text: int = 0
    longest_text: int = 0
    """Code points of the text as it is written."""
    longest_rendered: int | None = None
    """UTF-16 units of the rendered text, beyond which the person is skipped; null for no limit of its own."""
    effect: ActionEffect = ActionEffect.NONE
    is_read_back: bool = True
    """False when the channel cannot show whether it was done: an unclear one counts as done and is never repeated."""
    allowed_despite_do_not_contact: bool = False


ACTION_SPECS: Mapping[ActionType, ActionSpec] = MappingProxyType(
    {
        ActionType.INVITE: ActionSpec(
            label="an invite",
            reported_as="invites",
            call=ChannelCall.INVITE,
            caps=frozenset({OutreachCap.INVITES_PER_DAY, OutreachCap.INVITES_PER_WEEK}),
            caps_without_text=frozenset({OutreachCap.INVITES_WITHOUT_NOTE_PER_WEEK}),
            contacts=True,
            text_field="note",
            longest_text=MAX_NOTE,
            longest_rendered=MAX_NOTE_UNITS,
            effect=ActionEffect.INVITES,
        ),
        ActionType.MESSAGE: ActionSpec(
            label="a message",
            reported_as="messages",
            call=ChannelCall.MESSAGE,
            contacts=True,
            text_field="body",
            shortest_text=1,
            longest_text=MAX_BODY,
            effect=ActionEffect.CONNECTS,
        ),
        ActionType.PROFILE_VISIT: ActionSpec(
            label="a profile visit",
            reported_as="profile_visits",
            call=ChannelCall.VISIT,
            caps=frozenset({OutreachCap.PROFILE_VIEWS_PER_DAY}),
            is_read_back=False,
        ),
        ActionType.WITHDRAW_INVITE: ActionSpec(
            label="a withdrawal",
            reported_as="withdrawn_invites",
            call=ChannelCall.WITHDRAW,
            effect=ActionEffect.WITHDRAWS,
            allowed_despite_do_not_contact=True,
        ),
    }
)

DESPITE_DO_NOT_CONTACT = frozenset(type for type, spec in ACTION_SPECS.items() if spec.allowed_despite_do_not_contact)
"""Types that write nothing to the person."""
CONTACTING = frozenset(type for type, spec in ACTION_SPECS.items() if spec.contacts)
"""Types that mark a person as contacted."""
TEXT_OWNERS: Mapping[TextField, ActionSpec] = MappingProxyType(
    {spec.text_field: spec for spec in ACTION_SPECS.values() if spec.text_field is not None}
)
"""The type whose text a field holds."""
CONTACTING_SQL = ", ".join(f"'{type}'" for type in sorted(CONTACTING))
DESPITE_DO_NOT_CONTACT_SQL = ", ".join(f"'{type}'" for type in sorted(DESPITE_DO_NOT_CONTACT))
"""The same as SQL lists."""
