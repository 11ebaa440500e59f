"""What arguments mean, where the schemas that REST shares leave it open: every argument is described."""

from collections.abc import Mapping
from typing import Any

from api.kernel.facts import filled
from api.mcp.schemas import NULL_MEANS, without_null

ANYWHERE: Mapping[str, str] = {
    "account_id": "An outreach account, of list_outreach_accounts.",
    "cursor": "`next_cursor` of the previous page, with the same other arguments.",
    "limit": "How many at most: 1 to 100.",
    "note": "Free text for your own side; the candidate never sees it.",
    "profile_id": "A person: `prof_…`, as results and lists show it.",
    "profile_ids": "People: `prof_…`, as results and lists show them.",
    "profile_url": "The address of the public profile, in any spelling.",
    "profile_urls": "Addresses of public profiles, in any spelling.",
    "q": "What to look for, in words.",
    "sequence_id": "Of list_sequences or save_sequence.",
    "status": "Only those in this state.",
    "view": "`compact`: one flat row a person. `full`: with the whole profile.",
    "target": "How many people are wanted: 30 to 60, by default 30.",
    "intent_id": "A stored intent, instead.",
    "job_description": "The advertisement, or a few words that name title, place and years. First line: the job title.",
    "intent": "Fields that replace what is read from the description, or the whole search without one.",
    "titles": "Current job titles, any of them, in the languages people write them in.",
    "location": "Where they live: by ids, never by free text.",
    "experience_years": "Years of work, inclusive; an open end is null.",
    "tenure_months": "Months in the current job, inclusive; an open end is null.",
    "skills": "Skills, as people name them.",
    "languages": "Languages in English, each of which they must speak.",
    "company_ids": "Current employers: ids of resolve_companies.",
    "past_company_ids": "Former employers, not the current one: ids of resolve_companies.",
    "seniority": "Levels, any of them: values of list_filter_values with field=seniority, lowest first.",
    "functions": "Values of list_filter_values with field=functions, any of them.",
    "industries": "Of the current employer: values of list_filter_values with field=industries, any of them.",
    "degrees": "Any of them, as list_filter_values with field=degrees names them; bachelors takes every bachelor.",
    "majors": "Fields of study in English, any of them.",
    "company_sizes": "People at the current employer: values of list_filter_values with field=company_sizes.",
    "company_types": "Kinds of employer: values of list_filter_values with field=company_types.",
    "school_ids": "Schools attended.",
    "full_name": "The whole name.",
    "first_name": "The first name.",
    "last_name": "The last name.",
    "company": "The employer's name.",
    "exclude": "Rules out everybody to whom one of these applies.",
    "min": "At least.",
    "max": "At most.",
    "location_ids": "Places: ids of resolve_location or resolve_area.",
    "countries": "ISO 3166-1 alpha-2 codes; UK means GB.",
    "country": "ISO 3166-1 alpha-2 code; UK means GB.",
}
"""By name."""

