"""Descriptions of the arguments whose schema, shared with REST, has none: every argument is described."""

from collections.abc import Mapping
from typing import Any

from api.kernel.facts import filled
from api.mcp.schemas import NULL_MEANS, without_null

ANYWHERE: Mapping[str, str] = {
    "account_id": "An outreach account, from list_outreach_accounts.",
    "cursor": "`next_cursor` of the previous page, with the same other arguments.",
    "limit": "At most this many: 1 to 100.",
    "note": "Free text for internal use; the candidate never sees it.",
    "profile_id": "A person: `prof_…`, as results and lists show it.",
    "profile_ids": "People: `prof_…`, as results and lists show them.",
    "profile_url": "The address of the public profile, in any spelling.",
    "profile_urls": "Addresses of public profiles, in any spelling.",
    "q": "The words to search for.",
    "sequence_id": "From list_sequences or save_sequence.",
    "status": "Only entries with this status.",
    "view": "`compact`: one flat row per person. `full`: the whole profile.",
    "target": "Number of people wanted: 30 to 60, by default 30.",
    "intent_id": "A stored intent to use instead.",
    "job_description": "The job ad, or a few words that name title, place and years. First line: the job title.",
    "intent": "Fields that replace those read from the description; the whole search if there is no description.",
    "titles": "Current job titles, any one of them, in the languages that people write them in.",
    "location": "Where they live: ids, never free text.",
    "experience_years": "Years of work, inclusive; an open end is null.",
    "tenure_months": "Months in the current job, inclusive; an open end is null.",
    "skills": "Skills, as people write them.",
    "languages": "English names of languages; a person must speak all of them.",
    "company_ids": "Current employers: ids from resolve_companies.",
    "past_company_ids": "Former employers, not the current one: ids from resolve_companies.",
    "seniority": "Levels, any one of them, lowest first: values from list_filter_values with field=seniority.",
    "functions": "Any one of these: values from list_filter_values with field=functions.",
    "industries": "Industries of the current employer, any one: values from list_filter_values with field=industries.",
    "degrees": "Any one of these: values from list_filter_values with field=degrees; bachelors means any bachelor.",
    "majors": "Fields of study in English, any one of them.",
    "company_sizes": "Size of the current employer: values from list_filter_values with field=company_sizes.",
    "company_types": "Kinds of employer: values from list_filter_values with field=company_types.",
    "school_ids": "Schools attended.",
    "full_name": "The full name.",
    "first_name": "The first name.",
    "last_name": "The last name.",
    "company": "The employer's name.",
    "exclude": "Excludes every person to whom one of these applies.",
    "min": "At least.",
    "max": "At most.",
    "location_ids": "Places: ids from resolve_location or resolve_area.",
    "countries": "ISO 3166-1 alpha-2 codes; UK means GB.",
    "country": "ISO 3166-1 alpha-2 code; UK means GB.",
}
"""Descriptions by field name."""

