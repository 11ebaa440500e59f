"""Words that stand around a title in running text: those that end it, and the praise before it."""

import re
from dataclasses import dataclass

from models.reading.document import any_phrase

_STOPS = {
    "en": """who to that with for at on we you you'll you’ll is will are as whose where from role roles position
    positions within join working based reporting regarding concerning responsible looking interested having which
    post posts vacancy and/or be been your their this these has have can must would currently because when if
    including under by into across opportunity job it they able works work leads reports manages provides supports
    performs develops serves oversees ready supporting helping leading serving located committed passionate needed
    required whilst while through during but so""",
    "de": """der die das den dem welche welcher mit für zur zum zu in im bei am an ab ist sind wir du sie dich
    unterstützen unterstützt bist übernimmst übernehmen gesucht auf aus von als verantworten verantwortest bringst
    bringen arbeitest arbeiten sorgst wirst werden kannst haben hast gestaltest betreust betreuen oder zwischen ihre
    unser unsere dein deine um beauftragt steuern steuerst leitest leiten planst planen vorzugsweise idealerweise
    welches nach durch ihr sein begleitest begleiten führst führen entwickelst entwickeln wenn dann hier damit sowie""",
    "fr": """pour qui afin à au aux dans sur avec chez basé basée vous ayant nous est sera sous dont il elle capable
    disposant souhaitant possédant situé située ou vos votre notre intervenant ainsi selon seront son sa ses ce
    cette h/f f/h hors idéalement se réalise parlant motivé motivés dynamique confirmés rattaché que passionné
    expérimenté""",
    "nl": """die voor om met ter in bij op dat ben bent sta is zorg speel heb hebt werk te naar draag wie jij je wij
    we kom zal zul ga krijg neem vorm maak coördineer beheer bouw zoals aan van waar uit binnen tussen onder via of
    help zijn verwachten wordt moet mag hoort hou verantwoordelijk rapporteer verzorg leid weet kan kun en/of
    ondersteun lever maar dan ten tot per als onze ons jouw actief""",
}
_LEADING = {
    "en": """a an the our new experienced passionate talented motivated highly skilled dynamic enthusiastic
    exceptional qualified dedicated ambitious driven self-motivated hands-on creative strong great brilliant
    outstanding proactive reliable committed compassionate caring hardworking energetic full-time part-time
    permanent additional suitably ideal next first 2nd second successful good friendly professional detail-oriented
    results-driven results-oriented innovative organised organized commercially-minded curious and seasoned
    accomplished fantastic very temporary remote several technical-minded keen bright exciting opportunity multiple
    top versatile collaborative strategic-minded confident capable amazing well forward-thinking kind some any
    following all few number of""",
    "fr": """un une un(e un(e) une/un un/une des le la les l' nouveau nouvelle futur future véritable jeune bon bonne
    excellent plusieurs d'un d'une nouveaux nouvelles talentueux""",
    "nl": """een de het onze enthousiaste gedreven gemotiveerde ervaren polyvalente flexibele dynamische creatieve
    nieuwe extra ambitieuze betrouwbare gepassioneerde zelfstandige technische voltijdse deeltijdse fulltime
    parttime leuke sterke enkele jonge echte klantgerichte sociale proactieve hands-on goede commerciële vlotte
    administratief technisch""",
    "de": "",
}
STOPS = {language: frozenset(words.split()) for language, words in _STOPS.items()}
STOPS["de"] = STOPS["nl"] = STOPS["de"] | STOPS["nl"]
"""German and Dutch share their announcing words, so a phrase may be of either language."""
LEADING = {language: frozenset(words.split()) for language, words in _LEADING.items()}
_PAIRS = """
en période|en cdi|en cdd|en intérim|en alternance|en vue|en contrat|en temps|en journée|en extérieur
in our|in the|in a|in an|in this|in unserem|in unserer|in der|in einem|in einer|of our|of the
and be|and you|and help|en je|en jij|und du|und sie|et vous
"""
NOT_IN_TITLE = frozenset(pair.strip() for line in _PAIRS.strip().splitlines() for pair in line.split("|"))
"""Two words that end a title together."""
GLUED_END = re.compile(r"(?<=[a-zäöüß])(?:who|beauftragt|unterstützen|unterstützt|übernimmst|betreust|bist)$")
"""A following word that lost its space, as where bold type ended."""