HERE: Mapping[str, Mapping[str, str]] = {
    "GivenIntent": {
        "must": "What everybody found has. Its fields may also be given at the top level, as shorthand.",
        "nice": "What is looked for first, and given up when too few people have it.",
    },
    "GivenLocation": {
        "anchor_location_id": "The middle of a circle: a town, region or metropolitan area of resolve_location."
        " Without that tool (toolset advanced), start_search with a job_description that names the place.",
        "radius_km": "How far around the anchor: 1 to 200, by default 50.",
    },
    "GivenArea": {
        "location_id": "A town, region or metropolitan area of resolve_location.",
        "radius_km": "How far around it: 1 to 200, by default 50.",
    },
    "GivenExclude": {"profile_ids": "People who must not be found."},
    "SearchFilters": {
        "titles": "Current titles.",
        "exclude_location_ids": "Not in these places.",
        "exclude_company_ids": "Not at these employers now.",
        "open_to_work": "true: only people who say that they look for work.",
        "keywords": "Words anywhere in the profile.",
        "exclude_profile_ids": "Not these people.",
        "skills": "Skills, by how they combine.",
    },
    "TitleFilter": {
        "include": "Any of these.",
        "exclude": "None of these.",
        "match": "`exact`: the words in this order; `similar`: in any order.",
    },
    "SkillFilter": {"all": "Each of these.", "any": "At least one of these.", "exclude": "None of these."},
    "StepAsk": {
        "id": "Of a step that was saved: it stays that step. Left out: a new one.",
        "channel": "Always `network`.",
        "type": "What is done: invite, message, profile_visit or withdraw_invite.",
        "only_after_accept": "true: waits until the invite is accepted, else the step is skipped.",
        "is_follow_up": "true: does not count as reaching out to a new person.",
    },
    "GivenCandidate": {
        "full_name": "For rendering, where the profile does not say.",
        "first_name": "For rendering, where the profile does not say.",
        "company": "For rendering, where the profile does not say.",
    },
    "add_suppression": {"profile_id": "The person, by id or by profile_url."},
    "approve_message": {"preview_hash": "Of the preview; needed to approve: only what it showed is sent."},
    "enroll_candidates": {"candidates": "People by id or address, with words to render messages with."},
    "get_outreach_activity": {"since": "From here, inclusive, ISO 8601; by default 30 days before until."}
    | {"until": "To here, exclusive; by default now."},
    "get_search_results": {
        "min_years": "Only people with so many years of work; who does not say is left out.",
        "max_years": "Only people with at most so many; who does not say is left out.",
        "max_distance_km": "Only people so near to the anchor; whose place is not known is left out.",
        "tier": "Only of this tier of the plan; 1 fits best.",
    },
    "list_filter_values": {"field": "Which filter."},
    "list_replies": {
        "unread": "true: what nobody has read yet; false: the rest.",
        "since": "What came since then, inclusive, ISO 8601.",
    },
    "lookup_people": {"async": "true: answers a job at once, to be read with get_people_job."},
    "match_person": {
        "company_id": "The employer's id, of resolve_companies, instead of its name.",
        "location_id": "Where they live, of resolve_location; makes it surer.",
        "profile_url": "Makes it surer.",
        "min_confidence": "From 0 to 1: less sure matches are null.",
        "first_name": "With last_name, instead of full_name.",
        "last_name": "With first_name, instead of full_name.",
    },
    "resolve_area": {"city": "The town's name.", "location_id": "The town's id, instead of its name."},
    "resolve_companies": {
        "q": "The name.",
        "domain": "The domain, instead of the name.",
        "limit": "How many at most: 1 to 100. Not with live.",
    },
    "resolve_location": {
        "q": "The name, with or without its area: `Gent`, `Springfield, IL`.",
        "kind": "Only places of this kind.",
    },
    "save_to_list": {"status": "What to note of each in this list."},
    "search_people_raw": {"filters": "Each narrows; the values within one widen."},
    "send_outreach_action": {
        "type": "What to do: invite, message, profile_visit or withdraw_invite.",
        "note": "Goes with an invite: at most 300 characters.",
        "body": "The message; needed for one.",
        "full_name": "For rendering, where the profile does not say.",
        "first_name": "For rendering, where the profile does not say.",
        "company": "For rendering, where the profile does not say.",
    },
    "send_reply": {"text": "The answer, sent as it stands: placeholders are not filled in."},
    "set_auto_refill": {
        "enabled": "false stops it.",
        "threshold_credits": "Buy when the balance falls below.",
        "monthly_cap_cents": "At most so many cents (EUR) in a UTC month.",
    },
    "set_candidate_status": {
        "status": "How far you are with them.",
        "do_not_contact": "true: nothing is ever sent to them; cancels what is planned.",
    },
}
"""By the name of the tool, or of the part of its arguments, and then by name."""


def describe_arguments(schema: dict[str, Any], *, tool: str) -> dict[str, Any]:
    """The schema of a tool's arguments with a description at every field."""
    parts = {name: _each(part, name) for name, part in schema.get("$defs", {}).items()}
    return _each(schema, tool) | ({"$defs": parts} if parts else {})


def _each(part: dict[str, Any], name: str) -> dict[str, Any]:
    if "properties" not in part:
        return part
    here = HERE.get(name, {})
    needed = part.get("required", ())
    fields = {}
    for field, shown in part["properties"].items():
        one = shown if name in NULL_MEANS else without_null(shown, required=field in needed)
        own = one.get("description") if field not in here else None
        fields[field] = {**one, "description": filled(_word(here, field) if own is None else own)}
    return {**part, "properties": fields}


def _word(here: Mapping[str, str], field: str) -> str:
    return here[field] if field in here else ANYWHERE[field]
