"""Rules by which the service may refuse requests that the OpenAPI document allows, each with its reason.

Every refusal of described input is looked up here by code and message. An unknown one fails the fuzzing: either the
document lacks something, or the service refuses input that it should accept.
"""

import re
from collections.abc import Mapping

OPAQUE = "a cursor is opaque: only the service knows which ones it gave"
ONE_OF = "which of several fields has to be given; `oneOf` at the top of a body is refused by clients of the MCP tools"
TOGETHER = "a bound on several fields together"
MOMENTS = "depends on the present moment, or on the order of two moments"
KNOWN = "an id or a name of reference data: a document cannot list every place, company and time zone"
READING = "what a text means: whether it is an address, a name, a placeholder"
OWNED = "depends on what is there already, or on what was asked of the same thing before"
SETTING = "depends on a setting of the installation"
NETWORK = "what the internet says of a name"
HEADER = "a header that depends on a query parameter"
WHOLE = "JSON Schema takes 1.0 for a whole number; the service does not (docs/decisions/api-and-idempotency.md)"

RULES: Mapping[str, str] = {
    r"invalid_request: This cursor .*": OPAQUE,
    r"idempotency_key_required: .*": HEADER,
    r"invalid_request: [a-z_.0-9]+: Input should be a valid integer\.": WHOLE,
    r"invalid_request: Only an? (invite|message) has a .*": ONE_OF,
    r"invalid_request: No target company could be identified, and no title is given\.": ONE_OF,
    r"invalid_request: Give (an?|either|one|exactly|q|full_name|at least one|both|name)\b.*": ONE_OF,
    r"invalid_request: A (message|note) has .*": ONE_OF,
    r"invalid_request: (note|body) belongs to an? (invite|message)\.": ONE_OF,
    r"invalid_request: body has 1 to [0-9]+ characters\.": ONE_OF,
    r"invalid_request: A sequence without a template needs .*": ONE_OF,
    r"invalid_request: The intent names no title.*": ONE_OF,
    r"invalid_request: Give 1 to [0-9]+ (people|companies).*": TOGETHER,
    r"invalid_request: end_hour is at least [0-9]+ hours after start_hour\.": TOGETHER,
    r"invalid_request: type withdraws an invite, and no step before it invites\.": TOGETHER,
    r"invalid_request: [a-z_.0-9]+: min must not be above max\.": TOGETHER,
    r"invalid_request: [a-z_.0-9]+: radius_km needs an anchor_location_id\.": TOGETHER,
    r"invalid_request: limit does not go with live, which looks for one company\.": TOGETHER,
    r"invalid_request: (confirm belongs to live|enrollment_id stands alone).*": TOGETHER,
    r"invalid_request: Every wanted (title|company) is excluded\.": TOGETHER,
    r"invalid_request: A value is both required and excluded in .*": TOGETHER,
    r"invalid_request: This field is given here and in `must`\.": TOGETHER,
    r"invalid_request: An enrollment takes at most [0-9]+ people; .*": TOGETHER,
    r"invalid_request: is_follow_up is false on the first step that invites or writes\.": TOGETHER,
    r"invalid_request: only_after_accept waits for an invite, and no step before it invites\.": TOGETHER,
    r"invalid_request: The span is at most [0-9]+ days\.": MOMENTS,
    r"invalid_request: This has not happened yet\.": MOMENTS,
    r"invalid_request: (expires_at lies in the past|since must lie before until|until is too early)\.": MOMENTS,
    r"invalid_request: [a-z_.0-9]+: is not a (known place|known company|known language|country): .*": KNOWN,
    r"invalid_request: [a-z_.0-9]+: is a country: an anchor is a town, .*": KNOWN,
    r"invalid_request: This is not a known company: .*": KNOWN,
    r"invalid_request: There is no (town of this name|place .*)\.": KNOWN,
    r"invalid_request: The wanted countries cannot be searched: .*": KNOWN,
    r"unsupported_filter: The people source cannot apply this\.": KNOWN,
    r"invalid_request: There is no such customer in this workspace\.": OWNED,
    r"invalid_request: time_zone is no IANA time zone\.": KNOWN,
    r"invalid_request: types names an event type that does not exist\.": READING,
    r"invalid_request: [a-z_.0-9]+: must (not be empty|hold a letter or a digit|be text, not .*)\.": READING,
    r"invalid_request: [a-z_.0-9]+: must (be an https address|start with /)\.": READING,
    r"invalid_request: This is not the address of a profile: .*": READING,
    r"invalid_request: [a-z_.0-9]+: must be an http or https address without credentials\.": READING,
    r"invalid_request: [a-z_.0-9]+: must not have a query string or fragment\.": READING,
    r"invalid_request: [a-z_.0-9]+: is not a (profile URL: .*|domain\.|valid e-mail address\.)": READING,
    r"invalid_request: Addresses of services that lend mailboxes are not accepted\.": READING,
    r"invalid_request: (note|body) has the unknown placeholder .*": READING,
    r"invalid_request: An answer needs words\.": READING,
    r"invalid_request: No job title can be read from this description\.": READING,
    r"invalid_request: Texts must not contain NUL characters or lone surrogates\.": READING,
    r"invalid_request: url (is not a URL|must not (have|contain) .*)\.": READING,
    r"invalid_request: url must (spell its host in ASCII|have a DNS name with a dot).*": READING,
    r"invalid_request: url must (begin with https://|use port 443|lead to public addresses only)\.": SETTING,
    r"invalid_request: The name in url has no address\.": NETWORK,
    r"invalid_request: id is (used twice|no step of this sequence)\.": OWNED,
    r"invalid_request: type stays what it was; .*": OWNED,
    r"invalid_request: There is no value for .*": OWNED,
    r"invalid_request: The text cannot be written to this person: .*": OWNED,
    r"invalid_request: Together with the existing tags these are more than [0-9]+\.": OWNED,
    r"invalid_request: A grant (expires when it is not refreshed|cannot get more scopes).*": OWNED,
    r"invalid_request: [a-z_]+ is above the default of [0-9]+, which needs risk_acknowledged: true\.": TOGETHER,
    r"invalid_request: With the [0-9]+ of the run this is more than [0-9]+\.": OWNED,
}
"""Reasons by a pattern of the whole text of code and message."""


def reason_for(code: str, message: str) -> str | None:
    """Return the reason why described input may be refused like this; null if it may not."""
    told = f"{code}: {message}"
    return next((reason for pattern, reason in RULES.items() if re.fullmatch(pattern, told, re.DOTALL)), None)