# The words before a title in running text, and the words that end it.


_EN_ARTICLE = (
    r"(?:an?(?![a-z])|(?:our(?:\s+(?:next|first|new))?|the|another|several|multiple|\d{1,2}|one|two|three)\b)?"
)
_FR_ARTICLE = r"(?:un\(e\)|une?\s?/\s?une?|une?(?=\s)(?!\s+de\s)|des(?=\s)(?!\s+nouve)|\d{1,2}(?=\s)|plusieurs\b)"
_NL_ARTICLE = r"(?:(?:een|onze|\d{1,2}|enkele|meerdere|twee)\b)"
_DE_ARTICLE = r"(?:(?:eine?[nrms]?|mehrere|unsere?[nr]?|zwei|\d{1,2})\b)"
_CAPITALISED = r"(?:[A-Z][\w&/+-]*\s+){1,5}"

_EN_ASKING = any_phrase(
    r"""looking for|looking out for|looking to (?:hire|recruit|appoint|add|employ|find|bring on)|searching for
        |in search of
        |seek(?:ing|s)? (?:to (?:hire|recruit|appoint|employ)|applicants for|applications for|applications from)
        |seek(?:ing|s)?|to (?:hire|recruit|appoint)|hiring(?:\sfor)?|appointing|in need of|we need|we require
        |invites applications for|recruiting(?:\sfor|\sto)?"""
)
_EN_JOB = any_phrase("role|position|post|vacancy|vacancies|opening|openings|opportunity|opportunities|job")
_EN_JOB_LINK = any_phrase("of|for|as|is for|has arisen for|exists for|available for|exists as|working as|to work as")
_EN_DOING = any_phrase(
    """will|is|works?|reports?|leads?|manages?|provides?|supports?|performs?|develops?|serves?|has|oversees
        |coordinates|role|position|plays|must|assists|delivers|designs|acts"""
)
_DE_ASKING = any_phrase("suchen|sucht|suche|brauchen|verstärken|besetzen|stellen")
_FR_ASKING = any_phrase(
    """recherche|recherchons|recherchent|rechercher|recrute|recrutons|recrutent|recruter|recrutant|embauche|embauchons
    |cherche|cherchons|propose|proposons"""
)
_NL_SEARCHING = any_phrase("op zoek naar|opzoek naar|op zoek zijn naar|op zoek bent naar")


@dataclass(frozen=True, slots=True)
class LeadIn:
    """A way to announce a title: how much it is worth, and in which language its phrase goes on."""

    pattern: re.Pattern[str]
    weight: float
    language: str


def _lead(language: str, weight: float, pattern: str) -> LeadIn:
    return LeadIn(re.compile(pattern), weight, language)


