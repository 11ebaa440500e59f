"""Exceptions from the limits of query plans, by store function and table, each with its reason."""

from collections.abc import Mapping

Named = tuple[str, str]
"""A store function as the recorder names it, and a table."""


def _all(function: str, tables: str, why: str) -> Mapping[Named, str]:
    return {(function, table): why for table in tables.split()}


SUMMED = "sums up what happened in the time that was asked for, and reads it"
ENDS = "ends all that an account has open, once in its life, and writes each row"
BOOKED = "counts by day what all accounts of the tenant have booked; their caps bound it"
RESTORED = "once after a restore: everything that is not over is rung"

EXCEPTIONS: Mapping[Named, str] = {
    **_all("outreach.store.actions.days", "actions messages", SUMMED),
    **_all("outreach.store.actions.count_accepted", "actions enrollments network_people", SUMMED),
    **_all("outreach.store.actions.count_replied", "actions enrollments messages", SUMMED),
    **_all("outreach.engine.stop.remove_account", "actions enrollments", ENDS),
    ("outreach.store.calendars._neighbours", "actions"): BOOKED,
    **_all(
        "operate.recovery.begin_recovery",
        "actions contact_lookups enrollments jobs mails outreach_plans payment_callbacks",
        RESTORED,
    ),
    **_all("operate.recovery.last_stamp", "actions enrollments event_clocks workspaces", RESTORED),
    (
        "billing.engine.outreach_plans.read_all_again",
        "outreach_plans",
    ): "has the plans of all workspaces read again, by hand",
    (
        "sourcing.store.page_of_plans",
        "runs",
    ): "of plans that never ran, it looks for the runs of each plan until a page is full",
    (
        "people.store.seen.page_of_seen",
        "seen_entries",
    ): "for a tag; no index is read by `@>` before the policy. It stops when a page is full",
    **_all(
        "outreach.store.conversations.replies",
        "conversations messages",
        "of read or unread replies, it looks at the conversation of each, newest first, until a page is full",
    ),
    (
        "operate.housekeeping.do",
        "rate_windows",
    ): "once a day; an index on a time that changes with each hit would cost each hit",
}

WRITTEN_LATER = "changes a row that it is handed; it is written by its key when something else is said"
BY_OTHERS = "asks other store functions only, and they are heard"
UNSPOKEN: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "outreach.engine.account_states.disconnected",
            "outreach.engine.account_states.mark_interrupted",
            "outreach.engine.account_states.pause_for_limit",
            "outreach.engine.account_states.pause_account_by_hand",
            "outreach.engine.account_states.pause_is_over",
            "outreach.engine.account_states.restricted",
            "outreach.engine.account_states.resume_by_hand",
            "outreach.engine.connect._refuse",
        ),
        WRITTEN_LATER,
    ),
    "outreach.engine.claim._chat_id": "reads a conversation by its key, where the claim has not read it before",
    "outreach.engine.stop._request": BY_OTHERS,
}
"""Store functions that send no statement, each with its reason."""
