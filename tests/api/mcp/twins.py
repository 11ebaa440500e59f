"""The calls of each tool in the parity tests, and the equivalent REST calls.

The twin of a tool over one operation is derived: the route of the operation, with the arguments in path, query or body.
For a tool that combines several operations, this module defines them and how its answer is made from theirs.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from fastapi import FastAPI
from fastapi.routing import APIRoute

from api.kernel.operation import OPERATIONS
from api.mcp.tools import TOOLS
from tests.api.mcp.worlds import World
from tests.api.sourcing.sourcing import ADVERTISEMENT, DATA_ENGINEER

Given = dict[str, Any]


@dataclass
class Refused(Exception):
    """A REST call was answered with an error."""

    status: int
    error: dict[str, Any]


@dataclass
class Rest:
    """Calls routes by the name of their operation, with one key."""

    app: FastAPI
    http: httpx.AsyncClient

    def route(self, name: str) -> APIRoute:
        """Return the route of an operation."""
        routes = self.app.router.routes
        return next(route for route in routes if isinstance(route, APIRoute) and route.operation_id == name)

    async def call(self, name: str, given: Mapping[str, Any], *, confirm: bool = False) -> Any:
        """Return the answer of the route. Raises `Refused`."""
        route = self.route(name)
        left = dict(given)
        path = route.path_format
        for parameter in route.param_convertors:
            path = path.replace(f"{{{parameter}}}", str(left.pop(parameter)))
        method = next(iter(route.methods or ()))
        query: Given = {}
        if OPERATIONS[name].executes and not confirm:
            query["dry_run"] = "true"
        if method == "GET":
            query |= {each: str(value).lower() if isinstance(value, bool) else value for each, value in left.items()}
        body = left if method != "GET" and (left or route.body_field is not None) else None
        headers = {"Idempotency-Key": uuid4().hex}
        answer = await self.http.request(method, path, params=query, json=body, headers=headers)
        if not answer.is_success:
            raise Refused(answer.status_code, answer.json()["error"])
        return answer.json()


CONTROL = {"confirm", "idempotency_key"}
OF_TOOLS = {"update_enrollment": {"action"}, "approve_message": {"decision"}}
"""Arguments that choose the operation, and are not passed to it."""
Twin = Callable[[Rest, Given], Awaitable[Any]]


async def twin(rest: Rest, name: str, given: Given) -> Any:
    """Return REST's answer to the equivalent call. Raises `Refused`."""
    if name in TWINS:
        return await TWINS[name](rest, given)
    operation = TOOLS[name].called(given)
    assert operation is not None
    left_out = CONTROL | OF_TOOLS.get(name, set())
    asked = {each: value for each, value in given.items() if each not in left_out}
    return await rest.call(operation.name, asked, confirm=given.get("confirm", False))


def _of_run(given: Given) -> Given:
    """Return the body of a run."""
    body = {name: value for name, value in given.items() if name not in CONTROL | {"search_id", "budget_credits"}}
    body |= {"plan_id": given["search_id"]} if "search_id" in given else {}
    return body | ({"budget": {"max_credits": given["budget_credits"]}} if "budget_credits" in given else {})


def _planned(preview: Given) -> Given:
    plan = preview["plan"]
    told = {name: plan[name] for name in ("intent_id", "summary", "target", "target_range", "anchor")}
    told |= {name: plan[name] for name in ("applied_filters", "ignored_fields", "warnings", "suggestions", "estimate")}
    funds = ("budget", "required_credits", "balance_credits", "would_fail", "next_available_at", "dry_run")
    tiers = [{name: tier[name] for name in ("tier", "label", "estimated_people")} for tier in plan["tiers"]]
    return {"object": "search", "search_id": plan["id"], "tiers": tiers, **told, **{n: preview[n] for n in funds}}