HERE: Mapping[str, Mapping[str, str]] = {
    "GivenIntent": {
        "must": "Every person found has these. Its fields may also be given at the top level, as shorthand.",
        "nice": "Preferred at first; dropped if too few people have them.",
    },
    "GivenLocation": {
        "anchor_location_id": "The center of a circle: a town, region or metropolitan area from resolve_location."
        " Without that tool (toolset advanced), use start_search with a job_description that names the place.",
        "radius_km": "Distance from the anchor: 1 to 200, by default 50.",
    },
    "GivenArea": {
        "location_id": "A town, region or metropolitan area from resolve_location.",
        "radius_km": "Distance from it: 1 to 200, by default 50.",
    },
    "GivenExclude": {"profile_ids": "People to leave out."},
    "SearchFilters": {
        "titles": "Current titles.",
        "exclude_location_ids": "Not in these places.",
        "exclude_company_ids": "Not at these employers now.",
        "open_to_work": "true: only people who state that they are looking for work.",
        "keywords": "Words anywhere in the profile.",
        "exclude_profile_ids": "People to leave out.",
        "skills": "Skills to require or exclude.",
    },
    "TitleFilter": {
        "include": "Any of these.",
        "exclude": "None of these.",
        "match": "`exact`: the words in this order; `similar`: the words in any order.",
    },
    "SkillFilter": {"all": "All of these.", "any": "At least one of these.", "exclude": "None of these."},
    "StepAsk": {
        "id": "The id of a saved step, to keep or change it; left out, the step is new.",
        "channel": "Always `network`.",
        "type": "The action: {action.types}.",
        "only_after_accept": "true: waits until the invite is accepted; if it is not, the step is skipped.",
        "is_follow_up": "true: does not count as outreach to a new person.",
    },
    "GivenCandidate": {
        "full_name": "For rendering, if the profile does not have it.",
        "first_name": "For rendering, if the profile does not have it.",
        "company": "For rendering, if the profile does not have it.",
    },
    "add_suppression": {"profile_id": "The person, by this id or by profile_url."},
    "approve_message": {"preview_hash": "From the preview; needed to approve: only the text it showed is sent."},
    "enroll_candidates": {"candidates": "People by id or profile address, with values for rendering messages."},
    "get_outreach_activity": {"since": "Start, inclusive, ISO 8601; by default 30 days before until."}
    | {"until": "End, exclusive, ISO 8601; by default now."},
    "get_search_results": {
        "min_years": "Only people with at least this many years of work; people whose years are unknown are left out.",
        "max_years": "Only people with at most this many; people whose years are unknown are left out.",
        "max_distance_km": "Only people this close to the anchor; people whose place is unknown are left out.",
        "tier": "Only this tier of the plan; 1 fits best.",
    },
    "list_filter_values": {"field": "Which filter."},
    "list_replies": {
        "unread": "true: only unread replies; false: only read ones.",
        "since": "Only replies received since then, inclusive, ISO 8601.",
    },
    "lookup_people": {"async": "true: returns a job at once, to be read with get_people_job."},
    "match_person": {
        "company_id": "The employer's id, from resolve_companies, instead of its name.",
        "location_id": "Where they live, from resolve_location; raises the confidence.",
        "profile_url": "Raises the confidence.",
        "min_confidence": "From 0 to 1; a match below it is null.",
        "first_name": "With last_name, instead of full_name.",
        "last_name": "With first_name, instead of full_name.",
    },
    "resolve_area": {"city": "The town's name.", "location_id": "The town's id, instead of its name."},
    "resolve_companies": {
        "q": "The name.",
        "domain": "The domain, instead of the name.",
        "limit": "At most this many: 1 to 100. Not with live.",
    },
    "resolve_location": {
        "q": "The name, with or without its area: `Gent`, `Springfield, IL`.",
        "kind": "Only places of this kind.",
    },
    "save_to_list": {"status": "The status that each person gets in this list."},
    "search_people_raw": {"filters": "People must satisfy every filter; one value of a filter is enough."},
    "send_outreach_action": {
        "type": "The action: {action.types}.",
        "note": "Sent with an invite: at most 300 characters.",
        "body": "The text; required for a message.",
        "full_name": "For rendering, if the profile does not have it.",
        "first_name": "For rendering, if the profile does not have it.",
        "company": "For rendering, if the profile does not have it.",
    },
    "send_reply": {"text": "The answer, sent word for word: placeholders are not filled in."},
    "set_auto_refill": {
        "enabled": "false turns it off.",
        "threshold_credits": "Buy when the balance falls below this.",
        "monthly_cap_cents": "Spend at most this many cents (EUR) in a UTC month.",
    },
    "set_candidate_status": {
        "status": "How far you are with the person.",
        "do_not_contact": "true: nothing is sent to the person any more; cancels what is planned.",
    },
}
"""Descriptions by tool or argument type, then by field name."""


def describe_arguments(schema: dict[str, Any], *, tool: str) -> dict[str, Any]:
    """Return the schema of a tool's arguments with a description at every field."""
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
