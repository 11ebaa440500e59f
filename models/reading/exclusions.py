"""What a text rules out: `not agencies`, `kein Java`, `hors Paris`, `geen freelancers`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from models.reading.document import any_phrase

_NOT = any_phrase(
    r"""not(?:\s(?:from|in|at|near|with|any))?|no|without|except(?:\sfor)?|excluding|exclude|excl\.?|minus
        |kein(?:e[nrms]?)?|ohne|nicht(?:\s(?:in|aus|bei|von))?|außer|hors|sauf|sans|pas d(?:e\s|['’])
        |pas (?:des?|à|en)|exclure|geen|niet(?:\s(?:in|uit|van|bij))?|zonder|behalve|uitgezonderd"""
)
EXCLUSION = re.compile(rf"(?<![\w-]){_NOT}(?=\s|['’]|(?<=['’]))\s*(?P<what>[^,;.|\n\r]{{2,80}})", re.IGNORECASE)
BETWEEN = re.compile(
    r"\s*(?:/|&|\b(?:or|and|nor|und|oder|et|ou|ni|en|of|no|geen|keine?)\b)\s*(?:(?:no|keine?|geen|pas de)\s)?",
    re.IGNORECASE,
)
NOT_NEEDED = re.compile(
    any_phrase(
        r"\b(?:required|needed|necessary|erforderlich|nötig|notwendig|nécessaires?|requis\w*|nodig|vereist|must|problem\w*)\b"
    ),
    re.IGNORECASE,
)
AGENCIES = re.compile(
    r"(?:(?:recruit(?:ment|ing)|staffing|temp|headhunt\w*)\s)?"
    + any_phrase(
        r"""agenc(?:y|ies)|agentur(?:en)?|personaldienstleister\w*|zeitarbeit\w*|leiharbeit\w*|personalvermitt\w+
        |headhunters?|agences?|cabinets?|esn|ssii|intérim|uitzend\w*|interimkantor\w*|bureaus?|kantoren
        |consultanc(?:y|ies)|consulting|body ?leas\w*|outsourc\w+|start-?ups?|corporates?|konzerne?|big ?tech|faang
        |competitors?|wettbewerber|concurrents?|concurrenten"""
    )
    + r"\b",
    re.IGNORECASE,
)
NO_AGENCIES = re.compile(
    any_phrase(
        r"""no (?:recruitment\s)?agencies
        |keine (?:personaldienstleister\w*|personalvermittl\w+|headhunter|zeitarbeit\w*)|pas d['’]agences?
        |geen (?:bureaus|uitzendbureaus|recruiters)|no recruiters|agencies need not apply"""
    ),
    re.IGNORECASE,
)
"""How advertisements turn agencies away."""
NO_FREELANCERS = re.compile(
    any_phrase(
        r"(?<!\w)(?:no|keine|geen|pas\sde) (?:freelancers?|freelances|freiberufler|contractors|zzp['’]?ers)(?!\w)"
    ),
    re.IGNORECASE,
)
FREELANCE = re.compile(
    any_phrase(
        r"""freelanc\w*|freiberuf\w*|selbstständig\w*|selbständig\w*|indépendants?|zelfstandigen?|zzp\S*|contractors?
        |self-employed"""
    ),
    re.IGNORECASE,
)
EXCLUDED_LEVEL = re.compile(
    r"(?P<level>junior|senior|trainee|graduate|débutant|starter|berufseinsteiger)s?", re.IGNORECASE
)
"""Levels that titles carry: `no juniors`."""
REMOTE = re.compile(
    r"(?<![\w-])(?:(?:fully|100\s?%)\s)?"
    + any_phrase(
        r"""remote(?:[-\s](?:first|only|work(?:ing)?|ok|möglich))?|hybrid(?:e|es)?|home[-\s]?office
        |work(?:ing)? from home|wfh|télétravail|on-?site|thuiswerk\w*|telewerk\w*|mobiles arbeiten|vor ort|sur site
        |op kantoor"""
    )
    + r"(?![\w-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One thing ruled out."""

    what: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Exclusions:
    """What a short intent rules out, and every stretch that says so, `no German required` included."""

    found: tuple[Exclusion, ...]
    taken: tuple[tuple[int, int], ...]


def read_exclusions(text: str) -> Exclusions:
    """Everything that a short intent rules out, one entry for each thing; what is merely not required is none."""
    said = list(EXCLUSION.finditer(text))
    found = [exclusion for one in said if not NOT_NEEDED.search(one["what"]) for exclusion in _things(text, one)]
    return Exclusions(found=tuple(found), taken=tuple(one.span() for one in said))


def _things(text: str, said: re.Match[str]) -> Iterator[Exclusion]:
    start = said.start("what")
    for cut in [*BETWEEN.finditer(text, start, said.end("what")), None]:
        raw = text[start : cut.start() if cut else said.end("what")]
        if what := raw.strip():
            begins = start + raw.index(what)
            yield Exclusion(what, begins, begins + len(what))
        start = cut.end() if cut else start