async def _start(rest: Rest, given: Given) -> Any:
    if given.get("confirm"):
        made = await rest.call("runs.start", _of_run(given), confirm=True)
        run, plan = made["run"], made["plan"]
        started = {"object": "search_started", "run_id": run["id"], "search_id": plan["id"]}
        return {**started, "summary": plan["summary"], "run": run}
    asked = given
    if "search_id" not in given:
        left_out = CONTROL | {"budget_credits", "mark_seen"}
        body = {name: value for name, value in given.items() if name not in left_out}
        plan = await rest.call("search_plans.create", body)
        asked = {"search_id": plan["id"]} | {n: given[n] for n in ("budget_credits", "mark_seen") if n in given}
    return _planned(await rest.call("runs.start", _of_run(asked)))


async def _refine(rest: Rest, given: Given) -> Any:
    before = await rest.call("search_plans.get", {"plan_id": given["search_id"]})
    await rest.call("intents.change", {"intent_id": before["intent_id"], **given["intent"]})
    target = given.get("target", before["target"])
    plan = await rest.call("search_plans.create", {"intent_id": before["intent_id"], "target": target})
    return _planned(await rest.call("runs.start", {"plan_id": plan["id"]}))


async def _results(rest: Rest, given: Given) -> Any:
    run = await rest.call("runs.get", {"run_id": given["run_id"]})
    query = {"view": "compact"} | {name: value for name, value in given.items() if name != "wait_seconds"}
    page = await rest.call("candidates.list", query)
    shown = ["status", "stop_reason", "finish_detail", "failure", "retry_at", "progress", "spent", "omitted"]
    shown.append("suggestions")
    done = run["status"] == "completed" and not page["has_more"]
    told = {"object": "search_results", "run_id": run["id"], "done": done}
    return page | told | {name: run[name] for name in shown}


async def _searches(rest: Rest, given: Given) -> Any:
    listed = await rest.call("runs.list", given)
    plans: Given = {"data": []}
    if "status" not in given and "cursor" not in given:
        plans = await rest.call("search_plans.list", {**given, "unconfirmed": True})
    shown = ("summary", "target", "estimate", "created_at")
    return listed | {
        "unconfirmed": [{"search_id": plan["id"], **{n: plan[n] for n in shown}} for plan in plans["data"]]
    }


async def _extend(rest: Rest, given: Given) -> Any:
    asked = {name: value for name, value in given.items() if name not in CONTROL | {"add_budget_credits"}}
    if "add_budget_credits" in given:
        asked["add_budget"] = {"max_credits": given["add_budget_credits"]}
    return await rest.call("runs.extend", asked, confirm=given.get("confirm", False))


async def _job(rest: Rest, given: Given) -> Any:
    job = await rest.call("jobs.get", {"job_id": given["job_id"]})
    ended = job["status"] in ("completed", "failed")
    results = await rest.call("jobs.results", given) if ended else None
    return {"object": "job_results", "job": job, "results": results}


async def _save(rest: Rest, given: Given) -> Any:
    asked = dict(given)
    if name := asked.pop("list_name", None):
        asked["list_id"] = (await rest.call("lists.create", {"name": name}))["id"]
    return await rest.call("lists.people.add", asked)


async def _list(rest: Rest, given: Given) -> Any:
    shown = await rest.call("lists.get", {"list_id": given["list_id"]})
    return {"object": "list_people", "list": shown, "people": await rest.call("lists.people.list", given)}


async def _overview(rest: Rest, _: Given) -> Any:
    workspace = await rest.call("workspace.get", {})
    balance = await rest.call("billing.balance", {})
    try:
        listed = (await rest.call("outreach_accounts.list", {}))["data"]
        accounts = [each for each in listed if each["status"] in ("active", "paused")]
        limits = [await rest.call("outreach_limits.get", {"account_id": each["id"]}) for each in accounts]
    except Refused:
        limits = None
    return {"object": "account_overview", "workspace": workspace, "balance": balance, "outreach_limits": limits}