LEAD_INS = (
    _lead("en", 4.0, rf"\b(?i:{_EN_ASKING})\s+{_EN_ARTICLE}"),
    _lead("en", 4.0, r"\b(?i:join(?:ing)?\s[^.!?\n]{0,40}?\bas)\s+(?:an?|our|the)(?![a-z])"),
    _lead("en", 3.5, rf"\b(?i:{_EN_JOB}\s+(?:{_EN_JOB_LINK}\s+)?)(?:an?|the|our)(?![a-z])"),
    _lead("en", 3.0, r"\b(?:As|as|AS)\s+(?:an?|our|the)(?![a-z])"),
    _lead("en", 3.0, r"\b[Rr]ecruiting(?:\s+now)?\s*[:–-]"),
    _lead("en", 2.5, r"\b(?i:are\s+you|you\s+are|you['’]re)\s+an?(?![a-z])"),
    _lead("en", 2.5, rf"(?:(?<=[.!?:*\n])|\A)\s*As\s+(?={_CAPITALISED}(?:in|at|for|with|of|you)\b)"),
    _lead("en", 2.5, r"\b(?i:apply\s+for)\s+(?:(?:an?|the|our|this|these)\b)?"),
    _lead("en", 2.2, rf"\b(?:[Tt]he|[Tt]his)(?=\s+{_CAPITALISED}{_EN_DOING}\b)"),
    _lead(
        "de",
        4.0,
        rf"\b(?i:{_DE_ASKING})\b[^.!?\n]{{0,80}}?\b(?:als\b|{_DE_ARTICLE}(?=\s|[\"„“*(])|eine?[nr]?(?=[A-ZÄÖÜ(]))",
    ),
    _lead(
        "de",
        3.5,
        r"\b(?:Stelle|Position|Rolle|Funktion|Job|Suche|Aufgaben|Karriere)\s+(?:als|des|der|nach)\s*(?:eine?[nrms]?\b)?",
    ),
    _lead("de", 3.0, r"\b[Aa]ls\s*(?:eine?[nr]?\s|unsere?[nr]?\s)?(?=\s*[\"„“*(]{0,3}[A-ZÄÖÜ(])"),
    _lead("de", 2.5, r"\b(?i:(?:erfahrene|engagierte|motivierte|qualifizierte)n)\s*(?=[A-ZÄÖÜ])"),
    _lead("de", 2.5, r"\b(?:Werde|Werden\s+Sie|Du\s+bist|Sie\s+sind)\s+(?:eine?\s)?(?=[A-ZÄÖÜ])"),
    _lead("de", 3.5, r"\b(?i:verstärkung|gesucht|wir\s+suchen|suchen\s+wir)\s*:\s*"),
    _lead("fr", 3.5, r"\b(?i:recherchons|recrutons|recherche|recrute)\s*:\s*"),
    _lead("nl", 3.5, r"\b(?i:zoeken\s+wij|wij\s+zoeken|gezocht)\s*:\s*"),
    _lead("fr", 4.0, rf"\b(?i:{_FR_ASKING})\b[^.!?\n]{{0,110}}?\s(?i:{_FR_ARTICLE})"),
    _lead(
        "fr", 4.0, r"\b(?i:à\s+la\s+recherche\s+d(?:e\s+|['’]une?\b|['’]un\(e\)|es\s+))(?:\s*(?:nouve\w+|futur\w*)\s)?"
    ),
    _lead("fr", 3.5, r"\b(?i:(?:postes?|emplois?|métiers?|fonctions?|celui)\s+(?:d(?:e|es|u)\s|d['’])(?:\s?une?\s)?)"),
    _lead("fr", 3.5, r"\b(?i:en\s+(?:tant\s+qu(?:e\s|['’])|qualité\s+de\s))(?:\s?une?\s)?"),
    _lead("fr", 2.5, r"\b(?i:vous\s+êtes|devenez)\s+(?:un\(e\)\s|une?\s)?(?=\w)"),
    _lead("nl", 4.0, rf"\b(?i:{_NL_SEARCHING})\s+(?:nog\s)?{_NL_ARTICLE}?"),
    _lead("nl", 4.0, rf"\b(?i:(?:zoek(?:en|t)?|werven|werft)(?:\s+(?:wij|we|ik))?)\s+(?:naar\s)?{_NL_ARTICLE}"),
    _lead("nl", 3.5, r"\b(?i:(?:functie|rol|positie|vacature|job)\s+(?:van|als|voor))\s+(?:een\b)?"),
    _lead("nl", 3.0, r"\b[Aa]ls\s(?:een\s|onze\s)?(?=\s*\w)"),
    _lead("nl", 2.5, r"\b(?i:ben\s+jij|jij\s+bent|word\s+jij|jij\s+wordt|word)\s+(?i:een|de|onze)\b"),
)
