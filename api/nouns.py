"""What the OpenAPI document says of the whole service, of each noun, and of parameters alike everywhere."""

from collections.abc import Mapping

SUMMARY = (
    "An open, self-hosted backend of recruiting: durable search runs over a people source, and outreach sequences that"
    " write to nobody who must not be written to. Everything under `/v1` is JSON; `GET /docs` explains it to people."
    " A path that is asked by a method it does not take answers 405 `method_not_allowed`, and its `Allow` header lists"
    " those it takes."
)

CONTACT_NAME = "Whoever operates this installation"

LICENSE: Mapping[str, str] = {"name": "Apache License 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}

NOUNS: Mapping[str, str] = {
    "Account": "The workspace: signing up, confirming the address, its settings, and who did what.",
    "API keys": "Keys of a workspace: their scopes, caps, rotation and end.",
    "Customers": "Those on whose behalf a workspace acts, each with data of its own.",
    "Credits": "Balance, ledger, plans, buying and auto-refill.",
    "Lookups": "Places, areas, companies and values that filters know.",
    "Intents": "What is looked for, read from an advertisement or a sentence.",
    "Search plans": "An intent as a ladder of priced searches.",
    "Runs": "Working a plan until enough candidates are delivered.",
    "People": "Cached profiles.",
    "Lists": "Lists of people, kept by hand.",
    "Registers": "Who was seen, who must not be contacted, and who was erased.",
    "Raw layer": "The people source itself: searching, fetching, matching, contact details.",
    "Events": "What happened, to be polled or sent by webhook.",
    "Webhook endpoints": "Addresses that events are sent to, and the deliveries.",
    "Outreach accounts": "Accounts at the network, their limits, and how outreach is set.",
    "Outreach": "Sequences, and the people in them.",
    "Outreach actions": "Single steps, and direct sends.",
    "Outreach conversations": "Conversations with candidates, answers, and figures.",
}
"""The tags, in the order of the documentation."""

ID_PATTERN = "^[A-Za-z0-9_-]{1,100}$"
"""What an id in a path may be; anything else is not found."""

PARAMETERS: Mapping[str, str] = {
    "account_id": "The outreach account's id.",
    "action_id": "The action's id.",
    "city": "The name of a city, alone or with its country.",
    "contacted": "Only people who were contacted, or only those who were not.",
    "conversation_id": "The conversation's id.",
    "country": "Only places of this country, two letters of ISO 3166.",
    "cursor": "`next_cursor` of the previous page.",
    "customer_id": "The customer's id.",
    "delivery_id": "The delivery's id.",
    "do_not_contact": "Only people who must not be contacted, or only the others.",
    "domain": "The company's web domain.",
    "endpoint_id": "The webhook endpoint's id.",
    "enrollment_id": "The enrollment's id.",
    "erasure_id": "The erasure's id.",
    "event_id": "The event's id.",
    "field": "The field of a filter whose values are asked for.",
    "intent": "Only conversations with this label.",
    "intent_id": "The intent's id.",
    "job_id": "The job's id.",
    "key_id": "The API key's id.",
    "kind": "Only places of this kind.",
    "limit": "How many at most.",
    "list_id": "The list's id.",
    "location_id": "A place, by the id that `/v1/lookups/locations` gave.",
    "lookup_id": "The contact lookup's id.",
    "max_distance_km": "At most so many kilometres from the anchor; whose place is not known is left out.",
    "max_years": "At most so many years of experience.",
    "min_years": "At least so many years of experience.",
    "outcome": "Only actions that ended like this.",
    "plan_id": "The search plan's id.",
    "profile_id": "The person's profile id.",
    "q": "What the name begins with or holds.",
    "run_id": "The run's id.",
    "sequence_id": "The sequence's id.",
    "since": "ISO 8601, inclusive.",
    "status": "Only those in this state.",
    "suppression_id": "The suppression's id.",
    "tag": "Only people with this tag.",
    "tier": "Only candidates of this tier of the plan.",
    "unread": "Only what has not been read, or only what has.",
    "until": "ISO 8601, exclusive.",
    "view": "How much of each candidate is shown.",
}
"""By name, for parameters whose own schema says nothing."""