async def _sequence(rest: Rest, given: Given) -> Any:
    return await rest.call(f"outreach_sequences.{'change' if 'sequence_id' in given else 'create'}", given)


async def _connect(rest: Rest, given: Given) -> Any:
    return await rest.call(f"outreach_accounts.{'reconnect' if 'account_id' in given else 'connect'}", given)


async def _enrollments(rest: Rest, given: Given) -> Any:
    return await rest.call(f"outreach_enrollments.{'get' if 'enrollment_id' in given else 'list'}", given)


async def _intent(rest: Rest, given: Given) -> Any:
    return await rest.call("intents.change", {"intent_id": given["intent_id"], **given["intent"]})


async def _conversation(rest: Rest, given: Given) -> Any:
    of_it = {"conversation_id": given["conversation_id"]}
    messages = await rest.call("outreach_conversations.messages", of_it)
    change = ({"read": True} if given.get("mark_read") else {}) | {n: given[n] for n in ("intent",) if n in given}
    name = f"outreach_conversations.{'change' if change else 'get'}"
    return {
        "object": "conversation_messages",
        "conversation": await rest.call(name, of_it | change),
        "messages": messages,
    }


async def _companies(rest: Rest, given: Given) -> Any:
    if not given.get("live"):
        return await rest.call("lookups.companies", given)
    asked = {"names": [given["q"]]} if "q" in given else {"domains": [given["domain"]]}
    return await rest.call("companies.fetch", asked, confirm=given.get("confirm", False))


async def _activity(rest: Rest, given: Given) -> Any:
    counted = await rest.call("outreach_activity.get", given)
    asked = {"outcome": "awaiting_approval", **{n: given[n] for n in ("account_id",) if n in given}}
    return counted | {"awaiting_approval": await rest.call("outreach_actions.list", asked)}


TWINS: Mapping[str, Twin] = {
    "start_search": _start,
    "refine_search": _refine,
    "get_search_results": _results,
    "list_searches": _searches,
    "extend_search": _extend,
    "get_people_job": _job,
    "save_to_list": _save,
    "get_list": _list,
    "get_account_overview": _overview,
    "connect_outreach_account": _connect,
    "save_sequence": _sequence,
    "list_enrollments": _enrollments,
    "get_conversation": _conversation,
    "get_outreach_activity": _activity,
    "resolve_companies": _companies,
    "update_intent": _intent,
}

WITHOUT = {"get_guide"}
"""Tools without a REST twin (contract, section 8)."""

INVITE = {"type": "invite", "note": "Hi {{first_name}}"}

