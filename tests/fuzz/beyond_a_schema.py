"""Why a request that the OpenAPI document allows may be refused: rules that no JSON Schema says, each with its reason.

Every refusal of described input is looked up here by its code and message. One that is not found fails the fuzzing:
either the document lacks something, or the service refuses what it should take.
"""

import re
from collections.abc import Mapping

OPAQUE = "a cursor is opaque: only the service knows which ones it gave"
ONE_OF = "which of several fields has to be given; `oneOf` at the top of a body is refused by clients of the MCP tools"
TOGETHER = "a bound on several fields together"
MOMENTS = "depends on the present moment, or on the order of two moments"
KNOWN = "an id or a name of reference data: a document cannot list every place, company and time zone"
READING = "what a text means: whether it is an address, a name, a placeholder"
OWNED = "depends on what is there already, or on what a bound was raised to"
SETTING = "depends on a setting of the installation"
HEADER = "a header that depends on a query parameter"
WHOLE = "JSON Schema takes 1.0 for a whole number; the service does not (docs/decisions.md)"

RULES: Mapping[str, str] = {
    r"invalid_request: This cursor .*": OPAQUE,
    r"idempotency_key_required: .*": HEADER,
    r"invalid_request: [a-z_.0-9]+: Input should be a valid integer\.": WHOLE,
    r"invalid_request: Only an? (invite|message) has a .*": ONE_OF,
    r"invalid_request: None of the target companies is certain, and no title is given\.": ONE_OF,
    r"invalid_request: Give (a|either|one|exactly|q|full_name|at least one|both)\b.*": ONE_OF,
    r"invalid_request: (A|Only a) (message|invite|note) has .*": ONE_OF,
    r"invalid_request: A sequence without a template needs .*": ONE_OF,
    r"invalid_request: The intent names no title.*": ONE_OF,
    r"invalid_request: Give 1 to [0-9]+ (people|companies).*": TOGETHER,
    r"invalid_request: end_hour is at least [0-9]+ hours after start_hour\.": TOGETHER,
    r"invalid_request: is_follow_up is false on the first step that invites or writes\.": TOGETHER,
    r"invalid_request: only_after_accept waits for an invite, and no step before it invites\.": TOGETHER,
    r"invalid_request: The span is at most [0-9]+ days\.": MOMENTS,
    r"invalid_request: This has not happened yet\.": MOMENTS,
    r"invalid_request: (expires_at lies in the past|since must lie before until)\.": MOMENTS,
    r"invalid_request: [a-z_.0-9]+: is not a (known place|known company|known language|country): .*": KNOWN,
    r"invalid_request: There is no town of this name\.": KNOWN,
    r"unsupported_filter: The people source cannot apply this\.": KNOWN,
    r"invalid_request: There is no such customer in this workspace\.": OWNED,
    r"invalid_request: time_zone is no IANA time zone\.": KNOWN,
    r"invalid_request: types names an event type that does not exist\.": READING,
    r"invalid_request: [a-z_.0-9]+: must (not be empty|hold a letter or a digit|be text, not .*)\.": READING,
    r"invalid_request: [a-z_.0-9]+: must (be an https address|start with /)\.": READING,
    r"invalid_request: This is not the address of a profile: .*": READING,
    r"invalid_request: [a-z_.0-9]+: is not a (profile URL: .*|domain\.)": READING,
    r"invalid_request: No job title can be read from this description\.": READING,
    r"invalid_request: Texts must not hold NUL characters or lone surrogates\.": READING,
    r"invalid_request: url must not contain spaces, control characters or backslashes\.": READING,
    r"invalid_request: url must begin with https://\.": SETTING,
    r"invalid_request: [a-z_]+ is a whole number from 0 to [0-9]+\.": OWNED,
    r"invalid_request: [a-z_]+ is above the default of [0-9]+, which needs risk_acknowledged: true\.": TOGETHER,
    r"invalid_request: With the [0-9]+ of the run this is more than [0-9]+\.": OWNED,
}
"""Code and message, as a pattern of the whole, and the reason."""


def reason_for(code: str, message: str) -> str | None:
    """Why described input may be refused like this, or nothing if it may not."""
    told = f"{code}: {message}"
    return next((reason for pattern, reason in RULES.items() if re.fullmatch(pattern, told, re.DOTALL)), None)
