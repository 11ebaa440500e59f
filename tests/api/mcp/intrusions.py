"""Attempts to reach another tenant by tools: every argument that names an object gets an id of the victim.

`NAMING` has complete calls, so that each gets as far as looking for its object. `NEUTRAL` has calls of tools that name
no object with an owner: those may answer, but not with the victim's data.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from api.mcp.tools import TOOLS
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER

Given = dict[str, Any]
Owned = Mapping[str, str]

HEADERS = {"mcp-protocol-version": "2025-11-25", "accept": "application/json, text/event-stream"}
OF_THE_WORLD = frozenset(
    {"profile_id", "profile_ids", "company_id", "company_ids", "location_id", "location_ids", "external_id"}
)
"""Ids without an owner."""
CONFIRMED = {"confirm": True}
OF_WORKSPACES = frozenset({"add_suppression"})
"""Tools whose rows belong to the whole workspace: within a workspace, their writes are no intrusion."""
REFUSED = frozenset({"not_found", "forbidden"})

NAMING: Mapping[str, Callable[[Owned], list[Given]]] = {
    "start_search": lambda of: [
        {"search_id": of["plan_id"]},
        {"search_id": of["plan_id"], **CONFIRMED},
        {"search_id": of["plan_id"], "idempotency_key": "theirs", **CONFIRMED},
        {"intent_id": of["intent_id"]},
        {"intent_id": of["intent_id"], **CONFIRMED},
    ],
    "refine_search": lambda of: [{"search_id": of["plan_id"], "intent": {"titles": ["Mine now"]}}],
    "get_search_results": lambda of: [{"run_id": of["run_id"], "wait_seconds": 1}],
    "extend_search": lambda of: [{"run_id": of["run_id"]}, {"run_id": of["run_id"], **CONFIRMED}],
    "cancel_search": lambda of: [{"run_id": of["run_id"]}],
    "get_people_job": lambda of: [{"job_id": of["job_id"]}],
    "find_contact_details": lambda of: [{"lookup_id": of["lookup_id"]}],
    "save_to_list": lambda of: [{"list_id": of["list_id"], "profile_ids": [of["profile_id"]]}],
    "get_list": lambda of: [{"list_id": of["list_id"]}],
    "connect_outreach_account": lambda of: [{"account_id": of["account_id"]}],
    "get_outreach_limits": lambda of: [{"account_id": of["account_id"]}],
    "save_sequence": lambda of: [
        {"sequence_id": of["sequence_id"], "name": "Mine now"},
        {"account_id": of["account_id"], "name": "Mine", "steps": [{"type": "invite"}]},
    ],
    "enroll_candidates": lambda of: [
        {"sequence_id": of["sequence_id"], "profile_ids": [of["profile_id"]]},
        {"sequence_id": of["sequence_id"], "profile_ids": [of["profile_id"]], **CONFIRMED},
        {"sequence_id": of["sequence_id"], "run_id": of["run_id"], "list_id": of["list_id"], **CONFIRMED},
    ],
    "list_enrollments": lambda of: [{"enrollment_id": of["enrollment_id"]}],
    "update_enrollment": lambda of: [
        {"enrollment_id": of["enrollment_id"], "action": action, **CONFIRMED} for action in ("pause", "resume", "stop")
    ],
    "approve_message": lambda of: [
        {"action_id": of["action_id"]},
        {"action_id": of["action_id"], "preview_hash": "guessed", **CONFIRMED},
        {"action_id": of["action_id"], "decision": "reject"},
    ],
    "get_conversation": lambda of: [
        {"conversation_id": of["conversation_id"]},
        {"conversation_id": of["conversation_id"], "mark_read": True, "intent": "not_interested"},
    ],
    "send_reply": lambda of: [{"conversation_id": of["conversation_id"], "text": "Hello.", **CONFIRMED}],
    "send_outreach_action": lambda of: [
        {"account_id": of["account_id"], "type": "profile_visit", "profile_id": of["profile_id"], **CONFIRMED}
    ],
    "update_intent": lambda of: [{"intent_id": of["intent_id"], "intent": {"titles": ["Mine now"]}}],
    "plan_search": lambda of: [{"intent_id": of["intent_id"]}],
}
"""Calls that name an object of the victim."""

FILTERING: Mapping[str, Callable[[Owned], list[Given]]] = {
    "list_enrollments": lambda of: [{"sequence_id": of["sequence_id"]}, {"account_id": of["account_id"]}],
    "list_replies": lambda of: [{"account_id": of["account_id"]}],
    "get_outreach_activity": lambda of: [{"account_id": of["account_id"]}],
    "list_sequences": lambda of: [{"account_id": of["account_id"]}],
    "list_events": lambda of: [{"customer_id": of.get("customer_id", "cus_" + "0" * 26)}],
}
"""Calls that filter a list by an object of the victim; an empty list is as good as a refusal."""

NEUTRAL: Mapping[str, Callable[[Owned], list[Given]]] = {
    "list_searches": lambda _: [{}],
    "lookup_people": lambda of: [{"profile_ids": [of["profile_id"]], "view": "full"}],
    "list_lists": lambda _: [{}],
    "set_candidate_status": lambda of: [{"profile_id": of["profile_id"], "do_not_contact": True}],
    "check_candidates": lambda of: [{"profile_ids": [of["profile_id"]]}],
    "get_account_overview": lambda _: [{}],
    "get_auto_refill": lambda _: [{}],
    "set_auto_refill": lambda _: [{"enabled": False, "threshold_credits": 0, "monthly_cap_cents": 0}],
    "get_guide": lambda _: [{}],
    "list_outreach_accounts": lambda _: [{}],
    "resolve_location": lambda _: [{"q": "Gent"}],
    "resolve_area": lambda _: [{"city": "Gent"}],
    "resolve_companies": lambda _: [{"q": "Siemens"}],
    "list_filter_values": lambda _: [{"field": "seniority"}],
    "draft_intent": lambda _: [{"job_description": ADVERTISEMENT}, {"intent": DATA_ENGINEER}],
    "search_people_raw": lambda of: [{"filters": {"exclude_profile_ids": [of["profile_id"]]}}],
    "match_person": lambda _: [{"full_name": "Jan Voorbeeld", "company": "Acme"}],
    "add_suppression": lambda _: [{"profile_url": "https://www.linkedin.com/in/nobody-of-theirs-example"}],
    "list_events": lambda _: [{}],
}
"""Calls of tools that name no object with an owner."""


def object_arguments(name: str) -> set[str]:
    """Return the arguments of a tool that name objects with an owner."""
    properties = TOOLS[name].input_schema["properties"]
    return {each for each in properties if each.endswith(("_id", "_ids")) and each not in OF_THE_WORLD}


def tried_arguments(name: str) -> set[str]:
    """Return those of them that occur in the samples above."""
    owned = _Anything()
    samples = [call for kind in (NAMING, FILTERING) if name in kind for call in kind[name](owned)]
    return {each for call in samples for each in call} & object_arguments(name)


class _Anything(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return name


def message(method: str, **params: Any) -> Given:
    """Return a request of the protocol."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def refusal(answer: httpx.Response) -> str | None:
    """Return the code of the documented error of a refused call or read; null if it was not refused."""
    told = answer.json()
    if "error" in told:
        body: Given = json.loads(told["error"]["data"]["body"])
    elif told["result"].get("isError"):
        body = json.loads(told["result"]["content"][0]["text"])
    else:
        return None
    return str(body["error"]["code"])