SAMPLES: Mapping[str, Callable[[World], list[Given]]] = {
    "start_search": lambda at: [
        {"job_description": ADVERTISEMENT, "budget_credits": 40},
        {"search_id": at.has["plan_id"]},
        {"search_id": at.has["plan_id"], "confirm": True, "budget_credits": 30},
        {"intent": DATA_ENGINEER, "target": 40, "confirm": True},
        {"job_description": "!!!"},
        {"search_id": at.has["plan_id"], "intent_id": at.has["intent_id"]},
        {"search_id": at.has["plan_id"], "confirm": True, "budget_credits": -1},
    ],
    "refine_search": lambda at: [
        {"search_id": at.has["other_plan_id"], "intent": {"skills": ["python"]}, "target": 50},
        {"search_id": at.has["other_plan_id"], "intent": {"titles": None}},
        {"search_id": at.has["other_plan_id"], "intent": {"titles": ["A"], "must": {"titles": ["B"]}}},
    ],
    "get_search_results": lambda at: [
        {"run_id": at.has["run_id"]},
        {"run_id": at.has["run_id"], "view": "full", "limit": 2, "min_years": 2},
        {"run_id": at.has["run_id"], "cursor": "nonsense"},
    ],
    "list_searches": lambda _: [{}, {"status": "queued", "limit": 1}],
    "extend_search": lambda at: [
        {"run_id": at.has["run_id"], "add_target": 10, "add_budget_credits": 15},
        {"run_id": at.has["run_id"], "add_target": 10, "confirm": True},
        {"run_id": at.has["run_id"], "add_target": 10, "add_budget_credits": -1},
    ],
    "cancel_search": lambda at: [{"run_id": at.has["open_run_id"]}],
    "lookup_people": lambda at: [
        {"profile_ids": [at.has["cached_id"]], "view": "compact"},
        {"profile_ids": [at.has["cached_id"]], "confirm": True},
        {"profile_urls": ["https://www.linkedin.com/in/somebody-example"], "async": True, "confirm": True},
        {"profile_urls": ["not an address"]},
        {},
    ],
    "get_people_job": lambda at: [{"job_id": at.has["job_id"]}],
    "find_contact_details": lambda at: [
        {"lookup_id": at.has["lookup_id"]},
        {"profile_ids": [at.has["cached_id"]], "want": ["email", "phone"]},
        {"profile_ids": [at.has["cached_id"]], "want": ["phone"], "confirm": True},
        {"profile_ids": [at.has["cached_id"]], "want": []},
    ],
    "save_to_list": lambda at: [
        {"list_id": at.has["list_id"], "profile_ids": [at.has["spare_id"]], "status": "shortlisted"},
        {"list_name": "New", "profile_urls": ["https://www.linkedin.com/in/somebody-else-example"]},
        {"list_id": at.has["list_id"]},
    ],
    "list_lists": lambda _: [{}, {"limit": 1}],
    "get_list": lambda at: [{"list_id": at.has["list_id"], "limit": 1}],
    "set_candidate_status": lambda at: [
        {"profile_id": at.has["profile_id"], "status": "interested", "tags": ["warm"], "note": "Call on Friday"},
        {"profile_id": at.has["profile_id"], "status": None},
    ],
    "check_candidates": lambda at: [
        {"profile_ids": [at.has["cached_id"]], "profile_urls": ["https://www.linkedin.com/in/an-voorbeeld-0"]},
        {},
    ],
    "get_account_overview": lambda _: [{}],
    "get_auto_refill": lambda _: [{}],
    "set_auto_refill": lambda _: [
        {"enabled": True, "threshold_credits": 100, "monthly_cap_cents": 9900, "confirm": True},
        {"enabled": False, "threshold_credits": 100, "monthly_cap_cents": 0},
        {"enabled": False, "threshold_credits": -1, "monthly_cap_cents": 0},
    ],
    "get_guide": lambda _: [{"topic": "cost"}],
    "connect_outreach_account": lambda at: [{"name": "Sam"}, {"account_id": at.has["account_id"]}],
    "list_outreach_accounts": lambda _: [{}, {"status": "paused"}],
    "get_outreach_limits": lambda at: [{"account_id": at.has["account_id"]}],
    "list_sequences": lambda _: [{}, {"status": "archived"}],
    "save_sequence": lambda at: [
        {"account_id": at.has["account_id"], "name": "Other", "steps": [INVITE]},
        {"account_id": at.has["account_id"], "template": "network_first"},
        {"sequence_id": at.has["sequence_id"], "daily_pace_limit": 5},
        {"account_id": at.has["account_id"], "name": "Other", "steps": []},
        {"account_id": at.has["account_id"], "name": "Other", "steps": [{"type": "message", "body": ""}]},
    ],
    "enroll_candidates": lambda at: [
        {"sequence_id": at.has["sequence_id"], "profile_ids": [at.has["cached_id"]]},
        {"sequence_id": at.has["sequence_id"], "list_id": at.has["list_id"], "confirm": True},
        {"sequence_id": at.has["sequence_id"]},
    ],
    "list_enrollments": lambda at: [{"status": "paused"}, {"enrollment_id": at.has["waiting_id"]}],
    "update_enrollment": lambda at: [
        {"enrollment_id": at.has["pausing_id"], "action": "resume"},
        {"enrollment_id": at.has["pausing_id"], "action": "resume", "confirm": True},
        {"enrollment_id": at.has["pausing_id"], "action": "pause"},
        {"enrollment_id": at.has["stopping_id"], "action": "stop"},
        {"enrollment_id": at.has["stopping_id"], "action": "resume", "confirm": True},
    ],
    "approve_message": lambda at: [
        {"action_id": at.has["waiting_action_id"]},
        {"action_id": at.has["waiting_action_id"], "preview_hash": "of another", "confirm": True},
        {"action_id": at.has["waiting_action_id"], "preview_hash": at.has["preview_hash"], "confirm": True},
        {"action_id": at.has["refusing_action_id"], "decision": "reject"},
    ],
    "list_replies": lambda _: [{}, {"unread": True}],
    "get_conversation": lambda at: [
        {"conversation_id": at.has["conversation_id"]},
        {"conversation_id": at.has["conversation_id"], "mark_read": True, "intent": "interested"},
    ],
    "send_reply": lambda at: [
        {"conversation_id": at.has["conversation_id"], "text": "Gladly."},
        {"conversation_id": at.has["conversation_id"], "text": "Gladly.", "confirm": True},
        {"conversation_id": at.has["conversation_id"], "text": " "},
    ],
    "send_outreach_action": lambda at: [
        {"account_id": at.has["account_id"], "type": "profile_visit", "profile_id": at.has["profile_id"]},
        {"account_id": at.has["account_id"], "type": "profile_visit", "profile_id": at.has["profile_id"]}
        | {"confirm": True},
        {"account_id": at.has["account_id"], "type": "message", "profile_id": at.has["profile_id"]},
    ],
    "get_outreach_activity": lambda at: [{}, {"account_id": at.has["account_id"]}],
    "resolve_location": lambda _: [{"q": "Gent", "country": "BE"}, {"q": "Gent", "limit": 1}],
    "resolve_area": lambda _: [{"city": "Gent", "radius_km": 10}, {}],
    "resolve_companies": lambda _: [
        {"q": "Siemens", "limit": 2},
        {"domain": "siemens.com"},
        {"q": "Bakkerij Voorbeeld", "live": True},
        {"domain": "voorbeeld.example", "live": True},
        {"domain": "no domain", "live": True},
        {"q": "Bakkerij\tVoorbeeld", "live": True},
    ],
    "list_filter_values": lambda _: [{"field": "seniority"}],
    "draft_intent": lambda _: [{"job_description": ADVERTISEMENT}, {"intent": DATA_ENGINEER}, {}],
    "update_intent": lambda at: [
        {"intent_id": at.has["intent_id"], "intent": {"nice": {"skills": ["sql"]}}},
        {"intent_id": at.has["intent_id"], "intent": {"titles": None}},
    ],
    "plan_search": lambda at: [{"intent_id": at.has["intent_id"], "target": 60}, {}],
    "search_people_raw": lambda _: [
        {"filters": {"titles": {"include": ["Engineer"]}}, "limit": 10},
        {"filters": {"titles": {"include": ["Engineer"]}}, "limit": 10, "confirm": True},
        {"filters": {"shoe_size": 44}},
    ],
    "match_person": lambda _: [
        {"full_name": "Jan Voorbeeld", "company": "Acme"},
        {"full_name": "Jan Voorbeeld", "company": "Acme", "confirm": True},
        {"full_name": "Jan Voorbeeld"},
    ],
    "add_suppression": lambda at: [
        {"profile_url": "https://www.linkedin.com/in/leave-me-alone"},
        {"profile_url": "https://www.linkedin.com/in/leave-me-alone", "profile_id": at.has["cached_id"]},
    ],
    "list_events": lambda _: [{"limit": 3}, {"types": "run.completed"}, {"types": "nonsense"}],
}
"""Calls of each tool, in their order: previews, execution, refusals."""
