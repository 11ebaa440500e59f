"""What a text rules out: `not agencies`, `kein Java`, `hors Paris`, `geen freelancers`."""
# ruff: noqa: E501 - patterns of alternatives

import re
from dataclasses import dataclass

_NOT = (
    r"(?:not(?:\s+(?:from|in|at|near|with|any))?|no|without|except(?:\s+for)?|excluding|exclude|excl\.?|minus|kein(?:e[nrms]?)?|ohne|nicht(?:\s+(?:in|aus|bei|von))?|"
    r"außer|hors|sauf|sans|pas\s+d(?:e\s|['’])|pas\s+(?:des?|à|en)|exclure|geen|niet(?:\s+(?:in|uit|van|bij))?|zonder|behalve|uitgezonderd)"
)
EXCLUSION = re.compile(
    rf"(?<![\w-])(?P<not>{_NOT})(?=\s|['’]|(?<=['’]))\s*(?P<what>[^,;.|\n\r]{{2,80}})", re.IGNORECASE
)
BETWEEN = re.compile(
    r"\s*(?:/|&|\bor\b|\band\b|\bnor\b|\bund\b|\boder\b|\bet\b|\bou\b|\bni\b|\ben\b|\bof\b|\bno\b|\bgeen\b|\bkeine?\b)\s*",
    re.IGNORECASE,
)
NOT_NEEDED = re.compile(
    r"(?i)\b(?:required|needed|necessary|erforderlich|nötig|notwendig|nécessaires?|requis\w*|nodig|vereist|must|problem\w*)\b"
)
AGENCIES = re.compile(
    r"(?i)^(?:recruit(?:ment|ing)?\s|staffing\s|temp\s|headhunt\w*\s)?(?:agenc(?:y|ies)|agentur(?:en)?|personaldienstleister\w*|zeitarbeit\w*|leiharbeit\w*|personalvermitt\w+|"
    r"headhunters?|agences?|cabinets?|esn|ssii|intérim|uitzend\w*|interimkantor\w*|bureaus?|kantoren|consultanc(?:y|ies)|consulting|body ?leas\w*|outsourc\w+|startups?|start-ups?|"
    r"corporates?|konzerne?|big ?tech|faang|competitors?|wettbewerber|concurrents?|concurrenten)\b"
)
FREELANCE = re.compile(
    r"(?i)^(?:freelanc\w*|freiberuf\w*|selbstständig\w*|selbständig\w*|indépendants?|zelfstandigen?|zzp\S*|contractors?|self-employed)"
)
REMOTE = re.compile(
    r"(?i)(?<![\w-])(?:fully |100\s?% )?(?:remote(?:[- ](?:first|only|work(?:ing)?|ok|möglich))?|hybrid(?:e|es)?|home[- ]?office|work(?:ing)? from home|wfh|télétravail|on-?site|"
    r"thuiswerk\w*|telewerk\w*|mobiles arbeiten|vor ort|sur site|op kantoor)(?![\w-])"
)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """One thing ruled out, and the whole stretch with its `not`."""

    what: str
    start: int
    end: int
    whole_start: int
    whole_end: int


def read_exclusions(text: str) -> list[Exclusion]:
    """Everything that a short intent rules out, one entry for each thing."""
    found: list[Exclusion] = []
    for said in EXCLUSION.finditer(text):
        if NOT_NEEDED.search(said["what"]):
            continue
        start = said.start("what")
        cuts = [*BETWEEN.finditer(text, start, said.end("what")), None]
        for cut in cuts:
            end = cut.start() if cut else said.end("what")
            what = text[start:end].strip()
            if what:
                begins = start + (len(text[start:end]) - len(text[start:end].lstrip()))
                found.append(Exclusion(what, begins, begins + len(what), said.start(), said.end()))
            start = cut.end() if cut else end
    return found
